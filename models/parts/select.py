"""Go on with some requests of a state, in another order or twice: what beam search does with its hypotheses.

A state is a value, made of tensors whose first axis is the request. What is picked makes a new one; nothing is written in place.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from torch import Tensor

S = TypeVar("S")


def select(state: S, rows: Tensor) -> S:
    """The requests `rows` `[b']` (int64) of a state of b requests: row i of the new one is row `rows[i]` of the old."""
    return _picked(state, rows)


def _picked(value: Any, rows: Tensor) -> Any:
    match value:
        case Tensor():
            return value.index_select(0, rows)
        case tuple() if hasattr(value, "_fields"):
            return type(value)(*(_picked(v, rows) for v in value))
        case tuple():
            return tuple(_picked(v, rows) for v in value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{f.name: _picked(getattr(value, f.name), rows) for f in fields(value) if f.init})
    return value
