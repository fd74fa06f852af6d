"""Random texts. `random` is the only source of randomness."""

import unicodedata

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
SCRIPTS = [
    "İstanbul'da ILIK ığdır; ΟΔΥΣΣΕΥΣ Ὀδυσσεύς ᾳ ΐ ΰ",
    "שָׁלוֹם עולם, مَرْحَبًا بِالعَالَم \u202bمن اليمين\u202c 123 ١٢٣ ۴۵۶",
    "हिन्दी क्षत्रिय ज़्यादा বাংলা க்ஷ தமிழ் తెలుగు ಕನ್ನಡ മലയാളം ൧൨",
    "ภาษาไทยไม่มีวรรค ລາວ ខ្មែរ မြန်မာ བོད་ཡིག་ ᠮᠣᠩᠭᠣᠯ",
    "ქართული ᲥᲐᲠᲗᲣᲚᲘ Հայերեն አማርኛ ᏣᎳᎩ ꮳꮃꭹ ⴰⵎⴰⵣⵉⵖ 𐐨𐐀 𞤀𞤢",
    "漢字かな交じり文カタカナ・ーｶﾞｷﾞ㍿㋿①⒈㈱ 〇々〆𠮷野家 繁體 简体",
    "각 각 ᄀ ᅡ ᆨ 한국어 띄어쓰기",
    "👩🏽‍🚀 👨‍👩‍👧‍👦 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f ☺️ ☺︎ 1️⃣ 🇫🇷🇩🇪🇫",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟘𝟙𝟚 ℌ ﬃ ǆ ǅ Ǆ ſt ẛ̣ ﷺ ㎏ ½ ²³¹ ⁵ ₂ Ⅻ",
    "z̷̢̛̲̗͇͊͗a̶̧͉̓l̴͇̑g̵̈́o̸ e\u0301\u0302\u0327 \u0301\u0301 a\u0345 \u0f71\u0f72 \u0930\u093c",
    "def f(self, x: int = 0x1F) -> None:\n\treturn f\"{x!r:>{10}}\"  # camelCaseWord HTTPServer2XML\n\n\n    pass",
    "https://example.org/a?b=c%20d&e=f#g user.name+tag@mail.co.uk 192.168.0.1 2024-01-31T23:59:59Z 1,234.56€ -7e-10",
    '{"key": [1, 2.5e3, null, true], "ünï": "\\u00e9\\n"}',
    "<html><body class='x'>&amp;&#233;</body></html> $$\\frac{a}{b}$$ ```python\n```",
    "I'm you're he'd we'll they've it's 'tis don’t DON'T I'M ’s 'S 'ſ x'RE",
    "one.two,three;four:five!six?seven—eight–nine-ten_eleven/twelve…“quoted”«so»„auch“",
    "aA bB cC ABCdef abcDEF ABCDef 12ab34 ab12 ①② Ⅷ x² H₂O",
    "\r\r\n\n\r \u0085\u2028\u2029\x0b\x0c\x1c\x1d\x1e\x1f \t\t  \u00a0\u1680\u2000\u200a\u202f\u205f\u3000",
    "▁the▁▁thing ▁ ▁▁▁ _a_ __ ##ing ##a </w> <0x41> <0xE4> <unk> Ġthe Ċ ĉ Â Ã©",
]
ODD_CHARACTERS = (
    " \t\n\r\u0085\u00a0\u2028\u3000\u200b\ufeff\u200d\u0301\u0327\u030a\u0345\u1100\u1161\u11a8\uac00"
    "\u0130\u0131\u017f\u212a\u2126\u0958\u0344\u0f73\ufb01\ufb2a\uff76\uff9e\u32ff\u00bd\u0660\u4e00\u3042"
    "\ufffd\U0001f600\U0001f1e9\U000e0041\U0002f800\U0010ffff\u0000\u007f\u00ad'’▁_-"
    "\u03a3\u03c2\u1e9e\u00df\u0149\u01c5\u1fb3\u200c\u200e\u200f\u202a\u202e\u2060\u2066\ufe0e\ufe0f\u20e3"
    "\u0001\u001b\u001f\u0080\u009f\ue000\uf8ff\ufdd0\ufffe\uffff\U0001fffe\U000f0000\u0378\U0001d7d8\u180e\u2029"
    "\u0640\u064b\u05b8\u093f\u094d\u0e33\u0eb3\u0600\u06dd\U000110bd\U0001f3fb\u3099\u309a\u02c9\u00b7\u0387\U0001d7ce"
)
RUNS = " \na0'é\u0301\tA.-=中\u200d\u00a0😀▁\r"


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
        return "".join(random.choices(ODD_CHARACTERS, k=random.randint(1, 4)))
    if kind < 0.65:
        return random.choice(RUNS) * random.choice([1, 2, 3, 5, 9, 17, 40, 300 if random.random() < 0.1 else 4])
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
