"""The positions of the library's pieces in a text, for compare.py and the recorded cases."""


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
