"""Random WordPiece, WordLevel and Unigram models. `random` is the only source of randomness."""

from components import coin

KINDS = ["WordPiece", "WordPiece", "Unigram", "Unigram", "Unigram", "WordLevel"]
BYTE_TOKENS = [f"<0x{byte:02X}>" for byte in range(256)]


def random_word_model(random, words, options=None):
    """A model of the kind that `options` names, or of a random one. Its tokens occur in `words`."""
    options = options or {}
    words = [word for word in words if word] or ["a"]
    kind = options.get("kind") or random.choice(KINDS)
    made = {"WordPiece": word_piece, "WordLevel": word_level, "Unigram": unigram}[kind](random, words, options)
    if coin(random, 0.1):
        del made["type"]
    return made


def vocabulary(model):
    """Tokens with their ids, from either form of a vocabulary."""
    vocab = model["vocab"]
    return vocab if isinstance(vocab, dict) else {piece: number for number, (piece, _) in enumerate(vocab)}


def parts_of(random, words, most=8):
    """Some strings that occur in words, including single characters."""
    characters = sorted({character for word in words for character in word})
    parts = [character for character in characters if coin(random, random.choice([0.97, 0.97, 0.6]))]
    for _ in range(random.choice([0, 30, 150, 500])):
        word = random.choice(words)
        start = random.randrange(len(word))
        parts.append(word[start : start + random.randint(1, most)])
    return parts + random.sample(words, min(len(words), random.choice([0, 20, 60])))


def numbered(random, tokens, shuffled=0.5):
    """Tokens with ids that need not follow their order, and sometimes have gaps."""
    ids = list(range(len(tokens)))
    if coin(random, 0.15):
        ids = sorted(random.sample(range(len(tokens) + 40), len(tokens)))
    if coin(random, shuffled):
        random.shuffle(ids)
    return dict(zip(tokens, ids))


def word_piece(random, words, options):
    prefix = options.get("prefix", random.choice(["##", "##", "##", "", "_", "é", "▁", "a"]))
    unk = random.choice(["[UNK]", "[UNK]", "<unk>", "a", "the", ""])
    parts = parts_of(random, words)
    tokens = [part if coin(random, 0.4) else prefix + part for part in parts]
    tokens += [part for part in parts if len(part) == 1 and coin(random, 0.9)]
    tokens += [prefix + part for part in parts if len(part) == 1 and coin(random, 0.9)]
    tokens += [unk] if coin(random, 0.9) else []
    tokens += ["", prefix] if coin(random, 0.1) else []
    return {
        "type": "WordPiece",
        "unk_token": unk,
        "continuing_subword_prefix": prefix,
        "max_input_chars_per_word": random.choice([100, 100, 100, 12, 5, 1, 0]),
        "vocab": numbered(random, list(dict.fromkeys(tokens)) or ["a"]),
    }


def word_level(random, words, options):
    unk = random.choice(["[UNK]", "<unk>", "a", ""])
    tokens = random.sample(words, random.randint(0, len(words))) + ([unk] if coin(random, 0.85) else [])
    return {"type": "WordLevel", "vocab": numbered(random, list(dict.fromkeys(tokens)) or ["a"]), "unk_token": unk}


def unigram(random, words, options):
    pieces = list(dict.fromkeys(parts_of(random, words)))
    pieces += ["▁"] if coin(random, 0.8) else []
    byte_fallback = options.get("byte_fallback", coin(random, 0.35))
    if byte_fallback or coin(random, 0.1):
        has_all = coin(random, 0.6)
        pieces += [token for token in BYTE_TOKENS if has_all or coin(random, 0.97)]
    unk = random.choice(["<unk>", "<unk>", "<unk>", "a", "the", "[UNK]"])
    pieces = list(dict.fromkeys([*pieces, unk]))
    pieces += [""] if coin(random, 0.1) else []
    pieces += random.sample(pieces, min(3, len(pieces))) if coin(random, 0.1) else []  # duplicates
    if coin(random, 0.7):
        random.shuffle(pieces)
    score = random.choice(SCORES)
    vocab = [[piece, score(random, piece)] for piece in pieces]
    unk_id = random.randrange(len(pieces)) if coin(random, 0.1) else pieces.index(unk)
    made = {"type": "Unigram", "unk_id": None if coin(random, 0.06) else unk_id, "vocab": vocab, "byte_fallback": byte_fallback}
    if not byte_fallback and coin(random, 0.3):
        del made["byte_fallback"]
    return made


# Equal scores cause ties, sums of tenths are rounded, and with positive scores unknown characters
# can win.
SCORES = [
    lambda random, piece: 0,
    lambda random, piece: -1.0,
    lambda random, piece: -float(len(piece)),
    lambda random, piece: -0.1 * len(piece),
    lambda random, piece: random.choice([-1, -2, -3]),
    lambda random, piece: random.choice([0.1, 0.2, 0.3, -0.1]),
    lambda random, piece: -random.random() * 15,
    lambda random, piece: -random.random() * 15,
    lambda random, piece: -random.expovariate(0.3) - 3,
    lambda random, piece: round(-random.random() * 12, 4),
    lambda random, piece: random.random() * 40,
    lambda random, piece: 100 + random.random(),
    lambda random, piece: random.choice([-1e15, -1e15 + 0.1, 1e-9, 1e300, -1e300]),
]
