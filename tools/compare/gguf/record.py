"""Records llama.cpp's answers for small GGUF files in __test__/testdata/gguf.json.

    python tools/compare/gguf/record.py LIBRARY

LIBRARY is the folder of `libllama*.so`, as for compare.py. `splits` has the words of a text for
each name of `tokenizer.ggml.pre`. `files` have their values, and requests as [text, add_special,
parse_special, ids].
"""

import base64
import io
import json
import pathlib
import sys
import tempfile

import sentencepiece as spm
from libllama import Library
from metadata import BOOL, FLOAT32, INT32, LIST, TEXT, UINT8, UINT32, write
from sentencepiece import sentencepiece_model_pb2 as pb

HERE = pathlib.Path(__file__).parent
TARGET = HERE / "../../../__test__/testdata/gguf.json"
TYPES = {"u8": UINT8, "u32": UINT32, "i32": INT32, "f32": FLOAT32, "flag": BOOL, "text": TEXT}
SPLIT_TEXT = (
    "It'S don't 12345 x٤ naïve e\u0301 iPhone/OK!!\r\n\n  中文，ab한글 \t@me_x $<a>` ()…z FileName, getHTTP; ÉCOLE: ÇaÉ'LL "
    "हिन्दी, abc1234567   89 豈'd\u000b\u0085\u00a0?  \n x  "
)
LONGEST_WORD = 26
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def alphabet():
    """The characters that stand for bytes in GPT-2's tokens."""
    shown = [byte for byte in range(256) if 32 < byte < 127 or byte > 160 and byte != 173]
    others = iter(range(256, 512))
    return [chr(byte if byte in shown else next(others)) for byte in range(256)]


class Recorder:
    def __init__(self, folder):
        self.library = Library(folder)
        self.folder = tempfile.TemporaryDirectory()

    def model(self, values):
        file = pathlib.Path(self.folder.name) / "small.gguf"
        packed = {"general.architecture": (TEXT, "llama")}
        for key, kind, value in values:
            if kind.startswith("["):
                entries = list(base64.b64decode(value)) if isinstance(value, str) else value
                packed[key] = LIST, (TYPES[kind[1:-1]], entries)
            else:
                packed[key] = TYPES[kind], value
        write(file, packed)
        return self.library.load(file)

    def words(self, pre, text, tokens, merges):
        """The words of a text, by a vocabulary in which each short part of it is a token."""
        model = self.model(ggml(model="gpt2", pre=pre, tokens=["[text]", tokens], merges=["[text]", merges]))
        if model is None:
            return None
        bytes_of = {letter: byte for byte, letter in enumerate(alphabet())}
        found = [bytes(bytes_of[letter] for letter in tokens[id]) for id in model.ids(text, False, False)]
        model.free()
        return b"|".join(found).decode("utf-8", "backslashreplace")


def all_parts(text):
    """The short parts of a text as tokens, and the merges that make them in any order."""
    letters = alphabet()
    spelled = "".join(letters[byte] for byte in text.encode())
    parts, merges = dict.fromkeys(letters), []
    for length in range(2, LONGEST_WORD + 1):
        for start in range(len(spelled) - length + 1):
            part = spelled[start : start + length]
            if part not in parts:
                merges += [f"{part[:cut]} {part[cut:]}" for cut in range(1, length)]
            parts[part] = None
    return list(parts), merges


def charsmap():
    rules = {"\x01": "", "\t": " ", "\n": " ", "\x1f": "b", "ﬁ": "fi", "\u3000": " ", "…": "...", "e\u0301": "é", "Ⅷ": "VIII"}
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "rules.tsv"
        spelled = {" ".join(f"{ord(c):X}" for c in key): " ".join(f"{ord(c):X}" for c in to) for key, to in rules.items()}
        table.write_text("".join(f"{key}\t{to}\n" for key, to in spelled.items()))
        model = io.BytesIO()
        spm.SentencePieceTrainer.train(
            sentence_iterator=iter(["abc fi é a b c"] * 20), model_writer=model, vocab_size=12, minloglevel=2,
            normalization_rule_tsv=str(table), hard_vocab_limit=False,
        )
    proto = pb.ModelProto()
    proto.ParseFromString(model.getvalue())
    return base64.b64encode(proto.normalizer_spec.precompiled_charsmap).decode()


def ggml(**values):
    kinds = {bool: "flag", int: "u32", str: "text"}
    return [["tokenizer.ggml." + key, *(value if isinstance(value, list) else [kinds[type(value)], value])]
            for key, value in values.items()]


def bert(**flags):
    letters = "abcdefghijklmnopqrstuvwxyzABÉéİßẞ0129हनदतकक़िी्\u0301ᄒ간ᆨ한국中σςΣ,.!$~¬…\u0378"
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *("▁" + letter for letter in letters), *letters, "▁ab", "the", "ab"]
    tokens = list(dict.fromkeys(tokens))
    types = [CONTROL if token.startswith("[") else NORMAL for token in tokens]
    return ggml(model="bert", tokens=["[text]", tokens], token_type=["[i32]", types], unknown_token_id=1,
                bos_token_id=2, seperator_token_id=3, padding_token_id=0, **flags)


BERT_TEXTS = [
    "a" * 101, "ab" * 64, "d41d8cd98f00b204e9800998ecf8427e" * 2, "हिन्दी", "क़लम", "한국 각", "ᄒ\u1161\u11ab", "a\u000bb", "a\u0085b",
    "a\u00a0b", "a\u200bb\ue000c\ufffdd\u0001e\u0378f", "École İİ ẞß É e\u0301", "ΣςΣ", "the,ab!中$~¬…", "[SEP] a[MASK]b", "", " ", "A B",
]


def unigram(**flags):
    pieces = [
        ("<pad>", 0, CONTROL), ("</s>", 0, CONTROL), ("<unk>", 0, UNKNOWN), ("<s>", 0, CONTROL), ("▁", -3, NORMAL), ("a", -4, NORMAL),
        ("▁a", -2, NORMAL), ("b", -4.5, NORMAL), ("ab", -3.5, NORMAL), ("▁b", -2.5, NORMAL), ("f", -6, NORMAL), ("fi", -5, NORMAL),
        ("é", -6.5, NORMAL), ("<x>", -9, USER_DEFINED), ("é!", -9, USER_DEFINED), ("▁▁", -8, NORMAL), ("ba", -20, UNUSED),
        ("<0x41>", -1, BYTE), ("V", -7, NORMAL), (".", -7.25, NORMAL), ("a▁", -0.5, UNUSED), ("[PAD]", -1000, UNUSED),
    ]
    texts, scores, types = zip(*pieces)
    return ggml(model="t5", tokens=["[text]", texts], scores=["[f32]", scores], token_type=["[i32]", types], bos_token_id=3,
                eos_token_id=1, unknown_token_id=2, precompiled_charsmap=["[u8]", charsmap()], **flags)


UNIGRAM_TEXTS = [
    "ab", " ab", "  ab", "ab  ", "a  b", " ", "  ", "", "\t", "\x01", "\x01 \x01", "a\x01b\x1fa\nb\u3000a", "ﬁ…Ⅷ", "e\u0301a", "</s>ab",
    "</s>", " </s> ab", "<x>ab", "a<x> b", "<ﬁ", "<xﬁ", "＜x>", "A", "Azz<0x41>", "▁a▁", "a▁", "▁", "ba ba", "<s>a</s>", "zzz a", "[PAD]",
]


def scored(**flags):
    names = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "a", "▁a", "b", "ab", "▁▁", "▁ab", "ba", "<u>",
             "▁x", "x▁", "x", "  ", "<", "s>", "é", "<|endoftext|>"]
    types = {"<unk>": UNKNOWN, "<s>": CONTROL, "</s>": CONTROL, "<u>": USER_DEFINED, "x▁": USER_DEFINED, "  ": USER_DEFINED, "ba": UNUSED,
             "<|endoftext|>": CONTROL}
    kinds = [types.get(name, BYTE if name.startswith("<0x") else NORMAL) for name in names]
    scores = [0.0 if kind != NORMAL else -float(index % 7) for index, kind in enumerate(kinds)]
    return ggml(model="llama", tokens=["[text]", names], scores=["[f32]", scores], token_type=["[i32]", kinds], **flags)


SCORED_TEXTS = [
    "ab", " ab", "  ab", "   ", " ", "", "\n", "<s>ab</s>", "<s> ab", "a<u>b", "<u>", "x▁a", "▁x▁", "x a", "ba", "abab a b", "é中", "a  b",
    "<s", "</s>  </s>", "</s>\u3000a\u00a0</s>\u000b\u0085a", "</s> \t\r\n\u000b\u000ca",
]
ENDS = [
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "<end_of_turn>", "<|endoftext|>", "</s>",
    "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>", "<end_of_utterance>", "<eos>", "<turn|>", "<|tool_response>",
    "<｜end▁of▁sentence｜>", "[e~[",
]
FILLS = ["<|fim_prefix|>", "<｜fim▁hole｜>", "▁<MID>", "[PAD]", "<|repo_name|>", "<|file_sep|>"]
CHANNELS = ["<|channel|>", "<|message|>", "<|start|>", "<|constrain|>", "<pad>", "<s>", "<|plain|>"]


def named(kind, without=(), **flags):
    """Byte-level BPE with tokens that llama.cpp knows by their names, all of one type."""
    names = [name for name in [*ENDS, *FILLS, *CHANNELS] if name not in without]
    tokens = [*alphabet(), *names]
    types = {} if kind is None else {"token_type": ["[i32]", [NORMAL] * 256 + [kind] * len(names)]}
    return ggml(model="gpt2", pre="gpt-2", tokens=["[text]", tokens], merges=["[text]", []], **types, **flags)


NAMED_TEXTS = [f"a{name}b" for name in [*ENDS, *FILLS, *CHANNELS]]


def files():
    yield "bert", bert(), BERT_TEXTS
    for lowercase in [False, True]:
        yield f"bert {lowercase}", bert(**{"normalizer.lowercase": lowercase, "normalizer.strip_accents": not lowercase}), BERT_TEXTS
    yield "bert in capitals", bert(**{"normalizer.lowercase": False}), BERT_TEXTS
    for bits in range(4):
        flags = {"add_space_prefix": bool(bits & 1), "remove_extra_whitespaces": bool(bits & 2)}
        yield f"t5 {bits}", unigram(**flags, add_bos_token=bits == 3), UNIGRAM_TEXTS
    yield "t5 without flags", unigram(), UNIGRAM_TEXTS
    yield "llama", scored(), SCORED_TEXTS
    yield "llama without a prefix", scored(add_space_prefix=False, add_bos_token=False, add_eos_token=True), SCORED_TEXTS
    yield "llama without types", [one for one in scored() if not one[0].endswith(("token_type", "scores"))], SCORED_TEXTS
    yield "llama named phi-3", [*scored(), ["general.name", "text", "Phi-3"]], SCORED_TEXTS
    yield "names without types", named(None), NAMED_TEXTS
    yield "names of users", named(USER_DEFINED), NAMED_TEXTS
    yield "names of control tokens", named(CONTROL, ["<|call|>", "<|calls|>", "<|tool_response>"]), NAMED_TEXTS
    keys = {f"{key}_token_id": 3 for key in ["prefix", "suffix", "middle", "fim_pad", "fim_rep", "fim_sep"]}
    yield "names with keys", named(NORMAL, ["<|return|>", "<|flush|>"], **keys), NAMED_TEXTS
    yield "bpe without ids", named(NORMAL, add_bos_token=True, add_eos_token=True), ["", "a"]
    yield "gemma", ggml(model="gpt2", pre="gemma4", tokens=["[text]", ["<bos>", "▁", "a", "\n", "\n\n", "\n\n\n", "▁a", *(f"<0x{byte:02X}>" for byte in range(256))]],
                        merges=["[text]", ["▁ a", "\n \n", "\n\n \n"]], bos_token_id=0, add_bos_token=False), ["a a", "\n\n\na\n\n", "\n", " é", "a\n\n\n\n"]


def main():
    recorder = Recorder(pathlib.Path(sys.argv[1]))
    names = json.loads((HERE / "texts.json").read_text("utf-8"))["pre"]
    tokens, merges = all_parts(SPLIT_TEXT)
    splits = {pre: recorder.words(pre, SPLIT_TEXT, tokens, merges) for pre in names}
    recorded = []
    for name, values, texts in files():
        model = recorder.model(values)
        if model is None:
            sys.exit(f"llama.cpp does not load {name}")
        requests = [(text, add, parse) for text in texts for add, parse in [(True, True), (False, False)]]
        recorded.append({"name": name, "values": values, "requests": [[*request, model.ids(*request)] for request in requests]})
        model.free()
    # A word that is longer than the parts is cut anywhere.
    splits = {pre: words for pre, words in splits.items() if words is not None and "\\x" not in words}
    answers = {"splitText": SPLIT_TEXT, "splits": splits, "files": recorded}
    TARGET.write_text(json.dumps(answers, ensure_ascii=True, separators=(",", ":")).replace('{"name"', '\n{"name"') + "\n")


main()
