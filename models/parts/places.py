"""Where two rows stand, as a read sees it: nothing, a bias on their score, or a rotation of query and key.

    relative bias   score_ij += table[bucket(j - i)]      Raffel et al. 2020 (T5), arXiv 1910.10683, section 2.1
    RoPE            q_i and k_j are turned by i w and j w: their score depends on i - j alone
                                                          Su et al. 2021, arXiv 2104.09864; rates in `rates.py`

Each class has two moments: `turn` gives queries `[b, h, q, e]` and keys `[b, h, k, e]` as they are compared, `bias` what is added
to their scores. Keys are kept as they were made and turned at each read, so that one cache serves every scaling.
Axes: those of `attention.py`; p pair of places.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.parts.tap import Tap


@dataclass(frozen=True)
class Where:
    """Absolute numbers of the query rows `[b, q]`, and how many rows of each request are known `[b]`. Keys count from 0."""

    rows: Tensor
    known: Tensor


class Nowhere(nn.Module):
    """The order of rows is not seen by the read."""

    def turn(self, q: Tensor, keys: Tensor, where: Where, owners: tuple[str, str], tap: Tap) -> tuple[Tensor, Tensor]:
        """owners: letters of the query rows and of the key rows."""
        return q, keys

    def bias(self, keys: int, where: Where, owners: tuple[str, str], tap: Tap) -> Tensor | None:
        return None


def bucket(distance: Tensor, both: bool, buckets: int, largest: int) -> Tensor:
    """T5's number of a distance (key row - query row): one each while near, then wider by a logarithm, the last from
    `largest` on.

    both: later keys have half of the buckets for themselves; else they share that of distance 0.
    """
    half = buckets // 2 if both else buckets
    offset = (distance > 0) * half if both else torch.zeros_like(distance)
    away, near = distance.abs() if both else (-distance).clamp(min=0), half // 2
    far = near + (torch.log(away.clamp(min=1) / near) / math.log(largest / near) * (half - near)).long()
    return offset + torch.where(away < near, away, far.clamp(max=half - 1))


class RelativeBias(Nowhere):
    """One learned number for each head and bucket of distance. T5 owns one table for all layers: give each the same object."""

    def __init__(self, heads: int, both: bool, buckets: int = 16, largest: int = 64) -> None:
        super().__init__()
        least = 4 if both else 2
        if buckets < least or largest <= buckets // least:
            allowed = f"{least} buckets or more, up to a distance above {buckets // least}"
            raise ValueError(f"relative bias was given {buckets} buckets up to distance {largest}; allowed: {allowed}")
        self.table = nn.Embedding(buckets, heads)
        self.both, self.largest = both, largest

    def bias(self, keys: int, where: Where, owners: tuple[str, str], tap: Tap) -> Tensor:
        distance = torch.arange(keys, device=where.rows.device) - where.rows[..., None]
        found = self.table(bucket(distance, self.both, self.table.num_embeddings, self.largest)).permute(0, 3, 1, 2)
        return tap("bias", found, f"b h {owners[0]} {owners[1]}")
