"""A state that is linear in what rows wrote, once its gates are made: what is left of each row's write.

    x_r = K_r x_(r-1) + w_r        x_R = sum over rows r of K_R ... K_(r+1) w_r   (from a state of zeros)

K_r is a number for each place (an LSTM's forget gate, Mamba's exp(Δ A)), a complex number for each pair (S4D's Ā), a whole matrix
(S4's Ā), or 1. A `Carry` names the taps that K and w are read from, so that the sum holds for what was recorded, edits included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import torch
from torch import Tensor

from models.parts.tape import Record


@dataclass(frozen=True)
class Factor:
    """A tap of the scope by its name, or what it lacks to 1."""

    name: str
    less: bool = False


@dataclass(frozen=True)
class Carry:
    """How the state of every scope that `scope` matches (as fnmatch does) is carried from row to row.

    kept: K, by its axes a number for each place or, with two places, a matrix; None: all stays. written: the factors of w.
    made: where w is one tap, what it was made of. pairs: places are complex numbers, real parts, then imaginary ones.
    shown: a further state and the gate in shown = gate * tanh(state); None: there is none. read: the tap of what rows read of it,
    a number for each channel, where the model can run in more than one way (`schedule`).
    """

    scope: str
    state: str
    kept: Factor | None
    written: tuple[Factor, ...]
    made: tuple[Factor, ...] = ()
    pairs: bool = False
    shown: tuple[str, str] | None = None
    read: str = ""


def left(carry: Carry, records: Mapping[str, Record], scope: str) -> Tensor:
    """What is left of each row's write after the last row, `[b, r, ..., n]`: over r it sums to that row's state.

    Every row must be real. Raises KeyError where a tap was not recorded.
    """
    factors = [_value(records, scope, f) for f in carry.written]
    axes = _order([a for _, own in factors for a in own])
    written = reduce(torch.mul, (_aligned(value, own, axes) for value, own in factors))
    kept = None if carry.kept is None else _value(records, scope, carry.kept)
    there = written[:, :0]
    for row in range(written.shape[1]):
        if kept is not None:
            there = _faded(kept, axes, row, there, carry.pairs)
        there = torch.cat((there, written[:, row : row + 1]), 1)
    return there


def _value(records: Mapping[str, Record], scope: str, factor: Factor) -> tuple[Tensor, tuple[str, ...]]:
    record = records[f"{scope}.{factor.name}"]
    return (1 - record.value if factor.less else record.value), record.axes


def _order(axes: list[str]) -> tuple[str, ...]:
    """Request and row first, then the others as they come."""
    return tuple(sorted(dict.fromkeys(axes), key=lambda a: {"b": 0, "s": 1, "t": 1}.get(a, 2)))


def _aligned(value: Tensor, own: tuple[str, ...], axes: tuple[str, ...]) -> Tensor:
    """The same numbers with one axis for each of `axes`, of size 1 where it has none."""
    value = value.permute([own.index(a) for a in axes if a in own])
    return value[tuple(slice(None) if a in own else None for a in axes)]


def _faded(kept: tuple[Tensor, tuple[str, ...]], axes: tuple[str, ...], row: int, there: Tensor, pairs: bool) -> Tensor:
    """K of one row times vectors `[b, r, ..., n]`."""
    value, own = kept
    matrix = any(a.endswith("'") for a in own)
    all_rows = _aligned(value, own, (*axes, *(a for a in own if a.endswith("'"))))
    here = all_rows[:, min(row, all_rows.shape[1] - 1)][:, None]
    if matrix:
        return (here @ there[..., None])[..., 0]
    if not pairs:
        return here * there
    a, x = (torch.complex(*z.chunk(2, -1)) for z in (here, there))
    return torch.cat(((a * x).real, (a * x).imag), -1)
