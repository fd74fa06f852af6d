"""Random texts. `random` is the only source of randomness."""

import json
import pathlib
import unicodedata

# Strings that texts, patterns and added tokens are made of. `rare_patterns` differ between dialects
# of regular expressions; those that the library does not compile are excluded.
SAMPLES = json.loads(pathlib.Path(__file__).with_name("samples.json").read_text("utf-8"))
CORPUS, SCRIPTS = SAMPLES["corpus"], SAMPLES["scripts"]


def random_text(random, added):
    """A text of up to 60 random pieces."""
    pieces = [random_piece(random, added) for _ in range(random.choice([0, 1, 2, 5, 15, 15, 60]))]
    text = "".join(pieces)
    return unicodedata.normalize(random.choice(["NFC", "NFD", "NFKC"]), text) if random.random() < 0.15 else text


def random_piece(random, added):
    kind = random.random()
    if kind < 0.4:
        line = random.choice(CORPUS if kind < 0.2 else SCRIPTS)
        start = random.randrange(len(line))
        return line[start : start + random.randint(1, 14)]
    if kind < 0.55:
        return "".join(random.choices(SAMPLES["odd_characters"], k=random.randint(1, 4)))
    if kind < 0.65:
        return random.choice(SAMPLES["runs"]) * random.choice([1, 2, 3, 5, 9, 17, 40, 300 if random.random() < 0.1 else 4])
    if kind < 0.75:
        return "".join(random_character(random) for _ in range(random.randint(1, 3)))
    if kind < 0.9 and added:
        before, after = ["", " ", "  ", "a", "\n", "\t ", "_", "é", "\u0301"], ["", " ", "\n ", "b", "_", "  ", "\u200d", "."]
        token = random.choice(added)
        if random.random() < 0.1:
            token = token.upper() if random.random() < 0.5 else token[: random.randint(0, len(token))]
        return random.choice(before) + token * random.choice([1, 1, 1, 2, 3]) + random.choice(after)
    return random.choice(["'s", "'LL", "'ſ", "DON'T", "HeLLo", "x1y22z333", "\r\n", ", ", "ab" * random.randint(1, 20)])


def random_character(random):
    while True:
        limits = [0x80, 0x250, 0x3000, 0x10000, 0x20000, 0x110000]
        code = random.randrange(random.choice(limits))
        if not 0xD800 <= code < 0xE000:
            return chr(code)
