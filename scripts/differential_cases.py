"""Random tokenizers and random texts for differential.py. All randomness comes from the Random that is passed in."""

import base64
import json
import unicodedata

from tokenizers import Tokenizer

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = CL100K.replace(r"\p{N}{1,3}", r"\p{N}")
O200K = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
KNOWN_PATTERNS = [GPT2, CL100K, QWEN2, O200K, r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", r"\s+", r"\w+|[^\w\s]+"]
PATTERN_ATOMS = [
    r"\p{L}+",
    r" ?\p{L}+",
    r"\p{Lu}?\p{Ll}+",
    r"\p{Lu}{2,}",
    r"[\p{L}\p{M}]+",
    r"\p{M}",
    r"\p{N}{1,3}",
    r"\d+",
    r"\p{P}",
    r"\p{S}+",
    r"\w+",
    r"\W",
    r"\s+(?!\S)",
    r"\s+",
    r"\s*[\r\n]+",
    r"\r?\n",
    r"[^\s\p{L}\p{N}]+",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"(?i:'s|'t|'ll)",
    r"(?i:straße|K)",
    r"[aeiou]",
    r"[^a-m]",
    r"t(?=h)",
    r"(?:ab|a)b?",
    r"a*?b",
    r".",
    r".\n",
    r"[一-龥]{1,2}",
    "é",
    "e\u0301",
]
# Constructs that regex dialects read differently. Those that the library itself does not compile are left out.
RARE_PATTERNS = [
    r"\b\w+",
    r"\w+\b|\B.",
    r"^.|.$",
    r"\A.|.\z",
    r".\Z",
    r"(?<=a)b|(?<!\s)\s",
    r"a++b|\p{L}*+\d",
    r"(?>a|ab)c?",
    r"[[:alpha:]]+|[[:digit:]]",
    r"[[:space:]]+|[[:punct:]]",
    r"[[:upper:]][[:lower:]]+",
    r"[\w&&[^\d_]]+",
    r"[a-z&&[^aeiou]]+",
    r"\h+",
    r"\R",
    r"\X",
    r"(?m)^.+$",
    r"(?s:.)\n",
    r"(?m:.)\n",
    r"(?x: a b )|\ ",
    r"(a|b)\1",
    r"(?<q>['’])s",
    r"\p{Han}+|\p{Hiragana}+",
    r"\p{Alphabetic}+|\P{L}",
    r"\p{^L}+",
    r"\x{e9}|\u0301",
    r"[\p{L}--[a-c]]+",
    r"[]a]+|[^]a]",
    r"a{,2}b|b{0}",
    r"\d{2,}?|\S{3}",
    r"(?i)straße|ǆ|ſ",
    r"(?i:[a-f])+",
    r"",
    r"a*",
    r"(?=\p{Lu})|\s",
    r"\G.a?",
    r"\K|a\Kb",
    r"[^\W\d]+",
    r"\t|\x20+|\040",
]
CORPUS = [
    "the theory of the thing that they then thanked, hello world's worlds; It's 1234567 o'clock, we'll re-read",
    "  two  spaces\tand tabs\n\nlines\r\n",
    "naïve café résumé Ångström cafe\u0301 Straße ſchön",
    "привет мир, как дела? приветствие",
    "你好世界，世界你好。こんにちは 안녕하세요",
    "if (a == b) { return [0x1F, 3.14]; } // ok",
    "😀😃👩‍👩‍👧‍👦🇩🇪",
    "aaaaaaaaaaaa abababab bababa",
    "¼½ ２３ ⅷ ﬁ ½",
    "नमस्ते दुनिया ไทย",
    "<s> hello </s> [MASK] <|end|>",
]
ODD_CHARACTERS = (
    " \t\n\r\u0085\u00a0\u2028\u3000\u200b\ufeff\u200d\u0301\u0327\u030a\u0345\u1100\u1161\u11a8\uac00"
    "\u0130\u0131\u017f\u212a\u2126\u0958\u0344\u0f73\ufb01\ufb2a\uff76\uff9e\u32ff\u00bd\u0660\u4e00\u3042"
    "\ufffd\U0001f600\U0001f1e9\U000e0041\U0002f800\U0010ffff\u0000\u007f\u00ad'’▁_-"
)
ADDED_TEXTS = [
    "<s>",
    "</s>",
    "<|a|>",
    "<|ab|>",
    "<|a|>b",
    "[MASK]",
    " x",
    "x ",
    "the",
    "The",
    "é",
    "e\u0301",
    "Å",
    "ﬁ",
    "12",
    "\n\n",
    "  ",
    "aa",
    "aaa",
    "'s",
    "你好",
    "😀",
    "ſ",
    "-",
]


def coin(random, probability=0.5):
    return random.random() < probability


def byte_alphabet():
    """The characters by which byte-level vocabularies write the 256 bytes, in the order of the bytes."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in printable)
    table = {byte: chr(byte) for byte in printable} | {byte: chr(256 + n) for n, byte in enumerate(others)}
    return [table[byte] for byte in range(256)]


def random_text(random, added):
    """A text of up to about 60 pieces: corpus cuts, odd characters, any code points, repetitions, added tokens."""
    pieces = []
    for _ in range(random.choice([0, 1, 2, 5, 15, 60])):
        kind = random.random()
        if kind < 0.35:
            line = random.choice(CORPUS)
            start = random.randrange(len(line))
            pieces.append(line[start : start + random.randint(1, 12)])
        elif kind < 0.55:
            pieces.append("".join(random.choices(ODD_CHARACTERS, k=random.randint(1, 4))))
        elif kind < 0.65:
            pieces.append(random.choice(" \na0'é\u0301") * random.choice([1, 2, 3, 5, 9, 600]))
        elif kind < 0.75:
            pieces.append("".join(random_character(random) for _ in range(random.randint(1, 3))))
        elif kind < 0.9 and added:
            pieces.append(random.choice(["", " ", "  ", "a"]) + random.choice(added) + random.choice(["", " ", "\n ", "b", "_"]))
        else:
            pieces.append(
                random.choice(["'s", "'LL", "'ſ", "DON'T", "HeLLo", "x1y22z333", "\r\n", ", ", "ab" * random.randint(1, 20)])
            )
    text = "".join(pieces)
    return unicodedata.normalize(random.choice(["NFC", "NFD"]), text) if random.random() < 0.15 else text


def random_character(random):
    while True:
        code = random.choice(
            [random.randrange(0x250), random.randrange(0x3000), random.randrange(0x10000), random.randrange(0x110000)]
        )
        if not 0xD800 <= code < 0xE000:
            return chr(code)


def random_pattern(random):
    kind = random.random()
    if kind < 0.45:
        return random.choice(KNOWN_PATTERNS)
    if kind < 0.6:
        return random.choice(RARE_PATTERNS)
    return "|".join(random.sample(PATTERN_ATOMS, random.randint(1, 5)))


def random_split(random):
    pattern = (
        {"Regex": random_pattern(random)}
        if random.random() < 0.85
        else {"String": random.choice([" ", "a", "th", "\n", "é", "..", "▁"])}
    )
    behavior = random.choice(
        ["Isolated", "Isolated", "Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
    )
    # Inverted and removed is how some files keep only what a pattern matches.
    invert = random.random() < (0.7 if behavior == "Removed" else 0.15)
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def byte_level(random, use_regex=None, add_prefix_space=False):
    regex = coin(random) if use_regex is None else use_regex
    return {"type": "ByteLevel", "add_prefix_space": add_prefix_space, "trim_offsets": coin(random), "use_regex": regex}


def sequence(key, parts):
    return {"type": "Sequence", key: parts}


def byte_level_parts(random):
    """The components of files like those of GPT-2, Llama 3 and Qwen 2."""
    normalizer = random.choice(
        [None, None, {"type": "NFC"}, sequence("normalizers", []), sequence("normalizers", [{"type": "NFC"}])]
    )
    if random.random() < 0.3:
        pre_tokenizer = byte_level(random)
    else:
        splits = [random_split(random) for _ in range(random.choice([1, 1, 1, 2, 3]))]
        pre_tokenizer = sequence("pretokenizers", [*splits, byte_level(random, use_regex=random.random() < 0.1)])
    return {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "decoder": byte_level(random)}


def any_normalizer(random):
    pattern = random.choice(
        [
            {"String": random.choice([" ", "a", "th", "é", "\n", "  "])},
            {"Regex": random.choice([r"\s+", "[aeiou]", r"\p{M}", r"\d{2}", "(?i)t"])},
        ]
    )
    return random.choice(
        [
            {"type": "NFC"},
            {"type": "NFD"},
            {"type": "NFKC"},
            {"type": "NFKD"},
            {"type": "Lowercase"},
            {"type": "StripAccents"},
            {"type": "Nmt"},
            {"type": "ByteLevel"},
            {"type": "Strip", "strip_left": coin(random), "strip_right": coin(random)},
            {"type": "Prepend", "prepend": random.choice(["▁", "ab", " "])},
            {"type": "Replace", "pattern": pattern, "content": random.choice(["", " ", "▁", "xyz", "é"])},
            {
                "type": "BertNormalizer",
                "clean_text": coin(random),
                "handle_chinese_chars": coin(random),
                "strip_accents": random.choice([None, True, False]),
                "lowercase": coin(random),
            },
        ]
    )


def any_pre_tokenizer(random):
    return random.choice(
        [
            random_split(random),
            random_split(random),
            byte_level(random, add_prefix_space=coin(random)),
            {"type": "BertPreTokenizer"},
            {"type": "Whitespace"},
            {"type": "WhitespaceSplit"},
            {"type": "UnicodeScripts"},
            {"type": "CharDelimiterSplit", "delimiter": random.choice([" ", "a", "é"])},
            {"type": "Digits", "individual_digits": coin(random)},
            {"type": "FixedLength", "length": random.randint(1, 7)},
            {
                "type": "Punctuation",
                "behavior": random.choice(["Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]),
            },
            {
                "type": "Metaspace",
                "replacement": "▁",
                "prepend_scheme": random.choice(["first", "always", "never"]),
                "split": coin(random),
            },
        ]
    )


def any_decoder(random):
    return random.choice(
        [
            None,
            byte_level(random),
            {"type": "Fuse"},
            {"type": "ByteFallback"},
            {"type": "BPEDecoder", "suffix": "</w>"},
            {"type": "WordPiece", "prefix": "##", "cleanup": coin(random)},
            {
                "type": "Metaspace",
                "replacement": "▁",
                "prepend_scheme": random.choice(["first", "always", "never"]),
                "split": coin(random),
            },
            {"type": "CTC", "pad_token": "a", "word_delimiter_token": "▁", "cleanup": coin(random)},
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "Strip", "content": random.choice([" ", "a"]), "start": random.randint(0, 2), "stop": 0},
            sequence(
                "decoders",
                [
                    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                    {"type": "ByteFallback"},
                    {"type": "Fuse"},
                    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
                ],
            ),
        ]
    )


def any_parts(random):
    """Components of every type that tokenizers reads."""
    normalizers = [any_normalizer(random) for _ in range(random.choice([0, 0, 1, 1, 2, 3]))]
    pre_tokenizers = [any_pre_tokenizer(random) for _ in range(random.choice([0, 1, 1, 2, 3]))]
    return {
        "normalizer": sequence("normalizers", normalizers) if len(normalizers) != 1 else normalizers[0],
        "pre_tokenizer": (sequence("pretokenizers", pre_tokenizers) if len(pre_tokenizers) > 1 else pre_tokenizers[0])
        if pre_tokenizers
        else None,
        "decoder": any_decoder(random),
    }


def random_added_tokens(random, vocab):
    """Added tokens with every flag, some of them in the vocabulary. Ids are those that the library would give."""
    chosen = random.sample(ADDED_TEXTS, random.choice([0, 1, 2, 4, 8]))
    if random.random() < 0.2:
        chosen.append(random.choice(sorted(vocab)))
    tokens, next_id = [], max(vocab.values()) + 1
    for content in dict.fromkeys(chosen):
        identifier = vocab.get(content, next_id)
        next_id += identifier == next_id
        flags = {"single_word": coin(random, 0.2), "lstrip": coin(random, 0.2), "rstrip": coin(random, 0.2)}
        flags |= {"normalized": coin(random, 0.4), "special": coin(random, 0.6)}
        tokens.append({"id": identifier, "content": content, **flags})
    return sorted(tokens, key=lambda token: token["id"])


def random_post_processor(random, vocab, added, every_type):
    names = [token["content"] for token in added] or [random.choice(sorted(vocab))]
    ids = vocab | {token["content"]: token["id"] for token in added}

    def template():
        return random_template(random, names, ids)

    def ends():
        separator, start = random.choice(names), random.choice(names)
        return {"sep": [separator, ids[separator]], "cls": [start, ids[start]]}

    kinds = ["none", "byte level", "template", "template", "byte level, template"]
    if every_type:
        kinds += ["roberta", "bert", "template, byte level"]
    match random.choice(kinds):
        case "none":
            return None
        case "byte level":
            return byte_level(random)
        case "template":
            return template()
        case "byte level, template":
            return sequence("processors", [byte_level(random), template()])
        case "template, byte level":
            return sequence("processors", [template(), byte_level(random, add_prefix_space=coin(random))])
        case "bert":
            return {"type": "BertProcessing", **ends()}
        case "roberta":
            spaces = {"trim_offsets": coin(random), "add_prefix_space": coin(random)}
            return {"type": "RobertaProcessing", **ends(), **spaces}


def random_template(random, names, ids):
    def special(kind):
        return [{"SpecialToken": {"id": random.choice(names), "type_id": kind}} for _ in range(random.choice([0, 1, 1, 2]))]

    def text(which, kind):
        return [{"Sequence": {"id": which, "type_id": kind}}]

    single = special(0) + text("A", random.choice([0, 0, 0, 2])) + special(0)
    pair = special(0) + text("A", 0) + special(0) + text("B", random.choice([0, 1])) + special(1)
    used = {part["SpecialToken"]["id"] for part in single + pair if "SpecialToken" in part}
    table = {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in sorted(used)}
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": table}


def random_model(random, words, byte_level_only):
    """A BPE model whose merges were drawn at random from pairs that occur in `words`, so that they compete."""
    is_bytes = byte_level_only or random.random() < 0.4
    prefix = "" if byte_level_only else random.choice(["", "", "", "##"])
    suffix = "" if byte_level_only else random.choice(["", "", "", "</w>"])
    alphabet = byte_alphabet() if is_bytes else sorted({c for word in words for c in word if random.random() < 0.95} | {"a"})
    vocab = {}

    def add(token):
        vocab.setdefault(token, len(vocab))

    pieces = [
        [(prefix if at else "") + c + (suffix if at == len(word) - 1 else "") for at, c in enumerate(word)]
        for word in words
        if word
    ]
    for character in alphabet:
        for token in {character, prefix + character, character + suffix, prefix + character + suffix}:
            add(token)
    pieces = [piece for piece in pieces if all(token in vocab for token in piece)]
    merges = []
    for _ in range(random.choice([0, 30, 150, 400])):
        piece = random.choice(pieces) if pieces else []
        if len(piece) < 2:
            continue
        at = random.randrange(len(piece) - 1)
        left, right = piece[at], piece[at + 1]
        if (left, right) in merges:
            continue
        merged = left + right.removeprefix(prefix)
        merges.append((left, right))
        add(merged)
        pieces = [apply_merge(piece, left, right, merged) for piece in pieces]
    ignore_merges = random.random() < 0.4
    for word in random.sample(words, min(len(words), random.choice([0, 20]))):
        add(word)  # tokens that no merge leads to: only ignore_merges finds them
    unk = None
    if not byte_level_only and random.random() < 0.6:
        unk = random.choice(["<unk>", "a"])
        add(unk)
    byte_fallback = not byte_level_only and random.random() < 0.3
    for byte in range(256) if byte_fallback else ():
        if random.random() < 0.97:
            add(f"<0x{byte:02X}>")
    as_strings = random.random() < 0.5 and not any(" " in token for pair in merges for token in pair)
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": unk,
        "continuing_subword_prefix": prefix or None,
        "end_of_word_suffix": suffix or None,
        "fuse_unk": not byte_level_only and random.random() < 0.5,
        "byte_fallback": byte_fallback,
        "ignore_merges": ignore_merges,
        "vocab": vocab,
        "merges": [" ".join(pair) if as_strings else list(pair) for pair in merges],
    }
    if random.random() < 0.7:  # ids need not follow the order of the merges
        ids = list(range(len(vocab)))
        random.shuffle(ids)
        model["vocab"] = dict(zip(vocab, ids))
    return model


def apply_merge(piece, left, right, merged):
    result = []
    for token in piece:
        if result and result[-1] == left and token == right:
            result[-1] = merged
        else:
            result.append(token)
    return result


def random_tokenizer(random, components):
    """The object of a random tokenizer.json; `components` is 'byte-level' or 'all'."""
    byte_level_only = components == "byte-level"
    parts = byte_level_parts(random) if byte_level_only else any_parts(random)
    words = split_corpus(parts)
    model = random_model(random, words, byte_level_only)
    added = random_added_tokens(random, model["vocab"])
    post_processor = random_post_processor(random, model["vocab"], added, every_type=not byte_level_only)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        **parts,
        "post_processor": post_processor,
        "model": model,
    }


def split_corpus(parts):
    """The words into which the library itself cuts the corpus with these components."""
    empty = {"type": "BPE", "vocab": {"a": 0}, "merges": []}
    tokenizer = Tokenizer.from_str(
        json.dumps(
            {
                "version": "1.0",
                "added_tokens": [],
                "truncation": None,
                "padding": None,
                "post_processor": None,
                **parts,
                "model": empty,
            }
        )
    )
    words = []
    for line in CORPUS:
        line = tokenizer.normalizer.normalize_str(line) if tokenizer.normalizer else line
        cut = tokenizer.pre_tokenizer.pre_tokenize_str(line) if tokenizer.pre_tokenizer else [(line, None)]
        words += [word for word, _ in cut]
    return words


def random_ranks(random):
    """The ranks (base64, in order), pattern and special tokens of a random tiktoken encoding."""
    tokens = [bytes([byte]) for byte in range(256)]
    random.shuffle(tokens)
    data = [line.encode() for line in CORPUS]
    for _ in range(random.choice([0, 50, 300, 800])):
        line = random.choice(data)
        start, length = random.randrange(len(line)), random.choice([2, 2, 2, 3, 3, 4, 5, 8, 12])
        tokens.append(line[start : start + length])
    # Ranks in no order of length, so that pairs compete and some tokens cannot be reached.
    if coin(random):
        random.shuffle(tokens)
    rank, ranks = 0, []
    for token in dict.fromkeys(tokens):
        ranks.append([base64.b64encode(token).decode(), rank])
        rank += 1 + coin(random, 0.02)
    special = {}
    for text in random.sample(ADDED_TEXTS, random.choice([0, 1, 3, 6])):
        # With one special token inside another the library's choice depends on the order of a hash map.
        if not any(text in other or other in text for other in special):
            special[text] = rank + len(special)
    return {"pat_str": random_pattern(random), "special_tokens": special, "ranks": ranks}
