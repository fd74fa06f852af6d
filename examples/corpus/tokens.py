"""Reads the rows of a corpus job (npy, bin or megatron on a disk) for PyTorch.

    from tokens import TokenRows, padded
    from torch.utils.data import DataLoader
    rows = TokenRows("tokens/", shuffle=1)
    for batch in DataLoader(rows, batch_size=8, num_workers=2, collate_fn=padded): ...

Each row is a tensor of int64 ids. For a job of chats, and with documents=True, it is a dict:
`input_ids`, then `loss_mask` of chats, then `cu_seqlens` and `position_ids` of the documents.
`padded` makes a batch of rows of different lengths, such as the last row of a shard.

The order is that of `openTokens(folder).rows({ shuffle })`. Ranks of torch.distributed and workers
of a DataLoader get different rows, all of them together every row once. StatefulDataLoader of
torchdata goes on after a stop exactly, with the same numbers of ranks and workers. Without workers,
`start` does so too: the number of rows that this rank had in its first epoch.
"""

import hashlib
import json
import math
import os
from bisect import bisect_right
from itertools import accumulate

import numpy as np

try:
    import torch
    from torch.utils.data import IterableDataset, get_worker_info
except ImportError:  # rows can be read without torch
    torch, IterableDataset = None, object

# The number of shards whose files are open, at most four for each.
OPEN_SHARDS = 64
TYPES = {"u16": np.uint16, "u32": np.uint32, None: np.uint32}


class TokenRows(IterableDataset):
    def __init__(self, folder, shuffle=None, start=0, rank=None, ranks=None, documents=False):
        self.folder, self.shuffle = folder, shuffle
        # The rows that the next iteration leaves out, and those that the last one has passed.
        self.start = self.taken = start
        self.rank, self.ranks = rank_of(rank, ranks)
        self.documents = documents
        with open(os.path.join(folder, "manifest.json")) as file:
            manifest = json.load(file)
        options = manifest["options"]
        self.format, self.dtype = options["format"], TYPES[options.get("type")]
        self.has_loss_mask = "messages" in options
        if self.format not in ("npy", "bin", "megatron"):
            raise ValueError(f"{folder} has the format {self.format}")
        self.pack = options.get("pack")
        self.starts = [0, *accumulate(shard["rows"] for shard in manifest["shards"])]
        # The shards that were used last, the latest one at the end.
        self.open = {}

    def __getstate__(self):
        # Files that are mapped would be copied to workers that are not forked.
        return {**self.__dict__, "open": {}}

    @property
    def count(self):
        """The number of rows of all ranks."""
        return self.starts[-1]

    def __len__(self):
        """The number of rows of this rank, for the length of a DataLoader."""
        return len(range(self.rank, self.count, self.ranks))

    def __getitem__(self, index):
        """The ids of a row, as a numpy array."""
        return self._row(index)[0]

    def loss_mask(self, index):
        """For a job of chats, 1 for each id of a row that the assistant wrote, else 0."""
        return self._row(index)[1]

    def cu_seqlens(self, index):
        """Where the documents of a row start in it, and the length of the row."""
        shard, start, end = self._range(index)
        inner = []
        if self.pack is not None:
            documents = shard["documents"]
            first, last = np.searchsorted(documents, np.array([start, end], dtype="<u8"), side="right")
            inner = documents[first:last].astype(np.int64) - start
        return np.array([0, *(at for at in inner if at < end - start), end - start], dtype=np.int32)

    def __iter__(self):
        worker = get_worker_info() if torch else None
        workers, own = (worker.num_workers, worker.id) if worker else (1, 0)
        order = permutation(f"rows {self.shuffle}", self.count) if self.shuffle is not None else None
        step = self.ranks * workers
        self.taken, self.start = self.start, 0
        for at in range(self.rank * workers + own + self.taken * step, self.count, step):
            row = self._columns(order(at) if order else at)
            self.taken += 1
            yield row if len(row) > 1 else row["input_ids"]

    def state_dict(self):
        """The state of this reader, for StatefulDataLoader of torchdata."""
        return {"taken": self.taken}

    def load_state_dict(self, state):
        self.start = self.taken = state["taken"]

    def _columns(self, index):
        row = dict(zip(("input_ids", "loss_mask"), self._row(index)))
        row = {name: column.astype(np.int64) for name, column in row.items()}
        if self.documents:
            cu_seqlens = self.cu_seqlens(index)
            row["cu_seqlens"] = cu_seqlens
            row["position_ids"] = np.concatenate([np.arange(length) for length in np.diff(cu_seqlens)])
        return {name: torch.from_numpy(column) for name, column in row.items()} if torch else row

    def _row(self, index):
        shard, start, end = self._range(index)
        return [column[start:end] for column in shard["columns"]]

    def _range(self, index):
        """The shard of a row, and where the row starts and ends in it."""
        if not 0 <= index < self.count:
            raise IndexError(f"there are {self.count} rows")
        number = bisect_right(self.starts, index) - 1
        shard = self.open.pop(number, None) or self._shard(number)
        self.open[number] = shard
        if len(self.open) > OPEN_SHARDS:
            del self.open[next(iter(self.open))]
        row, ends = index - self.starts[number], shard["ends"]
        return shard, int(ends[row - 1]) if row else 0, int(ends[row])

    def _shard(self, number):
        """The columns of a shard, and where its rows end and its documents start."""
        path = os.path.join(self.folder, f"shard-{number:08}")
        suffix = "npy" if self.format == "npy" else "bin"

        def numbers(name, dtype, suffix=suffix):
            file = f"{path}{name}.{suffix}"
            return np.load(file, mmap_mode="r") if suffix == "npy" else np.memmap(file, dtype, "r")

        columns = [numbers("", self.dtype), *([numbers(".mask", np.uint8)] if self.has_loss_mask else [])]
        if self.format == "megatron":
            with open(f"{path}.idx", "rb") as index:
                rows = int.from_bytes(index.read(26)[18:], "little")
            ends = np.cumsum(np.fromfile(f"{path}.idx", "<i4", rows, offset=34), dtype=np.int64)
        else:
            ends = numbers(".rows", "<u8")[1:]
        documents = None
        if self.pack is not None:
            documents = numbers(".docs", "<u8", "bin" if self.format == "bin" else "npy")
        return {"columns": columns, "ends": ends, "documents": documents}


def padded(rows, pad=0):
    """A batch of rows, filled up with `pad`. Its `loss_mask` is 0 there."""
    rows = [row if isinstance(row, dict) else {"input_ids": row} for row in rows]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    columns.setdefault("loss_mask", [torch.ones_like(ids) for ids in columns["input_ids"]])
    cu_seqlens = columns.pop("cu_seqlens", None)
    fill = torch.nn.utils.rnn.pad_sequence
    batch = {name: fill(own, True, pad if name == "input_ids" else 0) for name, own in columns.items()}
    return batch if cu_seqlens is None else {**batch, "cu_seqlens": cu_seqlens}


def rank_of(rank, ranks):
    """The given rank, or that of torch.distributed."""
    distributed = torch.distributed if torch else None
    if ranks is None and distributed and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return rank or 0, ranks or 1


def permutation(seed, count):
    """A random order of the numbers below count: the Feistel network of src/shuffle.mjs."""
    size = 2 ** max(1, math.ceil(math.log2(max(2, count)) / 2))

    def number(value, key):
        digest = hashlib.sha256(f"{seed} {key} {value}".encode()).digest()
        return int.from_bytes(digest[:4], "little") % size

    def once(value):
        left, right = divmod(value, size)
        for key in range(4):
            left, right = right, left ^ number(right, key)
        return left * size + right

    def at(index):
        value = once(index)
        while value >= count:
            value = once(value)
        return value

    return at
