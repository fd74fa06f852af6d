"""Compares how transformers 5 and tokenlane load model folders.

    python tools/compare/model-folders/compare.py --data FOLDER [--folders FOLDER] [--random N]
        [--seed S]

FOLDER has bert_base_uncased/tokenizer.json and gpt2/tokenizer.json; the other vocabularies are in
crates/core/testdata. The script writes folders with vocab.txt, or with vocab.json and merges.txt. A
class of transformers and tokenlane load each folder, and must make the same tokenizer.json, apart
from the differences that comments below name.

Then configs.py compares folders with AutoTokenizer: all below `--folders`, and `--random` ones
(default 300). The exit status is 1 if one differs.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import transformers

import configs

ROOT = pathlib.Path(__file__).parent.parent.parent.parent
SYNTHETIC = ROOT / "crates" / "core" / "testdata" / "conformance" / "tokenizers"
FILES = ["tokenizer.json", "vocab.json", "vocab.txt", "*.model"]
SPECIAL = {"lstrip": False, "rstrip": False, "normalized": False, "single_word": False}

BERT = [
    ({}, {}, {}),
    ({"do_lower_case": False}, {}, {}),
    ({"do_lower_case": True, "strip_accents": False, "tokenize_chinese_chars": False}, {}, {}),
    ({"strip_accents": True, "do_lower_case": False, "tokenizer_class": "BertTokenizerFast"}, {}, {}),
    ({"tokenizer_class": "DistilBertTokenizer"}, {"cls_token": "[CLS]", "unk_token": "[UNK]"}, {}),
    ({"tokenizer_class": "ElectraTokenizer", "extra_special_tokens": ["<a>", "<b>"]}, {}, {"[NEW]": 30522, "word": 30523}),
    ({}, {"mask_token": {"content": "[MASK]", **SPECIAL, "lstrip": True}, "additional_special_tokens": ["<x>"]}, {}),
    ({"added_tokens_decoder": {
        "0": {"content": "[PAD]", **SPECIAL, "special": True}, "103": {"content": "[MASK]", **SPECIAL, "rstrip": True, "special": True},
        "30522": {"content": "hello world", **SPECIAL, "normalized": True, "special": False}}}, {}, {}),
    ({"cls_token": "[unused1]", "sep_token": "[unused2]", "pad_token": "<absent>"}, {}, {}),
]
GPT2 = [
    ({}, {}, {}), ({"add_prefix_space": True}, {}, {}), ({"add_bos_token": True}, {}, {}), ({"pad_token": "<pad>"}, {}, {"<new>": 50257}),
    ({"add_bos_token": False, "eos_token": "!"}, {}, {}),
]
ROBERTA = [
    ({}, {}, {}), ({"add_prefix_space": True, "trim_offsets": False}, {}, {}),
    ({}, {"mask_token": {"content": "<mask>", **SPECIAL, "lstrip": True, "normalized": True}}, {}),
]
CLIP = [({}, {}, {}), ({"pad_token": "!"}, {}, {}), ({"model_max_length": 77, "do_lower_case": True}, {}, {})]


def folder_of(path, tokenizer, extra, config, special_map, added, name):
    model = tokenizer["model"]
    vocab = dict(model["vocab"])
    for token in extra:
        vocab.setdefault(token, len(vocab))
    if name == "Bert":
        by_id = {id: token for token, id in vocab.items()}
        lines = [by_id.get(id, f"[gap{id}]") for id in range(max(by_id) + 1)]
        (path / "vocab.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    else:
        (path / "vocab.json").write_text(json.dumps(vocab), "utf-8")
        merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
        (path / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{merge}\n" for merge in merges), "utf-8")
    (path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": f"{name}Tokenizer", **config}))
    if special_map:
        (path / "special_tokens_map.json").write_text(json.dumps(special_map))
    if added:
        (path / "added_tokens.json").write_text(json.dumps(added))


def different(a, b, at=""):
    """Yields the places at which two values differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in a.keys() | b.keys():
            yield from different(a.get(key), b.get(key), f"{at}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for place, (x, y) in enumerate(zip(a, b)):
            yield from different(x, y, f"{at}[{place}]")
    elif a != b:
        yield f"{at}: transformers {str(a)[:200]}, tokenlane {str(b)[:200]}"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--data", type=pathlib.Path, required=True)
    arguments.add_argument("--folders", type=pathlib.Path, help="a folder with folders of models below it")
    arguments.add_argument("--random", type=int, default=300)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    data = options.data
    read = lambda path: json.loads(path.read_text("utf-8"))
    bert, gpt2 = (read(data / name / "tokenizer.json") for name in ["bert_base_uncased", "gpt2"])
    roberta, clip = (read(SYNTHETIC / f"{name}.json") for name in ["s_roberta", "s_clip"])
    specials = ["<s>", "</s>", "<unk>", "<pad>", "<mask>"]
    kinds = [
        ("Bert", bert, [], BERT), ("GPT2", gpt2, [], GPT2), ("Roberta", roberta, specials, ROBERTA),
        ("CLIP", clip, ["<|startoftext|>", "<|endoftext|>"], CLIP),
    ]
    count = wrong = 0
    draw = random.Random(1)
    for name, tokenizer, extra, cases in kinds:
        for case in cases:
            with tempfile.TemporaryDirectory() as folder:
                folder_of(pathlib.Path(folder), tokenizer, extra, *case, name)
                cls = getattr(transformers, case[0].get("tokenizer_class", f"{name}Tokenizer"))
                reference = cls.from_pretrained(folder)
                expected = json.loads(reference.backend_tokenizer.to_str())
                script = "import {Tokenizer} from './index.mjs'; const t = await Tokenizer.fromFile(process.argv[1]);" \
                    "const rows = JSON.parse(process.argv[2]);" \
                    "process.stdout.write(JSON.stringify([t.toJSON(), rows.map((ids) => t.decode(ids))]))"
                rows = [[draw.randrange(500) for _ in range(draw.randrange(9))] for _ in range(200)]
                run = subprocess.run(["node", "--input-type=module", "-e", script, folder, json.dumps(rows)], cwd=ROOT, capture_output=True, text=True)
                if run.returncode:
                    sys.exit(f"{name} {case}: {run.stderr}")
                made, decoded = json.loads(run.stdout)
            if name == "CLIP":
                # transformers changes the decoded text itself; in tokenlane the decoder does that.
                made["decoder"] = made["decoder"]["decoders"][0]
            for json_of in (expected, made):
                merges = json_of["model"].get("merges")
                if merges:
                    json_of["model"]["merges"] = [" ".join(merge) for merge in merges]
                # tokenlane writes null where there is no prefix or suffix, and transformers "".
                if name != "Bert":
                    for field in ["continuing_subword_prefix", "end_of_word_suffix"]:
                        json_of["model"][field] = json_of["model"][field] or None
            count += 1
            differences = list(different(expected, made))
            if name == "CLIP":
                for row, text in zip(rows, decoded):
                    differences += different(reference.decode(row, clean_up_tokenization_spaces=False), text, f"decode {row}")
            wrong += bool(differences)
            print(f"{name} {json.dumps(case)[:110]}: {len(differences)} differ")
            for line in differences[:6]:
                print(f"  {line}")
    print(f"transformers {transformers.__version__}, {count} folders, {wrong} differ")
    transformers.logging.set_verbosity_error()
    real = sorted({file.parent for name in FILES for file in (options.folders or data).rglob(name)})
    wrong += configs.compare(real)
    with tempfile.TemporaryDirectory() as root:
        wrong += configs.compare(list(configs.random_folders(pathlib.Path(root), options.random, options.seed)))
    sys.exit(wrong > 0)


main()
