"""Compares tokenlane with the PyPI package `sentencepiece` on models trained here.

    python tools/compare/sentencepiece/compare.py --corpus FOLDER [--texts 2000] [--seed 1]
        [--only NAME] [--models FOLDER]

The first FOLDER has *.txt files. For every model the script compares the ids, pieces, offsets in
bytes, code points and UTF-16 units, and decoded texts of random texts and of three long ones, and
the decoded texts of random ids, at once and as a stream. It encodes each text with loops over
`encodeInto` as well: the parts that it reads are the text, and each call writes the ids that the
library has for what it read. With `--models`, the files of that folder are compared instead of
models trained here. The exit status is 1 if an answer differs. Needs a built addon and the packages
`sentencepiece` 0.2.3 and `protobuf`.
"""

import argparse
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import sentencepiece as spm
from positions import offsets
from sentencepiece import sentencepiece_model_pb2 as pb

HERE = pathlib.Path(__file__).parent
#: `models`: options of the trainer by the name of the model, and a `change` of the model
#: afterwards. The value `symbols` stands for the list of that name.
DATA = json.loads((HERE / "models.json").read_text("utf-8"))
SYMBOLS, NOISE = DATA["symbols"], DATA["noise"]
MODELS = {name: {option: SYMBOLS if value == "symbols" else value for option, value in options.items()} for name, options in DATA["models"].items()}


def train(lines, options, seed):
    """The bytes of a model."""
    options = dict(options)
    change = options.pop("change", None)
    escape = options.pop("escape_whitespaces", True)
    options.setdefault("vocab_size", 1200)
    options.setdefault("hard_vocab_limit", False)
    options.setdefault("character_coverage", 0.98)
    model = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, minloglevel=2, num_threads=1, **options
    )
    if change is None and escape:
        return model.getvalue()
    draw = random.Random(seed)
    proto = pb.ModelProto()
    proto.ParseFromString(model.getvalue())
    proto.normalizer_spec.escape_whitespaces = escape
    normal = [piece for piece in proto.pieces if piece.type == piece.NORMAL]
    if change == "unused":
        for piece in normal:
            if draw.random() < 0.3:
                piece.type = piece.UNUSED
    if change == "ties":
        for piece in normal:
            piece.score = float(-draw.randrange(3))
    if change == "floats":
        for piece in normal:
            piece.score = -draw.randrange(1, 80) / 10
    if change == "shuffled":
        scores = [piece.score for piece in normal]
        draw.shuffle(scores)
        for piece, score in zip(normal, scores):
            piece.score = score
    if change == "missing":
        single = [piece for piece in normal if len(piece.piece) == 1]
        for piece in draw.sample(single, len(single) // 2):
            proto.pieces.remove(piece)
    return proto.SerializeToString()


def spaced(draw, text):
    """A text with other spaces: at its ends, doubled, or none."""
    ends = ["", "", " ", "  ", "\u3000", "\t", "\u200b", "\u200b ", " \u200b"]
    if draw.randrange(3) == 0:
        text = text.replace(" ", draw.choice(["  ", "", " \u00a0", "\u200b "]))
    return draw.choice(ends) + text + draw.choice(ends)


def text(draw, corpus, pieces):
    """A random text."""
    return spaced(draw, plain_text(draw, corpus, pieces)) if draw.randrange(2) else plain_text(draw, corpus, pieces)


def plain_text(draw, corpus, pieces):
    kind = draw.randrange(6)
    if kind == 0:
        start = draw.randrange(len(corpus))
        return corpus[start : start + draw.randrange(1, 300)]
    if kind == 1:
        return "".join(draw.choice(pieces) for _ in range(draw.randrange(1, 24)))
    if kind == 2:
        return "".join(draw.choice(NOISE + SYMBOLS) for _ in range(draw.randrange(0, 12)))
    if kind == 3:
        letters = draw.sample("abcdefghijklmnopqrstuvwxyz ▁", draw.randrange(1, 4))
        return "".join(draw.choice(letters) for _ in range(draw.randrange(1, 60)))
    if kind == 4:
        codes = [draw.choice([draw.randrange(1, 0x250), draw.randrange(0x300, 0xD800), draw.randrange(0xE000, 0x11000)])
                 for _ in range(draw.randrange(1, 20))]
        return "".join(map(chr, codes))
    parts = []
    for _ in range(draw.randrange(1, 10)):
        start = draw.randrange(len(corpus))
        parts.append(draw.choice([corpus[start : start + draw.randrange(1, 30)], draw.choice(NOISE), draw.choice(SYMBOLS)]))
    return "".join(parts)


def wrong_loop(reference, text, calls):
    """What is wrong with a loop over `encodeInto`, or None. Each call has the size of its array,
    the number of UTF-16 units that it read, and the ids that it wrote."""
    rest = text
    for size, read, ids in calls:
        taken = rest.encode("utf-16-le")[: 2 * read].decode("utf-16-le", "replace")
        is_right = rest.startswith(taken) and len(ids) <= size and ids == (reference.encode(taken) if taken else [])
        is_right = is_right and (taken == rest) == (len(reference.encode(rest)) <= size)
        is_right = is_right and (taken != "" or len(reference.encode(rest[0])) > size)
        if not is_right:
            return f"encodeInto({rest!r}, {size} ids) wrote {ids} and read {read}"
        rest = rest[len(taken) :]
    return f"{rest!r} was not read" if rest else None


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--corpus", type=pathlib.Path, required=True)
    arguments.add_argument("--texts", type=int, default=2000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--only")
    arguments.add_argument("--models", type=pathlib.Path)
    arguments = arguments.parse_args()
    corpus = "".join(path.read_text("utf-8")[:400_000] for path in sorted(arguments.corpus.glob("*.txt")))
    lines = [line for line in corpus.splitlines() if line.strip()]
    draw = random.Random(arguments.seed)
    answers = differences = 0
    known = {path.name: path for path in sorted(arguments.models.iterdir())} if arguments.models else MODELS
    chosen = {name: options for name, options in known.items() if arguments.only in (None, name)}
    with tempfile.TemporaryDirectory() as folder:
        for name, options in chosen.items():
            if arguments.models:
                model = options.read_bytes()
            else:
                model = train(draw.sample(lines, min(len(lines), 1500)), options, arguments.seed)
            reference = spm.SentencePieceProcessor(model_proto=model)
            file = pathlib.Path(folder) / f"{name}.model"
            file.write_bytes(model)
            pieces = [reference.id_to_piece(id).replace("▁", " ") for id in range(reference.get_piece_size())]
            texts = [text(draw, corpus, pieces) for _ in range(arguments.texts)]
            rooms = [draw.choice([1, 2, 3, 4, 8, 40]) for _ in texts]
            # The library changes its sums of scores in texts of more than about 40 KB.
            texts += [corpus[start : start + 150_000] for start in draw.sample(range(len(corpus)), 3)]
            rows = [[draw.randrange(len(pieces)) for _ in range(draw.randrange(12))] for _ in range(arguments.texts)]
            marks = [id for id, piece in enumerate(pieces) if piece.startswith(" ") or piece.startswith("<")]
            rows += [[draw.choice(marks) for _ in range(draw.randrange(6))] for _ in range(arguments.texts // 4)]
            asked = json.dumps({"file": str(file), "texts": texts, "rooms": rooms, "rows": rows})
            run = subprocess.run(["node", HERE / "worker.mjs"], input=asked, capture_output=True, text=True)
            if run.returncode != 0:
                sys.exit(f"{name}: {run.stderr}")
            found = json.loads(run.stdout)
            wrong = []
            for asked, (ids, tokens, places, decoded, streamed) in zip(texts, found["texts"]):
                pieces_of = reference.encode(asked, return_type="proto").pieces
                expected = [[piece.id for piece in pieces_of], [piece.piece for piece in pieces_of],
                            offsets(asked, pieces_of), reference.decode([piece.id for piece in pieces_of])]
                if expected != [ids, tokens, places, decoded] or streamed != decoded:
                    wrong.append((asked, expected, [ids, tokens, places, decoded, streamed]))
            for asked, calls in zip(texts, found["loops"]):
                if fault := wrong_loop(reference, asked, calls):
                    wrong.append((asked, fault, calls))
            for row, (decoded, streamed) in zip(rows, found["rows"]):
                expected = reference.decode(row)
                if not decoded == streamed == expected:
                    wrong.append((row, expected, [decoded, streamed]))
            answers += len(texts) * 7 + sum(map(len, found["loops"])) + len(rows) * 2
            differences += len(wrong)
            print(f"{name}: {len(pieces)} pieces, {len(texts)} texts, {len(rows)} rows of ids, {len(wrong)} differ", flush=True)
            for asked, expected, answer in sorted(wrong, key=lambda case: len(case[0]))[:3]:
                print(f"  {asked!r}\n    sentencepiece {expected}\n    tokenlane     {answer}", flush=True)
    print(f"sentencepiece {spm.__version__}, {len(chosen)} models, {answers} answers, {differences} differ")
    sys.exit(differences > 0)


main()
