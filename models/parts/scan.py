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

    Where the tap changes a state, all later ones follow from it: the rows then run one after another.
    """
    states = w
    if w.shape[1]:
        states = torch.addcmul(w, a, before[:, None]) if w.shape[1] == 1 else _Scan.apply(a, w, before)
    tapped = tap("state", states, axes, "state")
    return tapped if tapped is states or torch.equal(tapped, states) else loop(a, w, before, tap, axes)


def loop(a: Tensor, w: Tensor, before: Tensor, tap: Tap, axes: str) -> Tensor:
    """The same row after row: an edit of one state at the tap is carried on."""
    row_axes, state, states = axes.replace(" t", ""), before, []
    for t, (kept, written) in enumerate(zip(a.unbind(1), w.unbind(1), strict=True)):
        state = tap.at("t", t)("state", kept * state + written, row_axes, "state")
        states.append(state)
    return torch.stack(states, 1) if states else w


class _Scan(torch.autograd.Function):
    """The states, and their gradients by a scan in the other direction."""

    @staticmethod
    def forward(context: Any, a: Tensor, w: Tensor, before: Tensor) -> Tensor:
        first = torch.addcmul(w[:, 0], a[:, 0], before)
        states = torch.empty_like(w)
        _forwards(a, w, first, states)
        context.save_for_backward(a, before, states)
        return states

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """G_t = g_t + a_(t+1) G_(t+1) is the gradient of w_t; that of a_t is G_t S_(t-1)."""
        a, before, states = context.saved_tensors
        whole, by_a = torch.empty_like(gradient), torch.empty_like(gradient)
        _backwards(a[:, 1:], gradient, whole)
        torch.mul(whole[:, 0], before, out=by_a[:, 0])
        torch.mul(whole[:, 1:], states[:, :-1], out=by_a[:, 1:])
        return by_a, whole, whole[:, 0] * a[:, 0]


def _forwards(a: Tensor, w: Tensor, first: Tensor, states: Tensor) -> None:
    """S_t = a_t S_(t-1) + w_t into `states`, S_0 = first. Rows 1, 3, ... from pairs of rows, by this very function; the rows
    between them from their neighbours."""
    t = w.shape[1]
    states[:, 0] = first
    if t == 1:
        return
    second, odd = a[:, 1::2], states[:, 1::2]
    next_first = torch.addcmul(w[:, 1], a[:, 1], first)
    pairs = t // 2 * 2
    joined = torch.addcmul(w[:, 1::2], second, w[:, :pairs:2]) if t > 3 else w[:, 1::2]
    _forwards(second * a[:, :pairs:2] if t > 3 else second, joined, next_first, odd)
    if t > 2:
        torch.addcmul(w[:, 2::2], a[:, 2::2], odd[:, : (t - 1) // 2], out=states[:, 2::2])


def _backwards(b: Tensor, g: Tensor, whole: Tensor) -> None:
    """G_t = g_t + b_t G_(t+1) into `whole`, the last of them g itself; b has one row less. Rows 0, 2, ... from pairs of rows."""
    t = g.shape[1]
    if t == 1:
        whole.copy_(g)
        return
    odds, even = t // 2, whole[:, ::2]
    joined = torch.empty_like(g[:, ::2])
    torch.addcmul(g[:, : 2 * odds : 2], b[:, ::2], g[:, 1::2], out=joined[:, :odds])
    if t % 2:
        joined[:, -1] = g[:, -1]
    after = b[:, 1::2]
    _backwards(b[:, : 2 * after.shape[1] : 2] * after, joined, even)
    last = even[:, 1:]
    torch.addcmul(g[:, 1::2][:, : last.shape[1]], after[:, : last.shape[1]], last, out=whole[:, 1::2][:, : last.shape[1]])
    if t % 2 == 0:
        whole[:, -1] = g[:, -1]
