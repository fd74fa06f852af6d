#!/usr/bin/env python3
"""Records the added tokens of tokenizers 0.23.3, for __test__/core/change.test.mjs.

The tokenizers are random. Their vocabularies have gaps; some added tokens are in the file, and
others are added later in one or more steps. Other steps change the normalizer, or save and load.
Run the script with a Python that has tokenizers 0.23.3:

    python tools/data/make_added_token_cases.py [--seed 1] [--cases 400] |
        gzip -9n > __test__/testdata/added-tokens.json.gz

To compare other cases than those of the repository:

    python tools/data/make_added_token_cases.py --seed 1000 --cases 8000 | gzip -9n > /tmp/cases.gz
    ADDED_TOKEN_CASES=/tmp/cases.gz node --expose-gc --test __test__/core/change.test.mjs
"""

import argparse
import json
import random

import tokenizers
from tokenizers import AddedToken, Tokenizer

LETTERS = "abcdefgh"
CONTENTS = ["x", "y", "zz", "<s>", "</s>", " w", "", "Ab", "<S>x", "e\u0301", *LETTERS[:4]]
FLAGS = ["single_word", "lstrip", "rstrip", "normalized", "special"]

PREPEND = {"type": "Prepend", "prepend": "▁"}
META = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
NORMALIZERS = [
    None, None, {"type": "Lowercase"}, {"type": "NFC"}, PREPEND, {"type": "ByteLevel"},
    {"type": "Sequence", "normalizers": [PREPEND, META]},
    {"type": "Replace", "pattern": {"String": "a"}, "content": "b"},
]


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
    if rng.random() < 0.2:
        # As in OpenLLaMA: a special token that is in the vocabulary and is normalized.
        vocab["<s>"] = max(ids, default=-1) + 1
        special = {"content": "<s>", "id": vocab["<s>"], "special": True, "normalized": True}
        added.append(token(rng) | special)
    model = {"type": "BPE", "vocab": vocab, "merges": []}
    defaults = {"dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None}
    if vocab and rng.random() < 0.3:
        model = {"type": "WordLevel", "vocab": vocab, "unk_token": next(iter(vocab))}
        defaults = {}
    others = {"pre_tokenizer": None, "post_processor": None, "decoder": None, "normalizer": rng.choice(NORMALIZERS)}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, **others,
        "model": (defaults | {"fuse_unk": False, "byte_fallback": False} if defaults else {}) | model,
    }


def token(rng):
    # Flags are rare here: tools/compare/differential compares their effect on texts.
    often = {"normalized": 0.5, "special": 0.3}
    flags = {flag: rng.random() < often.get(flag, 0.1) for flag in FLAGS}
    return {"content": rng.choice(CONTENTS)} | flags


def steps_of(rng):
    steps = []
    for _ in range(rng.choice([0, 1, 2, 3, 4])):
        chance = rng.random()
        if chance < 0.2:
            steps.append("save and load")
        elif chance < 0.45:
            steps.append({"normalizer": rng.choice(NORMALIZERS)})
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
        "texts": [[text, ids_of(tokenizer, text, False), ids_of(tokenizer, text, True)] for text in texts],
        "decoded": [tokenizer.decode([id for id, *_ in added], skip_special_tokens=skip) for skip in (False, True)],
    }


def ids_of(tokenizer, text, special_tokens_are_text):
    tokenizer.encode_special_tokens = special_tokens_are_text
    ids = tokenizer.encode(text).ids
    tokenizer.encode_special_tokens = False
    return ids


def has_equal_forms(tokenizer):
    """Whether two tokens have one normalized form: which of them the library finds is random."""
    tokens = [one.content for one in tokenizer.get_added_tokens_decoder().values() if one.normalized]
    normalizer = tokenizer.normalizer
    forms = tokens if normalizer is None else [normalizer.normalize_str(one) for one in tokens]
    return len(set(forms)) < len(forms)


def normalizer_of(definition):
    file = {"version": "1.0", "normalizer": definition, "model": {"type": "BPE", "vocab": {}, "merges": []}}
    return Tokenizer.from_str(json.dumps(file)).normalizer


def changed(tokenizer, step):
    if step == "save and load":
        return Tokenizer.from_str(tokenizer.to_str())
    if isinstance(step, dict):
        tokenizer.normalizer = normalizer_of(step["normalizer"])
    elif all(one["special"] for one in step):
        tokenizer.add_special_tokens([made(one) for one in step])
    else:
        tokenizer.add_tokens([made(one) for one in step])
    return tokenizer


def case(seed):
    rng = random.Random(f"added tokens {seed}")
    file, steps = file_of(rng), steps_of(rng)
    texts = ["".join(rng.choice([*CONTENTS, *LETTERS, " "]) for _ in range(8)) for _ in range(3)]
    states = []
    tokenizer = Tokenizer.from_str(json.dumps(file))
    for step in [None, *steps]:
        tokenizer = tokenizer if step is None else changed(tokenizer, step)
        if has_equal_forms(tokenizer):
            break
        states.append(state(tokenizer, texts))
    return {"seed": seed, "file": file, "steps": steps[: max(0, len(states) - 1)], "states": states}


def made(one):
    return AddedToken(one["content"], **{flag: one[flag] for flag in FLAGS})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=400)
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.cases)
    cases = (one for one in map(case, seeds) if one["states"])
    cases = ",\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in cases)
    print(f'{{"tokenizers":"{tokenizers.__version__}","cases":[\n{cases}\n]}}')


if __name__ == "__main__":
    main()
