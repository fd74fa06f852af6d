#!/usr/bin/env python3
"""Compares the package with PyPI tokenizers 0.23.3 and tiktoken 0.14.0 on random tokenizers and random texts.

For maintainers; not part of `npm test`.

    python3 -m venv .cache/differential && .cache/differential/bin/pip install tokenizers==0.23.3 tiktoken==0.14.0
    .cache/differential/bin/python scripts/differential.py [--seed 1] [--tokenizers 50] [--texts 60]
        [--components byte-level|all|ranks] [--columns ids|all] [--save .cache/differences]

`byte-level` makes files like those of GPT-2, Llama 3 and Qwen 2, `all` has every component, `ranks` makes rank files for
tiktoken. Tokenizer number n of a run is that of seed SEED + n alone, so `--seed <the seed printed> --tokenizers 1` repeats
it. A difference is made small, both its text and its tokenizer, printed, and saved with the tokenizer.json. What the package
refuses to load is counted by reason; what the library itself cannot load is left out as unreadable. Exit status 1 when
anything differs.
"""

import argparse
import base64
import collections
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import tiktoken
import tokenizers
from tokenizers import Tokenizer

sys.dont_write_bytecode = True  # no __pycache__ beside the scripts

from differential_cases import random_ranks, random_text, random_tokenizer

EXPECTED_VERSIONS = {tokenizers: "0.23.3", tiktoken: "0.14.0"}
SHRINK_CALLS = 3000  # encodings spent on making one difference small


class Refused(Exception):
    """The package does not load a tokenizer."""


class Package:
    """The package in a Node process, asked through JSON lines."""

    def __init__(self):
        worker = pathlib.Path(__file__).with_name("differential-worker.mjs")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": sys.stderr}
        self.process = subprocess.Popen(["node", str(worker)], **pipes)
        self.abilities = self.ask({"abilities": True})

    def ask(self, request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the Node process ended at the request {json.dumps(request)[:2000]}")
        return json.loads(line)


class HuggingFace:
    """A tokenizer.json, loaded by PyPI tokenizers."""

    format = "hf"

    def __init__(self, definition):
        self.tokenizer = Tokenizer.from_str(json.dumps(definition))
        self.vocab_size = self.tokenizer.get_vocab_size()

    @staticmethod
    def file(definition):
        return definition

    def answer(self, request):
        options = request["options"]
        if "decode" in request:
            return {"text": self.tokenizer.decode(request["decode"], skip_special_tokens=options["skipSpecialTokens"])}
        self.tokenizer.encode_special_tokens = options.get("encodeSpecialTokens", False)
        self.tokenizer.no_truncation()
        if truncation := options.get("truncation"):
            self.tokenizer.enable_truncation(
                truncation["maxLength"],
                stride=truncation["stride"],
                strategy=truncation["strategy"],
                direction=truncation["direction"],
            )
        encoding = self.tokenizer.encode(
            request["encode"],
            options.get("pair"),
            is_pretokenized=options.get("pretokenized", False),
            add_special_tokens=options["addSpecialTokens"],
        )
        return columns_of(encoding)


class Tiktoken:
    """Ranks, a pattern and special tokens, loaded by PyPI tiktoken."""

    format = "tiktoken-npm"

    def __init__(self, definition):
        ranks = {base64.b64decode(token): rank for token, rank in definition["ranks"]}
        self.encoding = tiktoken.Encoding(
            "random", pat_str=definition["pat_str"], mergeable_ranks=ranks, special_tokens=definition["special_tokens"]
        )
        self.vocab_size = self.encoding.n_vocab

    @staticmethod
    def file(definition):
        """The notation of the npm package tiktoken, which is what the adapter reads."""
        lines = [f"! {rank} {token}" for token, rank in definition["ranks"]]
        return definition | {"bpe_ranks": "\n".join(lines)}

    def answer(self, request):
        if "decode" in request:
            return {"text": self.encoding.decode(request["decode"])}
        if request["options"]["addSpecialTokens"]:
            return {"ids": self.encoding.encode(request["encode"], allowed_special="all")}
        return {"ids": self.encoding.encode_ordinary(request["encode"])}


class Pair:
    """One tokenizer, loaded by the library and by the package."""

    def __init__(self, package, library, definition, columns):
        self.package, self.columns = package, columns
        self.load_library = lambda: library(definition)
        self.library = library(definition)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(library.file(definition), file)
            file.flush()
            answer = package.ask({"load": file.name, "format": library.format})
        if "refused" in answer:
            raise Refused(answer["refused"].replace(f"{file.name}: ", ""))

    def difference(self, request):
        """None, or {column: [want, got]} of what differs. A request that the library itself fails on is not compared."""
        want = answer_of(self.library, request)
        if want is None:
            return None
        found = compare(want, self.package.ask(request), self.columns)
        return None if found and self.wavers(request, want) else found

    def wavers(self, request, want):
        """Whether the library disagrees with itself: it keeps added tokens in a hash map, in an order that is random."""
        return any(answer_of(self.load_library(), request) != want for _ in range(8))


def answer_of(library, request):
    """None when the library fails."""
    try:
        return library.answer(request)
    except KeyboardInterrupt:
        raise
    except BaseException:  # its panics are no Exception
        return None


def columns_of(encoding):
    return {
        "ids": encoding.ids,
        "offsets": [offset for pair in encoding.offsets for offset in pair],
        "tokens": encoding.tokens,
        "specialTokensMask": encoding.special_tokens_mask,
        "typeIds": encoding.type_ids,
        "attentionMask": encoding.attention_mask,
        "wordIds": encoding.word_ids,
        "sequenceIds": encoding.sequence_ids,
        "overflowing": [columns_of(part) for part in encoding.overflowing],
    }


def compare(want, got, columns):
    if "threw" in got:
        return {"error": [None, got["threw"]]}
    found = {}
    for column, value in want.items():
        if column == "overflowing" and column in columns:
            parts = itertools.zip_longest(value, got.get(column) or [], fillvalue={"ids": None})
            # What overflows of a part that overflowed (the library nests pairs that way) is in the list itself too.
            flat = [name for name in columns if name != "overflowing"]
            if any(compare(a, b, flat) for a, b in parts):
                found[column] = [value, got.get(column)]
        elif column in ("ids", "text") or column in columns and column != "overflowing":
            if value != got.get(column):
                found[column] = [value, got.get(column)]
    return found or None


def requests(rng, texts, vocab_size, capabilities):
    """All that is asked of one tokenizer."""
    for text in texts:
        yield {"encode": text, "options": {"addSpecialTokens": True}}
        yield {"encode": text, "options": {"addSpecialTokens": False}}
        if "encodeSpecial" in capabilities:
            yield {"encode": text, "options": {"addSpecialTokens": False, "encodeSpecialTokens": True}}
        if "pair" in capabilities:
            yield {"encode": text, "options": {"addSpecialTokens": rng.random() < 0.7, "pair": rng.choice(texts)}}
        if "pretokenized" in capabilities:
            yield {"encode": text.split(" "), "options": {"addSpecialTokens": rng.random() < 0.5, "pretokenized": True}}
        if "truncation" in capabilities:
            length = rng.choice([1, 2, 5, 10, 30])
            options = {
                "maxLength": length,
                "stride": rng.randrange(length),
                "strategy": rng.choice(["longest_first", "only_first", "only_second"]),
                "direction": rng.choice(["left", "right"]),
            }
            yield {
                "encode": text,
                "options": {"addSpecialTokens": rng.random() < 0.7, "truncation": options}
                | ({"pair": rng.choice(texts)} if rng.random() < 0.5 and "pair" in capabilities else {}),
            }
        ids = [rng.randrange(vocab_size + 2) for _ in range(rng.randint(0, 12))]
        yield {"decode": ids, "options": {"skipSpecialTokens": "skipSpecial" in capabilities and rng.random() < 0.5}}


def shortened(sequence, still_differs):
    """A shorter sequence that still differs, by leaving out ever smaller parts."""
    size = max(1, len(sequence) // 2)
    while True:
        start, removed = 0, False
        while start < len(sequence):
            candidate = sequence[:start] + sequence[start + size :]
            if still_differs(candidate):
                sequence, removed = candidate, True
            else:
                start += size
        if size == 1 and not removed:
            return sequence
        size = max(1, size // 2)


SHRINKABLE = [
    ("request", "encode"),
    ("request", "decode"),
    ("request", "options", "pair"),
    ("tokenizer", "added_tokens"),
    ("tokenizer", "model", "merges"),
    ("tokenizer", "ranks"),
]
NULLABLE = [("tokenizer", part) for part in ("normalizer", "post_processor", "pre_tokenizer", "decoder")]


def fresh_difference(package, library, case, columns):
    return Pair(package, library, case["tokenizer"], columns).difference(case["request"])


def shrink(package, library, case, columns):
    """A smaller case, {"tokenizer", "request"}, in which one of the same columns still differs."""
    wanted = set(fresh_difference(package, library, case, columns) or ())
    calls = 0

    def differs(candidate):
        nonlocal calls
        calls += 1
        if calls > SHRINK_CALLS:
            return False
        try:
            found = fresh_difference(package, library, candidate, columns)
        except Exception:  # one of the two does not load it
            return False
        return bool(found) and bool(wanted & set(found))

    def shorten(case, path):
        if value_at(case, path) is None:
            return case
        shorter = shortened(value_at(case, path), lambda value: differs(with_value(case, path, value)))
        return with_value(case, path, shorter)

    for path in NULLABLE:
        if value_at(case, path) is None:
            continue
        without = with_value(case, path, None)
        if differs(without):
            case = without
    # Twice, because fewer merges and added tokens often let the text become shorter still.
    for path in SHRINKABLE * 2:
        case = shorten(case, path)
    return case


def value_at(tree, path):
    for key in path:
        tree = tree.get(key)
        if tree is None:
            return None
    return tree


def with_value(tree, path, value):
    """A copy of nested dicts with one value replaced."""
    key, *rest = path
    return tree | {key: with_value(tree[key], rest, value) if rest else value}


def save(folder, case, found):
    folder.mkdir(parents=True, exist_ok=True)
    differences = {column: {"want": want, "got": got} for column, (want, got) in found.items()}
    answers = {"request": case["request"], "differences": differences}
    (folder / "tokenizer.json").write_text(json.dumps(case["tokenizer"], ensure_ascii=False, indent=1))
    (folder / "case.json").write_text(json.dumps(answers, ensure_ascii=False, indent=1))

    tokenizer = {key: value for key, value in case["tokenizer"].items() if key != "ranks"}
    if "model" in tokenizer:
        tokenizer["model"] = {key: value for key, value in tokenizer["model"].items() if key != "vocab"}
    print(f"\n{', '.join(found)} differ; saved in {folder}")
    print(f"  request   {json.dumps(case['request'])}")
    for column, (want, got) in found.items():
        print(f"  {column}: want {json.dumps(want)}\n  {column}: got  {json.dumps(got)}")
    print(f"  tokenizer {json.dumps(tokenizer, ensure_ascii=False)[:1500]}", flush=True)


def silence_panics():
    """The libraries write each panic to the file of standard errors; Python and Node keep a copy of it for their own."""
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tokenizers", type=int, default=50)
    parser.add_argument("--texts", type=int, default=60, help="texts a tokenizer")
    parser.add_argument("--components", choices=["byte-level", "all", "ranks"], default="byte-level")
    parser.add_argument(
        "--columns", choices=["ids", "all"], default="all", help="ids (and decoded text) only, or all columns the package has"
    )
    parser.add_argument("--save", type=pathlib.Path, default=pathlib.Path(".cache/differences"))
    arguments = parser.parse_args()
    for library, version in EXPECTED_VERSIONS.items():
        if library.__version__ != version:
            raise SystemExit(f"the package promises to equal {library.__name__} {version}; installed is {library.__version__}")

    silence_panics()
    library = Tiktoken if arguments.components == "ranks" else HuggingFace
    package = Package()
    # tiktoken has neither the option to skip special tokens nor anything beyond encode and decode.
    capabilities = [] if library is Tiktoken else ["skipSpecial", *package.abilities["capabilities"]]
    columns = package.abilities["columns"] if arguments.columns == "all" else []
    counts = collections.Counter()
    reasons = collections.Counter()
    for seed in range(arguments.seed, arguments.seed + arguments.tokenizers):
        rng = random.Random(seed)
        try:
            definition = random_ranks(rng) if library is Tiktoken else random_tokenizer(rng, arguments.components)
            library(definition)
        except KeyboardInterrupt:
            raise
        except BaseException:  # most likely a pattern that it does not compile; its panics are no Exception
            counts["unreadable"] += 1
            continue
        try:
            pair = Pair(package, library, definition, columns)
        except Refused as refusal:
            counts["refused"] += 1
            reasons[str(refusal)[:120]] += 1
            continue
        added = list(definition.get("special_tokens", ())) or [token["content"] for token in definition.get("added_tokens", ())]
        texts = [random_text(rng, added) for _ in range(arguments.texts)]
        for request in requests(rng, texts, pair.library.vocab_size, capabilities):
            counts["compared"] += 1
            found = pair.difference(request)
            if found:
                counts["differing"] += 1
                case = shrink(package, library, {"tokenizer": definition, "request": request}, columns)
                # Freshly loaded the two may agree, when one of them remembers what it was asked before.
                save(arguments.save / f"seed-{seed}", case, fresh_difference(package, library, case, columns) or found)
                break
    for reason, number in reasons.most_common():
        print(f"refused {number} times: {reason}")
    names = ("unreadable", "refused", "differing", "compared")
    print(f"{arguments.tokenizers} tokenizers;", ", ".join(f"{name} {counts[name]}" for name in names))
    sys.exit(1 if counts["differing"] else 0)


if __name__ == "__main__":
    main()
