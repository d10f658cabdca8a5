"""Go on with some requests of a state, in another order or twice (beam search), and with the requests of two states together
(requests that join a batch and leave it between steps).

A state is a value, made of tensors whose first axis is the request. What is picked or joined makes a new one; nothing is written
in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from models import State

S = TypeVar("S")
Kept = TypeVar("Kept", bound=State)


def select(state: S, rows: Tensor) -> S:
    """The requests `rows` `[b']` (int64) of a state of b requests: row i of the new one is row `rows[i]` of the old."""
    picked: S = _each(lambda value: value.index_select(0, rows), state)
    return picked


def join(first: S, second: S) -> S:
    """The requests of the first, then those of the second, of one model. Where one has more rows of an owner, the other ends in
    zeros: they lie past its requests' lengths, so that nothing reads them."""
    joined: S = _each(_below, first, second)
    return joined


def trimmed(state: Kept) -> Kept:
    """Without the rows that no request has any more: what grows ends with the longest of those that are left."""
    longest = int(state.lengths.max())
    grows = {id(value): axes.split().index("t'") for value, axes, more in state.kept().values() if more}
    shorter: Kept = _each(partial(_cut, grows, longest), state)
    return shorter


def _cut(grows: dict[int, int], longest: int, value: Tensor) -> Tensor:
    at = grows.get(id(value))
    return value if at is None or value.shape[at] <= longest else value.narrow(at, 0, longest).contiguous()


def _below(first: Tensor, second: Tensor) -> Tensor:
    shape = [max(pair) for pair in zip(first.shape[1:], second.shape[1:], strict=True)]
    return torch.cat([_widened(value, shape) for value in (first, second)])


def _widened(value: Tensor, shape: list[int]) -> Tensor:
    """Zeros at the end of each axis but the first."""
    missing = [n - size for n, size in zip(shape, value.shape[1:], strict=True)]
    return functional.pad(value, [n for more in reversed(missing) for n in (0, more)]) if any(missing) else value


def _each(made: Callable[..., Tensor], value: Any, *others: Any) -> Any:
    """The same value with every tensor of it made anew, from those in the same place of it and the others."""
    match value:
        case Tensor():
            return made(value, *others)
        case tuple() if hasattr(value, "_fields"):
            return type(value)(*(_each(made, *several) for several in zip(value, *others, strict=True)))
        case tuple():
            return tuple(_each(made, *several) for several in zip(value, *others, strict=True))
        case _ if is_dataclass(value) and not isinstance(value, type):
            names = [f.name for f in fields(value) if f.init]
            return replace(value, **{n: _each(made, *(getattr(v, n) for v in (value, *others))) for n in names})
    return value
