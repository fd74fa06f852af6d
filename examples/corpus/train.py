r"""Trains a small GPT on the rows of a corpus job: from a book to a model, on a CPU.

    npx tokenlane train book.txt --model bpe --vocab-size 1024 -o tokenizer.json
    npx tokenlane corpus book.txt -t tokenizer.json --rows lines -o tokens/ -f npy \
      --pack 129 --shuffle 1
    python train.py tokens/
"""

import argparse
import json
import os

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

from tokens import TokenRows, padded

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--width", type=int, default=64)
args = parser.parse_args()
torch.manual_seed(1)

with open(os.path.join(args.folder, "manifest.json")) as file:
    manifest = json.load(file)
length, vocabulary = manifest["options"]["pack"] - 1, manifest["tokenizer"]["vocabSize"]


class Block(nn.Module):
    def __init__(self, width, heads=4):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        q, k, v = (
            part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in self.qkv(self.before(x)).chunk(3, dim=2)
        )
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.mlp(self.after(x))


class GPT(nn.Module):
    def __init__(self, width, layers=2):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        nn.init.normal_(self.tokens.weight, std=0.02)
        nn.init.normal_(self.places.weight, std=0.02)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(layers)), nn.LayerNorm(width))

    def forward(self, ids):
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        return self.blocks(x) @ self.tokens.weight.T


model = GPT(args.width)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = DataLoader(TokenRows(args.folder, shuffle=1), batch_size=args.batch, collate_fn=padded)
step = 0
while step < args.steps:
    for batch in loader:
        ids, mask = batch["input_ids"], batch["loss_mask"]
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
        loss = (loss * mask[:, 1:].flatten()).sum() / mask[:, 1:].sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0 or step == args.steps - 1:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
        step += 1
        if step == args.steps:
            break
