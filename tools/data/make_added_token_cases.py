#!/usr/bin/env python3
"""Records the added tokens of tokenizers 0.23.3, for __test__/15-change.test.mjs.

The tokenizers are random. Their vocabularies have gaps; some added tokens are in the file, and
others are added later in one or more steps, with a save and a load between some steps. Run the
script with a Python that has tokenizers 0.23.3:

    python tools/data/make_added_token_cases.py [--seed 1] [--cases 400] |
        gzip -9n > __test__/testdata/added-tokens.json.gz
"""

import argparse
import json
import random

import tokenizers
from tokenizers import AddedToken, Tokenizer

LETTERS = "abcdefgh"
CONTENTS = ["x", "y", "zz", "<s>", "</s>", " w", "", *LETTERS[:4]]
FLAGS = ["single_word", "lstrip", "rstrip", "normalized", "special"]


def file_of(rng):
    count = rng.randint(0, len(LETTERS))
    gaps = rng.choice([0, 0, 1, 3, 40])
    ids, at = [], 0
    for _ in range(count):
        at += rng.randint(0, gaps)
        ids.append(at)
        at += 1
    rng.shuffle(ids)
    vocab = dict(zip(LETTERS, ids))
    added = [token(rng) | {"id": rng.randint(0, 60)} for _ in range(rng.choice([0, 1, 2, 4]))]
    model = {"type": "BPE", "vocab": vocab, "merges": []}
    defaults = {"dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None}
    others = {"normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": None}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, **others,
        "model": defaults | {"fuse_unk": False, "byte_fallback": False} | model,
    }


def token(rng):
    # Flags are rare here: tools/compare/differential compares their effect on texts.
    flags = {flag: rng.random() < 0.15 for flag in FLAGS}
    return {"content": rng.choice(CONTENTS)} | flags


def steps_of(rng):
    steps = []
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        if rng.random() < 0.25:
            steps.append("save and load")
        else:
            steps.append([token(rng) for _ in range(rng.choice([1, 1, 2, 4]))])
    return steps


def state(tokenizer, texts):
    added = [
        [id, one.content, one.single_word, one.lstrip, one.rstrip, one.normalized, one.special]
        for id, one in sorted(tokenizer.get_added_tokens_decoder().items())
    ]
    top = max([id for id, *_ in added] + [70]) + 2
    return {
        "added": added,
        "sizes": [tokenizer.get_vocab_size(False), tokenizer.get_vocab_size(True)],
        "ids": {content: tokenizer.token_to_id(content) for content in [*CONTENTS, *LETTERS]},
        "tokens": {id: tokenizer.id_to_token(id) for id in range(top) if tokenizer.id_to_token(id) is not None},
        "texts": [[text, tokenizer.encode(text).ids] for text in texts],
        "decoded": [tokenizer.decode([id for id, *_ in added], skip_special_tokens=skip) for skip in (False, True)],
    }


def case(seed):
    rng = random.Random(f"added tokens {seed}")
    file, steps = file_of(rng), steps_of(rng)
    texts = ["".join(rng.choice([*CONTENTS, *LETTERS, " "]) for _ in range(8)) for _ in range(3)]
    tokenizer = Tokenizer.from_str(json.dumps(file))
    states = [state(tokenizer, texts)]
    for step in steps:
        if step == "save and load":
            tokenizer = Tokenizer.from_str(tokenizer.to_str())
        else:
            tokenizer.add_tokens([made(one) for one in step])
        states.append(state(tokenizer, texts))
    return {"seed": seed, "file": file, "steps": steps, "states": states}


def made(one):
    return AddedToken(one["content"], **{flag: one[flag] for flag in FLAGS})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=400)
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.cases)
    cases = ",\n".join(json.dumps(case(seed), ensure_ascii=False, separators=(",", ":")) for seed in seeds)
    print(f'{{"tokenizers":"{tokenizers.__version__}","cases":[\n{cases}\n]}}')


if __name__ == "__main__":
    main()
