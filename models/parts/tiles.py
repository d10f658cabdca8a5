"""Exact attention over tiles of keys: a running maximum, sum and output for each row, never the whole matrix of scores.

    m' = max(m, max_j S_j)                      l' = l e^(m - m') + sum_j e^(S_j - m')
    o' = o e^(m - m') + sum_j e^(S_j - m') V_j  output = o / l

Milakov and Gimelshein 2018, arXiv 1805.02867 (online softmax); Dao et al. 2022 (FlashAttention), arXiv 2205.14135, algorithm 1:
the outer loop goes over tiles of keys, the inner over tiles of queries. A second exact form of the read of `attention.py`, shown
equal to the dense one.

Axes: those of `attention.py`; k tile of keys.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from models.parts.tap import OFF, Tap


def tiled(scores: Tensor, values: Tensor, mask: Tensor, tile: int, tap: Tap = OFF) -> Tensor:
    """What rows read: `[b, h, q, e]`, of queries that may read at least one key; those that may not give 0.

    scores `[b, h, q, k]` before the mask, looked at one tile `[tile, tile]` at a time; values `[b, h, k, e]`; mask `[b, q, k]`,
    True = may read; tile: 1 or more, one that is larger than the rows ends with them. After each tile of keys the running
    values are tapped: "maximum" and "sum" `[b, h, q]` (a maximum of nothing is 0), "running" `[b, h, q, e]`.
    """
    if tile < 1:
        raise ValueError(f"tile was given {tile}; allowed: 1 or more rows")
    b, h, queries, keys = scores.shape
    maximum, total = scores.new_full((b, h, queries), -math.inf), scores.new_zeros(b, h, queries)
    output = values.new_zeros(b, h, queries, values.shape[3])
    for number, left in enumerate(range(0, keys, tile)):
        here = slice(left, left + tile)
        parts = []
        for top in range(0, queries, tile):
            rows = slice(top, top + tile)
            kept = (maximum[..., rows], total[..., rows], output[..., rows, :])
            seen = scores[..., rows, here].masked_fill(~mask[:, None, rows, here], -math.inf)
            parts.append(step(*kept, seen, values[..., here, :]))
        maximum, total, output = (torch.cat(p, 2) for p in zip(*parts, strict=True))
        at = tap.at("k", number)
        at("maximum", maximum.masked_fill(maximum.isinf(), 0.0), "b h t", "state")
        at("sum", total, "b h t", "state")
        at("running", output, "b h t e", "state")
    return output / total.clamp(min=torch.finfo(total.dtype).tiny)[..., None]


def step(maximum: Tensor, total: Tensor, output: Tensor, scores: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What one tile of keys makes of what earlier ones left; hidden scores are -inf, and a row may have seen nothing yet."""
    new = torch.maximum(maximum, scores.amax(-1))
    safe = new.masked_fill(new.isinf(), 0.0)  # nothing seen: e^(-inf - 0) = 0, where -inf - -inf would be NaN
    shrink, weights = torch.exp(maximum - safe), torch.exp(scores - safe[..., None])
    return new, total * shrink + weights.sum(-1), output * shrink[..., None] + weights @ values
