#!/usr/bin/env python3
"""Adds cases to the golden data that the conformance kit does not have. For maintainers.

    node tools/data/make-testdata.mjs KIT && node tools/data/fetch-vocabularies.mjs
    python3 -m venv .cache/golden
    .cache/golden/bin/pip install tokenizers==0.23.3 tiktoken==0.14.0
    .cache/golden/bin/python tools/data/extend_testdata.py

The cases are records of the encodings p50k_base, p50k_edit and o200k_harmony, made with tiktoken
and the ranks in encodings/, and one `long` record for each tokenizer: all texts of the golden data,
joined.
"""

import gzip
import hashlib
import json
import pathlib
import random
import struct

import tiktoken
import tiktoken_ext.openai_public as published
import tokenizers
from tiktoken.load import load_tiktoken_bpe

ROOT = pathlib.Path(__file__).parent.parent.parent
TESTDATA = ROOT / "crates/core/testdata/conformance"
VERSIONS = {tokenizers: "0.23.3", tiktoken: "0.14.0"}
RANDOM_CASES_PER_KEPT = 3  # one of so many random cases is kept, as in make-testdata.mjs


def bundled_ranks(url, expected_hash):
    """Reads a rank file of this repository, where tiktoken would download it."""
    return load_tiktoken_bpe(str(ROOT / "encodings" / url.rpartition("/")[2]), expected_hash=expected_hash)


def bundled_encoding(name):
    return tiktoken.Encoding(**published.ENCODING_CONSTRUCTORS[name]())


def encoding_records(name, cases):
    """Golden records of a bundled encoding, with the same kinds of records as in the kit."""
    encoding = bundled_encoding(name)
    yield {"k": "meta", "tokenizer": name, "source": "encoding", "oracle": f"tiktoken {tiktoken.__version__}"}
    for case in cases:
        if case["id"][0] == "r" and int(case["id"][1:]) % RANDOM_CASES_PER_KEPT != 0:
            continue
        text = case["text"]
        every = encoding.encode(text, allowed_special="all")
        ordinary = encoding.encode_ordinary(text)
        decoded = encoding.decode(every)
        yield {"k": "e", "c": case["id"], "a": 1, "ids": every}
        yield {"k": "e", "c": case["id"], "a": 0} | ({"same": 1} if ordinary == every else {"ids": ordinary})
        yield {"k": "d", "c": case["id"], "s0": 0 if decoded == text else decoded}
    text = " ".join(encoding._special_tokens)
    yield {"k": "e", "text": text, "a": 1, "ids": encoding.encode(text, allowed_special="all")}
    yield {"k": "e", "text": text, "a": 0, "ids": encoding.encode_ordinary(text)}

    known = [*encoding._mergeable_ranks.values(), *encoding._special_tokens.values()]
    rng = random.Random(name)
    for _ in range(80):
        ids = rng.choices(known, k=rng.randint(1, 20))
        yield {"k": "d2", "ids": ids, "s0": encoding.decode(ids), "hex": encoding.decode_bytes(ids).hex()}


def long_record(meta, text):
    """The record of a long text without special tokens, as checksums."""
    name, source = meta["tokenizer"], meta["source"]
    if source == "encoding":
        ids = bundled_encoding(name).encode_ordinary(text)
        return {"k": "long", "n": len(ids), "ids": checksum(ids)}
    vocabulary, small = ROOT / f".cache/vocabularies/{name}/tokenizer.json", TESTDATA / f"tokenizers/{name}.json"
    tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary if source == "vocabulary" else small))
    encoding = tokenizer.encode(text, add_special_tokens=False)
    offsets = [offset for pair in encoding.offsets for offset in pair]
    return {"k": "long", "n": len(encoding.ids), "ids": checksum(encoding.ids), "o": checksum(offsets)}


def checksum(numbers):
    return hashlib.sha256(struct.pack(f"<{len(numbers)}I", *numbers)).hexdigest()


def read(file):
    # str.splitlines would also split at line separators in the texts.
    return [json.loads(line) for line in gzip.decompress(file.read_bytes()).decode().rstrip("\n").split("\n")]


def write(file, records):
    text = "".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records)
    file.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{file.relative_to(ROOT)}  {len(records)} records  {file.stat().st_size} bytes")


def main():
    for library, version in VERSIONS.items():
        if library.__version__ != version:
            raise SystemExit(f"the golden data needs {library.__name__} {version}, but {library.__version__} is installed")
    published.load_tiktoken_bpe = bundled_ranks

    cases = read(TESTDATA / "cases.jsonl.gz")
    for name in ("p50k_base", "p50k_edit", "o200k_harmony"):
        write(TESTDATA / f"golden/{name}.jsonl.gz", list(encoding_records(name, cases)))
    text = "\n".join(case["text"] for case in cases)
    for file in sorted((TESTDATA / "golden").iterdir()):
        records = [record for record in read(file) if record["k"] != "long"]
        write(file, [*records, long_record(records[0], text)])


if __name__ == "__main__":
    main()
