"""How the new rows of a call join the rows that are already known, when every request has a length of its own."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from models import Rows


@dataclass(frozen=True)
class Joining:
    """Made once a call by `joining`, used in every layer.

    rows: absolute row numbers of the new rows `[b, t]` (those of padding are kept inside the table);
    valid: which new rows are real `[b, t]`; lengths: rows known after the call `[b]`; known: key validity `[b, t']`;
    order: `[b, t']`, where row i stands in (kept rows, new rows), or None when it already stands at i.
    """

    rows: Tensor
    valid: Tensor
    lengths: Tensor
    known: Tensor
    order: Tensor | None

    def join(self, kept: Tensor, new: Tensor) -> Tensor:
        """`[b, h, kept, e]` and `[b, h, t, e]` -> `[b, h, t', e]`, where row i of request b is its logical row i.

        Rows past a request's length hold nothing of meaning; `known` hides them and the next call writes over them.
        """
        both = torch.cat((kept, new), 2)
        if self.order is None:
            return both[:, :, : self.known.shape[1]]
        return both.gather(2, self.order[:, None, :, None].expand(-1, both.shape[1], -1, both.shape[3]))


def joining(before: Tensor, kept: int, new: Rows, largest: int) -> Joining:
    """before: rows known per request `[b]`; kept: width of what is kept. Raises ValueError past `largest` rows."""
    after = before + new.lengths
    width, t = int(after.max()), new.values.shape[1]
    if width > largest:
        raise ValueError(f"target rows: {width} given, at most {largest} allowed; use a shorter text")
    at = torch.arange(max(t, width), device=before.device)
    start, every = before[:, None], at[:width]
    order = None
    if not bool((before == kept).all()):
        order = torch.where(every < start, every, every + (kept - start)).clamp(max=kept + t - 1)
    return Joining(
        rows=(start + at[:t]).clamp(max=largest - 1),
        valid=at[:t] < new.lengths[:, None],
        lengths=after,
        known=every < after[:, None],
        order=order,
    )
