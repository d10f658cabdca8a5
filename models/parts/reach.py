"""Who can influence whom, and through how many layers: what a mask costs and what it lets through.

A layer moves information along every visible cell, and a row keeps what it has (the residual path), so after L layers row j has
reached row i if there is a way of at most L reads from i back to j. The fewest such reads is the path length of Vaswani et al.
2017, section 4, table 1 (000 0x07G-0x07H), here counted from the actual mask.

Sliding windows, dilation and global rows: Beltagy et al. 2020, section 3.1, arXiv 2004.05150.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def edges(mask: Tensor) -> int:
    """How many reads one layer makes: the visible cells of `[n, n]` (bool)."""
    return int(mask.sum())


def paths(mask: Tensor, layers: int) -> Tensor:
    """The fewest layers through which row j can influence row i: `[n, n]` bool -> `[n, n]` int64.

    0 on the diagonal; -1 where no way of at most `layers` reads leads there.
    """
    steps = torch.where(torch.eye(len(mask), dtype=torch.bool), 0, -1)
    for layer in range(1, layers + 1):
        new = (mask.float() @ (steps >= 0).float() > 0) & (steps < 0)
        if not new.any():
            break
        steps[new] = layer
    return steps


def paths_through(masks: Sequence[Tensor]) -> Tensor:
    """As `paths`, where every layer has a mask of its own, the first one lowest.

    What counts is how many layers the way reads through. Where layers have unlike masks a row may
    wait (the residual path) for the layer that lets it through.
    """
    n = masks[0].shape[0]
    far = len(masks) + 1
    steps = torch.full((n, n), far, dtype=torch.int64)
    steps.fill_diagonal_(0)
    for mask in masks:
        reached = torch.full_like(steps, far)
        for i in range(n):  # row by row: n x n x n at once would be a gigabyte at n = 512
            seen = mask[i]
            if bool(seen.any()):
                reached[i] = steps[seen].amin(0) + 1
        steps = torch.minimum(steps, reached)
    return torch.where(steps < far, steps, -1)


def longest(paths: Tensor) -> int:
    """The longest of the shortest paths among rows that reach each other: `[n, n]` -> layers."""
    return int(paths.max())


def sliding(n: int, radius: int, dilation: int = 1, global_rows: Sequence[int] = ()) -> Tensor:
    """Row i reads row j when j lies within `radius` steps of `dilation`, or when either is global: `[n, n]` bool."""
    rows = torch.arange(n)
    distance = rows[:, None] - rows[None, :]
    near = (distance.abs() <= radius * dilation) & (distance % dilation == 0)
    far = torch.zeros(n, dtype=torch.bool)
    far[list(global_rows)] = True
    return near | far[:, None] | far[None, :]


def documents(lengths: Sequence[int]) -> Tensor:
    """Packed documents: a row reads the rows of its own document alone, `[n, n]` bool, n their sum."""
    owner = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))
    return owner[:, None] == owner[None, :]
