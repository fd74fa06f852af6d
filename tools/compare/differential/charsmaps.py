"""Character maps for the normalizer Precompiled: SentencePiece's own, and small random ones."""

import functools
import io
import struct

RULES = ["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"]
KEYS = ["a", "b", "ab", "é", "e\u0301", "\u0301", "ﬁ", "\r\n", "\n", " ", "  ", "\u200b", "①", "中", "ｶﾞ", "👩‍👩‍👧‍👦", "Å", "😀", "\ufeff", "T", "th"]
REPLACEMENTS = ["", "", " ", "x", "yé", "fi", "é", "a", "中中中", "\u0301", "▁", "1"]
UNITS = 1 << 14


@functools.cache
def published():
    """The maps in models that SentencePiece trains, one for each of its rule sets."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2

    maps = []
    for rule in RULES:
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(f"some words {number}" for number in range(100)),
            model_writer=model,
            vocab_size=40,
            model_type="bpe",
            normalization_rule_name=rule,
            hard_vocab_limit=False,
            minloglevel=3,
        )
        parsed = sentencepiece_model_pb2.ModelProto()
        parsed.ParseFromString(model.getvalue())
        maps.append(parsed.normalizer_spec.precompiled_charsmap)
    return maps


def random_charsmap(random):
    rules = {random.choice(KEYS): random.choice(REPLACEMENTS) for _ in range(random.randint(1, 12))}
    return charsmap(sorted((key.encode(), replacement) for key, replacement in rules.items()))


def charsmap(rules):
    """Builds a map: a double array in the layout of the Darts library, and the replacements."""
    text, keys = b"", []
    for key, replacement in rules:
        keys.append((key, len(text)))
        text += replacement.encode() + b"\0"
    units, taken = [0] * UNITS, [False] * UNITS
    taken[0] = True
    place(keys, 0, 0, units, taken)
    return struct.pack("<I", UNITS * 4) + struct.pack(f"<{UNITS}I", *units) + text


def place(keys, depth, node, units, taken):
    """Places the children of `node`: the next bytes of `keys`, or 0 where a key ends."""

    def label_of(key):
        return key[depth] if depth < len(key) else 0

    labels = sorted({label_of(key) for key, _ in keys})
    base = next(base for base in range(1, UNITS - 256) if not taken[base] and not any(taken[base ^ label] for label in labels))
    for label in labels:
        taken[base ^ label] = True
    units[node] |= (node ^ base) << 10
    for label in labels:
        below = [(key, value) for key, value in keys if label_of(key) == label]
        if label == 0:
            units[node] |= 1 << 8
            units[base] = below[0][1] | 1 << 31
        else:
            units[base ^ label] = label
            place(below, depth + 1, base ^ label, units, taken)
