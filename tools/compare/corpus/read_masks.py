"""Compares `tokenlane corpus --messages` with transformers, token by token.

    pip install transformers==5.24 jinja2 numpy pyarrow megatron-core torch
    python tools/compare/corpus/read_masks.py [--chats 300] [--seed 1]

The script makes chats with tool calls, thinking, numbers and many scripts, writes them as JSON
Lines and as Parquet, and runs the command for each template and format, with and without --pack. It
reads the outputs with megatron-core's IndexedDataset, NumPy, json and pyarrow. Ids and masks must
be those of apply_chat_template(..., return_assistant_tokens_mask=True). Before 5.24, transformers
left out a part of the last character of a block.
"""

import argparse
import itertools
import json
import pathlib
import random
import subprocess
import tempfile

import numpy
import pyarrow
import pyarrow.parquet
from transformers import PreTrainedTokenizerFast

ROOT = pathlib.Path(__file__).resolve().parents[3]
DATA = ROOT / "__test__/testdata/chat"
COLUMNS = ("ids", "loss_mask", "starts")
WORDS = "the a model weights 12 3.5 été 漢字 テスト 😀 नमस्ते \n\n  { } \\ \" ' x_y <b> |> <| import".split(" ")

# As Qwen3 writes tool calls and thinking, with {% generation %} around all that the model writes.
AGENT = """{%- if tools %}{{ '<|im_start|>system\\n# Tools\\n' }}{%- for tool in tools %}{{ tool | tojson + '\\n' }}{%- endfor %}{{ '<|im_end|>\\n' }}{%- endif %}
{%- for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}
{%- if m.role == 'assistant' %}{% generation %}
{%- if m.reasoning_content %}{{ '<think>\\n' + m.reasoning_content | trim + '\\n</think>\\n\\n' }}{%- endif %}{{ m.content or '' }}
{%- for call in m.tool_calls or [] %}{{ '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' + call.function.arguments | tojson + '}\\n</tool_call>' }}{%- endfor %}{{ '<|im_end|>' }}{% endgeneration %}
{%- else %}{{ m.content + '<|im_end|>' }}{%- endif %}{{ '\\n' }}{%- endfor %}"""


class Chats:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def text(self, most=40):
        return " ".join(self.random.choices(WORDS, k=self.random.randint(0, most)))

    def value(self, depth=0):
        kinds = [self.text, lambda: self.random.choice([0, -0.0, 1.0, 1e5, 2.5, 1e-7, 10**20, -3, True, None])]
        if depth < 2:
            kinds.append(lambda: [self.value(depth + 1) for _ in range(self.random.randint(0, 3))])
            kinds.append(lambda: {f"k{i}": self.value(depth + 1) for i in range(self.random.randint(0, 3))})
        return self.random.choice(kinds)()

    def message(self, role):
        message = {"role": role, "content": self.text()}
        if role == "assistant" and self.random.random() < 0.3:
            message["reasoning_content"] = self.text()
        if role == "assistant" and self.random.random() < 0.3:
            arguments = {"a": self.value(), "b": self.value()}
            message["tool_calls"] = [{"type": "function", "function": {"name": "f", "arguments": arguments}}]
        return message

    def chat(self):
        roles = ["system"] * (self.random.random() < 0.5)
        for _ in range(self.random.randint(1, 4)):
            roles += self.random.choice([["user", "assistant"], ["user", "assistant", "tool", "assistant"]])
        row = {"messages": [self.message(role) for role in roles]}
        if self.random.random() < 0.4:
            row["tools"] = [{"type": "function", "function": {"name": "f", "parameters": {"limit": self.value()}}}]
        return row


def megatron(prefix):
    from megatron.core.datasets.indexed_dataset import IndexedDataset

    columns = [IndexedDataset(str(prefix)), IndexedDataset(f"{prefix}.mask")]
    assert columns[1].index.dtype == numpy.uint8
    assert list(columns[0].document_indices) == list(columns[1].document_indices)
    return [[numpy.array(column[row]) for row in range(len(column))] for column in columns]


def arrays(prefix, suffix, dtype):
    def load(kind, of):
        file = f"{prefix}{kind}.{suffix}"
        return numpy.load(file, mmap_mode="r") if suffix == "npy" else numpy.memmap(file, of, "r")

    offsets = load(".rows", "<u8")
    columns = [load("", dtype), load(".mask", "u1")]
    assert columns[1].dtype == numpy.uint8
    return [[column[start:end] for start, end in zip(offsets[:-1], offsets[1:])] for column in columns]


def table(prefix):
    read = pyarrow.parquet.read_table(f"{prefix}.parquet")
    assert read.schema.field("loss_mask").type.value_type == pyarrow.uint8(), read.schema
    return [read.column(name).to_pylist() for name in COLUMNS if name in read.column_names]


def lines(prefix):
    with open(f"{prefix}.jsonl", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [[row[name] for row in rows] for name in COLUMNS if name in rows[0]]


def read(folder):
    """The rows of all shards: ids, masks, and in tables the starts of documents in packed rows."""
    job = json.loads((folder / "job.json").read_text())
    options = job["options"]
    dtype = {"u16": "<u2", "u32": "<u4"}.get(options.get("type"))
    columns = [[], [], []]
    for shard in range(job["plan"]["shards"]):
        prefix = folder / f"shard-{shard:08}"
        kind = options["format"]
        readers = {"megatron": megatron, "parquet": table, "jsonl": lines}
        found = readers[kind](prefix) if kind in readers else arrays(prefix, kind, dtype)
        for column, rows in zip(columns, found):
            column += [list(map(int, row)) for row in rows]
    return columns


def expected(tokenizer, template, rows):
    made = [
        tokenizer.apply_chat_template(
            row["messages"],
            tools=row.get("tools"),
            chat_template=template,
            return_dict=True,
            return_assistant_tokens_mask=True,
        )
        for row in rows
    ]
    return [one["input_ids"] for one in made], [one["assistant_masks"] for one in made]


def packed(column, pack):
    """The numbers of documents in rows."""
    numbers = [number for row in column for number in row]
    return [numbers[start : start + pack] for start in range(0, len(numbers), pack)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(DATA / "tokenizer.json"))
    chats = Chats(arguments.seed)
    rows = [chats.chat() for _ in range(arguments.chats)]
    names = ["turns", "parts of a turn", "in a macro", "in a block"]
    known = json.loads((DATA / "masks.json").read_text())["templates"]
    templates = {"agent": AGENT, **{name: known[name] for name in names}}
    tokens = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        text = "".join(f"{json.dumps(row, ensure_ascii=index % 2 == 0)}\n" for index, row in enumerate(rows))
        (folder / "chats.jsonl").write_text(text)
        # Rows have different fields, so a table has their JSON.
        columns = {name: [json.dumps(row[name]) if name in row else None for row in rows] for name in ("messages", "tools")}
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / "chats.parquet", row_group_size=50)
        for name, template in templates.items():
            (folder / "template.jinja").write_text(template)
            ids, masks = expected(tokenizer, template, rows)
            # A row of no tokens is no document.
            kept = [row for row, own in enumerate(ids) if own]
            wanted = [[column[row] for row in kept] for column in (ids, masks)]
            for kind in ("megatron", "npy", "bin", "jsonl", "parquet"):
                for pack in (None, 128):
                    source = "chats.parquet" if kind in ("bin", "parquet") else "chats.jsonl"
                    output = folder / f"{name}-{kind}-{pack}"
                    command = ["node", ROOT / "cli/main.mjs", "corpus", folder / source, "-o", output, "-f", kind]
                    command += ["-t", DATA / "tokenizer.json", "--messages", "messages", "--tools", "tools"]
                    command += ["--template", folder / "template.jinja", "--shard-size", "50000", "--quiet"]
                    command += [] if pack is None else ["--pack", str(pack)]
                    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
                    *found, starts = read(output)
                    if pack is not None:
                        # The last row of each shard may be shorter.
                        assert all(len(row) <= pack for row in found[0])
                        assert [len(row) for row in found[0]] == [len(row) for row in found[1]]
                        if starts:
                            rows_at = itertools.accumulate(map(len, found[0]), initial=0)
                            own = [at + start for at, row in zip(rows_at, starts) for start in row]
                            assert own == list(itertools.accumulate(map(len, wanted[0]), initial=0))[:-1], f"{name}, {kind}"
                        found, expect = ([packed(one, pack) for one in both] for both in (found, wanted))
                    else:
                        expect = wanted
                    for column, own, other in zip(("ids", "masks"), found, expect):
                        assert own == other, f"{name}, {kind}, pack {pack}: {column} differ"
                    tokens += sum(map(len, found[0]))
            print(f"{name}: {len(kept)} chats, {sum(map(sum, masks))} of {sum(map(len, ids))} tokens masked: equal")
    print(f"{len(templates)} templates, 5 formats, with and without --pack: {tokens} tokens equal")


if __name__ == "__main__":
    main()
