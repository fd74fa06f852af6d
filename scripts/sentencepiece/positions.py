"""The positions of the library's pieces in a text, for compare.py and the recorded cases."""

from sentencepiece import sentencepiece_model_pb2 as pb


def units(text, unit):
    """For each byte of a text, and for its end, the position in a unit."""
    if unit == "byte":
        return range(len(text.encode()) + 1)
    places, at = [], 0
    for character in text:
        places += [at] * len(character.encode())
        at += 1 + (unit == "utf16" and ord(character) > 0xFFFF)
    return [*places, at]


def offsets(text, pieces):
    """The offsets of the library's pieces in each unit; it counts bytes."""
    spans = [place for piece in pieces for place in (piece.begin, piece.end)]
    return {unit: [units_of[place] for place in spans]
            for unit, units_of in ((unit, units(text, unit)) for unit in ("byte", "codepoint", "utf16"))}


def prefix_length(model):
    """The number of characters that the normalizer of a model inserts before a text."""
    proto = pb.ModelProto()
    proto.ParseFromString(model)
    return int(proto.normalizer_spec.add_dummy_prefix and not proto.trainer_spec.treat_whitespace_as_suffix)


def cuts(reference, prefix, text):
    """The numbers of pieces after which a text can be cut, each with the position of the next piece
    in code points. Both sides have text, and no character, symbol or sequence that a rule replaces
    is on both. `prefix` is the length of what the normalizer inserts before the text. A last piece
    without text, such as an inserted suffix, is not cut off."""
    normalized, origins = reference.normalize(text, with_offsets=True)
    found, at, unfinished = {}, 0, b""
    pieces = list(zip(reference.encode(text), reference.encode(text, out_type=str)))
    for number, (id, piece) in enumerate(pieces):
        has_text = origins[at] < origins[-1] or number + 1 < len(pieces)
        if at > prefix and not unfinished and origins[at - 1] < origins[at] and has_text:
            found[number] = origins[at]
        unfinished += bytes([int(piece[3:5], 16)]) if reference.is_byte(id) else b""
        if not reference.is_byte(id):
            at += len(piece)
        elif unfinished == normalized[at].encode():
            at, unfinished = at + 1, b""
    return found
