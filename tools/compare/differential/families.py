"""Tokenizers like those of published models.

They combine normalizers, pre-tokenizers, post-processors and decoders in the same way as published
files, but have small models.
"""

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
TEKKEN = O200K.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "").replace(r"\p{N}{1,3}", r"\p{N}")
DEEPSEEK_V3 = "|".join(
    [
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+""",
        r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+",
        r" ?[\p{P}\p{S}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
CJK = "[一-龥぀-ゟ゠-ヿ]+"
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
STARCODER2 = r"\p{N}"
BLOOM = " ?[^(\\s|[.,!?…。，、।۔،])]+"
KIMI = "|".join([r"[\p{Han}]+", r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+", CL100K])
XLM_PUNCTUATION = r"[^\w\s]"
DIGITS_BY_THREE = r"\d{1,3}(?=(?:\d{3})*\b)"
GROUPS_FROM_RIGHT = r"\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|$))"


def sequence(key, *parts):
    return {"type": "Sequence", key: list(parts)}


def split(pattern, behavior="Isolated", invert=False):
    form = "String" if len(pattern) == 1 else "Regex"
    return {"type": "Split", "pattern": {form: pattern}, "behavior": behavior, "invert": invert}


def byte_level(use_regex=False, add_prefix_space=False, trim_offsets=True):
    return {"type": "ByteLevel", "add_prefix_space": add_prefix_space, "trim_offsets": trim_offsets, "use_regex": use_regex}


def metaspace(scheme, split=True, **legacy):
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split} | legacy


def replace(pattern, content, form="String"):
    return {"type": "Replace", "pattern": {form: pattern}, "content": content}


BYTES = byte_level(add_prefix_space=True)
LLAMA_NORMALIZER = sequence("normalizers", {"type": "Prepend", "prepend": "▁"}, replace(" ", "▁"))
FALLBACK = [replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"}]
LLAMA_DECODER = sequence("decoders", *FALLBACK, {"type": "Strip", "content": " ", "start": 1, "stop": 0})
GEMMA_DECODER = sequence("decoders", *FALLBACK)
WORD_ENDS = {"type": "BPEDecoder", "suffix": "</w>"}
FALLING_BACK = {"byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>"}
END_OF_WORD = {"end_of_word_suffix": "</w>", "unk_token": "<unk>"}


def byte_family(pre_tokenizer, normalizer=None, **model):
    return {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "decoder": BYTES, "model": {"bytes": True} | model}


def text_family(normalizer, pre_tokenizer, decoder, **model):
    return {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "decoder": decoder, "model": {"bytes": False} | model}


def splits(*patterns):
    return sequence("pretokenizers", *map(split, patterns), byte_level())


def bert(lowercase, clean=True, chinese=True, accents=None):
    return {
        "type": "BertNormalizer",
        "clean_text": clean,
        "handle_chinese_chars": chinese,
        "strip_accents": accents,
        "lowercase": lowercase,
    }


def families(charsmap):
    """Tokenizers by the name of a similar model. `charsmap` is SentencePiece's map, in base64."""
    precompiled = {"type": "Precompiled", "precompiled_charsmap": charsmap}
    nfc = {"type": "NFC"}
    digits = {"type": "Digits", "individual_digits": True}
    clip = sequence("normalizers", nfc, replace(r"\s+", " ", "Regex"), {"type": "Lowercase"})
    multi = sequence("normalizers", precompiled, replace(" {2,}", " ", "Regex"))
    return {
        "gpt2": byte_family(byte_level(True)),
        "roberta": byte_family(byte_level(True, trim_offsets=True)) | {"post": "roberta"},
        "roberta, prefix space": byte_family(byte_level(True, True)) | {"post": "roberta"},
        "whisper": byte_family(byte_level(True)) | {"post": "template"},
        "gpt-neox": byte_family(byte_level(True), nfc),
        "llama3": byte_family(splits(CL100K), ignore_merges=True) | {"post": "byte level, template"},
        "qwen2": byte_family(splits(QWEN2), nfc),
        "gpt-4o": byte_family(sequence("pretokenizers", split(O200K, "Removed", True), byte_level())),
        "mistral-nemo": byte_family(splits(TEKKEN), ignore_merges=True),
        "deepseek-v3": byte_family(splits(r"\p{N}{1,3}", CJK, DEEPSEEK_V3), sequence("normalizers")),
        "deepseek-coder": byte_family(
            sequence("pretokenizers", *map(split, [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+"]), digits, byte_level())
        ),
        "falcon": byte_family(
            sequence(
                "pretokenizers",
                {"type": "Punctuation", "behavior": "Contiguous"},
                byte_level(True),
                {"type": "Digits", "individual_digits": False},
                split("[0-9][0-9][0-9]"),
            )
        ),
        "bloom": byte_family(sequence("pretokenizers", split(BLOOM), byte_level())),
        "starcoder": byte_family(sequence("pretokenizers", digits, byte_level(True))),
        "command-r": byte_family(sequence("pretokenizers", digits, byte_level(True)), nfc),
        "smollm3, by three from the right": byte_family(splits(GROUPS_FROM_RIGHT, CL100K)),
        "olmo": byte_family(splits(DIGITS_BY_THREE, CL100K), nfc),
        "kimi": byte_family(splits(KIMI)),
        "claude": byte_family({"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}, {"type": "NFKC"}),
        "byte-level normalizer": {
            **byte_family(split(CL100K), sequence("normalizers", nfc, {"type": "ByteLevel"})),
        },
        "clip": text_family(clip, sequence("pretokenizers", split(CLIP, "Removed", True), byte_level()), WORD_ENDS)
        | {"model": {"bytes": True, "end_of_word_suffix": "</w>", "unk_token": "<unk>"}, "post": "roberta"},
        "gpt": text_family(bert(True), {"type": "BertPreTokenizer"}, WORD_ENDS, **END_OF_WORD),
        "xlm": text_family(
            sequence("normalizers", {"type": "Lowercase"}, {"type": "NFD"}, {"type": "StripAccents"}),
            sequence("pretokenizers", {"type": "WhitespaceSplit"}, split(XLM_PUNCTUATION)),
            WORD_ENDS,
            **END_OF_WORD,
        ),
        "bert, by merges": text_family(
            bert(True), {"type": "BertPreTokenizer"}, {"type": "WordPiece", "prefix": "##", "cleanup": True},
            continuing_subword_prefix="##", unk_token="[UNK]",
        )
        | {"post": "bert"},
        "bert, cased": text_family(
            bert(False, accents=True), {"type": "BertPreTokenizer"}, {"type": "WordPiece", "prefix": "##", "cleanup": False},
            continuing_subword_prefix="##", unk_token="[UNK]",
        )
        | {"post": "bert"},
        "llama2": text_family(LLAMA_NORMALIZER, None, LLAMA_DECODER, **FALLING_BACK) | {"post": "template"},
        "llama2, ignore_merges": text_family(LLAMA_NORMALIZER, None, LLAMA_DECODER, ignore_merges=True, **FALLING_BACK),
        "gemma": text_family(replace(" ", "▁"), split(" ", "MergedWithPrevious"), GEMMA_DECODER, **FALLING_BACK),
        "mistral": text_family(None, metaspace("first", False), LLAMA_DECODER, **FALLING_BACK) | {"post": "template"},
        "metaspace, always": text_family(None, metaspace("always", False), LLAMA_DECODER, **FALLING_BACK),
        "metaspace, never": text_family(None, metaspace("never"), metaspace("never"), **FALLING_BACK),
        "metaspace, split": text_family({"type": "NFKC"}, metaspace("first"), metaspace("first"), unk_token="<unk>"),
        "metaspace, legacy": text_family(
            None,
            {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True, "str_rep": "▁"},
            {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},
            unk_token="<unk>",
        ),
        "t5": text_family(
            precompiled, sequence("pretokenizers", {"type": "WhitespaceSplit"}, metaspace("always")), metaspace("always"),
            unk_token="<unk>",
        ),
        "mbart": text_family(multi, metaspace("always"), metaspace("always"), **FALLING_BACK) | {"post": "template"},
        "nllb": text_family(precompiled, metaspace("first"), metaspace("first"), fuse_unk=True, unk_token="<unk>"),
        "characters": text_family(None, split("", "Isolated") | {"pattern": {"Regex": "."}}, {"type": "Fuse"}, unk_token="<unk>"),
        "words": text_family({"type": "NFKD"}, {"type": "Whitespace"}, None, unk_token="<unk>"),
        "ctc": text_family(
            {"type": "Lowercase"}, {"type": "CharDelimiterSplit", "delimiter": " "},
            {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True}, unk_token="<unk>",
        ),
        "tools": text_family(
            sequence("normalizers", {"type": "Nmt"}, {"type": "NFKC"}, replace(" {2,}", " ", "Regex"), {"type": "Strip", "strip_left": True, "strip_right": True}),
            sequence("pretokenizers", {"type": "UnicodeScripts"}, metaspace("always"), {"type": "Punctuation", "behavior": "Isolated"}),
            metaspace("always"), unk_token="<unk>",
        ),
    }  # fmt: skip


def word_families(charsmap):
    """Like `families`, with WordPiece, WordLevel and Unigram models."""
    precompiled = {"type": "Precompiled", "precompiled_charsmap": charsmap}
    one_space = replace(" {2,}", " ", "Regex")
    words = sequence("pretokenizers", {"type": "WhitespaceSplit"}, metaspace("always"))
    piece, level = {"kind": "WordPiece", "prefix": "##"}, {"kind": "WordLevel"}
    pieces, bytes_too = {"kind": "Unigram", "byte_fallback": False}, {"kind": "Unigram", "byte_fallback": True}
    parts = {"type": "WordPiece", "prefix": "##", "cleanup": True}
    bert_words = {"type": "BertPreTokenizer"}
    strip = {"type": "Strip", "strip_left": True, "strip_right": True}
    quotes = sequence("normalizers", replace("``", '"'), replace("''", '"'))

    def family(normalizer, pre_tokenizer, decoder, model, post=None):
        made = {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "decoder": decoder, "model": model}
        return made | ({"post": post} if post else {})

    return {
        "bert, uncased": family(bert(True), bert_words, parts, piece, "bert"),
        "bert, uncased with accents": family(bert(True, accents=False), bert_words, parts, piece, "template"),
        "bert, cased": family(bert(False), bert_words, parts, piece, "bert"),
        "bert, cased without accents": family(bert(False, accents=True), bert_words, parts, piece, "template"),
        "bert, no ideographs": family(bert(True, chinese=False), bert_words, parts | {"cleanup": False}, piece, "bert"),
        "bert, not cleaned": family(bert(True, clean=False), bert_words, parts, piece, "bert"),
        "bert, nothing": family(bert(False, False, False, False), bert_words, parts, piece),
        "bert, after NFKC": family(sequence("normalizers", {"type": "NFKC"}, bert(True)), bert_words, parts, piece, "bert"),
        "bert, digits apart": family(
            bert(True), sequence("pretokenizers", bert_words, {"type": "Digits", "individual_digits": True}), parts, piece
        ),
        "mpnet": family(bert(True), bert_words, parts, piece, "roberta"),
        "words of pieces": family({"type": "Lowercase"}, {"type": "Whitespace"}, parts, {"kind": "WordPiece"}),
        "pieces of whole texts": family(None, None, parts, {"kind": "WordPiece"}),
        "xlm-roberta": family(sequence("normalizers", precompiled, one_space), metaspace("always"), metaspace("always"), pieces, "template"),
        "xlm-roberta, plain": family(precompiled, metaspace("always"), metaspace("always"), pieces, "template"),
        "t5": family(precompiled, words, metaspace("always"), pieces, "template"),
        "t5, first": family(precompiled, metaspace("first"), metaspace("first"), pieces, "template"),
        "bge-m3": family(sequence("normalizers", precompiled, strip, one_space), metaspace("always"), metaspace("always"), pieces, "template"),
        "albert": family(
            sequence("normalizers", quotes, {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}, precompiled),
            words, metaspace("always"), pieces, "template",
        ),
        "camembert": family(sequence("normalizers", precompiled, one_space), words, metaspace("always"), pieces, "template"),
        "unigram, spaces as they are": family(None, metaspace("always"), metaspace("always"), pieces),
        "unigram, never": family(None, metaspace("never"), metaspace("never"), pieces),
        "unigram, two spaces": family(replace(" {2,}", "▁", "Regex"), metaspace("always"), GEMMA_DECODER, bytes_too),
        "unigram, whole texts": family(LLAMA_NORMALIZER, None, LLAMA_DECODER, bytes_too, "template"),
        "unigram, not split": family(None, metaspace("always", False), LLAMA_DECODER, bytes_too),
        "unigram, whole and unknown": family(replace(" ", "▁"), None, GEMMA_DECODER, pieces),
        "words": family(sequence("normalizers", {"type": "NFKC"}, {"type": "Lowercase"}), {"type": "Whitespace"}, None, level, "template"),
        "words by spaces": family(None, {"type": "WhitespaceSplit"}, None, level),
        "lines": family(None, {"type": "CharDelimiterSplit", "delimiter": "\n"}, None, level),
    }  # fmt: skip
