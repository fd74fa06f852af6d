#!/usr/bin/env python3
"""Answers compare.mjs: the ids, tokens or text of PyPI tokenizers 0.23.3, which are right.

    python reference.py < questions.jsonl > answers.jsonl

A question is {file, kind, ...}: `encode` with {text, pair, special, truncation}, answered with
{ids, types, tokens}; `decode` with {ids, skip, clean}, answered with {text}.
"""

import json
import sys
from functools import cache

from tokenizers import Tokenizer

CLEAN_UP = [" .", " ?", " !", " ,", " ' ", " n't", " 'm", " 's", " 've", " 're"]


@cache
def load(file):
    tokenizer = Tokenizer.from_file(file)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@cache
def suffix(file):
    with open(file) as source:
        parts = json.load(source)
    return parts["decoder"] and parts["model"].get("end_of_word_suffix")


def encode(question):
    tokenizer = load(question["file"])
    truncation = question["truncation"]
    if truncation is None:
        tokenizer.no_truncation()
    else:
        tokenizer.enable_truncation(**truncation)
    found = tokenizer.encode(question["text"], question["pair"], add_special_tokens=question["special"])
    return {"ids": found.ids, "types": found.type_ids, "tokens": found.tokens}


def decode(question):
    text = load(question["file"]).decode(question["ids"], skip_special_tokens=question["skip"])
    if suffix(question["file"]):
        text = text.replace(suffix(question["file"]), " ")
        text = text.strip() if question["skip"] else text
    if question["clean"]:
        for part in CLEAN_UP:
            text = text.replace(part, part.strip())
    return {"text": text}


for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps(encode(asked) if asked["kind"] == "encode" else decode(asked)))
