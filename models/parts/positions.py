"""Where a row stands, as a vector that is added to its embedding.

Each class maps absolute row numbers `[b, n]` to `[b, n, d]`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Learned(nn.Embedding):
    """One trained vector for each row number (Gehring et al. 2017; GPT)."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__(rows, width)


class Sinusoidal(nn.Module):
    """sin and cos of the row number at geometric wavelengths, interleaved (Vaswani et al. 2017, section 3.5).

    PE[p, 2i] = sin(p / 10000^(2i/d)), PE[p, 2i+1] = cos(p / 10000^(2i/d)). `width` must be even.
    """

    table: Tensor

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        angle = torch.arange(rows)[:, None] * rate
        # It follows from the formula, so a checkpoint does not carry it.
        self.register_buffer("table", torch.stack((angle.sin(), angle.cos()), -1).flatten(1), persistent=False)

    def forward(self, rows: Tensor) -> Tensor:
        return F.embedding(rows, self.table)


POSITIONS: dict[str, type[Learned] | type[Sinusoidal]] = {"learned": Learned, "sinusoidal": Sinusoidal}
