"""Sparse attention: a window around each row, some global rows, and the two computed as what they are.

    Beltagy et al. 2020, Longformer, arXiv 2004.05150, section 3.1: row i reads row j within `radius` steps of `dilation`; global
    rows read every row and are read by every row. "We use two sets of projections": what a global row reads goes through
    projections of its own; a local row that reads a global key uses the ordinary ones.

`banded` computes the window in blocks, so that time and memory grow with n (2r + 1 + 2g) and not with n^2. It gives what the
dense masked form gives.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F


@dataclass(frozen=True)
class Projected:
    """Queries, keys and values `[b, h, n, e]`."""

    q: Tensor
    k: Tensor
    v: Tensor


@dataclass(frozen=True)
class Window:
    """radius: steps to each side; dilation: rows a step; rows: the global ones (those that are not there are left out)."""

    radius: int
    dilation: int = 1
    rows: tuple[int, ...] = ()

    def of(self, n: int) -> list[int]:
        return sorted({row for row in self.rows if row < n})


def edges(window: Window, n: int) -> int:
    """How many cells of n x n are open, exactly: each row its window where that lies inside, global rows and columns once."""
    steps = torch.arange(n)
    least = torch.minimum(steps // window.dilation, torch.tensor(window.radius))
    beyond = torch.minimum((n - 1 - steps) // window.dilation, torch.tensor(window.radius))
    reads = least + beyond + 1  # of each row within its window
    everywhere = window.of(n)
    if not everywhere:
        return int(reads.sum())
    rows = torch.tensor(everywhere)
    off = (steps[:, None] - rows).abs()
    already = ((off % window.dilation == 0) & (off <= window.radius * window.dilation)).sum(1)
    local = torch.ones(n, dtype=torch.bool)
    local[rows] = False
    return int((reads - already + len(rows))[local].sum()) + len(rows) * n


def bound(window: Window, n: int) -> int:
    """n (2r + 1 + 2g): what the count can never pass."""
    return n * (2 * window.radius + 1 + 2 * len(window.of(n)))


def reach(window: Window, layers: int) -> int:
    """How far a local row sees through so many layers of windows alone."""
    return window.radius * window.dilation * layers


def banded(local: Projected, window: Window, valid: Tensor, wide: Projected | None = None) -> Tensor:
    """Values mixed for every row `[b, h, n, e]`, scores divided by sqrt(e). valid: `[b, n]`, False for padding (nobody reads it).

    wide: the projections of what global rows read; None: the ordinary ones.
    """
    n, rows = local.q.shape[2], window.of(local.q.shape[2])
    if not rows:
        return _local(local, window, valid, None)
    at = torch.tensor(rows, device=valid.device)
    mixed = _local(local, window, valid, at)
    wide = wide or local
    scores = wide.q[:, :, at] @ wide.k.transpose(-2, -1) / math.sqrt(local.q.shape[-1])  # b h g n
    weights = _softmax(scores.masked_fill(~valid[:, None, None], -math.inf))
    return mixed.index_copy(2, at, (weights @ wide.v).to(mixed.dtype)) if n else mixed


def _local(x: Projected, window: Window, valid: Tensor, at: Tensor | None) -> Tensor:
    """Each row reads its window, and the global rows at `at` beside it (those are left out of the window)."""
    n, d, c = x.q.shape[2], window.dilation, max(1, min(window.radius, math.ceil(x.q.shape[2] / window.dilation)))
    keys = valid if at is None else valid.index_fill(1, at, False)
    q = _blocks(x.q, d, c)  # b h d m c e: rows of one residue class, m blocks of c
    k, v = (_beside(_blocks(y, d, c)) for y in (x.k, x.v))  # b h d m 3c e
    open_ = _beside(_blocks(keys[:, None, :, None].to(x.q.dtype), d, c))[..., 0] > 0  # b 1 d m 3c
    off = torch.arange(3 * c, device=valid.device) - c - torch.arange(c, device=valid.device)[:, None]
    near = off.abs() <= window.radius  # c 3c
    scores = (q @ k.transpose(-2, -1) / math.sqrt(x.q.shape[-1])).masked_fill(~(near & open_[..., None, :]), -math.inf)
    if at is None:
        return _rows(_softmax(scores) @ v, n)
    gk, gv = (y[:, :, None, None, at] for y in (x.k, x.v))  # b h 1 1 g e
    far = (q @ gk.transpose(-2, -1) / math.sqrt(x.q.shape[-1])).masked_fill(~valid[:, at][:, None, None, None, None], -math.inf)
    weights = _softmax(torch.cat((scores, far), -1))
    return _rows(weights[..., : 3 * c] @ v + weights[..., 3 * c :] @ gv, n)


def _softmax(scores: Tensor) -> Tensor:
    """Rows that may read nothing (padding) weigh nothing, in the backward pass too."""
    blind = scores.isneginf().all(-1, keepdim=True)
    return torch.softmax(scores.masked_fill(blind, 0.0), -1).masked_fill(blind, 0.0)


def _blocks(x: Tensor, d: int, c: int) -> Tensor:
    """`[b, h, n, e]` -> `[b, h, d, m, c, e]`: row i stands in residue class i mod d, there as row i // d, in blocks of c."""
    n = x.shape[2]
    x = F.pad(x, (0, 0, 0, -n % (d * c)))
    return x.unflatten(2, (-1, d)).transpose(2, 3).unflatten(3, (-1, c))


def _beside(x: Tensor) -> Tensor:
    """Each block with its two neighbours: `[..., m, c, e]` -> `[..., m, 3c, e]`; outside there is nothing."""
    x = F.pad(x, (0, 0, 0, 0, 1, 1))
    return torch.cat((x[..., :-2, :, :], x[..., 1:-1, :, :], x[..., 2:, :, :]), -2)


def _rows(x: Tensor, n: int) -> Tensor:
    """The way back from `_blocks`: `[b, h, d, m, c, e]` -> `[b, h, n, e]`."""
    return x.flatten(3, 4).transpose(2, 3).flatten(2, 3)[:, :, :n]


def dense(local: Projected, mask: Tensor, everywhere: Sequence[int] = (), wide: Projected | None = None) -> Tensor:
    """The same as one masked matrix: mask `[b, n, n]`, True = may read."""
    root = math.sqrt(local.q.shape[-1])
    weights = _softmax((local.q @ local.k.transpose(-2, -1) / root).masked_fill(~mask[:, None], -math.inf))
    mixed = weights @ local.v
    if wide is None or not everywhere:
        return mixed
    at = torch.tensor(list(everywhere), device=mask.device)
    scores = (wide.q[:, :, at] @ wide.k.transpose(-2, -1) / root).masked_fill(~mask[:, None, at], -math.inf)
    return mixed.index_copy(2, at, _softmax(scores) @ wide.v)
