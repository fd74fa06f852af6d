"""The library's side of the differential run.

Reads one JSON request per line, and writes one JSON answer per line. sides.py documents the
requests. This is a separate process, because the library may use all memory or never return;
sides.py then ends the process.
"""

import base64
import json
import os
import random
import resource
import sys

sys.dont_write_bytecode = True

import tiktoken
import tokenizers
from tokenizers import Tokenizer

from models import random_ranks, random_tokenizer

EXPECTED_VERSIONS = {tokenizers: "0.23.3", tiktoken: "0.14.0"}
MAX_MEMORY_BYTES = 3 << 30


class HuggingFace:
    """A tokenizer.json, loaded by PyPI tokenizers."""

    def __init__(self, definition):
        self.text = json.dumps(definition)
        model = definition["model"]
        # With both, offsets can lie after the end of the text. Such positions have no counterpart
        # in another unit.
        marks = model.get("continuing_subword_prefix") or model.get("end_of_word_suffix")
        self.has_offsets_after_end = bool(model.get("byte_fallback") and marks)
        self.tokenizer = Tokenizer.from_str(self.text)
        self.stored = Tokenizer.from_str(self.text)
        self.vocab_size = self.tokenizer.get_vocab_size()

    def fresh(self):
        return HuggingFace(json.loads(self.text))

    def answer(self, request):
        options = request["options"]
        if "calls" in request:
            return {"calls": []}
        if "decode" in request:
            text = self.tokenizer.decode(request["decode"], skip_special_tokens=options["skipSpecialTokens"])
            return {"text": text, "streamed": text}
        if "ids" in request:
            return {
                "tokens": [self.tokenizer.id_to_token(id) for id in request["ids"]],
                "ids": [self.tokenizer.token_to_id(token) for token in request["tokens"]],
                "sizes": [self.tokenizer.get_vocab_size(), self.tokenizer.get_vocab_size(with_added_tokens=False)],
            }
        tokenizer = self.stored if options.get("stored") else self.with_lengths(options)
        tokenizer.encode_special_tokens = options.get("encodeSpecialTokens", False)
        how = {"is_pretokenized": options.get("pretokenized", False), "add_special_tokens": options["addSpecialTokens"]}
        if "batch" in request:
            texts = request["batch"]
            if pairs := options.get("pairs"):
                texts = list(zip(texts, pairs))
            return {"rows": [columns_of(encoding) for encoding in tokenizer.encode_batch(texts, **how)]}
        encoding = tokenizer.encode(request["encode"], options.get("pair"), **how)
        found = columns_of(encoding) | {"overflowing": [nested_columns_of(part) for part in encoding.overflowing]}
        if "places" in request:
            found["places"] = [places(encoding, *number) for number in request["places"]]
        if "also" in request:
            counted = None if options.get("pretokenized") else 0
            found |= {"ofBytes": encoding.ids, "counted": counted}
            found |= {} if self.has_offsets_after_end else {"utf16": True, "bytes": True}
        return found

    def with_lengths(self, options):
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        if truncation := options.get("truncation"):
            names = {name: truncation[name] for name in ("stride", "strategy", "direction")}
            self.tokenizer.enable_truncation(truncation["maxLength"], **names)
        if padding := options.get("padding"):
            self.tokenizer.enable_padding(
                direction=padding["direction"],
                pad_id=padding["padId"],
                pad_type_id=padding["padTypeId"],
                pad_token=padding["padToken"],
                length=None if padding["to"] == "longest" else padding["to"],
                pad_to_multiple_of=padding["multipleOf"],
            )
        return self.tokenizer


class Tiktoken:
    """Ranks, a pattern and special tokens, loaded by PyPI tiktoken."""

    def __init__(self, definition):
        self.definition = definition
        ranks = {base64.b64decode(token): rank for token, rank in definition["ranks"]}
        self.encoding = tiktoken.Encoding(
            "random", pat_str=definition["pat_str"], mergeable_ranks=ranks, special_tokens=definition["special_tokens"]
        )
        self.vocab_size = self.encoding.n_vocab

    def fresh(self):
        return Tiktoken(self.definition)

    def answer(self, request):
        if "decode" in request:
            text = self.encoding.decode(request["decode"])
            return {"text": text, "streamed": text}
        if request["options"]["addSpecialTokens"]:
            return {"ids": self.encoding.encode(request["encode"], allowed_special="all")}
        return {"ids": self.encoding.encode_ordinary(request["encode"])}


LIBRARIES = {"hf": HuggingFace, "tiktoken-npm": Tiktoken}


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
    }


def nested_columns_of(encoding):
    """The columns, and those of the overflowing parts, which have overflowing parts too."""
    return columns_of(encoding) | {"overflowing": [nested_columns_of(part) for part in encoding.overflowing]}


def places(encoding, number, sequence):
    return [
        encoding.token_to_sequence(number),
        encoding.token_to_chars(number),
        encoding.token_to_word(number),
        encoding.word_to_tokens(number, sequence),
        encoding.word_to_chars(number, sequence),
        encoding.char_to_token(number, sequence),
        encoding.char_to_word(number, sequence),
    ]


def safely(call):
    """The library's answer, also if it fails. Its panics are not subclasses of Exception."""
    try:
        return call()
    except (KeyboardInterrupt, SystemExit, ImportError):
        raise
    except BaseException as error:
        return {"failed": f"{type(error).__name__} {error}"[:300]}


class Worker:
    def make(self, request):
        rng = random.Random(request["make"])
        components = request["components"]
        return {"made": random_ranks(rng) if components == "ranks" else random_tokenizer(rng, components)}

    def load(self, request):
        self.library = LIBRARIES[request["format"]](request["load"])
        return {"vocabSize": self.library.vocab_size}

    def wavers(self, request):
        """Whether the library's answers vary: its hash map of added tokens has a random order."""
        asked = request["wavers"]
        want = safely(lambda: self.library.answer(asked))
        return {"wavers": any(safely(lambda: self.library.fresh().answer(asked)) != want for _ in range(40))}

    def answer(self, request):
        for name in ("make", "load", "wavers"):
            if name in request:
                return safely(lambda: getattr(self, name)(request))
        return [safely(lambda: self.library.answer(one)) for one in request["all"]]


def main():
    for library, version in EXPECTED_VERSIONS.items():
        if library.__version__ != version:
            raise SystemExit(f"the reference is {library.__name__} {version}, but {library.__version__} is installed")
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # hides the messages of panics
    worker = Worker()
    for line in sys.stdin:
        print(json.dumps(worker.answer(json.loads(line))), flush=True)


main()
