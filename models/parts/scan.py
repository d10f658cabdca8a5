"""A linear recurrence in two schedules: row after row, and all known rows at once in log2(T) rounds.

    S_t = a_t * S_(t-1) + w_t        (elementwise)

Pairs compose: (a_2, w_2) after (a_1, w_1) is (a_2 a_1, a_2 w_1 + w_2). That is associative, so neighbours can be joined first,
pairs of pairs next (Blelloch 1990, "Prefix sums and their applications"; Mamba: Gu and Dao 2023, section 3.3.2). Both schedules
compute the same states but for rounding. Axis 1 of all tensors is the row; the axes after it are free.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from models.parts.tap import Tap


def scan(a: Tensor, w: Tensor, before: Tensor, tap: Tap, axes: str) -> Tensor:
    """All states at once: a, w `[b, t, ...]`, the state before the first row `[b, ...]` -> `[b, t, ...]`.

    The states are made together: an edit of one at the tap is what its own row reads, and later rows do not see it.
    """
    if w.shape[1]:
        w = torch.cat((a[:, :1] * before[:, None] + w[:, :1], w[:, 1:]), 1)
    if w.shape[1] > 1:
        w = _Scan.apply(a, w)
    return tap("state", w, axes, "state")


def loop(a: Tensor, w: Tensor, before: Tensor, tap: Tap, axes: str) -> Tensor:
    """The same row after row: an edit of one state at the tap is carried on."""
    row_axes, state, states = axes.replace(" t", ""), before, []
    for t, (kept, written) in enumerate(zip(a.unbind(1), w.unbind(1), strict=True)):
        state = tap.at("t", t)("state", kept * state + written, row_axes, "state")
        states.append(state)
    return torch.stack(states, 1) if states else w


class _Scan(torch.autograd.Function):
    """The states from zero, and their gradients by the same scan in the other direction."""

    generate_vmap_rule = True

    @staticmethod
    def forward(a: Tensor, w: Tensor) -> Tensor:
        return _joined(a, w)

    @staticmethod
    def setup_context(context: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        context.save_for_backward(inputs[0], output)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        """G_t = g_t + a_(t+1) G_(t+1) is the gradient of w_t; that of a_t is G_t S_(t-1)."""
        a, states = context.saved_tensors
        later = torch.cat((a[:, 1:], torch.zeros_like(a[:, :1])), 1)
        whole = _joined(later.flip(1), gradient.flip(1)).flip(1)
        earlier = torch.cat((torch.zeros_like(states[:, :1]), states[:, :-1]), 1)
        return whole * earlier, whole


def _joined(a: Tensor, w: Tensor) -> Tensor:
    """Rows 1, 3, 5, ... from pairs of rows, by this very function; the rows between them from their neighbours."""
    t = w.shape[1]
    if t == 1:
        return w
    pairs = t // 2 * 2
    second = a[:, 1::2]
    odd = _joined(second * a[:, :pairs:2], torch.addcmul(w[:, 1::2], second, w[:, :pairs:2]))
    between = torch.addcmul(w[:, 2::2], a[:, 2::2], odd[:, : (t - 1) // 2])
    states = torch.empty_like(w)
    states[:, 0], states[:, 1::2], states[:, 2::2] = w[:, 0], odd, between
    return states
