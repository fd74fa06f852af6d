#!/usr/bin/env python3
"""Trains the models of crates/core/testdata/sentencepiece, and records answers of the library.

    python tools/data/make_sentencepiece_cases.py

A text is recorded with its ids, pieces, offsets in bytes, and the numbers of pieces after which it
can be cut. The script writes NAME.model, cases.json.gz and SHA256SUMS. The training is
deterministic, so the same version of the package makes the same checksums. Needs the packages
`sentencepiece` 0.2.3 and `protobuf`.
"""

import gzip
import hashlib
import io
import json
import pathlib
import random
import sys
import tempfile

import sentencepiece as spm
from sentencepiece import sentencepiece_model_pb2 as pb

sys.path.append(str(pathlib.Path(__file__).parent / "sentencepiece"))
from positions import offsets  # noqa: E402

FOLDER = pathlib.Path(__file__).parent.parent.parent / "crates" / "core" / "testdata" / "sentencepiece"

LINES = [
    "A tokenizer turns text into numbers, and numbers into text.",
    "Every byte of a text has to come back as it was.",
    "The words of a language are not all the words there are.",
    "Chaque langue a ses lettres : é, è, ê, ç, à et ù.",
    "Die Straße ist lang, und der Weg ist schön.",
    "In 2026 there were 1234 cases, of which 56 were new.",
    "tokenizing tokens, tokenized token by token",
    "the cat sat on the mat, and the dog sat on the log",
    "これは短い文です。 日本語の文字も使います。",
    "numbers like 10, 100 and 1000 share their digits",
]

SYMBOLS = ["<turn>", "\n\n", "<sep>", "ab", "abc", "é!", "two words", "▁▁"]
#: Rules in the form of the library: code points, a tab, code points.
RULES = "C5\t41 30A\n41 42\t78\nFB01\t66 69\n200B\t\n9\t20\n3000\t20\n41 42 43\t79 20\nDF\t73 73\n"
RULES += "1112 1161 11AB\tD55C\nFF8A FF9F\t30D1\n304B 3099\t304C\n65 301\tE9\n"

#: Options of the trainer by name of the model.
MODELS = {
    "unigram": {"user_defined_symbols": SYMBOLS, "control_symbols": ["<ctrl>", "x"], "rules": True, "unused": True},
    "unigram_bytes": {"byte_fallback": True, "remove_extra_whitespaces": False, "unk_surface": "?"},
    "unigram_suffix": {"treat_whitespace_as_suffix": True, "rules": True},
    "bpe": {"model_type": "bpe", "user_defined_symbols": SYMBOLS, "control_symbols": ["<ctrl>", "x"], "unused": True},
    "bpe_bytes": {"model_type": "bpe", "byte_fallback": True, "add_dummy_prefix": False, "remove_extra_whitespaces": False},
    "char": {"model_type": "char", "rules": True},
    "word": {"model_type": "word", "control_symbols": ["▁the"]},
}

NOISE = [
    " ", "  ", "\t", "\n", "\u3000", "\u200b", "é", "e\u0301", "ﬁ", "Å", "ß", "AB", "ABC", "ABCD", "中文", "🙂", "\0", "▁", "▁▁",
    "ᄒ\u1161\u11ab", "ﾊﾟ", "か\u3099", "x\u200b", "\u200b ", " \u3000 ", "  a", "b  ", "c  d", "user\n\n\n\nuser",
    "<s>", "<unk>", "<ctrl>", "x", "<0x41>", "aaaa", "abab", "abcabc", "ttttt", "1234", *SYMBOLS,
]


def train(name, options, folder):
    options = dict(options)
    unused = options.pop("unused", False)
    if options.pop("rules", False):
        rules = pathlib.Path(folder) / "rules.tsv"
        rules.write_text(RULES)
        options["normalization_rule_tsv"] = str(rules)
    else:
        options["normalization_rule_name"] = "identity"
    model = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=model, minloglevel=2, num_threads=1, hard_vocab_limit=False,
        vocab_size=400 if options.get("byte_fallback") else 160, character_coverage=0.98, **options,
    )
    proto = pb.ModelProto()
    proto.ParseFromString(model.getvalue())
    # The path of the rules would make the file depend on the machine.
    proto.normalizer_spec.normalization_rule_tsv = ""
    proto.trainer_spec.model_prefix = name
    for place, piece in enumerate(proto.pieces):
        if unused and piece.type == piece.NORMAL and place % 5 == 0:
            piece.type = piece.UNUSED
    return proto.SerializeToString()


def main():
    draw = random.Random(22)
    cases = {"sentencepiece": spm.__version__, "models": {}}
    sums = []
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, options in MODELS.items():
            model = train(name, options, folder)
            (FOLDER / f"{name}.model").write_bytes(model)
            reference = spm.SentencePieceProcessor(model_proto=model)
            count = reference.get_piece_size()
            pieces = [reference.id_to_piece(id).replace("▁", " ") for id in range(count)]
            texts = ["", " ", "▁", *NOISE, *LINES]
            texts += ["".join(draw.choice(pieces) for _ in range(draw.randrange(1, 16))) for _ in range(60)]
            texts += ["".join(draw.choice(NOISE) for _ in range(draw.randrange(1, 8))) for _ in range(60)]
            rows = [[draw.randrange(count) for _ in range(draw.randrange(1, 9))] for _ in range(80)]
            encoded = [
                [text, reference.encode(text), reference.encode(text, out_type=str),
                 offsets(text, reference.encode(text, return_type="proto").pieces)["byte"]]
                for text in texts
            ]
            decoded = [[ids, reference.decode(ids)] for ids in [*(case[1] for case in encoded), *rows]]
            cases["models"][name] = {"texts": encoded, "rows": decoded}
    packed = gzip.compress(json.dumps(cases, ensure_ascii=False).encode(), 9, mtime=0)
    (FOLDER / "cases.json.gz").write_bytes(packed)
    for path in sorted(FOLDER.iterdir()):
        if path.name != "SHA256SUMS":
            sums.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n")
    (FOLDER / "SHA256SUMS").write_text("".join(sums))


main()
