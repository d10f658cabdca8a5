"""Windows of rows for convolutions: the k rows that one output row is made of (source text 000, section 0x05A).

A causal window ends at its own row. What stands before the rows of a call is kept from the call before; before the first row
of a request stand zeros. Axes: b request, t row of this call, k place in the window, d row.
"""

from __future__ import annotations

import torch
from torch import Tensor


def windows(rows: Tensor, count: int, kernel: int, dilation: int = 1) -> Tensor:
    """Rows `[b, (kernel - 1) dilation + count, d]` -> `[b, count, kernel, d]`; window t begins at row t."""
    return torch.stack([rows[:, j * dilation : j * dilation + count] for j in range(kernel)], 2)


def newest(rows: Tensor, lengths: Tensor, size: int) -> Tensor:
    """What the next call needs of `[b, size + t, d]`, when `lengths` `[b]` of its t new rows are real: `[b, size, d]`."""
    at = lengths[:, None] + torch.arange(size, device=rows.device)
    return rows.gather(1, at[..., None].expand(-1, -1, rows.shape[2]))
