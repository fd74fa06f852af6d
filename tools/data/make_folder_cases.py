"""Records what AutoTokenizer of transformers makes of folders, for hub/folder-configs.test.mjs.

    python tools/data/make_folder_cases.py

Writes __test__/testdata/folder-configs.json.gz: for each case the files of a folder, and ids, text
and the class. `base` is the name of a tokenizer.json in
crates/core/testdata/conformance/tokenizers, or the file itself.
"""

import gzip
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "compare" / "model-folders"))

import configs
import transformers

OUT = configs.ROOT / "__test__" / "testdata" / "folder-configs.json.gz"
WORDS = {
    "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
    "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
    "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1, "b": 2, "c": 3, ".": 4, "A": 5}, "unk_token": "[UNK]"},
}
PREPENDED = {"normalizer": {"type": "Sequence", "normalizers": [
    {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}, "pre_tokenizer": None}
OBJECT = {"__type": "AddedToken", "lstrip": False, "normalized": False, "rstrip": False, "single_word": False}

# name: (base, changes of the tokenizer.json, configs)
CASES = {
    "tokens that only tokenizer_config.json has": (WORDS, {}, {"tokenizer_config.json": {
        "additional_special_tokens": ["[EXTRA]"], "pad_token": "[PAD]"}}),
    "extra_special_tokens and tokens with other names": (WORDS, {}, {"tokenizer_config.json": {
        "extra_special_tokens": ["<e>"], "image_token": "<image>", "audio_token": {**OBJECT, "content": "<audio>"}}}),
    "added_tokens_decoder": (WORDS, {}, {"tokenizer_config.json": {"added_tokens_decoder": {
        "9": {"content": "[NINE]", "special": True}, "7": {"content": "seven", "lstrip": True}, "1": {"content": "a", "special": True}}}}),
    "special_tokens_map.json and added_tokens.json": (WORDS, {}, {
        "special_tokens_map.json": {"mask_token": {"content": "[M]", "lstrip": True}, "additional_special_tokens": ["<x>"]},
        "added_tokens.json": {"[M]": 6, "new": 7}}),
    "an id of added_tokens.json that the file gives to another token": ("w_cased", {}, {
        "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", "sep_token": {"content": "[NEW]", "__type": "AddedToken"}},
        "added_tokens.json": {"[NEW]": 5717}}),
    "a token that is defined twice": ("w_cased", {}, {"tokenizer_config.json": {
        "tokenizer_class": "BertTokenizer", "pad_token": {**OBJECT, "content": "[TWO]", "normalized": True}, "cls_token": "[TWO]"}}),
    "null in configs": (WORDS, {}, {"tokenizer_config.json": {
        "bos_token": None, "extra_special_tokens": None, "additional_special_tokens": None, "pad_token": "[PAD]", "tokenizer_class": None}}),
    "split_special_tokens": (WORDS, {}, {"tokenizer_config.json": {"eos_token": "b", "split_special_tokens": True}}),
    "clean_up_tokenization_spaces": (WORDS, {}, {"tokenizer_config.json": {"clean_up_tokenization_spaces": True}}),
    "truncation and padding of the file": (WORDS, {
        "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
    }, {"tokenizer_config.json": {}}),
    "LlamaTokenizer with Prepend and Replace": ("s_metaspace_first", PREPENDED, {
        "tokenizer_config.json": {"tokenizer_class": "LlamaTokenizer", "legacy": False, "add_bos_token": False}}),
    "LlamaTokenizerFast, legacy": ("s_metaspace_first", PREPENDED, {
        "tokenizer_config.json": {"tokenizer_class": "LlamaTokenizerFast", "legacy": True}}),
    "LlamaTokenizer of phi3": ("s_metaspace_first", PREPENDED, {
        "tokenizer_config.json": {"tokenizer_class": "LlamaTokenizer"}, "config.json": {"model_type": "phi3"}}),
    "LlamaTokenizer with ByteLevel": ("s_roberta", {}, {"tokenizer_config.json": {"tokenizer_class": "LlamaTokenizer"}}),
    "a class that only model_type names": ("s_metaspace_first", PREPENDED, {"config.json": {"model_type": "llama"}}),
    "GPT2Tokenizer": ("s_trim_pair_strings", {}, {"tokenizer_config.json": {
        "tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True, "unk_token": "<|a|>", "eos_token": "<|b|>"}}),
    "RobertaTokenizer, another cls_token": ("s_roberta", {}, {"tokenizer_config.json": {
        "tokenizer_class": "BartTokenizer", "cls_token": "<cls>", "mask_token": {**OBJECT, "content": "<mask>", "lstrip": True}}}),
    "PreTrainedTokenizerFast, add_prefix_space": ("s_roberta", {}, {"tokenizer_config.json": {
        "tokenizer_class": "PreTrainedTokenizerFast", "add_prefix_space": True, "bos_token": "<start>"}}),
    "CLIPTokenizer": ("s_clip", {}, {"tokenizer_config.json": {"tokenizer_class": "CLIPTokenizer", "pad_token": "!"}}),
    "WhisperTokenizer": ("s_roberta", {}, {"tokenizer_config.json": {
        "tokenizer_class": "WhisperTokenizer", "language": "german", "task": "transcribe", "unk_token": "<unk>",
        "additional_special_tokens": ["<|startoftranscript|>", "<|en|>", "<|zh|>", "<|de|>", "<|transcribe|>", "<|notimestamps|>", "<|0.00|>"]}}),
    "PegasusTokenizer": ("u_xlmr_like", {}, {"tokenizer_config.json": {"tokenizer_class": "PegasusTokenizer", "offset": 4, "unk_token": "<s>", "eos_token": "</s>"}}),
    "XLMRobertaTokenizer": ("u_xlmr_like", {}, {"tokenizer_config.json": {"tokenizer_class": "XLMRobertaTokenizerFast"}}),
    "BertTokenizer, do_lower_case": ("w_cased", {}, {"tokenizer_config.json": {
        "tokenizer_class": "BertTokenizer", "do_lower_case": True, "cls_token": "[MASK]", "clean_up_tokenization_spaces": True}}),
    "GemmaTokenizer": ("s_metaspace_first", {}, {"tokenizer_config.json": {
        "tokenizer_class": "GemmaTokenizer", "mask_token": "<mask>", "extra_special_tokens": {"boi_token": "<start_of_image>"}}}),
    "CohereTokenizer": ("s_roberta", {}, {"tokenizer_config.json": {
        "tokenizer_class": "CohereTokenizer", "unk_token": "<unk>", "bos_token": "<s>",
        "added_tokens_decoder": {"20": {"content": "<|USER|>", "special": False}}}}),
    "a class that transformers does not have": ("s_roberta", {}, {"tokenizer_config.json": {"tokenizer_class": "OwnTokenizer", "pad_token": "[P]"}}),
}
TEXTS = [
    "a [EXTRA] b", "a [PAD] b.", " hello", "Hello  world", "<s>Hello</s> <mask> x", "HELLO Café [M] new <x> a ,", "<|a|>b <|b|> it's",
    "<|0.00|>Hello<|1.24|>", "<unk_2><mask_1> a", "[NINE] seven<e><image><audio>", "<start_of_image> <start> <cls> [P]<|USER|>",
]


def main():
    cases = []
    for name, (base, changes, files) in CASES.items():
        tokenizer = json.loads((configs.SYNTHETIC / f"{base}.json").read_text("utf-8")) if isinstance(base, str) else base
        with tempfile.TemporaryDirectory() as root:
            folder = pathlib.Path(root) / "folder"
            configs.write(folder, {**tokenizer, **changes}, files)
            texts, rows = list(TEXTS), [list(range(start, start + 6)) for start in [0, 4, 300]]
            answer = configs.reference(str(folder), texts, rows)
        cases.append({"name": name, "base": base, "changes": changes, "files": files, "texts": texts, "rows": rows, **answer})
    data = {"transformers": transformers.__version__, "cases": cases}
    OUT.write_bytes(gzip.compress(json.dumps(data, ensure_ascii=False).encode(), mtime=0))


main()
