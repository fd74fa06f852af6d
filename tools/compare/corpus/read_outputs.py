"""Compares the output of `tokenlane corpus` with the ids of Hugging Face's tokenizers.

    pip install numpy tokenizers pyarrow megatron-core torch
    python tools/compare/corpus/read_outputs.py --corpus data/ --tokenizer tokenizer.json
        --eos ID TOKENS

TOKENS is an output of `tokenlane corpus data/ -t tokenizer.json --eos -o TOKENS`, without
--shuffle and --on-error skip. The script encodes each document of the JSON Lines in data/ with
tokenizers. It reads the output with megatron-core's IndexedDataset, NumPy or pyarrow, and both ids
must be equal.
"""

import argparse
import csv
import gzip
import json
import pathlib
import sys

import numpy


def expected(arguments):
    """Yields the expected ids of each document that has any, in order."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(arguments.tokenizer)
    for file in sorted(pathlib.Path(arguments.corpus).glob("*.jsonl")):
        with open(file, encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for line in lines]
        for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False):
            if encoding.ids:
                yield encoding.ids + ([] if arguments.eos is None else [arguments.eos])


def megatron(prefix, pack):
    from megatron.core.datasets.indexed_dataset import IndexedDataset

    dataset = IndexedDataset(str(prefix))
    assert list(dataset.document_indices) == list(range(len(dataset) + 1))
    # The rows are copied, because they are views of a file that the data set closes.
    rows = [numpy.array(dataset[row]) for row in range(len(dataset))]
    return rows if pack is None else documents(rows, numpy.load(f"{prefix}.docs.npy"), pack)


def arrays(prefix, suffix, dtype, pack):
    def load(kind, of):
        file = f"{prefix}{kind}.{suffix}"
        return numpy.load(file, mmap_mode="r") if suffix == "npy" else numpy.memmap(file, of, "r")

    tokens, offsets = load("", dtype), load(".rows", "<u8")
    rows = [tokens[start:end] for start, end in zip(offsets[:-1], offsets[1:])]
    with gzip.open(f"{prefix}.csv.gz", "rt", encoding="utf-8", newline="") as table:
        bounds = [(int(row[0]), int(row[1])) for row in csv.reader(table)]
    if pack is not None:
        rows = documents(rows, load(".docs", "<u8"), pack)
    assert [end - start for start, end in bounds] == [len(row) for row in rows]
    return rows


def table(prefix, pack):
    import pyarrow
    import pyarrow.parquet

    read = pyarrow.parquet.read_table(f"{prefix}.parquet")
    assert read.schema.field("ids").type.value_type == pyarrow.int32(), read.schema
    rows = [numpy.array(row, dtype="<i4") for row in read.column("ids").to_pylist()]
    if pack is None:
        return rows
    starts = [pack * row + start for row, some in enumerate(read.column("starts").to_pylist()) for start in some]
    return documents(rows, [*starts, sum(map(len, rows))], pack)


def documents(rows, offsets, pack):
    """The documents of packed rows."""
    assert all(len(row) == pack for row in rows[:-1])
    tokens = numpy.concatenate(rows)
    return [tokens[start:end] for start, end in zip(offsets[:-1], offsets[1:])]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokens")
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--eos", type=int)
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.tokens)
    job = json.loads((folder / "job.json").read_text())
    options = job["options"]
    dtype = {"u16": "<u2", "u32": "<u4"}.get(options.get("type"))
    pack = options.get("pack")
    wanted = expected(arguments)
    count = tokens = 0
    for shard in range(job["plan"]["shards"]):
        prefix = folder / f"shard-{shard:08}"
        if options["format"] == "megatron":
            rows = megatron(prefix, pack)
        elif options["format"] == "parquet":
            rows = table(prefix, pack)
        else:
            rows = arrays(prefix, options["format"], dtype, pack)
        for row in rows:
            ids = next(wanted, None)
            if ids is None or not numpy.array_equal(row, ids):
                sys.exit(f"{prefix}: document {count} differs")
            count += 1
            tokens += len(ids)
    if next(wanted, None) is not None:
        sys.exit("documents are missing")
    print(f"{options['format']}{'' if pack is None else f' --pack {pack}'}: {count} documents, {tokens} tokens: equal")


if __name__ == "__main__":
    main()
