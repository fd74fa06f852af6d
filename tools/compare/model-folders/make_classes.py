"""Writes lib/model/auto-classes.json: which class AutoTokenizer of transformers uses.

    python tools/compare/model-folders/make_classes.py

transformers resolves a class name and a model_type by importing its modules. auto-class.js looks
them up in this table. Names that the table lacks are TokenizersBackend, as in transformers.
"""

import json
import os
import pathlib
import re

os.environ["HF_HUB_OFFLINE"] = "1"

import transformers
from transformers.convert_slow_tokenizer import SLOW_TO_FAST_CONVERTERS
from transformers.models.auto import tokenization_auto as auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
from transformers.models.mbart.tokenization_mbart import FAIRSEQ_LANGUAGE_CODES as MBART
from transformers.models.mbart50.tokenization_mbart50 import FAIRSEQ_LANGUAGE_CODES as MBART50
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES as NLLB
from transformers.models.whisper.tokenization_whisper import LANGUAGES, TO_LANGUAGE_CODE
from transformers.tokenization_utils_tokenizers import TokenizersBackend

OUT = pathlib.Path(__file__).parent.parent.parent.parent / "lib" / "model" / "auto-classes.json"


def names():
    found = {name for name in dir(transformers) if re.search(r"Tokenizer(Fast)?$", name)}
    found |= {name for name in auto.TOKENIZER_MAPPING_NAMES.values() if name}
    # The lazy module resolves these names too.
    found |= set(SLOW_TO_FAST_CONVERTERS)
    for path in (pathlib.Path(transformers.__file__).parent / "models").glob("*/tokenization_*.py"):
        found |= set(re.findall(r"^class (\w+Tokenizer(?:Fast)?)\(", path.read_text("utf-8"), re.M))
    return sorted(found | {name.removesuffix("Fast") for name in found})


def main():
    aliases, python, fast = {}, [], []
    for name in names():
        found = auto.tokenizer_class_from_name(name)
        if found is None or found.__name__ == "TokenizersBackend":
            continue
        if not issubclass(found, TokenizersBackend):
            python.append(name)
        elif found.__name__ == name:
            fast.append(name)
        elif name.removesuffix("Fast") != found.__name__:
            aliases[name] = found.__name__
    types = {}
    for model_type, name in sorted(auto.TOKENIZER_MAPPING_NAMES.items()):
        if name:
            types.setdefault(name, []).append(model_type)
    table = {
        "transformers": transformers.__version__,
        "classes": fast,
        "aliases": aliases,
        "python": python,
        "modelTypes": types,
        "configTypes": sorted(CONFIG_MAPPING_NAMES),
        "wrongClasses": sorted(auto.MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS),
        "backendRepositories": auto.MODEL_IDS_TO_TOKENIZERS_BACKEND,
        "languages": {"MBart": MBART, "MBart50": MBART50, "Nllb": NLLB, "Whisper": list(LANGUAGES)},
        "whisperNames": {name: code for name, code in TO_LANGUAGE_CODE.items()},
    }
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in table.items())
    OUT.write_text("{\n" + lines + "\n}\n", "utf-8")


main()
