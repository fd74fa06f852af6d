"""Reads and writes the metadata of GGUF files. Values are (type, value); a list is
(LIST, (type of its entries, entries))."""

import struct

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
UINT8, UINT32, INT32, FLOAT32, BOOL, TEXT, LIST = 0, 4, 5, 6, 7, 8, 9


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 8

    def number(self, code):
        (value,) = struct.unpack_from("<" + code, self.data, self.at)
        self.at += struct.calcsize(code)
        return value

    def text(self):
        length = self.number("Q")
        self.at += length
        return self.data[self.at - length : self.at]

    def value(self, kind):
        if kind == TEXT:
            return self.text()
        if kind != LIST:
            return self.number(SCALARS[kind])
        entry, count = self.number("I"), self.number("Q")
        if entry == TEXT:
            return entry, [self.text() for _ in range(count)]
        values = struct.unpack_from(f"<{count}{SCALARS[entry]}", self.data, self.at)
        self.at += struct.calcsize(SCALARS[entry]) * count
        return entry, list(values)


def read(path):
    """The metadata of a file by key. Texts are bytes."""
    reader = Reader(path.read_bytes())
    reader.number("Q")
    values = {}
    for _ in range(reader.number("Q")):
        key, kind = reader.text().decode(), reader.number("I")
        values[key] = kind, reader.value(kind)
    return values


def encoded(value):
    return value if isinstance(value, bytes) else value.encode()


def packed(kind, value):
    if kind == TEXT:
        return struct.pack("<Q", len(encoded(value))) + encoded(value)
    if kind != LIST:
        return struct.pack("<" + SCALARS[kind], value)
    entry, entries = value
    head = struct.pack("<IQ", entry, len(entries))
    if entry == TEXT:
        return head + b"".join(packed(TEXT, text) for text in entries)
    return head + struct.pack(f"<{len(entries)}{SCALARS[entry]}", *entries)


def write(path, values):
    """Writes a file without tensors."""
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(values))
    fields = (packed(TEXT, key) + struct.pack("<I", kind) + packed(kind, value) for key, (kind, value) in values.items())
    path.write_bytes(head + b"".join(fields))
