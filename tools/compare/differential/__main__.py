#!/usr/bin/env python3
"""Compares the package with PyPI tokenizers 0.23.3 and tiktoken 0.14.0.

The tokenizers and texts are random.

For maintainers; not part of `npm test`. Needs a release build of the addon (`npm run build`).

    python3 -m venv .cache/differential
    .cache/differential/bin/pip install tokenizers==0.23.3 tiktoken==0.14.0 sentencepiece==0.2.3
        protobuf numpy
    .cache/differential/bin/python tools/compare/differential [--seed 1] [--tokenizers 50]
        [--texts 60]
        [--components byte-level|families|models|all|ranks] [--save .cache/differences]
        [--reread here|there]

`byte-level` creates files like those of GPT-2, Llama 3 and Qwen 2; `families` creates files like
those of about thirty published models; `models` uses WordPiece, WordLevel and Unigram models; `all`
combines all components; `ranks` creates rank files for tiktoken. Tokenizer number n of a run
depends only on SEED + n, so `--seed <the printed seed> --tokenizers 1` repeats it.

With `--reread`, the package writes every tokenizer as a tokenizer.json. With `here` the package
loads this file and answers with it; with `there` the library does (not for ranks).

A difference is printed, and saved with the tokenizer.json.
Tokenizers that the package refuses are counted by reason. Tokenizers that the library cannot load
are counted as unreadable and not compared. A tokenizer for which the library needs too much time or
memory is skipped and counted. The exit status is 1 if there is a difference or the package's
process ends.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import sys
import time

sys.dont_write_bytecode = True  # no __pycache__ beside the scripts

import questions
import sides
from texts import random_text

TEXTS_PER_BATCH = 8


class Run:
    def __init__(self, arguments):
        self.arguments = arguments
        self.form = "tiktoken-npm" if arguments.components == "ranks" else "hf"
        self.package, self.library = sides.package(), sides.library(arguments.seconds)
        self.counts = collections.Counter()
        self.refusals, self.skips, self.failures = (collections.Counter() for _ in range(3))

    def tokenizer(self, seed):
        """Compares one tokenizer on all its texts, up to the first difference."""
        made = self.library.ask({"make": seed, "components": self.arguments.components})
        if "failed" in made:
            self.counts["unreadable"] += 1
            return
        definition = made["made"]
        answer, loaded = sides.load_both(self.package, self.library, definition, self.form, self.arguments.reread)
        if "failed" in loaded:
            self.counts["unreadable"] += 1
            return
        if "failed" in answer:
            self.counts["refused"] += 1
            self.refusals[answer["failed"][:160]] += 1
            print(f"seed {seed}: refused: {answer['failed'][:300]}", flush=True)
            return
        rng = random.Random(f"texts of {seed}")
        for requests in self.requests(rng, definition, loaded["vocabSize"]):
            request = self.first_difference(requests)
            if request is not None:
                self.counts["differing"] += 1
                self.report(seed, {"tokenizer": definition, "request": request})
                return
        self.counts["tokenizers compared"] += 1

    def requests(self, rng, definition, vocab_size):
        """Yields lists of requests, text by text. `self.answers` has the library's answers."""
        if self.form == "tiktoken-npm":
            added = list(definition["special_tokens"])
        else:
            added = [token["content"] for token in definition["added_tokens"]]
            yield [questions.lookups(rng, definition, vocab_size)]
        texts = [random_text(rng, added) for _ in range(self.arguments.texts)]
        for number, text in enumerate(texts):
            if self.form == "tiktoken-npm":
                yield [{"encode": text, "options": {"addSpecialTokens": special}} for special in (True, False)]
            else:
                yield list(questions.encodings(rng, text, texts))
            decoding = questions.decoding(rng, self.answers[0].get("ids", []), vocab_size)
            if self.form == "tiktoken-npm":  # tiktoken has no such option
                decoding["options"]["skipSpecialTokens"] = False
            yield [decoding]
            if self.form == "hf" and number % TEXTS_PER_BATCH == 0:
                yield [questions.batch(rng, texts[number : number + TEXTS_PER_BATCH])]
            self.counts["texts"] += 1

    def first_difference(self, requests):
        self.answers = self.library.ask({"all": requests})
        for request, want, got in zip(requests, self.answers, self.package.ask({"all": requests})):
            self.counts["requests"] += 1
            if "failed" in want:
                self.counts["failed in both" if "failed" in got else "failed in the library alone"] += 1
                if "failed" not in got:
                    self.failures[re.sub(r"\d+", "N", want["failed"])[:120]] += 1
            if questions.difference(want, got) and not self.library.ask({"wavers": request})["wavers"]:
                self.found = questions.difference(want, got)
                return request
        return None

    def report(self, seed, case):
        save(self.arguments.save / f"{self.arguments.components}-{seed}", case, self.found)

    def summary(self):
        names = ("unreadable", "refused", "skipped", "differing", "texts", "requests", "failed in both", "failed in the library alone")
        return ", ".join(f"{name} {self.counts[name]}" for name in names)


def save(folder, case, found):
    folder.mkdir(parents=True, exist_ok=True)
    differences = {column: {"want": want, "got": got} for column, (want, got) in found.items()}
    answers = {"request": case["request"], "differences": differences}
    (folder / "tokenizer.json").write_text(json.dumps(case["tokenizer"], ensure_ascii=False, indent=1))
    (folder / "case.json").write_text(json.dumps(answers, ensure_ascii=False, indent=1))

    tokenizer = {key: value for key, value in case["tokenizer"].items() if key != "ranks"}
    if "model" in tokenizer:
        tokenizer["model"] = {key: value for key, value in tokenizer["model"].items() if key != "vocab"}
    print(f"\n{', '.join(found)} differ; saved in {folder}")
    print(f"  request   {json.dumps(case['request'])[:700]}")
    for column, (want, got) in found.items():
        print(f"  {column}: want {json.dumps(want)[:700]}\n  {column}: got  {json.dumps(got)[:700]}")
    print(f"  tokenizer {json.dumps(tokenizer, ensure_ascii=False)[:700]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tokenizers", type=int, default=50)
    parser.add_argument("--texts", type=int, default=60, help="number of texts for each tokenizer")
    parser.add_argument("--components", choices=["byte-level", "families", "models", "all", "ranks"], default="all")
    parser.add_argument("--seconds", type=int, default=20, help="maximum time of one answer of the library")
    parser.add_argument("--reread", choices=["here", "there"], help="which side loads the tokenizers that the package wrote")
    parser.add_argument("--save", type=pathlib.Path, default=pathlib.Path(".cache/differences"))
    arguments = parser.parse_args()
    if arguments.reread == "there" and arguments.components == "ranks":
        parser.error("--reread there needs other components than ranks: the package writes a tokenizer.json, not ranks")

    run, last_print = Run(arguments), time.monotonic()
    for seed in range(arguments.seed, arguments.seed + arguments.tokenizers):
        try:
            run.tokenizer(seed)
        except sides.Ended as error:
            side = "the package" if run.package.process is None else "the library"
            run.counts["package ended" if side == "the package" else "skipped"] += 1
            run.skips[f"{side}: {error}"] += 1
            print(f"seed {seed}: {side}: {error}", flush=True)
        if time.monotonic() - last_print > 20:
            last_print = time.monotonic()
            print(f"up to seed {seed}: {run.summary()}", flush=True)
    for reason, number in run.refusals.most_common():
        print(f"refused {number} times: {reason}")
    for reason, number in run.skips.most_common():
        print(f"skipped {number} times: {reason}")
    for reason, number in run.failures.most_common():
        print(f"failed in the library alone {number} times: {reason}")
    print(f"{arguments.components}, seeds {arguments.seed} to {arguments.seed + arguments.tokenizers - 1}: {run.summary()}")
    run.package.stop()
    run.library.stop()
    sys.exit(1 if run.counts["differing"] or run.counts["package ended"] else 0)


if __name__ == "__main__":
    main()
