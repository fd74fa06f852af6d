#!/usr/bin/env python3
"""Compares the package with PyPI tokenizers 0.23.3 on random tokenizers and random texts. For maintainers; not part of `npm test`.

    python3 -m venv .cache/differential && .cache/differential/bin/pip install tokenizers==0.23.3
    .cache/differential/bin/python scripts/differential.py [--seed 1] [--tokenizers 50] [--texts 60]
        [--components byte-level|all] [--columns ids|all] [--save .cache/differences]

Tokenizer number n of a run is that of seed SEED + n alone, so `--seed <the seed printed> --tokenizers 1` repeats it. A
difference is made small, both its text and its tokenizer, printed, and saved with the tokenizer.json. What the package
refuses to load is counted by reason. Exit status 1 when anything differs.
"""

import argparse
import collections
import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import tokenizers
from tokenizers import Tokenizer

from differential_cases import random_text, random_tokenizer

ORACLE = "0.23.3"
SHRINK_CALLS = 3000  # encodings spent on making one difference small


class Refused(Exception):
    """The package does not load a tokenizer."""


class Package:
    """The package in a Node process, asked through JSON lines."""

    def __init__(self):
        worker = pathlib.Path(__file__).with_name("differential-worker.mjs")
        self.process = subprocess.Popen(["node", str(worker)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.abilities = self.ask({"abilities": True})

    def ask(self, request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the Node process ended at the request {json.dumps(request)[:2000]}")
        return json.loads(line)


class Pair:
    """One tokenizer, loaded by both sides."""

    def __init__(self, package, definition, columns):
        self.package, self.columns = package, columns
        self.oracle = Tokenizer.from_str(json.dumps(definition))
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(definition, file)
            file.flush()
            answer = package.ask({"load": file.name})
        if "refused" in answer:
            raise Refused(answer["refused"])

    def difference(self, request):
        """None, or {column: [want, got]} of what differs. A request that the library itself fails on is not compared."""
        try:
            want = self.expected(request)
        except BaseException as error:  # the library's panics are no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            return None
        return compare(want, self.package.ask(request), self.columns)

    def expected(self, request):
        options = request.get("options", {})
        if "decode" in request:
            return {"text": self.oracle.decode(request["decode"], skip_special_tokens=options["skipSpecialTokens"])}
        self.oracle.encode_special_tokens = options.get("encodeSpecialTokens", False)
        self.oracle.no_truncation()
        if truncation := options.get("truncation"):
            self.oracle.enable_truncation(truncation["maxLength"], stride=truncation["stride"], strategy=truncation["strategy"], direction=truncation["direction"])
        encoding = self.oracle.encode(request["encode"], options.get("pair"), is_pretokenized=options.get("pretokenized", False), add_special_tokens=options["addSpecialTokens"])
        return columns_of(encoding)


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
        if column == "overflowing":
            if column in columns and (len(value) != len(got[column]) or any(compare(a, b, columns) for a, b in zip(value, got[column]))):
                found[column] = [value, got[column]]
        elif column in ("ids", "text") or column in columns:
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
            options = {"maxLength": length, "stride": rng.randrange(length), "strategy": rng.choice(["longest_first", "only_first", "only_second"]), "direction": rng.choice(["left", "right"])}
            yield {"encode": text, "options": {"addSpecialTokens": rng.random() < 0.7, "truncation": options} | ({"pair": rng.choice(texts)} if rng.random() < 0.5 and "pair" in capabilities else {})}
        ids = [rng.randrange(vocab_size + 2) for _ in range(rng.randint(0, 12))]
        yield {"decode": ids, "options": {"skipSpecialTokens": rng.random() < 0.5}}


def shortened(sequence, still_differs):
    """A shorter sequence that still differs, by leaving out ever smaller parts."""
    size = max(1, len(sequence) // 2)
    while True:
        start, removed = 0, False
        while start < len(sequence):
            candidate = sequence[:start] + sequence[start + size:]
            if still_differs(candidate):
                sequence, removed = candidate, True
            else:
                start += size
        if size == 1 and not removed:
            return sequence
        size = max(1, size // 2)


def shrink(package, definition, request, columns):
    """A smaller tokenizer and request with a difference in the same columns."""
    wanted = set(Pair(package, definition, columns).difference(request))
    calls = 0

    def differs(candidate, asked):
        nonlocal calls
        calls += 1
        if calls > SHRINK_CALLS:
            return False
        try:
            found = Pair(package, candidate, columns).difference(asked)
        except Exception:  # either side does not load it
            return False
        return bool(found) and bool(wanted & set(found))

    def shrink_request(asked):
        for key in ("encode", "decode"):
            if key in asked:
                asked = asked | {key: shortened(asked[key], lambda shorter: differs(definition, asked | {key: shorter}))}
        if "pair" in asked.get("options", {}):
            pair = shortened(asked["options"]["pair"], lambda shorter: differs(definition, asked | {"options": asked["options"] | {"pair": shorter}}))
            asked = asked | {"options": asked["options"] | {"pair": pair}}
        return asked

    request = shrink_request(request)
    for part in ("normalizer", "post_processor", "pre_tokenizer", "decoder"):
        without = definition | {part: None}
        if definition[part] is not None and differs(without, request):
            definition = without
    for key, holder in (("added_tokens", None), ("merges", "model")):
        def replaced(items):
            candidate = copy.copy(definition)
            if holder:
                candidate[holder] = definition[holder] | {key: items}
            else:
                candidate[key] = items
            return candidate
        items = definition[holder][key] if holder else definition[key]
        definition = replaced(shortened(items, lambda fewer: differs(replaced(fewer), request)))
    return definition, shrink_request(request)


def save(folder, seed, definition, request, found):
    target = folder / f"seed-{seed}"
    target.mkdir(parents=True, exist_ok=True)
    (target / "tokenizer.json").write_text(json.dumps(definition, ensure_ascii=False, indent=1))
    case = {"request": request, "differences": {column: {"want": want, "got": got} for column, (want, got) in found.items()}}
    (target / "case.json").write_text(json.dumps(case, ensure_ascii=False, indent=1))
    without_vocab = {key: value for key, value in definition.items() if key != "model"}
    without_vocab["model"] = {key: value for key, value in definition["model"].items() if key != "vocab"}
    print(f"\nseed {seed}: {', '.join(found)} differ; saved in {target}")
    print(f"  request   {json.dumps(request)}")
    for column, (want, got) in found.items():
        print(f"  {column}: want {json.dumps(want)}\n  {column}: got  {json.dumps(got)}")
    print(f"  tokenizer {json.dumps(without_vocab, ensure_ascii=False)[:1500]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tokenizers", type=int, default=50)
    parser.add_argument("--texts", type=int, default=60, help="texts a tokenizer")
    parser.add_argument("--components", choices=["byte-level", "all"], default="byte-level")
    parser.add_argument("--columns", choices=["ids", "all"], default="all", help="ids (and decoded text) only, or all columns the package has")
    parser.add_argument("--save", type=pathlib.Path, default=pathlib.Path(".cache/differences"))
    arguments = parser.parse_args()
    if tokenizers.__version__ != ORACLE:
        raise SystemExit(f"tokenizers {ORACLE} is what the package promises to equal, but {tokenizers.__version__} is installed")

    package = Package()
    columns = package.abilities["columns"] if arguments.columns == "all" else []
    counts = collections.Counter()
    reasons = collections.Counter()
    for seed in range(arguments.seed, arguments.seed + arguments.tokenizers):
        rng = random.Random(seed)
        definition = random_tokenizer(rng, arguments.components)
        try:
            pair = Pair(package, definition, columns)
        except Refused as refusal:
            counts["refused"] += 1
            reasons[str(refusal)[:120]] += 1
            continue
        added = [token["content"] for token in definition["added_tokens"]]
        texts = [random_text(rng, added) for _ in range(arguments.texts)]
        for request in requests(rng, texts, pair.oracle.get_vocab_size(), package.abilities["capabilities"]):
            counts["compared"] += 1
            if pair.difference(request):
                counts["tokenizers that differ"] += 1
                small, request = shrink(package, definition, request, columns)
                save(arguments.save, seed, small, request, Pair(package, small, columns).difference(request))
                break
    for reason, number in reasons.most_common():
        print(f"refused {number} times: {reason}")
    print(f"{arguments.tokenizers} tokenizers, {counts['refused']} refused, {counts['compared']} answers compared, {counts['tokenizers that differ']} tokenizers differ")
    sys.exit(1 if counts["tokenizers that differ"] else 0)


if __name__ == "__main__":
    main()
