"""Compares chats of o200k_harmony with OpenAI's references on random conversations.

Chats in the form of chat completions are compared with the chat template of gpt-oss, a file that
the caller names (chat_template.jinja of openai/gpt-oss-20b). Chats in the form of openai-harmony
are compared with that package, by text and ids. `--record FILE` writes cases for the spec.

    pip install openai-harmony jinja2
    TIKTOKEN_ENCODINGS_BASE=encodings \
        python tools/compare/chat/compare_harmony.py TEMPLATE [--count 2000]
"""

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path

from jinja2.exceptions import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from openai_harmony import (
    Conversation,
    HarmonyEncodingName,
    RenderConversationConfig,
    Role,
    load_harmony_encoding,
)

DATE = "2025-06-28"
TEXTS = [
    "What is the weather in Tokyo?", "2 + 2 = 4.", "Zürich 東京 🙂\nnext line", "", " spaces  around ", "It's \"quoted\" \\ here",
    '{"a": 1}', "line\r\nline\n", "naïve\tTab", "Be brief.\n\n- a\n- b",
]
NAMES = ["get_weather", "search", "f2", "send_mail", "a"]
KEYS = ["city", "unit", "days", "from", "x1", "a-b", "ключ", "options"]


class Refused(Exception):
    pass


def refuse(message):
    raise Refused(message)


def template_of(path):
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = lambda _: DATE
    return environment.from_string(Path(path).read_text())


def schema(rng, depth=0):
    kind = rng.choice(["string", "string", "number", "integer", "boolean", "array", "object", "list", "oneOf", "none", "null"])
    made = {}
    if kind == "list":
        made["type"] = rng.sample(["string", "number", "integer", "null", "object"], rng.randint(1, 3))
    elif kind == "oneOf":
        made["oneOf"] = [schema(rng, depth + 1) for _ in range(rng.randint(1, 3))] if depth < 3 else [{"type": "string"}]
        if rng.random() < 0.2:
            made["type"] = "string"
    elif kind != "none":
        made["type"] = kind
    if kind == "string" and rng.random() < 0.4:
        made["enum"] = rng.sample(["celsius", "fahrenheit", "K", "a b"], rng.randint(1, 3))
    if kind == "array" and rng.random() < 0.8:
        made["items"] = schema(rng, depth + 1) if depth < 3 else {"type": "string"}
    if kind == "object" and rng.random() < 0.8:
        made.update(parameters(rng, depth + 1) if depth < 3 else {"properties": {}})
        made["type"] = "object"
    if rng.random() < 0.4:
        made["description"] = rng.choice(TEXTS)
    if rng.random() < 0.2:
        made["nullable"] = rng.random() < 0.7
    if rng.random() < 0.3:
        made["default"] = rng.choice(["celsius", "x \"y\"", 7, -1, 0.5, True, False, None, [1, "a"], {"a": {"b": []}}])
    if rng.random() < 0.15:
        made["title"] = rng.choice(["A title", "Größe"])
    if rng.random() < 0.15:
        made["examples"] = rng.sample(["hello", "world", 3], rng.randint(0, 2))
    return made


def parameters(rng, depth=0):
    keys = rng.sample(KEYS, rng.randint(0, 4))
    made = {"type": "object", "properties": {key: schema(rng, depth) for key in keys}}
    if rng.random() < 0.7:
        made["required"] = rng.sample(keys, rng.randint(0, len(keys)))
    if rng.random() < 0.2:
        made["description"] = "params object"
    return made


def function(rng):
    made = {"name": rng.choice(NAMES), "description": rng.choice([text for text in TEXTS if text])}
    if rng.random() < 0.85:
        made["parameters"] = parameters(rng)
    return made


def chat(rng):
    """A conversation in the form of chat completions, with the options of applyChatTemplate."""
    messages = []
    if rng.random() < 0.6:
        messages.append({"role": rng.choice(["system", "developer"]), "content": rng.choice(TEXTS)})
    for _ in range(rng.randint(1, 4)):
        messages.append({"role": "user", "content": rng.choice(TEXTS)})
        for _ in range(rng.choice([0, 0, 1, 2])):
            arguments = {key: rng.choice([1, "x", 0.25, None, [True], "Zürich"]) for key in rng.sample(KEYS, rng.randint(0, 3))}
            call = {"id": f"call_{len(messages)}", "type": "function", "function": {"name": rng.choice(NAMES), "arguments": arguments}}
            message = {"role": "assistant", "tool_calls": [call]}
            if rng.random() < 0.6:
                message[rng.choice(["content", "thinking"])] = rng.choice(TEXTS)
            if rng.random() < 0.1:
                call["function"]["content_type"] = "code"
            messages.append(message)
            if rng.random() < 0.9:
                result = rng.choice([*TEXTS, {"temperature": 20.5}, [1, "a"]])
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        if rng.random() < 0.8:
            messages.append({"role": "assistant", "content": rng.choice(TEXTS)})
            if rng.random() < 0.5:
                messages[-1]["thinking"] = rng.choice(TEXTS)
    if rng.random() < 0.03:
        messages.append({"role": "assistant", "content": "<|channel|>final<|message|>x"})
    variables = {}
    if rng.random() < 0.5:
        variables["reasoning_effort"] = rng.choice(["low", "medium", "high"])
    if rng.random() < 0.2:
        variables["model_identity"] = "You are a parrot."
    if rng.random() < 0.2:
        variables["builtin_tools"] = rng.sample(["browser", "python"], rng.randint(0, 2))
    options = {"addGenerationPrompt": rng.random() < 0.6, "variables": variables}
    if rng.random() < 0.6:
        options["tools"] = [{"type": "function", "function": function(rng)} for _ in range(rng.randint(0, 3))]
    return {"messages": messages, "options": options}


def namespace(rng, name):
    made = {"name": name, "tools": [function(rng) for _ in range(rng.randint(0, 3))]}
    if rng.random() < 0.5:
        made["description"] = rng.choice(TEXTS)
    return made


def harmony(rng):
    """A conversation in the form of openai-harmony."""
    system = {"type": "system_content"}
    if rng.random() < 0.9:
        system["model_identity"] = "You are ChatGPT, a large language model trained by OpenAI."
    if rng.random() < 0.9:
        system["reasoning_effort"] = rng.choice(["Low", "Medium", "High"])
    if rng.random() < 0.7:
        system["knowledge_cutoff"] = "2024-06"
    if rng.random() < 0.7:
        system["conversation_start_date"] = DATE
    if rng.random() < 0.8:
        system["channel_config"] = {"valid_channels": ["analysis", "commentary", "final"][: rng.randint(0, 3)], "channel_required": rng.random() < 0.8}
    if rng.random() < 0.2:
        system["tools"] = {name: namespace(rng, name) for name in rng.sample(["browser", "python", "zoo"], rng.randint(0, 3))}
    messages = [{"role": "system", "content": [system]}] if rng.random() < 0.8 else []
    if rng.random() < 0.7:
        developer = {"type": "developer_content"}
        if rng.random() < 0.8:
            developer["instructions"] = rng.choice(TEXTS)
        if rng.random() < 0.7:
            developer["tools"] = {name: namespace(rng, name) for name in rng.sample(["functions", "other"], rng.randint(0, 2))}
        messages.append({"role": "developer", "content": [developer]})
    for _ in range(rng.randint(1, 8)):
        role = rng.choice(["user", "assistant", "assistant", "assistant", "tool"])
        message = {"role": role, "content": rng.choice(TEXTS)}
        if role == "tool":
            message.update(name=f"functions.{rng.choice(NAMES)}", channel="commentary")
            if rng.random() < 0.8:
                message["recipient"] = "assistant"
        if role == "user" and rng.random() < 0.2:
            message["name"] = rng.choice(["ann", "Bob_2"])
        if role == "assistant":
            message["channel"] = rng.choice(["analysis", "commentary", "final"])
            if message["channel"] == "commentary" and rng.random() < 0.8:
                message["recipient"] = f"functions.{rng.choice(NAMES)}"
                message["content_type"] = rng.choice(["<|constrain|>json", "json", "code"])
            elif rng.random() < 0.05:
                message["recipient"] = "all"
        messages.append(message)
    if not any("channel" in one or isinstance(one["content"], list) for one in messages):
        messages.append({"role": "assistant", "channel": "final", "content": "Yes."})
    options = {"addGenerationPrompt": rng.random() < 0.6, "variables": {}}
    if rng.random() < 0.3:
        options["variables"]["auto_drop_analysis"] = rng.random() < 0.5
    return {"messages": messages, "options": options}


def template_text(template, case):
    options = case["options"]
    variables = {**options["variables"], "tools": options.get("tools"), "add_generation_prompt": options["addGenerationPrompt"]}
    try:
        return template.render(messages=case["messages"], **variables)
    except (Refused, TemplateError, TypeError) as error:
        return error


def harmony_ids(encoding, case):
    conversation = Conversation.from_json(json.dumps({"messages": case["messages"]}))
    config = RenderConversationConfig(auto_drop_analysis=case["options"]["variables"].get("auto_drop_analysis", True))
    if case["options"]["addGenerationPrompt"]:
        return encoding.render_conversation_for_completion(conversation, Role.ASSISTANT, config)
    return encoding.render_conversation(conversation, config)


RENDER = """
import fs from 'node:fs'
import { Tokenizer } from '%s'
const tokenizer = Tokenizer.fromEncodingSync('o200k_harmony')
const cases = JSON.parse(fs.readFileSync(0, 'utf8'))
console.log(JSON.stringify(cases.map(({ messages, options }, i) => {
  const variables = { ...options.variables, ...(i < %d ? { strftime_now: () => '%s' } : {}) }
  try {
    const text = tokenizer.applyChatTemplate(messages, { ...options, variables, tokenize: false })
    return { text, ids: [...tokenizer.applyChatTemplate(messages, { ...options, variables }).ids] }
  } catch (error) {
    return { error: `${error.code} ${error.message}` }
  }
})))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("template")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    chats = [chat(rng) for _ in range(options.count)]
    others = [harmony(rng) for _ in range(options.count)]
    index = Path(__file__).resolve().parents[3] / "index.mjs"
    source = RENDER % (index.as_uri(), len(chats), DATE)
    run = subprocess.run(["node", "--input-type=module", "-e", source], input=json.dumps(chats + others), capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    template = template_of(options.template)
    encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
    differing = lenient = refused = 0
    recorded = []
    for case, own in zip(chats, found):
        expected = template_text(template, case)
        if isinstance(expected, str):
            if own.get("text") != expected:
                differing += 1
                if differing <= 3:
                    print(json.dumps(case, ensure_ascii=False), "\n", expected, "\n", own, file=sys.stderr)
            recorded.append({**case, "text": expected})
        elif "error" in own:
            refused += 1
            recorded.append({**case, "error": True})
        else:
            lenient += 1
    print(f"{len(chats)} chats: {differing} differ from the chat template, {refused} are refused by both, {lenient} fail in the template only")
    wrong = 0
    for case, own in zip(others, found[len(chats):]):
        try:
            ids = harmony_ids(encoding, case)
        except Exception as error:
            ids = error
        if isinstance(ids, list) and own.get("ids") != ids:
            wrong += 1
            if wrong <= 3:
                print(json.dumps(case, ensure_ascii=False), "\n", encoding.decode(ids), "\n", own.get("text", own), file=sys.stderr)
        if isinstance(ids, Exception) and "error" not in own:
            wrong += 1
            print(json.dumps(case, ensure_ascii=False), repr(ids), file=sys.stderr)
        if isinstance(ids, list):
            recorded.append({**case, "ids": ids})
    print(f"{len(others)} conversations: {wrong} differ from openai-harmony")
    if options.record:
        Path(options.record).write_text(json.dumps(recorded, ensure_ascii=False, separators=(",", ":")) + "\n")
    sys.exit(differing + wrong > 0)


main()
