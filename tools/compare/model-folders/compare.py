"""Compares how AutoTokenizer of transformers 5 and tokenlane load folders of models.

    python tools/compare/model-folders/compare.py [--folders FOLDER] [--random N] [--models N]
        [--seed S]

The folders are all below `--folders`, `--random` ones with a tokenizer.json (default 300), and
`--models` ones with a SentencePiece model that is trained here (default 100). Ids with and without
special tokens, ids of pairs, text with and without special tokens, and the special tokens of chat
templates have to be equal. Folders that transformers cannot load, and folders whose class is not
built here (tokenizer.source has a note), are counted apart. The exit status is 1 if one differs.
"""

import argparse
import base64
import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"

import transformers
from transformers import AutoTokenizer

ROOT = pathlib.Path(__file__).parent.parent.parent.parent
SYNTHETIC = ROOT / "crates" / "core" / "testdata" / "conformance" / "tokenizers"
FILES = ["tokenizer.json", "vocab.json", "vocab.txt", "*.model"]
FIELDS = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"]
TEXTS = [
    "Hello world", " hello", "a  b\n\nc\td ", "It's the cat , isn't it ? No !", "Café Ünïcôde ﬁ ½ 中文 日本語",
    "x🙂y 12345 3.14", "``quoted'' text", "HELLO don't", "▁a ▁▁b", "",
]

# The special tokens that a chat template sees.
NAMED = FIELDS + ["image_token", "audio_token"]
TEMPLATE = "\n".join(f"{name} {{{{ {name}|default('undefined') }}}}" for name in NAMED)
CHAT = [{"role": "user", "content": "Hello"}]

# The classes that are drawn for the type of a model, with others to see what is refused.
DRAWN = json.loads((pathlib.Path(__file__).parent / "drawn-classes.json").read_text("utf-8"))
BACKEND = ["PreTrainedTokenizerFast", "TokenizersBackend", "PreTrainedTokenizer", "MyOwnTokenizer", None]


def contents_of(tokenizer):
    vocab = tokenizer["model"]["vocab"]
    return list(vocab) if isinstance(vocab, dict) else [piece for piece, _ in vocab]


class Draw(random.Random):
    def often(self, share):
        return self.random() < share

    def token(self, tokenizer):
        """Content of a token: a known special token, a piece, or a new one."""
        added = [token["content"] for token in tokenizer["added_tokens"]]
        pieces = contents_of(tokenizer)
        kinds = [["[NEW]", "<new>", "<|im_start|>", "<extra_id_0>", "new word", "▁x", "[PAD]", "<pad>"], [self.choice(pieces)], added or ["<a>"]]
        return self.choice(self.choices(kinds, [4, 2, 3])[0])

    def flags(self):
        return {flag: True for flag in ["lstrip", "rstrip", "single_word", "normalized", "special"] if self.often(0.3)}

    def value(self, tokenizer, kind):
        """A special token as a config has it: text, an object, or null."""
        if self.often(0.08):
            return None
        content = self.token(tokenizer)
        if self.often(0.6):
            return content
        return {"content": content, **self.flags(), **({"__type": "AddedToken"} if kind == "config" else {})}

    def base(self, name):
        """A tokenizer.json with parts of it changed."""
        tokenizer = json.loads((SYNTHETIC / f"{name}.json").read_text("utf-8"))
        if self.often(0.2):
            tokenizer["post_processor"] = None
        if self.often(0.1):
            tokenizer["truncation"] = {"direction": "Right", "max_length": 6, "strategy": "LongestFirst", "stride": 0}
        if self.often(0.1):
            tokenizer["padding"] = {
                "strategy": {"Fixed": 12}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 1,
                "pad_type_id": 0, "pad_token": self.choice(["[PAD]", "<pad>", "<padding>"]),
            }
        if tokenizer["model"]["type"] == "BPE" and self.often(0.3):
            # The form of LLaMA files before Metaspace.
            tokenizer["normalizer"] = {"type": "Sequence", "normalizers": [
                {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}
            tokenizer["pre_tokenizer"] = None
        return tokenizer

    def config(self, tokenizer):
        model = tokenizer["model"]["type"] + (tokenizer["model"].get("end_of_word_suffix") or "")
        config, special_map, added, model_config = {}, {}, {}, {}
        config["tokenizer_class"] = self.choice(DRAWN[model] or BACKEND) if self.often(0.75) else self.choice(BACKEND)
        if config["tokenizer_class"] is None and self.often(0.5):
            del config["tokenizer_class"]
        for name in FIELDS:
            if self.often(0.25):
                config[name] = self.value(tokenizer, "config")
            if self.often(0.1):
                special_map[name] = self.value(tokenizer, "map")
        if self.often(0.2):
            config["image_token"] = self.value(tokenizer, "config")
        if self.often(0.2):
            config["extra_special_tokens"] = self.choice([
                None, [], {"audio_token": "<audio>"}, [self.token(tokenizer), "<e>"], [{"content": "<f>", "__type": "AddedToken", **self.flags()}]])
        if self.often(0.3):
            config["additional_special_tokens"] = self.choice([None, [], ["[EXTRA]"], [self.token(tokenizer), self.token(tokenizer)]])
        if self.often(0.1):
            special_map["additional_special_tokens"] = ["[MAPPED]", self.token(tokenizer)]
        if self.often(0.4):
            size = len(contents_of(tokenizer))
            ids = {token["id"]: token for token in tokenizer["added_tokens"]} if self.often(0.7) else {}
            decoder = {str(id): {key: value for key, value in token.items() if key != "id"} for id, token in ids.items()}
            for offset in range(self.randrange(3)):
                decoder[str(size + 50 + offset)] = {"content": self.token(tokenizer), **self.flags()}
            config["added_tokens_decoder"] = decoder
        if self.often(0.2):
            added = {self.token(tokenizer): len(contents_of(tokenizer)) + place for place in range(2)}
        for name, values in {
            "add_prefix_space": [True, False], "split_special_tokens": [True, False], "do_lower_case": [True, False],
            "clean_up_tokenization_spaces": [True, False], "add_bos_token": [True, False], "add_eos_token": [True, False],
            "legacy": [True, False], "keep_accents": [True, False], "strip_accents": [True, False, None], "padding_side": ["left", "right"],
            "tokenize_chinese_chars": [True, False], "trim_offsets": [True, False], "split_by_punct": [True, False],
            "extra_ids": [0, 3, 100], "offset": [2, 10, 103], "src_lang": ["en_XX", "de_DE", "eng_Latn", "xx"], "legacy_behaviour": [True, False],
            "language": ["german", "en"], "task": ["transcribe", "translate"], "predict_timestamps": [True, False], "model_max_length": [512],
        }.items():
            if self.often(0.2):
                config[name] = self.choice(values)
        if self.often(0.35):
            model_config["model_type"] = self.choice([
                "bert", "gpt2", "llama", "phi3", "qwen2", "mistral", "t5", "roberta", "gemma", "unknown-type", "clip", "xlm-roberta", "albert"])
        if self.often(0.1):
            model_config["tokenizer_class"] = self.choice(DRAWN[model] or BACKEND)
        return {
            "tokenizer_config.json": config if self.often(0.97) else None, "special_tokens_map.json": special_map or None,
            "added_tokens.json": added or None, "config.json": model_config or None,
        }


def questions_of(folder, draw):
    """Texts with the folder's tokens in them, and rows of ids."""
    pieces, added = vocabulary_of(folder)
    for name in ["tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"]:
        if (folder / name).exists():
            added |= set(texts_in(json.loads((folder / name).read_text("utf-8"))))
    tokens = sorted(token for token in added | {"[EXTRA]", "<extra_id_1>", "<|0.00|>"} if 0 < len(token) < 40)
    texts = list(TEXTS)
    for _ in range(12):
        parts = [draw.choice([draw.choice(tokens), draw.choice(TEXTS), draw.choice(pieces), " "]) for _ in range(draw.randrange(1, 5))]
        texts.append("".join(parts))
    size = len(pieces) + len(added) + 4
    rows = [[draw.randrange(size) for _ in range(draw.randrange(9))] for _ in range(20)]
    return texts, rows


def vocabulary_of(folder):
    """The pieces and the added tokens of a folder; a SentencePiece model has no pieces here."""
    if (folder / "tokenizer.json").exists():
        tokenizer = json.loads((folder / "tokenizer.json").read_text("utf-8"))
        return contents_of(tokenizer), {token["content"] for token in tokenizer["added_tokens"]}
    if (folder / "vocab.json").exists():
        return list(json.loads((folder / "vocab.json").read_text("utf-8"))), set()
    if (folder / "vocab.txt").exists():
        return (folder / "vocab.txt").read_text("utf-8").split("\n"), set()
    for file in folder.glob("*.model"):
        import sentencepiece

        model = sentencepiece.SentencePieceProcessor(model_file=str(file))
        return [model.id_to_piece(id) for id in range(len(model))], set()
    return ["the"] * 5000, set()


def texts_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key != "chat_template":
                yield key
                yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


def is_encoded(tokenizer, text):
    """Whether a text is encoded at all: models without their unknown token refuse some."""
    try:
        return bool(tokenizer(text)) and tokenizer.backend_tokenizer.encode(text, "Hello world") is not None
    except BaseException:
        return False


def reference(folder, texts, rows):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = lambda **options: [tokenizer(text, **options)["input_ids"] for text in texts]
    texts[:] = [text for text in texts if is_encoded(tokenizer, text)]
    known = [[id for id in row if tokenizer.convert_ids_to_tokens(id) is not None] for row in rows]
    special = [tokenizer(text)["input_ids"] for text in texts[:4]]
    rows[:] = known + special
    return {
        "class": type(tokenizer).__name__,
        "ids": ids(),
        "bare": ids(add_special_tokens=False),
        # An empty text is no pair for transformers, so the backend is asked.
        "pairs": [tokenizer.backend_tokenizer.encode(text, texts[0]).ids for text in texts],
        "decoded": [tokenizer.decode(row) for row in rows],
        "skipped": [tokenizer.decode(row, skip_special_tokens=True) for row in rows],
        "chat": tokenizer.apply_chat_template(CHAT, chat_template=TEMPLATE, tokenize=False),
    }


def write(folder, tokenizer, configs):
    folder.mkdir(parents=True)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")
    for name, config in configs.items():
        if config is not None:
            (folder / name).write_text(json.dumps(config), "utf-8")


def random_folders(root, count, seed):
    bases = sorted(path.stem for path in SYNTHETIC.glob("*.json"))
    for number in range(count):
        draw = Draw(f"{seed}-{number}")
        tokenizer = draw.base(draw.choice(bases))
        folder = root / f"{seed}-{number}"
        write(folder, tokenizer, draw.config(tokenizer))
        yield folder


# The classes that are built from a SentencePiece model, by the name of its file.
MODEL_CLASSES = {
    "spiece.model": ["Albert", "BigBird", "Pegasus", "Reformer", "T5", "XLNet"],
    "sentencepiece.bpe.model": ["Barthez", "Camembert", "MBart", "MBart50", "Nllb", "XLMRoberta"],
    "sentencepiece.model": ["RemBert"],
    "spm.model": ["DebertaV2"],
    "tokenizer.model": ["CodeLlama", "Gemma", "Llama", "XGLM"],
}


def trained(draw, file, **fixed):
    """A SentencePiece model of the lines of this file; `fixed` settings are not drawn."""
    import io
    import sentencepiece

    model = io.BytesIO()
    lines = [line for line in pathlib.Path(__file__).read_text("utf-8").split("\n") if line.strip()] + TEXTS[:-1]
    options = {
        "unigram": {"vocab_size": draw.choice([180, 260, 340])}, "bpe": {"vocab_size": draw.choice([180, 260, 340])},
    }
    kind = draw.choice(["unigram", "unigram", "bpe"])
    # Models of fairseq, which is what some classes expect, have these ids.
    fairseq = {"unk_id": 0, "bos_id": 1, "eos_id": 2, "pad_id": -1}
    ids = fairseq if file == "sentencepiece.bpe.model" else draw.choice([fairseq, {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}, {"unk_id": 3, "bos_id": 1, "eos_id": 2, "pad_id": 0}])
    fallback = {"byte_fallback": True, "vocab_size": 560} if draw.often(0.2) else {}
    drawn = dict(
        model_type=kind,
        normalization_rule_name=draw.choice(["nmt_nfkc", "nmt_nfkc_cf", "identity"]), character_coverage=draw.choice([1.0, 0.98]),
        remove_extra_whitespaces=draw.often(0.7), add_dummy_prefix=draw.often(0.8),
        control_symbols=draw.choice([[], ["[CLS]", "[SEP]", "[MASK]"], ["<pad>"] if ids["pad_id"] < 0 else []]),
        user_defined_symbols=draw.choice([[], [], ["<sep>", "<extra_id_0>"]]), **{**options[kind], **ids, **fallback})
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, hard_vocab_limit=False, minloglevel=3, **{**drawn, **fixed})
    return model.getvalue()


def model_folders(root, count, seed, model_of=lambda number, draw, file: trained(draw, file)):
    classes = [(name, file) for file, names in MODEL_CLASSES.items() for name in names]
    for number in range(count):
        draw = Draw(f"models-{seed}-{number}")
        name, file = classes[number % len(classes)]
        configs = draw.config({"model": {"type": "Unigram", "vocab": [["the", 0], ["a", 0]]}, "added_tokens": []})
        config = configs["tokenizer_config.json"] or {}
        config["tokenizer_class"] = name + draw.choice(["Tokenizer", "Tokenizer", "TokenizerFast"])
        # Plain configs are the usual ones.
        if number < len(classes) or draw.often(0.3):
            configs = {"tokenizer_config.json": {"tokenizer_class": config["tokenizer_class"]}}
        else:
            configs["tokenizer_config.json"] = config
            configs["config.json"] = None
        folder = root / f"{seed}-{number}"
        folder.mkdir(parents=True)
        (folder / file).write_bytes(model_of(number, draw, file))
        for file_name, content in configs.items():
            if content is not None:
                (folder / file_name).write_text(json.dumps(content), "utf-8")
        yield folder


def record(place, count, seed):
    """Writes folders, those with plain configs first, and the answers of transformers."""
    # A few models, because a charsmap takes 200 KB.
    settings = [
        {"control_symbols": ["[CLS]", "[SEP]", "[MASK]"]}, {"user_defined_symbols": ["<sep>", "<b>"], "byte_fallback": True, "vocab_size": 560},
        {"normalization_rule_name": "nmt_nfkc_cf", "control_symbols": ["[CLS]", "[SEP]"]}, {"model_type": "bpe", "character_coverage": 1.0},
        {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1, "user_defined_symbols": ["<sep>"]},
    ]
    model_of = lambda number, draw, file: models[4 if file == "spiece.model" and number // 18 % 2 else number // 18 % 4]
    models = []
    for number, fixed in enumerate(settings):
        models.append(trained(Draw(f"model-{number}"), "sentencepiece.bpe.model", **{"model_type": "unigram", "normalization_rule_name": "identity", "user_defined_symbols": [], **fixed}))
    cases = []
    with tempfile.TemporaryDirectory() as root:
        for folder in model_folders(pathlib.Path(root), count, seed, model_of):
            texts, rows = questions_of(folder, Draw(f"{seed}-{folder.name}"))
            try:
                answer = reference(str(folder), texts, rows)
            except BaseException:
                continue
            files = {
                file.name: models.index(file.read_bytes()) if file.suffix == ".model" else file.read_text("utf-8")
                for file in sorted(folder.iterdir())
            }
            cases.append({"files": files, "texts": texts, "rows": rows, **answer})
    content = json.dumps({"transformers": transformers.__version__, "models": [base64.b64encode(model).decode() for model in models], "cases": cases}, ensure_ascii=False)
    place.write_bytes(gzip.compress(content.encode(), mtime=0))


def compare(folders, seed=1, verbose=6):
    """Prints the differences. Returns how many folders differ."""
    requests, expected, failed = [], [], {}
    for folder in folders:
        draw = Draw(f"{seed}-{folder.name}")
        texts, rows = questions_of(folder, draw)
        try:
            answer = reference(str(folder), texts, rows)
        except BaseException as error:
            answer = {"fails": f"{type(error).__name__}: {str(error)[:100]}"}
        requests.append({"folder": str(folder), "texts": texts, "rows": rows, "chat": CHAT, "template": TEMPLATE})
        expected.append(answer)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(requests, file)
        file.flush()
        run = subprocess.run(
            ["node", str(pathlib.Path(__file__).parent / "answers.mjs"), file.name], cwd=ROOT, capture_output=True, text=True, check=True)
    reasons = {}
    classes = {}
    counts = {"equal": 0, "differ": 0, "not built here": 0, "transformers fails": 0}
    for request, wanted, got in zip(requests, expected, json.loads(run.stdout)):
        if "fails" in wanted:
            counts["transformers fails"] += 1
            reasons[wanted["fails"][:60]] = reasons.get(wanted["fails"][:60], 0) + 1
            if "refused" in got:
                counts["differ"] += 1
                print(f"{request['folder']}: does not load: {got['refused']} (transformers: {wanted['fails']})")
            continue
        lines = list(differences(request, wanted, got))
        if got.get("note") and "refused" not in got:
            counts["not built here"] += 1
            failed.setdefault(f"{wanted['class']}: {got['note'][:110]}", []).append(bool(lines))
        elif lines:
            counts["differ"] += 1
            print(f"{request['folder']} ({wanted['class']}, {got.get('class')}): {len(lines)} differ")
            for line in lines[:verbose]:
                print(f"  {line}")
        else:
            counts["equal"] += 1
            classes[wanted["class"]] = classes.get(wanted["class"], 0) + 1
    print(f"  equal by class: {classes}")
    for reason, count in sorted(reasons.items()):
        print(f"  transformers fails {count} times: {reason}")
    for note, list_of in sorted(failed.items()):
        print(f"  note {note}: {len(list_of)} folders, {sum(list_of)} differ")
    print(f"transformers {transformers.__version__}, {len(requests)} folders: {counts}")
    return counts["differ"]


def differences(request, wanted, got):
    if "error" in got or "refused" in got:
        yield got.get("error") or got["refused"]
        return
    if got.get("class") != wanted["class"]:
        yield f"class: transformers {wanted['class']}, tokenlane {got.get('class')}"
    for name in ["ids", "bare", "pairs", "decoded", "skipped"]:
        questions = request["rows"] if name in ["decoded", "skipped"] else request["texts"]
        for question, one, other in zip(questions, wanted[name], got[name]):
            if one != other:
                yield f"{name} of {question!r}: transformers {one}, tokenlane {other}"
    for one, other in zip(wanted["chat"].split("\n"), got["chat"].split("\n")):
        if one != other:
            yield f"chat template: transformers {one}, tokenlane {other}"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--folders", type=pathlib.Path, help="a folder with folders of models below it")
    arguments.add_argument("--random", type=int, default=300)
    arguments.add_argument("--models", type=int, default=100)
    arguments.add_argument("--record", type=pathlib.Path, help="write the golden data of SentencePiece folders instead")
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    transformers.logging.set_verbosity_error()
    if options.record:
        record(options.record, options.models, options.seed)
        return
    real = {file.parent for name in FILES for file in options.folders.rglob(name)} if options.folders else ()
    wrong = compare(sorted(real))
    with tempfile.TemporaryDirectory() as root:
        wrong += compare(list(random_folders(pathlib.Path(root), options.random, options.seed)))
    with tempfile.TemporaryDirectory() as root:
        wrong += compare(list(model_folders(pathlib.Path(root), options.models, options.seed)))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
