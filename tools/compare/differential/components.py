"""Random normalizers, pre-tokenizers and decoders. `random` is the only source of randomness."""

import base64

import charsmaps
from families import CJK, CL100K, GPT2, GROUPS_FROM_RIGHT, O200K, QWEN2, byte_level, sequence, split
from texts import SAMPLES

KNOWN_PATTERNS = [GPT2, CL100K, QWEN2, O200K, GROUPS_FROM_RIGHT, CJK, r"\p{N}{1,3}", r"\s+", r"\w+|[^\w\s]+"]
BEHAVIORS = ["Isolated", "Isolated", "Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


def coin(random, probability=0.5):
    return random.random() < probability


def random_pattern(random):
    kind = random.random()
    if kind < 0.45:
        return random.choice(KNOWN_PATTERNS)
    if kind < 0.6:
        return random.choice(SAMPLES["rare_patterns"])
    return "|".join(random.sample(SAMPLES["pattern_atoms"], random.randint(1, 5)))


def random_split(random):
    behavior = random.choice(BEHAVIORS)
    # Some published files keep only the matches of a pattern, with `invert` and `Removed`.
    invert = coin(random, 0.7 if behavior == "Removed" else 0.15)
    made = split(random_pattern(random), behavior, invert)
    made["pattern"] = {"Regex": random_pattern(random)} if coin(random, 0.85) else {"String": random.choice(SAMPLES["strings"])}
    return made


def random_byte_level(random, use_regex=None, add_prefix_space=False):
    use_regex = coin(random) if use_regex is None else use_regex
    return byte_level(use_regex, add_prefix_space, trim_offsets=coin(random))


def random_replace(random, contents):
    pattern = {"String": random.choice(SAMPLES["strings"])} if coin(random) else {"Regex": random.choice(SAMPLES["regexes"])}
    return {"type": "Replace", "pattern": pattern, "content": random.choice(contents)}


def random_metaspace(random):
    made = {"type": "Metaspace", "replacement": random.choice("▁▁▁_ é"), "prepend_scheme": random.choice(["first", "always", "never"])}
    if coin(random, 0.8):
        made["split"] = coin(random)
    return made


def byte_level_parts(random):
    """The components of files like those of GPT-2, Llama 3 and Qwen 2."""
    nfc = {"type": "NFC"}
    normalizer = random.choice([None, None, nfc, sequence("normalizers"), sequence("normalizers", nfc)])
    if coin(random, 0.3):
        pre_tokenizer = random_byte_level(random)
    else:
        splits = [random_split(random) for _ in range(random.choice([1, 1, 1, 2, 3]))]
        pre_tokenizer = sequence("pretokenizers", *splits, random_byte_level(random, use_regex=coin(random, 0.1)))
    return {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "decoder": random_byte_level(random)}


def any_normalizer(random):
    plain = ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel"]
    kind = random.choice([*plain, "Strip", "Prepend", "Replace", "Replace", "Bert", "Precompiled", "Precompiled", "Sequence"])
    match kind:
        case "Strip":
            return {"type": kind, "strip_left": coin(random), "strip_right": coin(random)}
        case "Prepend":
            return {"type": kind, "prepend": random.choice(["▁", "ab", " ", "\u0301", ""])}
        case "Replace":
            return random_replace(random, ["", " ", "▁", "xyz", "é", "\n\n"])
        case "Bert":
            flags = {"clean_text": coin(random), "handle_chinese_chars": coin(random), "lowercase": coin(random)}
            return {"type": "BertNormalizer", "strip_accents": random.choice([None, True, False]), **flags}
        case "Precompiled":
            charsmap = random.choice(charsmaps.published()) if coin(random, 0.6) else charsmaps.random_charsmap(random)
            return {"type": kind, "precompiled_charsmap": base64.b64encode(charsmap).decode()}
        case "Sequence":
            return sequence("normalizers", *(any_normalizer(random) for _ in range(random.randrange(3))))
    return {"type": kind}


def any_pre_tokenizer(random):
    kinds = ["Split", "Split", "Split", "ByteLevel", "ByteLevel", "Metaspace", "Metaspace", "Punctuation", "Digits"]
    plain = ["BertPreTokenizer", "Whitespace", "WhitespaceSplit", "UnicodeScripts"]
    kind = random.choice([*kinds, *plain, "CharDelimiterSplit", "FixedLength", "Sequence"])
    match kind:
        case "Split":
            return random_split(random)
        case "ByteLevel":
            return random_byte_level(random, add_prefix_space=coin(random))
        case "Metaspace":
            return random_metaspace(random)
        case "Punctuation":
            return {"type": kind, "behavior": random.choice(BEHAVIORS)}
        case "Digits":
            return {"type": kind, "individual_digits": coin(random)}
        case "CharDelimiterSplit":
            return {"type": kind, "delimiter": random.choice(" aé▁\n")}
        case "FixedLength":
            return {"type": kind, "length": random.randint(1, 7)}
        case "Sequence":
            return sequence("pretokenizers", *(any_pre_tokenizer(random) for _ in range(random.randrange(3))))
    return {"type": kind}


def any_decoder(random):
    kind = random.choice(["ByteLevel", "Fuse", "ByteFallback", "BPEDecoder", "WordPiece", "Metaspace", "CTC", "Replace", "Strip"])
    match kind:
        case "ByteLevel":
            return random_byte_level(random)
        case "BPEDecoder":
            return {"type": kind, "suffix": random.choice(["</w>", "</w>", "a", ""])}
        case "WordPiece":
            return {"type": kind, "prefix": random.choice(["##", "##", "a", ""]), "cleanup": coin(random)}
        case "Metaspace":
            return random_metaspace(random)
        case "CTC":
            delimiter = random.choice(["▁", "|", " "])
            return {"type": kind, "pad_token": random.choice("ab"), "word_delimiter_token": delimiter, "cleanup": coin(random)}
        case "Replace":
            return random_replace(random, ["", " ", "xyz", "é"])
        case "Strip":
            return {"type": kind, "content": random.choice(" a▁"), "start": random.randrange(3), "stop": random.choice([0, 0, 1, 2])}
    return {"type": kind}


def random_decoder(random):
    if coin(random, 0.1):
        return None
    if coin(random, 0.4):
        return any_decoder(random)
    return sequence("decoders", *(any_decoder(random) for _ in range(random.randrange(5))))


def any_parts(random):
    """Components of every type that tokenizers reads."""
    normalizers = [any_normalizer(random) for _ in range(random.choice([0, 0, 1, 1, 2, 3]))]
    pre_tokenizers = [any_pre_tokenizer(random) for _ in range(random.choice([0, 1, 1, 2, 3]))]

    def joined(key, parts):
        return sequence(key, *parts) if len(parts) > 1 else parts[0] if parts else None

    return {
        "normalizer": joined("normalizers", normalizers),
        "pre_tokenizer": joined("pretokenizers", pre_tokenizers),
        "decoder": random_decoder(random),
    }


# Fields that old files lack, by type.
OMITTED = {"ByteLevel": ["use_regex"], "Punctuation": ["behavior"], "FixedLength": ["length"], "Metaspace": ["split", "prepend_scheme"]}


def as_old_files(random, part, has_types):
    """Removes some fields of a component, as in files of earlier versions.

    With `has_types` the component keeps its type. Only pre-tokenizers need it; the library
    recognizes other components by their fields.
    """
    if isinstance(part, list):
        return [as_old_files(random, one, has_types) for one in part]
    if not isinstance(part, dict) or "type" not in part:
        return part
    kind = part["type"]
    omitted = [name for name in OMITTED.get(kind, []) if coin(random)]
    if kind == "Metaspace" and coin(random):
        scheme = part.get("prepend_scheme")
        part = part | {"add_prefix_space": scheme != "never", "str_rep": part["replacement"]}
        if scheme == "always":
            omitted.append("prepend_scheme")
    if not has_types and len(part) > 1 and coin(random):
        omitted.append("type")
    keys = ("normalizers", "pretokenizers", "decoders", "processors")
    return {
        name: as_old_files(random, value, has_types) if name in keys else value
        for name, value in part.items()
        if name not in omitted
    }
