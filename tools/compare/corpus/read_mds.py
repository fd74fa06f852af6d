"""Compares `tokenlane corpus --format mds` with MosaicML's streaming, byte by byte.

    pip install mosaicml-streaming==0.13.0
    python tools/compare/corpus/read_mds.py [--seed 1]

The script makes texts and chats, and runs `tokenlane corpus` and `corpus merge` with every packing,
u16 and u32, with and without ids and loss masks. For each output

- LocalDataset reads the samples of jsonl, which read_masks.py compares with transformers, or for
  best fit the same documents whole;
- MDSWriter writes the samples that were read again: its files have the same bytes, and so has
  index.json but for the names of the files;
- StreamingDataset copies the output as from a remote store, checks the SHA-256, and gives every row
  once, shuffled, also after a stop.
"""

import argparse
import collections
import itertools
import json
import pathlib
import random
import subprocess
import tempfile

import numpy
import torch
from streaming import LocalDataset, MDSWriter, StreamingDataLoader, StreamingDataset

ROOT = pathlib.Path(__file__).resolve().parents[3]
CHAT = ROOT / "__test__/testdata/chat/tokenizer.json"
TEMPLATE = """{% for m in messages %}{{ m.role + ': ' }}{% if m.role == 'assistant' %}{% generation %}
{{- m.content }}{% endgeneration %}{% else %}{{ m.content }}{% endif %}{{ '\\n' }}{% endfor %}"""
WORDS = "the a model weights 12 3.5 été 漢字 テスト 😀 \n\n { } x_y <b> import return of and to in".split(" ")
PACK = 300


def command(*arguments):
    """Runs tokenlane corpus. Returns its last event."""
    line = ["node", ROOT / "cli/main.mjs", "corpus", *arguments, "--json"]
    done = subprocess.run([str(part) for part in line], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout.splitlines()[-1])


class Texts:
    def __init__(self, folder, seed):
        self.folder, self.random = folder, random.Random(seed)

    def text(self):
        # Lengths of one, two and four bytes in the heads of arrays.
        most = self.random.choice([1, 4, 20, 60, 60, 200, 900])
        return " ".join(self.random.choices(WORDS, k=self.random.randint(0, most)))

    def write(self, name, rows):
        path = self.folder / f"{name}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        return path

    def texts(self, count):
        # The id of one is empty, and one document is longer than 65,535 tokens.
        rows = [{"id": f"é{number}" if number else "", "text": self.text()} for number in range(count)]
        return self.write("texts", [*rows, {"id": "long", "text": " word" * 70_000}])

    def chats(self, count):
        def message(role):
            return {"role": role, "content": self.text()}

        return self.write(
            "chats",
            [
                {"id": number, "messages": [message(role) for role in ("user", "assistant") * self.random.randint(1, 2)]}
                for number in range(count)
            ],
        )


def lines_of(folder):
    paths = sorted(folder.glob("shard-*.jsonl"))
    return [json.loads(line) for path in paths for line in path.open(encoding="utf-8")]


def plain(sample):
    return {name: value.tolist() if isinstance(value, numpy.ndarray) else value for name, value in sample.items()}


def documents_of(rows):
    """The parts of documents in rows: id, tokens, masks."""
    for row in rows:
        ends = row["cu_seqlens"]
        assert ends[0] == 0 and ends[-1] == len(row["tokens"])
        names = row.get("documents", [None] * (len(ends) - 1))
        for name, start, end in zip(names, ends[:-1], ends[1:], strict=True):
            assert start < end
            mask = row["loss_mask"][start:end] if "loss_mask" in row else None
            yield name, row["tokens"][start:end], mask


def joined(parts):
    """Whole documents of the parts of sequential rows, by their ids."""
    for name, group in itertools.groupby(parts, key=lambda part: part[0]):
        tokens, masks = [], []
        for _, ids, mask in group:
            tokens += ids
            masks += mask or []
        yield name, tokens, masks or None


def expected_rows(lines):
    return [
        {
            **({"id": str(line["id"])} if "id" in line else {}),
            **({"loss_mask": line["loss_mask"]} if "loss_mask" in line else {}),
            "tokens": line["ids"],
        }
        for line in lines
    ]


def check_samples(folder, packing, lines):
    """Compares the samples with the lines of a job in JSON Lines. Returns the number of tokens."""
    rows = list(map(plain, LocalDataset(str(folder))))
    if packing is None:
        assert rows == expected_rows(lines), folder
        return sum(len(row["tokens"]) for row in rows)
    documents = [(str(line["id"]), line["ids"], line.get("loss_mask")) for line in lines]
    parts = list(documents_of(rows))
    if packing == "sequential":
        assert list(joined(parts)) == documents, folder
    else:
        whole = collections.defaultdict(lambda: ([], []))
        fitting = {json.dumps(document) for document in documents if len(document[1]) <= PACK}
        found = {json.dumps(part) for part in parts}
        assert fitting <= found, folder
        for name, tokens, _ in parts:
            whole[name][0].extend(tokens)
        assert {name: len(ids) for name, ids, _ in documents} == {name: len(one) for name, (one, _) in whole.items()}
    assert max(len(row["tokens"]) for row in rows) == PACK
    return sum(len(row["tokens"]) for row in rows)


def check_bytes(folder, scratch):
    """Writes the samples of each file with streaming's own writer, and compares the bytes."""
    index = json.loads((folder / "index.json").read_text())
    dataset = LocalDataset(str(folder))
    entries, size = [], 0
    for number, (entry, shard) in enumerate(zip(index["shards"], dataset.shards, strict=True)):
        out = scratch / f"{folder.name}-{number}"
        columns = dict(zip(entry["column_names"], entry["column_encodings"], strict=True))
        with MDSWriter(columns=columns, out=str(out), size_limit=None, hashes=["sha256"]) as writer:
            for sample in shard:
                writer.write(sample)
        name = entry["raw_data"]["basename"]
        [own] = json.loads((out / "index.json").read_text())["shards"]
        file = (folder / name).read_bytes()
        # Lists of ids are JSON, which has other spaces in Python.
        if "documents" not in columns:
            assert file == (out / "shard.00000.mds").read_bytes(), (folder, name)
            own["raw_data"]["basename"] = name
            assert own == entry
        entries.append(entry)
        size += len(file)
    text = json.dumps({"version": 2, "shards": entries}, sort_keys=True)
    assert (folder / "index.json").read_text() == text
    return size


def check_stream(folder, scratch):
    """Every row once, copied and compared; a reader goes on after a stop."""
    rows = sorted(json.dumps(plain(sample)) for sample in LocalDataset(str(folder)))
    options = {"shuffle": True, "shuffle_seed": 3, "num_canonical_nodes": 1, "batch_size": 4}

    def dataset(name):
        where = {"remote": str(folder), "local": str(scratch / f"{folder.name}-{name}"), "validate_hash": "sha256"}
        return StreamingDataset(**where, **options)

    whole = dataset("copy")
    found = [json.dumps(plain(row)) for row in whole]
    assert sorted(found) == rows and found != rows, folder

    def loader(name):
        # The loader counts the samples of a batch by its first column.
        return StreamingDataLoader(dataset(name), batch_size=4, collate_fn=lambda batch: {"rows": batch})

    first, second = loader("first"), loader("second")
    seen = [json.dumps(plain(row)) for batch in itertools.islice(first, 3) for row in batch["rows"]]
    second.load_state_dict(first.state_dict())
    seen += [json.dumps(plain(row)) for batch in second for row in batch["rows"]]
    assert sorted(seen) == rows, folder
    # PyTorch takes the tokens as they are.
    assert torch.from_numpy(numpy.copy(whole[0]["tokens"])).long().tolist() == whole[0]["tokens"].tolist()


PACKINGS = {None: [], "sequential": ["--pack", PACK], "best-fit": ["--pack", PACK, "--packing", "best-fit"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        corpus = Texts(folder, arguments.seed)
        (folder / "template.jinja").write_text(TEMPLATE)
        usual = ["--shard-size", 60_000, "--id-field", "id"]
        chats = ["-t", CHAT, "--messages", "messages", "--template", folder / "template.jinja"]
        inputs = {
            "u16": [corpus.texts(300), "-t", "r50k_base", "--eos", *usual],
            "u32": [folder / "texts.jsonl", "-t", "o200k_base", *usual],
            "chats": [corpus.chats(200), *chats, *usual],
            "chats-u32": [folder / "chats.jsonl", *chats, "--type", "u32", *usual],
        }
        tokens = size = 0
        for name, given in inputs.items():
            lines = folder / f"{name}-lines"
            untyped = [part for part in given if part not in ("--type", "u32")]
            command(*untyped, "-o", lines, "-f", "jsonl")
            for packing, options in PACKINGS.items():
                output = folder / f"{name}-{packing}"
                result = command(*given, "-o", output, "-f", "mds", *options)
                assert result["tokens"] == check_samples(output, packing, lines_of(lines))
                tokens += result["tokens"]
                size += check_bytes(output, folder)
                # Shuffled and joined, from a job in another format.
                if packing is None:
                    command(*given, "-o", folder / f"{name}-npy", "-f", "npy")
                merge = ["merge", folder / f"{name}-npy", "-o", folder / f"{name}-{packing}-merged", "-f", "mds"]
                command(*merge, *options, "--tokens-per-file", 20_000)
                tokens += check_samples(folder / f"{name}-{packing}-merged", packing, lines_of(lines))
                size += check_bytes(folder / f"{name}-{packing}-merged", folder)
            # Without ids all files are compared whole.
            plain_given = [part for part in given if part not in ("--id-field", "id")]
            for packing, options in PACKINGS.items():
                output = folder / f"{name}-{packing}-without"
                command(*plain_given, "-o", output, "-f", "mds", *options)
                size += check_bytes(output, folder)
            check_stream(folder / f"{name}-sequential", folder)
            print(f"{name}: {tokens} tokens and {size} bytes equal so far", flush=True)
        print(f"3 packings, texts and chats, u16 and u32, merged: {tokens} tokens equal, {size} bytes equal")


if __name__ == "__main__":
    main()
