"""Records the masks of chats with `{% generation %}` from transformers, for spec chat/masks.

    python tools/data/make_mask_cases.py

Needs transformers 5.24 and tokenizers 0.23.3. Writes __test__/testdata/chat/masks.json.
"""

import json
import random
from pathlib import Path

from transformers import PreTrainedTokenizerFast

DATA = Path(__file__).parent.parent.parent / "__test__" / "testdata" / "chat"
TURN = "{{ '<|im_start|>' + m.role + '\n' }}"
END = "{{ '<|im_end|>\n' }}"
OWN = "{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{{ '<|im_end|>' }}{% endgeneration %}{% else %}{{ m.content }}{{ '<|im_end|>' }}{% endif %}{{ '\n' }}"
TEMPLATES = {
    "turns": "{% for m in messages %}" + TURN + OWN + "{% endfor %}",
    "parts of a turn": "{% for m in messages %}" + TURN + "{% generation %}{{ m.content[:2] }}{% endgeneration %}-{%- generation -%} {{ m.content[2:] }} {% endgeneration %}" + END + "{% endfor %}",
    "in a macro": "{% macro turn(m) %}abc{% generation %}{{ m.content }}{% endgeneration %}{% endmacro %}{% for m in messages %}{{ turn(m) }}{% endfor %}",
    "in a block": "{% set x %}{% for m in messages %}" + OWN + "{% endfor %}{% endset %}<s>{{ x }}",
    "in a filter": "{% for m in messages %}{% filter upper %}{{ m.role }}{% generation %}{{ m.content }}{% endgeneration %}{% endfilter %}{% endfor %}",
    "nested": "{% for m in messages %}{% generation %}a{% generation %}{{ m.content }}{% endgeneration %}b{% endgeneration %}c{% endfor %}",
    "recursive": "{% for m in messages recursive %}ab{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}",
    "empty": "{% for m in messages %}{% generation %}{% endgeneration %}{{ m.content }}{% endfor %}",
    "none": "{% for m in messages %}" + TURN + "{{ m.content }}" + END + "{% endfor %}",
}
CONTENTS = ["Hello", "", " ", "naïve 😀👩‍👧 done", "a <|im_end|> b", "日本語", "  spaces  ", "Hello world, hello", "\n\nx\n"]
ROLES = ["system", "user", "assistant"]


def main():
    rng = random.Random(46)
    cases = []
    for name, template in TEMPLATES.items():
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_file=str(DATA / "tokenizer.json"), chat_template=template, pad_token="<s>", model_max_length=1000
        )
        for _ in range(12):
            messages = [{"role": rng.choice(ROLES), "content": rng.choice(CONTENTS)} for _ in range(rng.randint(1, 4))]
            options = rng.choice([{}, {}, {"truncation": True, "max_length": 9}, {"padding": "max_length", "max_length": 60}])
            made = tokenizer.apply_chat_template(
                messages, return_assistant_tokens_mask=True, return_dict=True, **options
            )
            cases.append({
                "name": name, "messages": messages, "options": options, "ids": made["input_ids"], "mask": made["assistant_masks"],
            })
    (DATA / "masks.json").write_text(json.dumps({"templates": TEMPLATES, "cases": cases}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
