"""Compares tokenlane with llama.cpp: makes GGUF files with vocabularies alone, of all kinds and
with all flags, and compares the ids of `llama_tokenize` for random texts.

    npm run maintain -- gguf --models FOLDER --library FOLDER [--texts 300] [--seed 1]
        [--only PATTERN] [--variant PATTERN] [--codes]

The first FOLDER has the vocabularies of llama.cpp, `ggml-vocab-*.gguf`: `models/` of its
repository, and of the source package of llama-cpp-python (`pip download --no-deps --no-binary
llama-cpp-python llama-cpp-python`). The second one has `libllama*.so`, as `bins/linux-x64` of the
npm package `@node-llama-cpp/linux-x64`. Texts mix twenty scripts, white space, marks, numbers,
hashes, control tokens and other tokens of the file; each is encoded with or without special tokens
around it, and with control tokens found or not. `--only` chooses files by their names, `--variant`
what is changed in them. With `--codes`, each code point is in a text too, between letters and
behind others. Code points that Python does not know are left out: libllama does not know Unicode
16. The published pairs (`*.gguf.inp`, `*.gguf.out`) are compared as well. The exit status is 1 if
an answer differs; docs/guide/gguf.md names the cases that may.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unicodedata

from libllama import Library
from metadata import BOOL, FLOAT32, INT32, LIST, TEXT, UINT32, read, write

HERE = pathlib.Path(__file__).parent
DATA = json.loads((HERE / "texts.json").read_text("utf-8"))
SEPARATOR = "\n__ggml_vocab_test__\n"
PREFIX = "tokenizer.ggml."
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def known(text):
    return "".join(character for character in text if unicodedata.category(character) != "Cn")


# A code point beside others, 32 in a text.
CODES = known(chr(code) for code in range(1, 0x30000) if not 0xD800 <= code < 0xE000)
CODE_TEXTS = [
    "\n".join(form.format(code) for code in CODES[start : start + 32])
    for form in ["a{}b", " \x05{}", "1{}\u0c3e", "{}'s"]
    for start in range(0, len(CODES), 32)
]


def flags(**values):
    """Values by their keys behind `tokenizer.ggml.`; None removes one."""
    kinds = {bool: BOOL, int: UINT32, str: TEXT}
    return {PREFIX + key: value if value is None or isinstance(value, tuple) else (kinds[type(value)], value)
            for key, value in values.items()}


def retyped(values, draw, share, kinds):
    """The types of tokens, with a share of those of normal tokens changed."""
    entry, types = values.get(PREFIX + "token_type", (LIST, (INT32, [NORMAL] * len(values[PREFIX + "tokens"][1][1]))))[1]
    return LIST, (entry, [draw.choice(kinds) if kind == NORMAL and draw.random() < share else kind for kind in types])


def combined(name, names):
    """All combinations of flags."""
    for bits in range(2 ** len(names)):
        chosen = {flag: bool(bits >> index & 1) for index, flag in enumerate(names)}
        yield name + "".join(f" {'+' if value else '-'}{flag}" for flag, value in chosen.items()), flags(**chosen)


def changes(name, values, draw):
    """The names of variants of a file, and the values that they change."""
    yield name, {}
    model = values[PREFIX + "model"][1].decode()
    yield f"{name} without token_type", flags(token_type=None)
    kinds = [CONTROL, UNKNOWN] if model == "t5" else [CONTROL, UNKNOWN, USER_DEFINED]
    yield f"{name} with other types", {PREFIX + "token_type": retyped(values, draw, 0.002, kinds)}
    yield f"{name} with unused tokens", {PREFIX + "token_type": retyped(values, draw, 0.2, [UNUSED])}
    yield f"{name} named phi-3", {"general.name": (TEXT, "Phi-3 mini")} if b"</s>" in values[PREFIX + "tokens"][1][1] else {}
    if model == "gpt2":
        yield from combined(name, ["add_bos_token", "add_eos_token", "add_sep_token"])
        yield f"{name} without ids", flags(bos_token_id=None, eos_token_id=None, add_bos_token=True, add_eos_token=True)
    if model == "llama":
        yield from combined(name, ["add_bos_token", "add_eos_token", "add_space_prefix"])
        yield f"{name} without scores", flags(scores=None)
        scores = [round(score) for score in values[PREFIX + "scores"][1][1]]
        yield f"{name} with whole scores", flags(scores=(LIST, (INT32, scores)))
        yield f"{name} with few scores", flags(scores=(LIST, (FLOAT32, [float(draw.randrange(3)) for _ in scores])))
    if model == "t5":
        yield from combined(name, ["add_space_prefix", "remove_extra_whitespaces", "add_bos_token", "add_eos_token"])
        yield f"{name} without flags", flags(add_space_prefix=None, remove_extra_whitespaces=None, add_bos_token=None)
        yield f"{name} without a charsmap", flags(precompiled_charsmap=None)
    if model == "bert":
        yield from combined(name, ["normalizer.lowercase", "normalizer.strip_accents"])
        yield f"{name} in capitals", {PREFIX + "normalizer.lowercase": (BOOL, False)}
    if name == "llama-bpe":
        for pre in DATA["pre"]:
            yield f"{name} as {pre}", flags(pre=pre)
    if name == "gemma-4":
        for pre in ["gemma4", "sarvam-moe", "granite-embed-multi-311m"]:
            yield f"gemma-4 as {pre}", flags(model="gpt2", pre=pre)


def parts_of(values, draw):
    """Texts of the file: its control tokens and the like, and some of its other tokens."""
    tokens = values[PREFIX + "tokens"][1][1]
    types = values[PREFIX + "token_type"][1][1] if PREFIX + "token_type" in values else [NORMAL] * len(tokens)
    others = [token for token, kind in zip(tokens, types) if kind in (CONTROL, USER_DEFINED, UNKNOWN, UNUSED)]
    return [token.decode() for token in draw.sample(others, min(len(others), 60)) + draw.sample(tokens, 60)]


def text(draw, parts):
    chosen = []
    for _ in range(draw.randrange(1, 12)):
        kind = draw.randrange(5)
        if kind == 0:
            line = draw.choice(DATA["scripts"])
            start = draw.randrange(len(line))
            chosen.append(line[start : start + draw.randrange(1, 24)])
        elif kind == 1:
            chosen.append(draw.choice(parts))
        elif kind == 2:
            ranges = [(1, 0x20), (1, 0x250), (0x300, 0x3200)]
            chosen.append("".join(chr(draw.randrange(*draw.choice(ranges))) for _ in range(3)))
        else:
            chosen.append(draw.choice(DATA["pieces"]))
    return "".join(chosen)


class Worker:
    def __init__(self):
        self.process = subprocess.Popen(["node", HERE / "worker.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ids(self, file, requests):
        self.process.stdin.write(json.dumps({"file": str(file), "requests": requests}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def published(path):
    """The texts that llama.cpp publishes with ids for a file."""
    if not pathlib.Path(f"{path}.inp").exists():
        return [], []
    texts = pathlib.Path(f"{path}.inp").read_text("utf-8").split(SEPARATOR)
    lines = pathlib.Path(f"{path}.out").read_text("utf-8").split("\n") + [""]
    return texts, [[int(id) for id in line.split()] for line in lines[: len(texts)]]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--models", type=pathlib.Path, required=True)
    arguments.add_argument("--library", type=pathlib.Path, required=True)
    arguments.add_argument("--texts", type=int, default=300)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--variant", default="")
    arguments.add_argument("--codes", action="store_true")
    arguments = arguments.parse_args()
    library, worker, draw = Library(arguments.library), Worker(), random.Random(arguments.seed)
    answers = differences = 0
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "vocabulary.gguf"
        for path in sorted(arguments.models.glob("ggml-vocab-*.gguf")):
            base = path.stem.removeprefix("ggml-vocab-")
            if not re.search(arguments.only, base):
                continue
            original = read(path)
            for name, change in changes(base, original, draw):
                if not re.search(arguments.variant, name.removeprefix(base)):
                    continue
                values = {key: value for key, value in {**original, **change}.items() if value is not None}
                write(file, values)
                model = library.load(file)
                if model is None:
                    print(f"{name}: llama.cpp does not load it", flush=True)
                    continue
                parts = parts_of(values, draw)
                texts = ["", " ", "  ", "\n"] + [known(text(draw, parts)) for _ in range(arguments.texts)]
                if arguments.codes:
                    texts += CODE_TEXTS
                if values[PREFIX + "model"][1] == b"bert":
                    texts = [one.replace("▁", "") for one in texts]
                requests = [(one, draw.random() < 0.5, draw.random() < 0.5) for one in texts]
                wanted = [model.ids(*request) for request in requests]
                if not change:
                    given, ids = published(path)
                    requests += [(one, False, False) for one in given]
                    wanted += ids
                model.free()
                found = worker.ids(file, requests)
                if isinstance(found, str):
                    print(f"{name}: {found}", flush=True)
                    differences += "UNSUPPORTED" not in found
                    continue
                wrong = [case for case in zip(requests, wanted, found) if case[1] != case[2]]
                answers += len(requests)
                differences += len(wrong)
                print(f"{name}: {len(requests)} texts, {len(wrong)} differ", flush=True)
                for request, expected, answer in sorted(wrong, key=lambda case: len(case[0][0]))[:3]:
                    print(f"  {request!a}\n    llama.cpp {expected}\n    tokenlane {answer}", flush=True)
    print(f"{answers} answers, {differences} differ")
    sys.exit(differences > 0 or answers == 0)


main()
