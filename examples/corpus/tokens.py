"""Reads the rows of a corpus job (npy, bin or megatron on a disk) for PyTorch.

    from tokens import TokenRows
    rows = TokenRows("tokens/", shuffle=1)
    for batch in torch.utils.data.DataLoader(rows, batch_size=8, num_workers=2): ...

Each row is a tensor of int64 ids; for a job of chats it is a dict of `input_ids` and `loss_mask`.
The order is that of `openTokens(folder).rows({ shuffle })`. Ranks of torch.distributed and workers
of a DataLoader get different rows, all of them together every row once. To go on after a stop, pass
the rows that each of them has had as `start`: with batches of B rows, worker w of W had
B * (batches + W - 1 - w) // W of them. StatefulDataLoader of torchdata does that by itself.
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

TYPES = {"u16": np.uint16, "u32": np.uint32, None: np.uint32}


class TokenRows(IterableDataset):
    def __init__(self, folder, shuffle=None, start=0, rank=None, ranks=None):
        self.folder, self.shuffle, self.start = folder, shuffle, start
        self.rank, self.ranks = rank_of(rank, ranks)
        with open(os.path.join(folder, "manifest.json")) as file:
            manifest = json.load(file)
        options = manifest["options"]
        self.format, self.dtype = options["format"], TYPES[options.get("type")]
        self.has_loss_mask = "messages" in options
        if self.format not in ("npy", "bin", "megatron"):
            raise ValueError(f"{folder} has the format {self.format}")
        self.pack = options.get("pack")
        self.starts = [0, *accumulate(shard["rows"] for shard in manifest["shards"])]
        self.open, self.taken = {}, 0

    def __len__(self):
        return self.starts[-1]

    def __getitem__(self, index):
        """The ids of a row, as a numpy array."""
        return self._row(index)[0]

    def loss_mask(self, index):
        """For a job of chats, 1 for each id of a row that the assistant wrote, else 0."""
        return self._row(index)[1]

    def _row(self, index):
        shard = bisect_right(self.starts, index) - 1
        if shard not in self.open:
            self.open[shard] = self._shard(shard)
        *columns, ends = self.open[shard]
        row = index - self.starts[shard]
        return [column[(ends[row - 1] if row else 0) : ends[row]] for column in columns]

    def __iter__(self):
        worker = get_worker_info() if torch else None
        workers, own = (worker.num_workers, worker.id) if worker else (1, 0)
        order = permutation(f"rows {self.shuffle}", len(self)) if self.shuffle is not None else None
        step = self.ranks * workers
        self.taken = self.start
        for at in range(self.rank * workers + own + self.start * step, len(self), step):
            columns = [column.astype(np.int64) for column in self._row(order(at) if order else at)]
            self.taken += 1
            columns = [torch.from_numpy(column) for column in columns] if torch else columns
            yield dict(zip(("input_ids", "loss_mask"), columns)) if self.has_loss_mask else columns[0]

    def state_dict(self):
        """The state of this reader, for StatefulDataLoader of torchdata."""
        return {"start": self.taken}

    def load_state_dict(self, state):
        self.start = state["start"]

    def cu_seqlens(self, index):
        """Where the documents of a row start in it, and the length of the row."""
        shard = bisect_right(self.starts, index) - 1
        length = len(self[index])
        row, ends = index - self.starts[shard], self.open[shard][-1]
        start = ends[row - 1] if row else 0
        if self.pack is None:
            return np.array([0, length])
        path = os.path.join(self.folder, f"shard-{shard:08}.docs")
        starts = np.fromfile(f"{path}.bin", dtype="<u8") if self.format == "bin" else np.load(f"{path}.npy")
        first, last = np.searchsorted(starts, [start, start + length], side="right")
        inner = starts[first:last].astype(np.int64) - start
        return np.array([0, *inner[inner < length], length])

    def _shard(self, shard):
        """The columns of a shard, mapped from the disk, and the end of each of its rows."""
        path = os.path.join(self.folder, f"shard-{shard:08}")
        types = {"": self.dtype, **({".mask": np.uint8} if self.has_loss_mask else {})}
        if self.format == "npy":
            columns = [np.load(f"{path}{name}.npy", mmap_mode="r") for name in types]
            return *columns, np.load(f"{path}.rows.npy")[1:].astype(int)
        columns = [np.memmap(f"{path}{name}.bin", dtype=dtype, mode="r") for name, dtype in types.items()]
        if self.format == "bin":
            return *columns, np.fromfile(f"{path}.rows.bin", dtype="<u8")[1:].astype(int)
        with open(f"{path}.idx", "rb") as index:
            rows = int.from_bytes(index.read(26)[18:], "little")
        lengths = np.fromfile(f"{path}.idx", dtype="<i4", count=rows, offset=34)
        return *columns, np.cumsum(lengths, dtype=np.int64)


def rank_of(rank, ranks):
    """The given rank, or that of torch.distributed."""
    distributed = torch.distributed if torch else None
    if ranks is None and distributed and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return rank or 0, ranks or 1


def permutation(seed, count):
    """A random order of the numbers below count: a Feistel network (lib/corpus/shuffle.mjs)."""
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
