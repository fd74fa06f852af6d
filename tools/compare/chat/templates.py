"""Chat templates in the styles of published models, written for the tests.

Each template uses the features that are common in its style. A style has the fields of a
tokenizer_config.json: one or several templates, and the special tokens.
"""

LLAMA3 = r"""
{{- bos_token }}
{%- if custom_tools is defined %}{%- set tools = custom_tools %}{%- endif %}
{%- if not date_string is defined %}{%- set date_string = "26 Jul 2024" %}{%- endif %}
{%- if tools is not defined %}{%- set tools = none %}{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system = messages[0]['content'] | trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\n\n" }}
{%- if tools is not none %}
    {{- "Environment: tools\n" }}
{%- endif %}
{{- "Today: " + date_string + "\n\n" }}
{%- if tools is not none and not in_user %}
    {{- "Functions, as JSON:\n\n" }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\n\n" }}
    {%- endfor %}
{%- endif %}
{{- system }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'tool' or message.role == 'ipython' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' + message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls | length == 1 %}
            {{- raise_exception("one call at a time") }}
        {%- endif %}
        {%- set call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' -}}
        {{- '{"name": "' + call.name + '", "parameters": ' }}
        {{- call.arguments | tojson }}
        {{- "}<|eot_id|>" }}
    {%- else %}
        {{- "<|start_header_id|>ipython<|end_header_id|>\n\n" }}
        {%- if message.content is mapping or message.content is iterable %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}
"""

CHATML = r"""{%- macro content_of(content) %}
    {%- if content is string %}
        {{- content }}
    {%- else %}
        {%- for part in content %}
            {%- if part.type == 'image' %}{{- '<|vision|>' }}{%- elif 'text' in part %}{{- part.text }}{%- endif %}
        {%- endfor %}
    {%- endif %}
{%- endmacro %}
{%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- if messages[0].role == 'system' %}
        {{- content_of(messages[0].content) + '\n\n' }}
    {%- endif %}
    {{- "# Functions\n<tools>" }}
    {%- for tool in tools %}
        {{- "\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\n</tools><|im_end|>\n" }}
{%- elif messages[0].role == 'system' %}
    {{- '<|im_start|>system\n' + content_of(messages[0].content) + '<|im_end|>\n' }}
{%- endif %}
{%- set ns = namespace(again=true, last=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.again and message.role == "user" and message.content is string and not (message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.again = false %}
        {%- set ns.last = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- set content = content_of(message.content) if message.content is defined else '' %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "assistant" %}
        {%- set thought = '' %}
        {%- if message.reasoning_content is string %}
            {%- set thought = message.reasoning_content %}
        {%- elif '</think>' in content %}
            {%- set thought = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last and (loop.last or thought) %}
            {{- '<|im_start|>' + message.role + '\n<think>\n' + thought.strip('\n') + '\n</think>\n\n' + content.lstrip('\n') }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}{{- '\n' }}{%- endif %}
                {%- if call.function %}{%- set call = call.function %}{%- endif %}
                {{- '<tool_call>\n{"name": "' }}{{- call.name }}{{- '", "arguments": ' }}
                {%- if call.arguments is string %}{{- call.arguments }}{%- else %}{{- call.arguments | tojson }}{%- endif %}
                {{- '}\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}{{- '<|im_start|>user' }}{%- endif %}
        {{- '\n<tool_response>\n' + content + '\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}{{- '<|im_end|>\n' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}
{%- endif %}
"""

MISTRAL = r"""{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace(index=0) %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("users and assistants take turns") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != "return" %}
                    {%- if val is string %}{{- '"' + key + '": "' + val + '"' }}{%- else %}{{- '"' + key + '": ' + val|tojson }}{%- endif %}
                    {%- if not loop.last %}{{- ", " }}{%- endif %}
                {%- endfor %}
                {{- "}}" }}
                {%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" }}{%- endif %}
            {%- endfor %}
            {{- "[/AVAILABLE_TOOLS]" }}
        {%- endif %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\n\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[TOOL_CALLS] [" }}
        {%- for tool_call in message.tool_calls %}
            {%- set out = tool_call.function|tojson %}
            {{- out[:-1] }}
            {%- if not tool_call.id is defined or tool_call.id|length != 9 %}
                {{- raise_exception("the id of a call has nine characters") }}
            {%- endif %}
            {{- ', "id": "' + tool_call.id + '"}' }}
            {%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" + eos_token }}{%- endif %}
        {%- endfor %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- elif message["role"] in ["tool_results", "tool"] %}
        {%- set content = message.content.content if message.content is mapping and message.content.content is defined else message.content %}
        {{- '[TOOL_RESULTS] {"content": ' + content|string + ", " }}
        {{- '"call_id": "' + message.tool_call_id + '"}[/TOOL_RESULTS]' }}
    {%- else %}
        {{- raise_exception("only users, assistants and tools") }}
    {%- endif %}
{%- endfor %}
"""

GEMMA = """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set first_user_prefix = messages[0]['content'] + '

' -%}
    {%- else -%}
        {%- set first_user_prefix = messages[0]['content'][0]['text'] + '

' -%}
    {%- endif -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception("roles take turns") }}
    {%- endif -%}
    {%- if (message['role'] == 'assistant') -%}
        {%- set role = "model" -%}
    {%- else -%}
        {%- set role = message['role'] -%}
    {%- endif -%}
    {{ '<start_of_turn>' + role + '
' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}
                {{ '<image>' }}
            {%- elif item['type'] == 'text' -%}
                {{ item['text'] | trim }}
            {%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {{ raise_exception("no such content") }}
    {%- endif -%}
    {{ '<end_of_turn>
' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model
'}}
{%- endif -%}
"""

DEEPSEEK = (
    "{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}"
    "{% set ns = namespace(is_first=false, is_tool=false, is_output_first=true, system='') %}"
    "{%- for message in messages %}{%- if message['role'] == 'system' %}{% set ns.system = message['content'] %}{%- endif %}{%- endfor %}"
    "{{bos_token}}{{ns.system}}{%- for message in messages %}{%- if message['role'] == 'user' %}{%- set ns.is_tool = false -%}"
    "{{'<｜User｜>' + message['content']}}{%- endif %}"
    "{%- if message['role'] == 'assistant' and 'tool_calls' in message %}{%- set ns.is_tool = false -%}"
    "{%- for tool in message['tool_calls'] %}{%- if not ns.is_first %}"
    "{{'<｜Assistant｜><｜calls｜>' + tool['type'] + '<｜sep｜>' + tool['function']['name'] + '\\n' + '```json' + '\\n' + tool['function']['arguments'] + '\\n' + '```'}}"
    "{%- set ns.is_first = true -%}{%- else %}{{'\\n' + tool['function']['name'] + '\\n' + tool['function']['arguments']}}{%- endif %}{%- endfor %}"
    "{{'<｜end▁of▁sentence｜>'}}{%- endif %}"
    "{%- if message['role'] == 'assistant' and message['content'] is defined and message['content'] is not none %}{%- if ns.is_tool %}"
    "{{'<｜outputs｜>' + message['content'] + '<｜end▁of▁sentence｜>'}}{%- set ns.is_tool = false -%}{%- else %}"
    "{% set content = message['content'] %}{% if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}"
    "{{'<｜Assistant｜>' + content + '<｜end▁of▁sentence｜>'}}{%- endif %}{%- endif %}"
    "{%- if message['role'] == 'tool' %}{%- set ns.is_tool = true -%}{%- if ns.is_output_first %}{{'<｜output｜>' + message['content']}}"
    "{%- set ns.is_output_first = false %}{%- else %}{{'\\n<｜output｜>' + message['content']}}{%- endif %}{%- endif %}{%- endfor -%}"
    "{% if ns.is_tool %}{{'<｜outputs｜>'}}{% endif %}{% if add_generation_prompt and not ns.is_tool %}{{'<｜Assistant｜><think>\\n'}}{% endif %}"
)

PHI = (
    "{% for message in messages %}{% if message['role'] == 'system' and 'tools' in message and message['tools'] is not none %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] + '<|tool|>' + message['tools'] + '<|/tool|>' + '<|end|>' }}"
    "{% elif message['role'] == 'system' %}{{'<|system|>\n' + message['content'] + '<|end|>\n'}}"
    "{% elif message['role'] == 'user' %}{{'<|user|>\n' + message['content'] + '<|end|>\n'}}"
    "{% elif message['role'] == 'assistant' %}{% generation %}{{'<|assistant|>\n' + message['content'] + '<|end|>\n'}}{% endgeneration %}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}"
)

COMMAND = {
    "default": r"""{{ bos_token }}{% for message in messages %}
{% if message.role == 'system' %}<|sys|>{{ message.content }}{% elif message.role == 'user' %}<|usr|>{{ message.content }}
{% else %}<|bot|>  {{ message.content }}  {% endif %}
{% endfor %}{% if add_generation_prompt %}<|bot|>{% endif %}""",
    "tool_use": r"""{%- macro type_of(schema) -%}
    {%- if schema.type == "array" -%}List[{{ type_of(schema['items']) }}]
    {%- elif schema.type is string -%}{{ {'string': 'str', 'integer': 'int', 'number': 'float', 'boolean': 'bool'}[schema.type] | default('Any') }}
    {%- else -%}{{ schema.type | join(' | ') }}{%- endif -%}
{%- endmacro -%}
{{ bos_token }}{% for tool in tools %}
def {{ tool.function.name }}({% for name, fields in tool.function.parameters.properties.items() -%}
    {{ name }}: {{ type_of(fields) }}{% if name not in tool.function.parameters.required %} = None{% endif %}{% if not loop.last %}, {% endif %}
{%- endfor %}):
    """ + '"""' + r"""{{ tool.function.description | default('no words', true) | indent(4) }}""" + '"""' + r"""
{% endfor %}{% for message in messages %}<|{{ message.role[:3] }}|>{{ message.content | default('') }}{% for call in message.tool_calls or [] %}

Action: {{ call.function | tojson(indent=2, sort_keys=true) }}{% endfor %}{% endfor %}{{ '<|bot|>' if add_generation_prompt }}""",
    "rag": r"""{{ bos_token }}{% for document in documents %}
Document: {{ loop.index0 }}
{% for key, value in document.items() %}{{ key }}: {{ value }}
{% endfor %}
{%- endfor %}{% for message in messages %}<|{{ message.role[:3] }}|>{{ message['content'] }}{% endfor %}""",
}

CYCLES = r"""{#- What few templates use: cycles, neighbours, call blocks, filters over blocks, breaks. -#}
{%- macro turn(role) -%}<{{ role | upper }} {{ kwargs | dictsort | map('join', '=') | join(' ') }}>{{ caller() }}</{{ role | upper }}>{%- endmacro %}
{%- for message in messages if message.role != 'hidden' %}
    {%- call turn(message.role, n=loop.index, c=loop.cycle('a', 'b')) %}
        {%- filter trim %}   {{ message.content | replace('\n', ' ') | title }}   {% endfilter %}
    {%- endcall %}
    {%- if loop.previtem is defined and loop.previtem.role == message.role %}!{% endif %}
    {%- if message.stop is defined and message.stop is true %}{% break %}{% endif %}
    {%- if loop.nextitem is not defined %}.{% else %}{% continue %}{% endif %}
{%- else %}nobody{% endfor %}
{%- set numbers = range(2, 9, 3) | list %}{% set a, b = numbers[0], numbers[-1] %}
{{ numbers }} {{ a ** 2 + b // 3 - -b % 3 }} {{ a / b }} {{ numbers | sum }} {{ 'even' if a is even else 'odd' }} {{ a is divisibleby(2) }}
{{ {'k': none, 'l': [1.5, true, 'é\'"']} }} {{ ('x',) ~ none ~ 1.0 }} {{ "%s-%d" % ('a', 3) }} {{ messages | map(attribute='role') | unique | sort | list }}
{{- '\n' }}{% raw %}{{ not this }}{% endraw %}
"""

TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": None}

STYLES = {
    "llama3": {"chat_template": LLAMA3, "bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"},
    "chatml": {"chat_template": CHATML, "bos_token": None, "eos_token": "<|im_end|>", "image_token": "<|vision|>"},
    "mistral": {"chat_template": MISTRAL, **TOKENS},
    "gemma": {
        "chat_template": GEMMA,
        "bos_token": {"__type": "AddedToken", "content": "<s>", "lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True},
        "eos_token": "</s>",
    },
    "deepseek": {"chat_template": DEEPSEEK, "bos_token": "<｜begin▁of▁sentence｜>", "eos_token": "<｜end▁of▁sentence｜>"},
    "phi": {"chat_template": PHI, **TOKENS},
    "command": {"chat_template": [{"name": name, "template": template} for name, template in COMMAND.items()], **TOKENS},
    "cycles": {"chat_template": CYCLES, **TOKENS},
}

SPECIAL_TOKENS = """<s> </s> <|begin_of_text|> <|eot_id|> <|start_header_id|> <|end_header_id|> <|im_start|> <|im_end|> <|vision|> [INST] [/INST]
[AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_CALLS] [TOOL_RESULTS] [/TOOL_RESULTS] <start_of_turn> <end_of_turn> <｜begin▁of▁sentence｜>
<｜end▁of▁sentence｜> <｜User｜> <｜Assistant｜> <|user|> <|assistant|> <|system|> <|end|> <|usr|> <|bot|> <|sys|>""".split()
