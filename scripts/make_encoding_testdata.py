#!/usr/bin/env python3
"""Writes golden data of the bundled encodings that the conformance kit has none of. For maintainers.

    python3 -m venv .cache/golden && .cache/golden/bin/pip install tiktoken==0.14.0
    .cache/golden/bin/python scripts/make_encoding_testdata.py

Run it after make-testdata.mjs: it takes the texts of core/testdata/conformance and answers them with tiktoken, in the same
kinds of records. The ranks are the files in encodings/, so nothing is downloaded.
"""

import gzip
import json
import pathlib
import random

import tiktoken
import tiktoken_ext.openai_public as published
from tiktoken.load import load_tiktoken_bpe

ROOT = pathlib.Path(__file__).parent.parent
GOLDEN = ROOT / "core/testdata/conformance"
VERSION = "0.14.0"
KEEP_RANDOM = 3  # every third random case, as make-testdata.mjs does


def bundled(url, expected_hash):
    """Stands in for tiktoken's download of a rank file."""
    return load_tiktoken_bpe(str(ROOT / "encodings" / url.rpartition("/")[2]), expected_hash=expected_hash)


def records(encoding, cases, rng):
    for case in cases:
        name, text = case["id"], case["text"]
        every = encoding.encode(text, allowed_special="all")
        ordinary = encoding.encode_ordinary(text)
        yield {"k": "e", "c": name, "a": 1, "ids": every}
        yield {"k": "e", "c": name, "a": 0} | ({"same": 1} if ordinary == every else {"ids": ordinary})
        yield {"k": "d", "c": name, "s0": decoded(encoding, every, text)}
    known = [*encoding._mergeable_ranks.values(), *encoding._special_tokens.values()]
    text = " ".join(encoding._special_tokens)
    yield {"k": "e", "text": text, "a": 1, "ids": encoding.encode(text, allowed_special="all")}
    yield {"k": "e", "text": text, "a": 0, "ids": encoding.encode_ordinary(text)}
    for _ in range(80):
        ids = rng.choices(known, k=rng.randint(1, 20))
        yield {"k": "d2", "ids": ids, "s0": encoding.decode(ids), "hex": encoding.decode_bytes(ids).hex()}


def decoded(encoding, ids, text):
    result = encoding.decode(ids)
    return 0 if result == text else result


def main():
    if tiktoken.__version__ != VERSION:
        raise SystemExit(f"tiktoken {VERSION} is what the package promises to equal, but {tiktoken.__version__} is installed")
    published.load_tiktoken_bpe = bundled
    lines = gzip.decompress((GOLDEN / "cases.jsonl.gz").read_bytes()).decode().rstrip("\n").split("\n")
    cases = [case for case in map(json.loads, lines) if case["id"][0] == "h" or int(case["id"][1:]) % KEEP_RANDOM == 0]
    for name in ("p50k_base", "p50k_edit", "o200k_harmony"):
        encoding = tiktoken.Encoding(**published.ENCODING_CONSTRUCTORS[name]())
        rng = random.Random(name)
        meta = {"k": "meta", "tokenizer": name, "source": "encoding", "oracle": f"tiktoken {VERSION}"}
        found = [meta, *records(encoding, cases, rng)]
        text = "".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in found)
        file = GOLDEN / "golden" / f"{name}.jsonl.gz"
        file.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
        print(f"{file.relative_to(ROOT)}  {len(found)} records  {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
