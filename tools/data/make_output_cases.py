#!/usr/bin/env python3
"""Writes crates/core/testdata/outputs.jsonl.gz: results of tokenizers 0.23.3 with many options.

The options are post-processors, truncation and padding.

    pip install tokenizers==0.23.3 numpy && python tools/data/make_output_cases.py

The first line has a small tokenizer and a list of post-processors; each other line is one call with
its result. The calls are a fixed sample of all combinations of the lists below.
"""

import gzip
import json
import os
from pathlib import Path

from tokenizers import Tokenizer, __version__

assert __version__ == "0.23.3", "older versions truncate differently"

VOCAB = {token: i for i, token in enumerate([*"abcdefghij", "Ġ", "ab", "cd", "Ġc", "Ġcd"])}
MODEL = {
    "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
    "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": VOCAB,
    "merges": ["a b", "c d", "Ġ c", "Ġc d"],
}
TOKENIZER = {
    "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
    "decoder": None, "model": MODEL,
}


def special(name, type_id=0):
    return {"SpecialToken": {"id": name, "type_id": type_id}}


def text(name, type_id=0):
    return {"Sequence": {"id": name, "type_id": type_id}}


def template(single, pair):
    tokens = {"X": ([1, 2, 3], ["x", "y", "z"]), "E": ([4], ["e"])}
    tokens = {name: {"id": name, "ids": ids, "tokens": texts} for name, (ids, texts) in tokens.items()}
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": tokens}


def byte_level(add_prefix_space):
    return {"type": "ByteLevel", "add_prefix_space": add_prefix_space, "trim_offsets": True, "use_regex": True}


def roberta(trim_offsets, add_prefix_space):
    return {
        "type": "RobertaProcessing", "sep": ["s", 5], "cls": ["c", 6],
        "trim_offsets": trim_offsets, "add_prefix_space": add_prefix_space,
    }


def sequence(*processors):
    return {"type": "Sequence", "processors": processors}


BERT = {"type": "BertProcessing", "sep": ["s", 5], "cls": ["c", 6]}
USUAL = template(
    [special("X"), text("A"), special("E", 1)], [special("X"), text("A"), special("E"), text("B", 1), special("E", 1)]
)
POST_PROCESSORS = [
    None, sequence(), byte_level(True), byte_level(False), BERT,
    roberta(True, True), roberta(True, False), roberta(False, True), USUAL,
    sequence(byte_level(True), USUAL), sequence(USUAL, byte_level(True)), sequence(USUAL, BERT),
    sequence(BERT, roberta(True, True)), sequence(BERT, USUAL), sequence(byte_level(False), byte_level(True), BERT),
    template([text("A", 3), special("X", 2), text("A", 1)], [text("B", 2), text("A", 1), text("B")]),
    template([special("E")], [special("E"), special("X")]), template([], []),
    template([text("A")], [text("A", 4), text("B", 5)]),
    sequence(template([text("A")], [text("B"), text("A")]), USUAL), sequence(USUAL, USUAL),
    template([text("B")], [text("B")]),
]
TEXTS = ["  ab cd ef  gh", "ab cd", " j", ""]
WORDS = [["ab", " cd", "", " "], ["cd"]]
INPUTS = [(a, b) for b in [None, *TEXTS] for a in TEXTS] + [(WORDS[0], None), (WORDS[0], WORDS[1])]
TRUNCATIONS = [None] + [
    dict(zip(("max_length", "stride", "strategy", "direction"), values))
    for values in [
        (0, 0, "longest_first", "right"), (4, 0, "longest_first", "right"), (6, 1, "longest_first", "left"),
        (7, 2, "only_first", "right"), (7, 1, "only_second", "left"), (5, 3, "longest_first", "right"),
    ]
]
PADDINGS = [
    None,
    {"length": 9, "direction": "left", "pad_id": 7, "pad_type_id": 2, "pad_token": "p"},
    {"pad_to_multiple_of": 4, "pad_id": 8, "pad_token": "q"},
]


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
    """Results of lookups for tokens, words and offsets, with three sequence ids.

    Some tokens are after the last one.
    """
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


def call(tokenizer, number, truncation, padding, a, b):
    case = {"truncation": truncation, "padding": padding, "input": [a, b], "a": int(number % 4 != 0)}

    def encode():
        return tokenizer.encode(a, b, is_pretokenized=isinstance(a, list), add_special_tokens=case["a"] == 1)

    try:
        if truncation:
            tokenizer.enable_truncation(**truncation)
        if padding:
            tokenizer.enable_padding(**padding)
        encoding = encode()
    except BaseException as error:  # a panic is not an Exception
        return case | {"err": str(error)}
    case |= row(encoding) | {"ov": overflow(encoding)}
    if number % 3 != 0:
        return case
    answers = questions(encoding)
    # For a token that is in two texts, the reference returns one of these texts at random.
    if any(questions(encode()) != answers for _ in range(12)):
        del answers["token_to_sequence"]
    return case | {"questions": answers}


def main():
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # hides the messages of panics
    records = [{"tokenizer": TOKENIZER, "post_processors": POST_PROCESSORS}]
    number = 0
    for place, post_processor in enumerate(POST_PROCESSORS):
        file = json.dumps(TOKENIZER | {"post_processor": post_processor})
        for truncation in TRUNCATIONS:
            for padding in PADDINGS:
                for a, b in INPUTS:
                    number += 1
                    one_of = 4 if truncation is None and padding is None else 13
                    if (number * 2654435761 >> 7) % one_of == 0:
                        answer = call(Tokenizer.from_str(file), number, truncation, padding, a, b)
                        records.append({"pp": place} | answer)
    lines = "".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records)
    target = Path(__file__).parent.parent.parent / "crates/core/testdata/outputs.jsonl.gz"
    target.write_bytes(gzip.compress(lines.encode(), 9, mtime=0))


main()
