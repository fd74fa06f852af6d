#!/usr/bin/env python3
"""Compares how rank files are read: tiktoken's load_tiktoken_bpe and Encoding, and this package.

The files are random: byte order marks, line ends of all kinds, white space, signs and underscores
in ranks, repeated and empty tokens, base64 with other characters or without padding. For each file
both sides either refuse it, or have the same tokens, and the same ids for random texts. A rank
above 4294967294 and a token of more than 1,024 bytes are refused here alone, which is documented.

    python tools/compare/ranks/compare.py [--seed 1] [--cases 2000]

Needs tiktoken 0.14 and node.
"""

import argparse
import base64
import json
import os
import random
import subprocess
import sys
import tempfile

# Without its cache, which would return the first file for all of them.
os.environ["TIKTOKEN_CACHE_DIR"] = ""

import tiktoken
from tiktoken.load import load_tiktoken_bpe

WORKER = os.path.join(os.path.dirname(__file__), "worker.mjs")
PATTERN = r"[ab]+|[^ab]+"
ENDS = [b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\n\n", b"\r\r\n"]
SPACES = [b" ", b" ", b" ", b"  ", b"\t", b"\x0b", b"\x0c", b"\x1c"]


def encoded(rng, token):
    text = base64.b64encode(token)
    chance = rng.random()
    if chance < 0.03:
        text = text.rstrip(b"=")
    elif chance < 0.06:
        at = rng.randint(0, len(text))
        text = text[:at] + rng.choice([b"!", b"=", b"\xff", b"-", b"_", b"\x00", b"=="]) + text[at:]
    elif chance < 0.08:
        text = text + rng.choice([b"=", b"==", b"===", text])
    return text or rng.choice([b"=", b"==", b"===", b"!"])


def rank_of(rng, rank):
    chance = rng.random()
    if chance < 0.9:
        return str(rank).encode()
    return rng.choice([b"+%d" % rank, b"-%d" % rank, b"0%d" % rank, b"00_%d" % rank, b"%d_" % rank, b"%d.0" % rank,
                       b"0x%d" % rank, b"1__%d" % rank, b"%de1" % rank, "\u0661".encode(), b"1" * rng.choice([9, 10, 12, 4301])])


def file_of(rng):
    tokens = [bytes([byte]) for byte in range(256)] if rng.random() < 0.5 else [b"a", b"b", b" ", b"x"]
    tokens += [bytes(rng.choice(b"ab") for _ in range(rng.randint(2, 5))) for _ in range(rng.randint(0, 12))]
    if rng.random() < 0.8:
        tokens = list(dict.fromkeys(tokens))
    ranks = list(range(len(tokens)))
    if rng.random() < 0.3:
        rng.shuffle(ranks)
    lines = list(zip(tokens, ranks))
    if rng.random() < 0.4:
        lines.append((b"", len(lines) + rng.randint(0, 50)))
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        lines.insert(rng.randint(0, len(lines)), (rng.choice(tokens), len(lines) + rng.randint(0, 3)))
    content = rng.choice([b"", b"", b"", b"\xef\xbb\xbf", b"\n", b"\r\n", b"\xff\xfe"])
    strange = rng.random() < 0.6
    for token, rank in lines:
        end = rng.choice(ENDS) if strange else b"\n"
        space = rng.choice(SPACES) if strange and rng.random() < 0.1 else b" "
        if strange and rng.random() < 0.02:
            content += rng.choice([b" ", b"#", b"a b c", space]) + end
        if strange and rng.random() < 0.15:
            content += encoded(rng, token) + space + rank_of(rng, rank) + end
        else:
            content += (base64.b64encode(token) or b"=") + space + str(rank).encode() + end
    return content


def reference(path, texts):
    try:
        ranks = load_tiktoken_bpe(path)
        if not ranks:
            return None
        encoding = tiktoken.Encoding("case", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})
        ids = []
        for text in texts:
            try:
                ids.append(encoding.encode(text))
            except BaseException:  # a byte without a token is a panic
                ids.append(None)
        return {"tokens": sorted([rank, token.hex()] for token, rank in ranks.items()), "ids": ids}
    except BaseException:
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=2000)
    arguments = parser.parse_args()
    worker = subprocess.Popen(["node", WORKER, PATTERN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    different = read = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(arguments.seed, arguments.seed + arguments.cases):
            rng = random.Random(f"ranks {seed}")
            path = os.path.join(folder, "case.tiktoken")
            content = file_of(rng)
            with open(path, "wb") as file:
                file.write(content)
            texts = ["".join(rng.choice("aabb xy") for _ in range(rng.randint(0, 20))) for _ in range(4)]
            expected = reference(path, texts)
            worker.stdin.write(json.dumps({"path": path, "texts": texts}) + "\n")
            worker.stdin.flush()
            got = json.loads(worker.stdout.readline())
            read += expected is not None
            if got != expected:
                different += 1
                if different <= 5:
                    print(seed, content[:400], "expected", str(expected)[-300:], "got", str(got)[-300:], file=sys.stderr)
    worker.stdin.close()
    print(f"{arguments.cases} rank files, of which tiktoken reads {read}: {different} differ")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
