#!/usr/bin/env python3
"""Records the references' answers to the cases of the tests again. For maintainers.

    python3 -m venv .cache/record
    .cache/record/bin/pip install transformers==5.24.0 jinja2==3.1.6 tokenizers==0.23.3 \
        sentencepiece==0.2.3
    .cache/record/bin/python tools/data/record.py chats masks outputs folders sentencepiece \
        components

The recorded files hold the cases: templates, conversations, calls, files and texts. The script
reads them, asks the reference, and writes the answers. To add a case, add it to its file without an
answer. With the versions above nothing changes.
"""

import gzip
import json
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TESTDATA = ROOT / "__test__" / "testdata"
CHAT = TESTDATA / "chat"
CORE = ROOT / "crates" / "core" / "testdata"
COMPACT = {"ensure_ascii": False, "separators": (",", ":")}


def pack(file, text):
    file.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def unpack(file):
    return gzip.decompress(file.read_bytes()).decode()


def change(file, answer, **style):
    """Reads a JSON file, lets `answer` fill in the answers, and writes it."""
    value = json.loads(file.read_text("utf-8"))
    answer(value)
    file.write_text(json.dumps(value, ensure_ascii=False, **style) + "\n", "utf-8")


def answer_or_error(case, answers):
    """A case without its answers, and with those of a function, or with the type of its error."""
    asked = {name: value for name, value in case.items() if name not in ("text", "ids", "error")}
    try:
        return asked | answers()
    except Exception as error:
        return asked | {"error": type(error).__name__}


def chats():
    """Chats of transformers, templates of jinja2, and what a template of jinja2 can name."""
    from jinja2 import defaults, filters, parser, tests
    from markupsafe import Markup
    from transformers import PreTrainedTokenizerFast, tokenization_utils_base
    from transformers.utils.chat_template_utils import render_jinja_template

    # apply_chat_template of transformers 5.24 removes message fields that are None before it
    # renders. Templates are written for None, which versions up to 5.16 and
    # @huggingface/transformers pass on, and so does tokenlane.
    tokenization_utils_base._normalize_chat_messages = lambda messages: messages
    python = {"addGenerationPrompt": "add_generation_prompt", "continueFinalMessage": "continue_final_message", "chatTemplate": "chat_template"}

    def render(messages, source, variables, **given):
        return render_jinja_template([messages], chat_template=source, **given, **variables)[0][0]

    def of_styles(file):
        for style, config in file["styles"].items():
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "tokenizer.json").write_bytes((CHAT / "tokenizer.json").read_bytes())
                Path(folder, "tokenizer_config.json").write_text(json.dumps(config))
                loaded = PreTrainedTokenizerFast.from_pretrained(folder)

            def answers(case):
                options = {python.get(name, name): value for name, value in case["options"].items()}
                options |= options.pop("variables", {})
                messages = file["chats"][case["chat"]]
                text = loaded.apply_chat_template(messages, tokenize=False, **options)
                return {"text": text, "ids": loaded.apply_chat_template(messages, return_dict=False, **options)}

            for at, case in enumerate(file["cases"]):
                if case["style"] == style:
                    file["cases"][at] = answer_or_error(case, lambda: answers(case))

    def of_templates(file):
        def answers(source):
            return {"text": render(file["messages"], source, file["variables"])}

        file["cases"] = [[source, answer_or_error({}, lambda: answers(source)).get("text")] for source, *_ in file["cases"]]
        # A text with the address of an object is another one in each run.
        file["cases"] = [case for case in file["cases"] if " at 0x" not in (case[1] or "")]

    def of_clients(file):
        styles = json.loads((CHAT / "chats.json").read_text("utf-8"))["styles"]

        def answers(case):
            config = styles[case["style"]]
            templates = config["chat_template"]
            source = templates if isinstance(templates, str) else next(one["template"] for one in templates if one["name"] == "tool_use")
            tokens = {name: token["content"] if isinstance(token, dict) else token for name, token in config.items() if name.endswith("_token") and token}
            return {"text": render(file["clients"][case["client"]], source, tokens, tools=file["tools"])}

        file["cases"] = [answer_or_error(case, lambda: answers(case)) for case in file["cases"]]

    def names(file):
        values = {"'x'": "x", "('x'|safe)": Markup("x"), "1": 1, "1.5": 1.5, "[1]": [1], "(1,)": (1,), "{'a': 1}": {"a": 1}, "range(2)": range(2), "{}.keys()": {}.keys()}
        file |= {
            "statements": sorted(parser._statement_keywords | {"break", "continue", "generation", "filter", "call"}),
            "filters": sorted(filters.FILTERS),
            "tests": sorted(tests.TESTS),
            "functions": sorted(defaults.DEFAULT_NAMESPACE),
            "attributes": {written: [name for name in dir(value) if not name.startswith("_")] for written, value in values.items()},
        }

    answers = {"chats": of_styles, "templates": of_templates, "random-templates": of_templates, "clients": of_clients, "jinja": names}
    for name, answer in answers.items():
        change(CHAT / f"{name}.json", answer, separators=COMPACT["separators"])


def masks():
    """Masks of chats with `{% generation %}`, of transformers."""
    from transformers import PreTrainedTokenizerFast

    def answer(file):
        for name, template in file["templates"].items():
            tokenizer = PreTrainedTokenizerFast(
                tokenizer_file=str(CHAT / "tokenizer.json"), chat_template=template, pad_token="<s>", model_max_length=1000
            )
            for case in file["cases"]:
                if case["name"] == name:
                    found = tokenizer.apply_chat_template(
                        case["messages"], return_assistant_tokens_mask=True, return_dict=True, **case["options"]
                    )
                    case |= {"ids": found["input_ids"], "mask": found["assistant_masks"]}

    change(CHAT / "masks.json", answer)


def outputs():
    """Calls of tokenizers with post-processors, truncation and padding."""
    from tokenizers import Tokenizer

    def numbers(ids):
        return [-1 if id is None else id for id in ids]

    def row(encoding):
        return {
            "ids": encoding.ids, "o": encoding.offsets, "t": encoding.tokens, "m": encoding.special_tokens_mask,
            "ty": encoding.type_ids, "am": encoding.attention_mask, "w": numbers(encoding.word_ids),
            "sq": numbers(encoding.sequence_ids),
        }

    def overflow(encoding):
        """The overflowing parts. The first part of each text of a pair has its own overflow."""
        return [row(part) | ({"ov": overflow(part)} if part.overflowing else {}) for part in encoding.overflowing]

    def questions(encoding):
        """Lookups for tokens, some of them after the last one, words and offsets."""
        tokens, ids, words, places = range(len(encoding.ids) + 1), range(3), range(4), range(6)
        return {
            "n": encoding.n_sequences,
            "token_to_sequence": [encoding.token_to_sequence(token) for token in [*tokens, len(tokens)]],
            "token_to_chars": [encoding.token_to_chars(token) for token in tokens],
            "token_to_word": [encoding.token_to_word(token) for token in tokens],
            "word_to_tokens": [[encoding.word_to_tokens(word, id) for word in words] for id in ids],
            "word_to_chars": [[encoding.word_to_chars(word, id) for word in words] for id in ids],
            "char_to_token": [[encoding.char_to_token(place, id) for place in places] for id in ids],
            "char_to_word": [[encoding.char_to_word(place, id) for place in places] for id in ids],
        }

    def call(case, definition):
        a, b = case["input"]
        asked = {name: case[name] for name in ("pp", "truncation", "padding", "input", "a")}
        tokenizer = Tokenizer.from_str(definition)

        def encode():
            return tokenizer.encode(a, b, is_pretokenized=isinstance(a, list), add_special_tokens=case["a"] == 1)

        try:
            if case["truncation"]:
                tokenizer.enable_truncation(**case["truncation"])
            if case["padding"]:
                tokenizer.enable_padding(**case["padding"])
            encoding = encode()
        except BaseException as error:  # a panic is not an Exception
            return asked | {"err": str(error)}
        asked |= row(encoding) | {"ov": overflow(encoding)}
        if "questions" not in case:
            return asked
        answers = questions(encoding)
        # For a token that is in two texts, the reference returns one of these texts at random.
        if any(questions(encode()) != answers for _ in range(12)):
            del answers["token_to_sequence"]
        return asked | {"questions": answers}

    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # hides the messages of panics
    file = CORE / "outputs.jsonl.gz"
    first, *cases = map(json.loads, unpack(file).splitlines())
    definitions = [json.dumps(first["tokenizer"] | {"post_processor": one}) for one in first["post_processors"]]
    records = [first, *(call(case, definitions[case["pp"]]) for case in cases)]
    pack(file, "".join(json.dumps(record, **COMPACT) + "\n" for record in records))


def folders():
    """Folders of models as AutoTokenizer of transformers loads them."""
    sys.path.insert(0, str(ROOT / "tools" / "compare" / "model-folders"))
    import compare
    import transformers

    file = TESTDATA / "folder-configs.json.gz"
    data = json.loads(unpack(file))
    data["transformers"] = transformers.__version__
    for case in data["cases"]:
        base = case["base"]
        tokenizer = json.loads((compare.SYNTHETIC / f"{base}.json").read_text("utf-8")) if isinstance(base, str) else base
        with tempfile.TemporaryDirectory() as root:
            folder = Path(root) / "folder"
            compare.write(folder, {**tokenizer, **case["changes"]}, case["files"])
            answer = compare.reference(str(folder), case["texts"], list(case["rows"]))
        case |= {name: answer[name] for name in ("class", "ids", "bare", "pairs")}
        # The reference decodes its own ids too; the recorded rows have them.
        case |= {name: answer[name][: len(case["rows"])] for name in ("decoded", "skipped")}
    pack(file, json.dumps(data, ensure_ascii=False))


def sentencepiece():
    """Texts and ids of the models of crates/core/testdata/sentencepiece."""
    sys.path.insert(0, str(ROOT / "tools" / "compare" / "sentencepiece"))
    import sentencepiece as spm
    from positions import offsets

    folder = CORE / "sentencepiece"
    data = json.loads(unpack(folder / "cases.json.gz"))
    data["sentencepiece"] = spm.__version__
    for name, cases in data["models"].items():
        model = spm.SentencePieceProcessor(model_file=str(folder / f"{name}.model"))
        cases["texts"] = [
            [text, model.encode(text), model.encode(text, out_type=str), offsets(text, model.encode(text, return_type="proto").pieces)["byte"]]
            for text, *_ in cases["texts"]
        ]
        cases["rows"] = [[ids, model.decode(ids)] for ids, *_ in cases["rows"]]
    pack(folder / "cases.json.gz", json.dumps(data, ensure_ascii=False))


def components():
    """The parts of a tokenizer.json that single components of tokenizers become."""
    import tokenizers

    file = TESTDATA / "components.json"
    data = json.loads(file.read_text("utf-8"))
    lines = []
    for case in data["cases"]:
        module, name, args, options = case["reference"]
        args = [tuple(arg) if isinstance(arg, list) else arg for arg in args]
        if "special_tokens" in options:
            options = options | {"special_tokens": [tuple(token) for token in options["special_tokens"]]}
        component = getattr(getattr(tokenizers, module), name)(*args, **options)
        lines.append(json.dumps(case | {"json": json.loads(component.__getstate__())}, ensure_ascii=False))
    head = f'{{"tokenizers":"{tokenizers.__version__}","cases":[\n'
    file.write_text(head + ",\n".join(lines) + "\n]}\n", "utf-8")


RECORDS = {record.__name__: record for record in (chats, masks, outputs, folders, sentencepiece, components)}
if not sys.argv[1:] or not set(sys.argv[1:]) <= set(RECORDS):
    sys.exit(f"usage: record.py NAME…, of {', '.join(RECORDS)}")
for name in sys.argv[1:]:
    RECORDS[name]()
