"""Writes __test__/testdata/chat.

The files have the results of transformers for conversations, and of jinja2 for expressions. For
maintainers; not part of `npm test`. transformers loads each style from a folder and applies its
template, so that the cases cover tokenizer_config.json as well as templates.

    python3 -m venv .cache/chat
    .cache/chat/bin/pip install transformers==5.24.0 jinja2==3.1.6 tokenizers==0.23.3
    .cache/chat/bin/python tools/data/make_chat_cases.py
"""

import json
import random
import tempfile
from pathlib import Path

from jinja2 import defaults, filters, parser, tests
from markupsafe import Markup
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast, tokenization_utils_base
from transformers.utils.chat_template_utils import render_jinja_template

from chat.conversations import CHATS, OPTIONS, TIME, WEATHER
from chat import random_templates
from chat.expressions import EXPRESSIONS, TEMPLATES, VARIABLES, layouts
from chat.templates import SPECIAL_TOKENS, STYLES

# apply_chat_template of transformers 5.24 removes message fields that are None before it renders.
# Templates are written for None, which versions up to 5.16 and @huggingface/transformers pass on,
# and so does tokenlane.
tokenization_utils_base._normalize_chat_messages = lambda messages: messages

FOLDER = Path(__file__).parent.parent.parent / "__test__" / "testdata" / "chat"

TOOLS = [WEATHER, TIME]
# Written by tools/compare/chat/record_clients.mjs.
CLIENTS = json.loads((Path(__file__).parent / "chat" / "clients.json").read_text())


def make_tokenizer():
    """A byte-level tokenizer with few merges.

    It adds tokens at the beginning and the end of a text, which a chat must not have twice.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    texts = [json.dumps(chat, ensure_ascii=False) for chat in CHATS.values()]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False))
    tokenizer.add_special_tokens([AddedToken(token, normalized=False) for token in SPECIAL_TOKENS])
    tokenizer.add_tokens(["<think>", "</think>", "<tool_call>"])
    ends = [(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A $B </s>", special_tokens=ends)
    return tokenizer


def names_of_python(options):
    names = {"addGenerationPrompt": "add_generation_prompt", "continueFinalMessage": "continue_final_message", "chatTemplate": "chat_template"}
    return {names.get(name, name): value for name, value in options.items() if name != "variables"} | options.get("variables", {})


def chat_cases(tokenizer):
    for style, config in STYLES.items():
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save(f"{folder}/tokenizer.json")
            Path(folder, "tokenizer_config.json").write_text(json.dumps(config))
            loaded = PreTrainedTokenizerFast.from_pretrained(folder)
        for chat, messages in CHATS.items():
            for options in OPTIONS:
                if options.get("chatTemplate") == "rag" and style != "command":
                    continue
                case = {"style": style, "chat": chat, "options": options}
                try:
                    arguments = names_of_python(options)
                    case["text"] = loaded.apply_chat_template(messages, tokenize=False, **arguments)
                    case["ids"] = loaded.apply_chat_template(messages, return_dict=False, **arguments)
                except Exception as error:
                    case["error"] = type(error).__name__
                yield case


def template_cases():
    sources = ["{{ " + expression + " }}" for expression in EXPRESSIONS] + TEMPLATES + list(layouts(random.Random(7), 250))
    for source in dict.fromkeys(sources):
        try:
            yield [source, render_jinja_template([CHATS["turns"]], chat_template=source, **VARIABLES)[0][0]]
        except Exception:
            yield [source, None]


def random_cases():
    for source in random_templates.templates(random.Random(20261125), 250, 700):
        try:
            yield [source, render_jinja_template([CHATS["turns"]], chat_template=source, **random_templates.VARIABLES)[0][0]]
        except Exception:
            yield [source, None]


def client_cases():
    for style, config in STYLES.items():
        templates = config["chat_template"]
        source = templates if isinstance(templates, str) else next(one["template"] for one in templates if one["name"] == "tool_use")
        tokens = {name: token["content"] if isinstance(token, dict) else token for name, token in config.items() if name.endswith("_token") and token}
        for client, messages in CLIENTS.items():
            case = {"style": style, "client": client}
            try:
                case["text"] = render_jinja_template([messages], tools=TOOLS, chat_template=source, **tokens)[0][0]
            except Exception as error:
                case["error"] = type(error).__name__
            yield case


def names_of_jinja():
    """All that a template can name, for the list of tools/compare/chat/refused.mjs."""
    values = {"'x'": "x", "('x'|safe)": Markup("x"), "1": 1, "1.5": 1.5, "[1]": [1], "(1,)": (1,), "{'a': 1}": {"a": 1}, "range(2)": range(2), "{}.keys()": {}.keys()}
    return {
        "statements": sorted(parser._statement_keywords | {"break", "continue", "generation", "filter", "call"}),
        "filters": sorted(filters.FILTERS),
        "tests": sorted(tests.TESTS),
        "functions": sorted(defaults.DEFAULT_NAMESPACE),
        "attributes": {written: [name for name in dir(value) if not name.startswith("_")] for written, value in values.items()},
    }


def write(name, value):
    (FOLDER / name).write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer()
    tokenizer.save(str(FOLDER / "tokenizer.json"), pretty=False)
    cases = list(chat_cases(tokenizer))
    write("chats.json", {"styles": STYLES, "chats": CHATS, "cases": cases})
    templates = [case for case in template_cases() if case[1] is None or " at 0x" not in case[1]]
    write("templates.json", {"variables": VARIABLES, "messages": CHATS["turns"], "cases": templates})
    randoms = [case for case in random_cases() if case[1] is None or " at 0x" not in case[1]]
    write("random-templates.json", {"variables": random_templates.VARIABLES, "messages": CHATS["turns"], "cases": randoms})
    write("jinja.json", names_of_jinja())
    write("clients.json", {"tools": TOOLS, "clients": CLIENTS, "cases": list(client_cases())})
    failed = [case for case in cases if "error" in case]
    print(f"{len(cases)} chats, {len(failed)} of them errors; {len(templates)} templates")


if __name__ == "__main__":
    main()
