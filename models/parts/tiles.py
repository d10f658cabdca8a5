"""Exact attention over tiles of keys: a running maximum, sum and output for each row, never the whole matrix of scores.

    m' = max(m, max_j S_j)                      l' = l e^(m - m') + sum_j e^(S_j - m')
    o' = o e^(m - m') + sum_j e^(S_j - m') V_j  output = o / l

Milakov and Gimelshein 2018, arXiv 1805.02867 (online softmax); Dao et al. 2022 (FlashAttention), arXiv 2205.14135, algorithm 1:
the outer loop goes over tiles of keys, the inner over tiles of queries. A second exact form of the read of `attention.py`: one
of its arithmetics, and what an analysis shows of the others.

Axes: those of `attention.py`; i tile of target rows as keys, j of source rows: there may be more of the one than of the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from models.parts.tap import OFF, Tap

Score = Callable[[slice, slice], Tensor]  # of these query rows and these keys: `[b, h, q, k]`, before the mask

TILES = {"t": "i", "s": "j"}  # the axis of tiles, by the owner of the keys


class Tiled(NamedTuple):
    """What rows read `[b, h, q, e]`, and the maximum and the sum of each `[b, h, q]` after its last tile of keys."""

    mixed: Tensor
    maximum: Tensor
    total: Tensor

    def weights(self, scores: Tensor) -> Tensor:
        """The weights that never were in one place, of masked scores `[b, h, q, k]`: made again from what was kept."""
        least = torch.finfo(self.total.dtype).tiny
        return torch.exp(scores - self.maximum[..., None]) / self.total.clamp(min=least)[..., None]


def whole(scores: Tensor) -> Score:
    """Scores that are there already."""
    return lambda rows, keys: scores[..., rows, keys]


def tiled(score: Score, values: Tensor, mask: Tensor, tile: int, tap: Tap = OFF, row: str = "t", key: str = "t") -> Tiled:
    """What rows read, of queries that may read at least one key; those that may not give 0.

    score is asked for one tile `[tile, tile]` at a time; values `[b, h, k, e]`; mask `[b, q, k]`, True = may read; tile: 1 or
    more, one that is larger than the rows ends with them; row, key: the letters of their owners. After each tile of keys the
    running values are tapped: "maximum" and "sum" `[b, h, q]` (a maximum of nothing is 0), "running" `[b, h, q, e]`.
    """
    if tile < 1:
        raise ValueError(f"tile was given {tile}; allowed: 1 or more rows")
    b, h, keys, width = values.shape
    queries = mask.shape[1]
    maximum, total = values.new_full((b, h, queries), -math.inf), values.new_zeros(b, h, queries)
    output = values.new_zeros(b, h, queries, width)
    visible = _visible(mask, tile) if queries and keys else []
    for number, left in enumerate(range(0, keys if queries else 0, tile)):
        here = slice(left, left + tile)
        parts = []
        for top in range(0, queries, tile):
            rows = slice(top, top + tile)
            kept = (maximum[..., rows], total[..., rows], output[..., rows, :])
            if visible[top // tile][number]:
                kept = step(*kept, score(rows, here).masked_fill(~mask[:, None, rows, here], -math.inf), values[..., here, :])
            parts.append(kept)
        maximum, total, output = (torch.cat(p, 2) for p in zip(*parts, strict=True))
        at = tap.at(TILES[key], number)
        nothing = maximum.isinf()
        seen_so_far = at("maximum", maximum.masked_fill(nothing, 0.0), f"b h {row}", "state")
        maximum = torch.where(nothing, maximum, seen_so_far)
        total = at("sum", total, f"b h {row}", "state")
        output = at("running", output, f"b h {row} e", "state")
    mixed = output / total.clamp(min=torch.finfo(total.dtype).tiny)[..., None]
    return Tiled(mixed, maximum.masked_fill(maximum.isinf(), 0.0), total)


def _visible(mask: Tensor, tile: int) -> list[list[bool]]:
    """Which tiles have a cell that may be read, `[query tiles][key tiles]`: the others change nothing, and are never scored."""
    right, below = -mask.shape[2] % tile, -mask.shape[1] % tile
    blocks = F.pad(mask.any(0), (0, right, 0, below)).unflatten(1, (-1, tile)).unflatten(0, (-1, tile))
    return blocks.any(3).any(1).tolist()


def step(maximum: Tensor, total: Tensor, output: Tensor, scores: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What one tile of keys makes of what earlier ones left; hidden scores are -inf, and a row may have seen nothing yet."""
    new = torch.maximum(maximum, scores.amax(-1))
    safe = new.masked_fill(new.isinf(), 0.0)  # nothing seen: e^(-inf - 0) = 0, where -inf - -inf would be NaN
    shrink, weights = torch.exp(maximum - safe), torch.exp(scores - safe[..., None])
    return new, total * shrink + weights.sum(-1), output * shrink[..., None] + weights @ values
