"""The requests for one tokenizer, and the comparison of both answers."""

import itertools

from word_models import vocabulary


def encodings(rng, text, texts):
    """Requests about one text of `texts`."""
    plain = {"addSpecialTokens": True}
    yield {"encode": text, "options": plain, "places": random_places(rng, text), "also": True}
    special = {"encodeSpecialTokens": True} if rng.random() < 0.4 else {}
    yield {"encode": text, "options": {"addSpecialTokens": False, **special}}
    yield {"calls": text, "options": {"addSpecialTokens": rng.random() < 0.5, **special}}
    for _ in range(2):
        yield one_encoding(rng, text, texts)


def one_encoding(rng, text, texts):
    """A text with random options, sometimes with a second text, sometimes split into words."""
    options = random_options(rng)
    # The file may truncate to few tokens, and the library is slow with thousands of parts.
    if options.get("stored"):
        texts = [one[:20] for one in texts]
    request = {"encode": text, "options": options, "places": random_places(rng, text)}
    if options.get("pretokenized"):
        request["encode"] = words_of(rng, text)
    if rng.random() < 0.5 and not (options.get("stored") and len(text) > 60):
        other = rng.choice(texts)
        options["pair"] = words_of(rng, other) if options.get("pretokenized") else other
        limit_parts(options, text, other)
    if rng.random() < 0.2:
        request["also"] = True
    return request


def batch(rng, texts):
    options = random_options(rng)
    form = (lambda text: words_of(rng, text)) if options.get("pretokenized") else (lambda text: text)
    if rng.random() < 0.3 and not options.get("stored"):
        others = [rng.choice(texts) for _ in texts]
        options["pairs"] = [form(other) for other in others]
        limit_parts(options, max(texts, key=len), max(others, key=len))
    return {"batch": [form(text) for text in texts], "options": options}


def random_options(rng):
    options = {"addSpecialTokens": rng.random() < 0.7}
    if rng.random() < 0.2:
        options["encodeSpecialTokens"] = True
    if rng.random() < 0.25:
        options["pretokenized"] = True
    if rng.random() < 0.3:
        return options | {"stored": True}
    if rng.random() < 0.6:
        options["truncation"] = random_truncation(rng)
    if rng.random() < 0.4:
        options["padding"] = random_padding(rng)
    return options


def random_truncation(rng):
    length = rng.choice([0, 1, 2, 3, 5, 8, 10, 30, 100])
    stride = rng.choice([0, 0, 1, 2, length // 4, length // 2, length, length + 3])
    strategy = rng.choice(["longest_first", "longest_first", "only_first", "only_second"])
    return {"maxLength": length, "stride": stride, "strategy": strategy, "direction": rng.choice(["left", "right"])}


def limit_parts(options, text, pair):
    """Removes a truncation that makes so many parts that the library is slow."""
    truncation = options.get("truncation")
    if truncation is None:
        return
    step = max(1, truncation["maxLength"] // 2 - truncation["stride"])
    if (len(text) * 2 // step + 1) * (len(pair) * 2 // step + 1) > 400:
        del options["truncation"]


def random_padding(rng):
    return {
        "to": rng.choice(["longest", "longest", 0, 1, 7, 16, 64]),
        "multipleOf": rng.choice([None, None, 1, 3, 8]),
        "direction": rng.choice(["left", "right"]),
        "padId": rng.choice([0, 1, 70000]),
        "padTypeId": rng.choice([0, 0, 1, 3]),
        "padToken": rng.choice(["[PAD]", "<pad>", ""]),
    }


def words_of(rng, text):
    return text.split(rng.choice([" ", None, "a"]))


def random_places(rng, text):
    return [[rng.choice([0, 1, rng.randrange(len(text) + 3)]), rng.choice([0, 0, 0, 1, 2])] for _ in range(3)]


def decoding(rng, ids, vocab_size):
    """A request to decode changed ids of a text, or random ids, at once and as a stream."""
    if rng.random() < 0.5:
        ids = [rng.randrange(vocab_size + 2) for _ in range(rng.randint(0, 14))]
    else:
        ids = [rng.randrange(vocab_size + 2) if rng.random() < 0.1 else number for number in ids[:200]]
    one_by_one = rng.random() < 0.5
    pieces = [1] * len(ids) if one_by_one else [rng.randrange(4) for _ in range(len(ids) // 2)]
    return {"decode": ids, "pieces": pieces, "options": {"skipSpecialTokens": rng.random() < 0.5}}


def lookups(rng, definition, vocab_size):
    vocab = vocabulary(definition["model"])
    tokens = rng.sample(sorted(vocab), min(10, len(vocab))) + [token["content"] for token in definition["added_tokens"]]
    ids = [rng.randrange(vocab_size + 3) for _ in range(20)] + [token["id"] for token in definition["added_tokens"]]
    return {"ids": ids, "tokens": [*tokens, "", "no such token", "Ġ"], "options": {}}


def difference(want, got):
    """The differing columns, {column: [want, got]}, or None.

    Nothing differs if only the library fails.
    """
    if "failed" in want:
        return None
    if "failed" in got:
        return {"failed": [None, got["failed"]]}
    found = {}
    for column, value in want.items():
        other = got.get(column)
        if column in ("overflowing", "rows"):
            rows = itertools.zip_longest(value, other or [], fillvalue={"ids": None})
            if any(difference(a, b) for a, b in rows):
                found[column] = [value, other]
        elif value != other:
            found[column] = [value, other]
    return found or None
