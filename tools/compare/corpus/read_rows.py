"""Reads packed rows with Python, token by token.

    pip install numpy torch==2.9.0 torchdata==0.11.0 megatron-core==0.16.1 tokenizers==0.23.3
    python tools/compare/corpus/read_rows.py --tokenizer gpt2/tokenizer.json [--seed 1]

The script makes texts and chats, runs `tokenlane corpus`, and compares rows of npy, bin and
megatron, unpacked, sequential and best fit, with models of a few lines, as tokens.py of
examples/corpus and openTokens read them: ids, masks, cu_seqlens, position ids, figures of padding
and cuts, the order of a shuffle; every row once over ranks and workers; exact resume with
StatefulDataLoader. Specs data/merge and data/corpus judge merged jobs and the files of llm.c.

Ids of texts are those of Hugging Face's tokenizers. Those of chats are the job's own in JSON Lines.
"""

import argparse
import bisect
import collections
import functools
import json
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

import numpy
import torch
import torch.multiprocessing
from tokenizers import Tokenizer
from torchdata.stateful_dataloader import StatefulDataLoader

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "examples/corpus"))
from tokens import OPEN_SHARDS, TokenRows, padded  # noqa: E402

CHAT = ROOT / "__test__/testdata/chat/tokenizer.json"
TEMPLATE = """{% for m in messages %}{{ m.role + ': ' }}{% if m.role == 'assistant' %}{% generation %}
{{- m.content }}{% endgeneration %}{% else %}{{ m.content }}{% endif %}{{ '\\n' }}{% endfor %}"""
WORDS = "the a model weights 12 3.5 été 漢字 テスト 😀 \n\n { } x_y <b> import return of and to in".split(" ")
PACK = 128
ROWS = """import { openTokens } from '@tokenlane/corpus'
const tokens = await openTokens(process.argv[1])
for await (const { index, ...row } of tokens.rows({ shuffle: 5, documents: true }))
  console.log(JSON.stringify({ index, ...Object.fromEntries(Object.entries(row).map(([k, v]) => [k, [...v]])) }))"""


def command(*arguments):
    """Runs tokenlane corpus. Returns its last event."""
    line = ["node", ROOT / "cli/main.mjs", "corpus", *arguments, "--json"]
    done = subprocess.run([str(part) for part in line], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout.splitlines()[-1])


def files(folder, suffix=".bin"):
    shards = json.loads((folder / "manifest.json").read_text())["shards"]
    return [folder / f"shard-{shard:08}{suffix}" for shard in range(len(shards))]


class Corpus:
    """Folders of JSON Lines, with the ids of their documents."""

    def __init__(self, folder, seed, tokenizer):
        self.folder, self.random = folder, random.Random(seed)
        self.tokenizer = Tokenizer.from_file(str(tokenizer))
        self.eos = self.tokenizer.token_to_id("<|endoftext|>")

    def text(self):
        most = self.random.choice([4, 20, 60, 60, 200, 900])
        return " ".join(self.random.choices(WORDS, k=self.random.randint(1, most)))

    def ids(self, texts):
        return [tuple(one.ids + [self.eos]) for one in self.tokenizer.encode_batch_fast(texts)]

    def texts(self, name, lists):
        """Writes files of texts. Returns the folder."""
        (self.folder / name).mkdir(exist_ok=True)
        for number, texts in lists.items():
            lines = "".join(f"{json.dumps({'text': text})}\n" for text in texts)
            (self.folder / name / f"{number}.jsonl").write_text(lines)
        return self.folder / name

    def chats(self, count):
        (self.folder / "template.jinja").write_text(TEMPLATE)
        rows = [
            [{"role": role, "content": self.text()} for role in ("user", "assistant") * self.random.randint(1, 2)]
            for _ in range(count)
        ]
        path = self.folder / "chats.jsonl"
        path.write_text("".join(f"{json.dumps({'messages': row})}\n" for row in rows))
        return path


def pieces_of(document):
    return [document[at : at + PACK] for at in range(0, len(document), PACK)]


def best_fit_rows(lengths):
    """The number of rows of best fit decreasing, with a sorted list of free spaces."""
    free, rows = [], 0
    for length in sorted(lengths, reverse=True):
        at = bisect.bisect_left(free, length)
        if at == len(free):
            free.append(PACK)
            rows += 1
        bisect.insort(free, free.pop(at) - length)
        if free[0] == 0:
            del free[0]
    return rows


def pairs(ids, mask):
    """What a token of a document is: its id and its loss mask."""
    return tuple(zip(map(int, ids), map(int, mask)))


def own_documents(rows, index):
    """The documents of a row, as `pairs`."""
    ids = rows[index]
    mask = rows.loss_mask(index) if rows.has_loss_mask else numpy.ones_like(ids)
    ends = rows.cu_seqlens(index)
    assert ends[0] == 0 and ends[-1] == len(ids) and all(numpy.diff(ends) > 0)
    return [pairs(ids[start:end], mask[start:end]) for start, end in zip(ends[:-1], ends[1:])]


def check_indexed(folder, rows):
    """Compares the rows with those of megatron-core."""
    from megatron.core.datasets.indexed_dataset import IndexedDataset

    found = [[], []]
    for path in files(folder, ""):
        for column, name in zip(found, ("", ".mask") if rows.has_loss_mask else ("",)):
            dataset = IndexedDataset(f"{path}{name}")
            column += [dataset[index].tolist() for index in range(len(dataset))]
    assert found[0] == [rows[index].tolist() for index in range(rows.count)], folder
    if rows.has_loss_mask:
        assert found[1] == [rows.loss_mask(index).tolist() for index in range(rows.count)], folder


def check_rows(folder, packing, shards):
    """Compares all rows of a job with the documents of its shards."""
    rows = TokenRows(folder)
    if rows.format == "megatron":
        check_indexed(folder, rows)
    manifest = json.loads((folder / "manifest.json").read_text())
    for number, (documents, record) in enumerate(zip(shards, manifest["shards"])):
        found = [own_documents(rows, index) for index in range(rows.starts[number], rows.starts[number + 1])]
        tokens = sum(map(len, documents))
        if packing is None:
            assert found == [[document] for document in documents], folder
            continue
        if packing == "sequential":
            ends = [0]
            for document in documents:
                ends.append(ends[-1] + len(document))
            text = [token for document in documents for token in document]
            cuts = sorted({*ends, *range(0, tokens, PACK)})
            expected = collections.defaultdict(list)
            for start, end in zip(cuts[:-1], cuts[1:]):
                expected[start // PACK].append(tuple(text[start:end]))
            assert found == [expected[row] for row in range(len(expected))], folder
            cut = sum(start // PACK != (end - 1) // PACK for start, end in zip(ends[:-1], ends[1:]))
            count, pieces = -(-tokens // PACK), len(documents)
        else:
            assert all(sum(map(len, row)) <= PACK for row in found)
            parts = [piece for document in documents for piece in pieces_of(document)]
            # All documents that fit are whole, and the others are cut at the length of a row only.
            assert collections.Counter(piece for row in found for piece in row) == collections.Counter(parts), folder
            cut = sum(len(document) > PACK for document in documents)
            count, pieces = best_fit_rows(map(len, parts)), len(parts)
        padding = count * PACK - tokens
        figures = json.loads((folder / f"shard-{number:08}.json").read_text())["packing"]
        assert figures == {"rows": count, "pieces": pieces, "cutDocuments": cut, "padding": padding}, (folder, figures)
        assert record["rows"] == count == len(found)
    if packing is not None:
        sums = collections.Counter()
        for number in range(len(shards)):
            sums.update(json.loads((folder / f"shard-{number:08}.json").read_text())["packing"])
        for name in ("rows", "cutDocuments", "padding"):
            assert manifest["totals"][name] == sums[name], (folder, name)
    return sum(map(len, (document for documents in shards for document in documents)))


def plain(row):
    """A row of a loader as lists, to compare it."""
    row = row if isinstance(row, dict) else {"input_ids": row}
    return {name: column.tolist() for name, column in row.items()}


def check_order(folder):
    """Compares the shuffled rows with those of openTokens."""
    done = subprocess.run(
        ["node", "--input-type=module", "-e", ROWS, str(folder)], check=True, stdout=subprocess.PIPE, cwd=ROOT
    )
    other = [json.loads(line) for line in done.stdout.splitlines()]
    rows = list(map(plain, TokenRows(folder, shuffle=5, documents=True)))
    names = {"ids": "input_ids", "lossMask": "loss_mask", "cuSeqlens": "cu_seqlens", "positionIds": "position_ids"}
    assert [{names[name]: row[name] for name in names if name in row} for row in other] == rows, folder
    assert sorted(row["index"] for row in other) == list(range(len(rows)))
    for row in rows:
        starts = numpy.repeat(row["cu_seqlens"][:-1], numpy.diff(row["cu_seqlens"]))
        assert row["position_ids"] == (numpy.arange(len(row["input_ids"])) - starts).tolist()


def loader(dataset, workers, batch=3):
    return StatefulDataLoader(dataset, batch_size=batch, num_workers=workers, collate_fn=list)


def batches(one):
    return [list(map(plain, batch)) for batch in one]


def key(row):
    return json.dumps(row)


def distributed_rank(rank, path, folder):
    torch.distributed.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=2)
    rows = TokenRows(folder, shuffle=5)
    assert (rows.rank, rows.ranks) == (rank, 2)
    torch.distributed.destroy_process_group()


def check_readers(folder):
    """Every row once over ranks and workers, and exact resume."""
    whole = list(map(plain, TokenRows(folder, shuffle=5)))
    for ranks, workers in ((1, 2), (3, 0), (2, 2)):
        found = []
        for rank in range(ranks):
            dataset = functools.partial(TokenRows, folder, shuffle=5, rank=rank, ranks=ranks)
            rows = [row for batch in batches(loader(dataset(), workers)) for row in batch]
            assert len(rows) == len(dataset())
            found += rows
            if workers == 0:
                assert rows == whole[rank::ranks]
                assert list(map(plain, dataset(start=4))) == rows[4:]
        assert sorted(map(key, found)) == sorted(map(key, whole)), (folder, ranks, workers)
    for workers in (0, 2):
        dataset = functools.partial(TokenRows, folder, shuffle=5, rank=1, ranks=2, documents=True)
        expected = batches(loader(dataset(), workers))
        for stop in (1, 2, 5, len(expected) - 1):
            first = loader(dataset(), workers)
            taken = iter(first)
            assert [list(map(plain, next(taken))) for _ in range(stop)] == expected[:stop]
            second = loader(dataset(), workers)
            second.load_state_dict(json_or_same(first.state_dict(), workers))
            # A state that is saved again before the next batch is the same place.
            taken = iter(second)
            again = loader(dataset(), workers)
            again.load_state_dict(second.state_dict())
            for one, rest in ((second, list(taken)), (again, list(again))):
                assert [list(map(plain, batch)) for batch in rest] == expected[stop:], (folder, workers, stop)
                assert batches(one) == expected, "the epoch after a resumed one is whole"
    # A loop that is left early does not shorten the next one.
    dataset = TokenRows(folder, shuffle=5)
    next(iter(dataset))
    assert list(map(plain, dataset)) == whole
    batch = next(iter(torch.utils.data.DataLoader(dataset, batch_size=4, collate_fn=padded)))
    for at, row in enumerate(whole[:4]):
        length = len(row["input_ids"])
        assert batch["input_ids"][at].tolist()[:length] == row["input_ids"]
        mask = row.get("loss_mask", [1] * length)
        assert batch["loss_mask"][at].tolist() == mask + [0] * (batch["loss_mask"].shape[1] - length)
    # One worker that is not forked gets no copies of the mapped files.
    assert dataset.open and not dataset.__getstate__()["open"]


def json_or_same(state, workers):
    """The state after JSON. That of workers has types that JSON does not have."""
    return json.loads(json.dumps(state)) if workers == 0 else state


def check_many_files(corpus):
    """More shards than files may be open at once are read in a random order."""
    folder = corpus.folder / "many"
    source = corpus.texts("many-texts", {number: [corpus.text() for _ in range(100)] for number in range(8)})
    command(source, "-o", folder, *corpus.usual[:-1], 500, "-f", "npy")
    rows = TokenRows(folder, shuffle=2)
    shards = len(rows.starts) - 1
    # An open shard of this job has two files.
    assert shards > 3 * OPEN_SHARDS, shards
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3 * OPEN_SHARDS, hard))
    found = sorted(key(plain(row)) for row in rows)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert found == sorted(key({"input_ids": rows[index].tolist()}) for index in range(rows.count))


def shards_of(folder, documents):
    """The documents of each shard, in order."""
    shards, at = [], 0
    for path in files(folder, ".json"):
        count = json.loads(path.read_text())["documents"]
        shards.append(documents[at : at + count])
        at += count
    assert at == len(documents)
    return shards


PACKINGS = {None: [], "sequential": ["--pack", PACK], "best-fit": ["--pack", PACK, "--packing", "best-fit"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", required=True, help="a tokenizer.json with <|endoftext|>")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        corpus = Corpus(folder, arguments.seed, arguments.tokenizer)
        corpus.usual = ["-t", arguments.tokenizer, "--eos", "--shard-size", 20_000]
        texts = {number: [corpus.text() for _ in range(100)] for number in range(3)}
        source, ids = corpus.texts("texts", texts), corpus.ids([text for part in texts.values() for text in part])
        chats = ["-t", CHAT, "--messages", "messages", "--template", folder / "template.jinja", "--shard-size", 20_000]
        inputs = {"texts": [source, *corpus.usual], "chats": [corpus.chats(200), *chats]}
        command(*inputs["chats"], "-o", folder / "lines", "-f", "jsonl")
        lines = [json.loads(line) for path in files(folder / "lines", ".jsonl") for line in open(path, encoding="utf-8")]
        documents = {
            "texts": [pairs(one, [1] * len(one)) for one in ids],
            "chats": [pairs(line["ids"], line["loss_mask"]) for line in lines],
        }
        assert any(mask for document in documents["chats"] for _, mask in document)
        tokens = 0
        for kind in ("npy", "bin", "megatron"):
            for packing, options in PACKINGS.items():
                for content in inputs:
                    output = folder / f"{kind}-{packing}-{content}"
                    command(*inputs[content], "-o", output, "-f", kind, *options)
                    shards = shards_of(output, documents[content])
                    assert len(shards) > 2
                    tokens += check_rows(output, packing, shards)
                    check_order(output)
                    # Loaders with workers take most of the time.
                    if (content, packing) in (("texts", "sequential"), ("chats", "best-fit"), ("chats", None)):
                        check_readers(output)
            print(f"{kind}: rows, orders and readers equal", flush=True)
        check_many_files(corpus)
        torch.multiprocessing.spawn(distributed_rank, (folder / "ranks", folder / "many"), 2)
        print(f"3 formats, 3 packings, texts and chats: {tokens} tokens equal", flush=True)


if __name__ == "__main__":
    main()
