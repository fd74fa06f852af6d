"""Random models, added tokens, post-processors and tokenizers.

`random` is the only source of randomness.
"""

import base64
import json

import charsmaps
from components import any_parts, as_old_files, byte_level_parts, coin, random_byte_level, random_pattern
from families import families, sequence, word_families
from texts import CORPUS, SAMPLES, SCRIPTS
from word_models import numbered, random_word_model, vocabulary
from tokenizers import Tokenizer


def byte_alphabet():
    """The characters for the 256 bytes in byte-level vocabularies, in the order of the bytes."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in printable)
    table = {byte: chr(byte) for byte in printable} | {byte: chr(256 + n) for n, byte in enumerate(others)}
    return [table[byte] for byte in range(256)]


def any_model(random):
    """Random options for `random_model`."""
    return {
        "bytes": coin(random, 0.4),
        "continuing_subword_prefix": random.choice([None, "", None, "##"]),
        "end_of_word_suffix": random.choice([None, "", None, "</w>"]),
        "unk_token": random.choice([None, "<unk>", "a"]),
        "fuse_unk": coin(random),
        "byte_fallback": coin(random, 0.3),
        "ignore_merges": coin(random, 0.4),
        "dropout": random.choice([None, None, None, None, 0.0, 1.0]),
    }


def random_model(random, words, options):
    """A BPE model with random merges of pairs that occur in `words`, so that merges compete."""
    is_bytes = options["bytes"]
    prefix, suffix = options.get("continuing_subword_prefix") or "", options.get("end_of_word_suffix") or ""
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
    for word in random.sample(words, min(len(words), random.choice([0, 20]))):
        add(word)  # no merge makes such a token: only ignore_merges finds it
    if unk := options.get("unk_token"):
        add(unk)
    has_all = coin(random)
    for byte in range(256) if options.get("byte_fallback") else ():
        if has_all or coin(random, 0.97):
            add(f"<0x{byte:02X}>")
    as_strings = coin(random) and not any(" " in token for pair in merges for token in pair)
    made = {
        "type": "BPE",
        "dropout": options.get("dropout"),
        "unk_token": options.get("unk_token"),
        "continuing_subword_prefix": options.get("continuing_subword_prefix"),
        "end_of_word_suffix": options.get("end_of_word_suffix"),
        "fuse_unk": options.get("fuse_unk", False),
        "byte_fallback": options.get("byte_fallback", False),
        "ignore_merges": options.get("ignore_merges", False),
        "vocab": numbered(random, vocab, 0.7),
        "merges": [" ".join(pair) if as_strings else list(pair) for pair in merges],
    }
    if as_strings and coin(random, 0.2):
        made["merges"].insert(0, "#version: 0.2")
    if coin(random, 0.1):
        omitted = random.sample(["type", "dropout", "fuse_unk", "byte_fallback", "ignore_merges", "unk_token"], 3)
        made = {name: value for name, value in made.items() if name not in omitted or value}
    return made


def apply_merge(piece, left, right, merged):
    result = []
    for token in piece:
        if result and result[-1] == left and token == right:
            result[-1] = merged
        else:
            result.append(token)
    return result


def random_added_tokens(random, vocab):
    """Added tokens with every flag, some of them in the vocabulary.

    Most ids are those that the library assigns. It ignores other ids.
    """
    chosen = random.sample(SAMPLES["added_texts"], random.choice([0, 1, 2, 4, 8, 16]))
    chosen += random.sample(sorted(vocab), min(len(vocab), random.choice([0, 0, 0, 1, 2])))
    tokens, next_id = [], max(vocab.values()) + 1
    rare = random.choice([0, 0.2, 0.6])
    for content in dict.fromkeys(chosen):
        identifier = vocab.get(content, next_id)
        next_id += identifier == next_id
        flags = {name: coin(random, rare) for name in ("single_word", "lstrip", "rstrip")}
        flags |= {"normalized": coin(random, 0.4), "special": coin(random, 0.6)}
        tokens.append({"id": identifier, "content": content, **flags})
    tokens.sort(key=lambda token: token["id"])
    if tokens and coin(random, 0.05):
        tokens.append(random.choice(tokens) | {"special": coin(random), "normalized": coin(random), "rstrip": coin(random)})
    if tokens and coin(random, 0.05):
        random.shuffle(tokens)
    if tokens and coin(random, 0.05):
        random.choice(tokens)["id"] += random.randint(1, 50)
    return tokens


def random_post_processor(random, vocab, added, kinds=None):
    """One component or a sequence of components, of the given kinds or of random ones."""
    names = [token["content"] for token in added] or [random.choice(sorted(vocab))]
    ids = vocab | {token["content"]: token["id"] for token in added}

    def ends():
        separator, start = random.choice(names), random.choice(names)
        return {"sep": [separator, ids[separator]], "cls": [start, ids[start]]}

    def one(kind):
        match kind:
            case "byte level":
                return random_byte_level(random, add_prefix_space=coin(random))
            case "template":
                return random_template(random, names, ids)
            case "bert":
                return {"type": "BertProcessing", **ends()}
            case "roberta":
                return {"type": "RobertaProcessing", **ends(), "trim_offsets": coin(random), "add_prefix_space": coin(random)}

    every = ["byte level", "template", "bert", "roberta"]
    kinds = kinds or random.choice([[], ["byte level"], ["template"], ["template"], ["byte level", "template"], ["any"], ["any"]])
    if kinds == ["any"]:
        kinds = [random.choice(every) for _ in range(random.choice([1, 1, 1, 2, 2, 3]))]
    made = [one(kind) for kind in kinds]
    if len(made) == 1 and coin(random, 0.9):
        return made[0]
    return sequence("processors", *made) if made or coin(random, 0.1) else None


def random_template(random, names, ids):
    def special(kind):
        kinds = [kind, kind, kind, 1, 2]
        return [
            {"SpecialToken": {"id": random.choice(names), "type_id": random.choice(kinds)}}
            for _ in range(random.choice([0, 1, 1, 2]))
        ]

    def text(which, kind):
        return [{"Sequence": {"id": which, "type_id": kind}}]

    single = special(0) + text("A", random.choice([0, 0, 0, 2])) + special(0)
    first, second = text("A", random.choice([0, 0, 0, 3])), text("B", random.choice([0, 1, 1]))
    if coin(random, 0.08):
        first, second = second, first
    if coin(random, 0.05):
        second = second + text("A", 1)
    pair = special(0) + first + special(0) + second + special(1)
    used = {part["SpecialToken"]["id"] for part in single + pair if "SpecialToken" in part}
    table = {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in sorted(used)}
    for entry in table.values():
        if coin(random, 0.1):  # several ids for one token, some of them not in the vocabulary
            count = random.randint(2, 3)
            entry["ids"] = [random.choice([*ids.values(), 99999]) for _ in range(count)]
            entry["tokens"] = [random.choice(names) for _ in range(count)]
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": table}


def stored_truncation(random):
    if coin(random, 0.75):
        return None
    length = random.choice([3, 5, 8, 20])
    return {
        "direction": random.choice(["Left", "Right"]),
        "max_length": length,
        "strategy": random.choice(["LongestFirst", "LongestFirst", "OnlyFirst", "OnlySecond"]),
        "stride": random.choice([0, 0, 1, length // 2]),
    }


def stored_padding(random):
    if coin(random, 0.75):
        return None
    return {
        "strategy": random.choice(["BatchLongest", {"Fixed": random.choice([4, 12, 40])}]),
        "direction": random.choice(["Left", "Right"]),
        "pad_to_multiple_of": random.choice([None, None, 4, 8]),
        "pad_id": random.choice([0, 3, 90000]),
        "pad_type_id": random.choice([0, 1]),
        "pad_token": random.choice(["[PAD]", "<pad>", ""]),
    }


def random_tokenizer(random, components):
    """The object of a random tokenizer.json.

    `components` is 'byte-level', 'families', 'models' or 'all'. With 'models' the tokenizer has a
    WordPiece, WordLevel or Unigram model, and the components of a published model or any
    components.
    """
    post = None
    if components == "byte-level":
        parts, model = byte_level_parts(random), {"bytes": True, "ignore_merges": coin(random, 0.4)}
    elif components == "families":
        made = families(base64.b64encode(random.choice(charsmaps.published())).decode())
        family = made[random.choice(sorted(made))]
        parts = {name: family[name] for name in ("normalizer", "pre_tokenizer", "decoder")}
        model, post = family["model"], family.get("post")
    elif components == "models" and coin(random, 0.6):
        made = word_families(base64.b64encode(random.choice(charsmaps.published())).decode())
        family = made[random.choice(sorted(made))]
        parts = {name: family[name] for name in ("normalizer", "pre_tokenizer", "decoder")}
        model, post = family["model"], family.get("post")
    else:
        parts, model = any_parts(random), any_model(random)
    words = split_corpus(parts)
    model = random_word_model(random, words, model) if components == "models" else random_model(random, words, model)
    vocab = vocabulary(model)
    added = random_added_tokens(random, vocab)
    keep_findable(added, parts)
    post_processor = random_post_processor(random, vocab, added, post and post.split(", "))
    if coin(random, 0.15):
        parts = {name: as_old_files(random, part, name == "pre_tokenizer") for name, part in parts.items()}
        post_processor = as_old_files(random, post_processor, False)
    return {
        "version": "1.0",
        "truncation": stored_truncation(random),
        "padding": stored_padding(random),
        "added_tokens": added,
        **parts,
        "post_processor": post_processor,
        "model": model,
    }


def keep_findable(added, parts):
    """Clears `normalized` of added tokens that the normalizer removes completely.

    With such a token the library uses all memory and does not return for some texts.
    """
    normalizer = with_parts(parts).normalizer
    for token in added:
        if normalizer and token["normalized"] and not normalizer.normalize_str(token["content"]):
            token["normalized"] = False


def with_parts(parts):
    """A tokenizer with these components and a minimal model."""
    empty = {"type": "BPE", "vocab": {"a": 0}, "merges": []}
    lengths = {"truncation": None, "padding": None}
    file = {"version": "1.0", "added_tokens": [], "post_processor": None, **lengths, **parts, "model": empty}
    return Tokenizer.from_str(json.dumps(file))


def split_corpus(parts):
    """The words into which the library splits the corpus with these components."""
    tokenizer = with_parts(parts)
    words = []
    for line in CORPUS + SCRIPTS:
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
    # The ranks do not follow the length of tokens, so that pairs compete and some tokens are never
    # reached.
    if coin(random):
        random.shuffle(tokens)
    rank, ranks = 0, []
    for token in dict.fromkeys(tokens):
        ranks.append([base64.b64encode(token).decode(), rank])
        rank += 1 + coin(random, 0.02)
    special = {}
    for text in random.sample(SAMPLES["added_texts"], random.choice([0, 1, 3, 6])):
        # If one special token contains another, the library's choice depends on the order of a hash
        # map.
        if not any(text in other or other in text for other in special):
            special[text] = rank + len(special)
    return {"pat_str": random_pattern(random), "special_tokens": special, "ranks": ranks}
