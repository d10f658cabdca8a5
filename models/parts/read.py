"""One read, by hand: a query looks at rows and takes a weighted mean of their values.

    score_i = q . k_i  (or divided by sqrt(d_k), or given)    w = softmax over visible rows    context = sum_i w_i v_i

    d context / d score_i = w_i (v_i - context)

Where the mask is multiplied after the softmax (R_i = 1 where row i is visible, else 0) hidden rows stay in the sum:

    p = softmax over all rows    w_i = p_i R_i    d context / d score_i = p_i (R_i v_i - context)

and divided by what is left (renormalise) the weights are the first ones again.

Source: 000 0x04B-0x04C (mask, dot read), 0x08B-0x08C (query, key, value). The derivatives are that of the softmax,
dp_j/ds_i = p_j (1[i=j] - p_i), summed over R_j v_j.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor

Score = Literal["dot", "scaled_dot", "supplied"]
Mask = Literal["additive", "multiply", "renormalise"]
Matrix = Sequence[Sequence[float]]


class ReadError(ValueError):
    """What was given cannot be read. Carries the field, what was given and what is allowed."""

    def __init__(self, field: str, given: Any, allowed: str, message: str) -> None:
        self.field, self.given, self.allowed = field, given, allowed
        super().__init__(message)


@dataclass(frozen=True)
class Read:
    """fp64: scores `[S]` (hidden rows too), weights `[S]` (hidden rows exactly 0), context `[d_v]`, and
    context_grad_scores `[S, d_v]`, whose row i is d context / d score_i."""

    scores: Tensor
    weights: Tensor
    context: Tensor
    context_grad_scores: Tensor


def read(
    keys: Matrix | None,
    values: Matrix | None,
    query: Sequence[float] | None,
    scores: Sequence[float] | None,
    score: Score,
    visible: Sequence[bool] | None,
    mask: Mask = "additive",
) -> Read:
    """Keys `[S][d_k]`, values `[S][d_v]` (None: the keys), query `[d_k]` for a dot score, scores `[S]` when they are supplied,
    visible `[S]` (None: all), mask: how it enters. What the chosen score does not need may be None and is not looked at.
    Raises ReadError."""
    if score not in get_args(Score):
        raise _wrong("score", score, f"one of {', '.join(get_args(Score))}")
    named = ("keys", keys) if values is None else ("values", values)
    v = _matrix(*named)
    s = _vector("scores", scores, len(v), "one for each row") if score == "supplied" else _dot(keys, query, score, len(v))
    seen = _visible(visible, len(v))
    if mask not in get_args(Mask):
        raise _wrong("mask", mask, f"one of {', '.join(get_args(Mask))}")
    shares = torch.softmax(s if mask == "multiply" else s.masked_fill(~seen, -math.inf), 0)
    w, v = torch.where(seen, shares, 0.0), torch.where(seen[:, None], v, 0.0)
    context = w @ v
    return Read(s, w, context, shares[:, None] * (v - context))


def _dot(keys: Matrix | None, query: Sequence[float] | None, score: Score, rows: int) -> Tensor:
    k = _matrix("keys", keys)
    if len(k) != rows:
        raise _wrong("keys", f"{len(k)} rows", f"{rows} rows, as many as values")
    q = _vector("query", query, k.shape[1], "the width of a key")
    s = k @ q / (math.sqrt(k.shape[1]) if score == "scaled_dot" else 1.0)
    if not bool(s.isfinite().all()):
        raise _wrong("query", "a score that is not finite", "smaller numbers in query and keys")
    return s


def _visible(visible: Sequence[bool] | None, rows: int) -> Tensor:
    if visible is None:
        return torch.ones(rows, dtype=torch.bool)
    if len(visible) != rows or not all(isinstance(v, bool) for v in visible):
        raise _wrong("visible", f"{len(visible)} values", f"{rows} booleans, one for each row")
    if not any(visible):
        raise _wrong("visible", "no visible row", "at least one visible row; a read of nothing has no weights")
    return torch.tensor(visible)


def _matrix(field: str, rows: Matrix | None) -> Tensor:
    if not rows or not rows[0]:
        raise _wrong(field, "nothing" if rows is None else "empty", "at least one row of at least one number")
    width = len(rows[0])
    for i, row in enumerate(rows):
        if len(row) != width:
            raise _wrong(f"{field}.{i}", f"{len(row)} numbers", f"{width} numbers, as in row 0")
    return torch.stack([_numbers(f"{field}.{i}", row) for i, row in enumerate(rows)])


def _vector(field: str, numbers: Sequence[float] | None, size: int, why: str) -> Tensor:
    if numbers is None or len(numbers) != size:
        given = "nothing" if numbers is None else f"{len(numbers)} numbers"
        raise _wrong(field, given, f"{size} numbers, {why}")
    return _numbers(field, numbers)


def _numbers(field: str, numbers: Sequence[float]) -> Tensor:
    for i, number in enumerate(numbers):
        if isinstance(number, bool) or not isinstance(number, int | float) or not -1e300 <= number <= 1e300:
            raise _wrong(f"{field}.{i}", number, "a finite number, at most 1e300 either side of 0")
    return torch.tensor(numbers, dtype=torch.float64)


def _wrong(field: str, given: Any, allowed: str) -> ReadError:
    return ReadError(field, given, allowed, f"{field} was given {given!r}; allowed: {allowed}")
