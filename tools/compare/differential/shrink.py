"""Reduces a difference to a small request and a small tokenizer."""

import questions
import sides

MAX_SHRINK_REQUESTS = 1500  # for one difference
SHRINKABLE = [
    ("request", "encode"),
    ("request", "batch"),
    ("request", "decode"),
    ("request", "calls"),
    ("request", "places"),
    ("request", "options", "pair"),
    ("tokenizer", "added_tokens"),
    ("tokenizer", "model", "merges"),
    ("tokenizer", "model", "vocab"),
    ("tokenizer", "ranks"),
]
PARTS = ("normalizer", "post_processor", "pre_tokenizer", "decoder", "truncation", "padding")
LISTS = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "decoder": "decoders", "post_processor": "processors"}


class Shrinker:
    def __init__(self, package, library, form, reread=None):
        self.package, self.library, self.form, self.reread, self.calls = package, library, form, reread, 0

    def fresh_difference(self, case):
        """The difference after both sides load the tokenizer again. None if one of them cannot."""
        if any("failed" in side for side in sides.load_both(self.package, self.library, case["tokenizer"], self.form, self.reread)):
            return None
        (want,) = self.library.ask({"all": [case["request"]]})
        (got,) = self.package.ask({"all": [case["request"]]})
        return questions.difference(want, got)

    def shrunk(self, case):
        """A smaller case, {"tokenizer", "request"}, in which one of the columns still differs."""
        self.calls = 0
        self.wanted = set(self.fresh_difference(case) or ())
        if not self.wanted:
            return case
        candidates = [(("tokenizer", part), None) for part in PARTS]
        candidates += [(("request", "options", name), None) for name in ("pair", "truncation", "padding", "encodeSpecialTokens")]
        for path, value in candidates:
            if value_at(case, path) is not None:
                case = self.smaller(case, with_value(case, path, value))
        for part, name in LISTS.items():
            path = ("tokenizer", part, name)
            if isinstance(value_at(case, path[:2]), dict) and value_at(case, path):
                case = self.shorten(case, path)
        # Twice, because a text can often be shortened further when there are fewer merges and added
        # tokens.
        for path in SHRINKABLE * 2:
            case = self.shorten(case, path)
        return case

    def smaller(self, case, candidate):
        return candidate if self.still_differs(candidate) else case

    def still_differs(self, candidate):
        self.calls += 1
        if self.calls > MAX_SHRINK_REQUESTS:
            return False
        try:
            found = self.fresh_difference(candidate)
        except sides.Ended:
            return False
        return bool(found) and bool(self.wanted & set(found))

    def shorten(self, case, path):
        value = value_at(case, path)
        if not isinstance(value, (list, str)) or not value:
            return case
        return with_value(case, path, shortened(value, lambda value: self.still_differs(with_value(case, path, value))))


def shortened(sequence, still_differs):
    """A shorter sequence that still differs. It leaves out smaller and smaller parts."""
    size = max(1, len(sequence) // 2)
    while True:
        start, removed = 0, False
        while start < len(sequence):
            candidate = sequence[:start] + sequence[start + size :]
            if still_differs(candidate):
                sequence, removed = candidate, True
            else:
                start += size
        if size == 1 and not removed:
            return sequence
        size = max(1, size // 2)


def value_at(tree, path):
    for key in path:
        tree = tree.get(key)
        if tree is None:
            return None
    return tree


def with_value(tree, path, value):
    """A copy of nested dicts with one value replaced."""
    key, *rest = path
    return tree | {key: with_value(tree[key], rest, value) if rest else value}
