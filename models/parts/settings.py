"""Fields of a Config, with what the page needs to make a control of each."""

from __future__ import annotations

from dataclasses import field, fields
from typing import Any, Protocol

GRU = {"cell": "gru"}  # `when` of a field that only this cell has


class Headed(Protocol):
    """A Config with heads that share its width."""

    @property
    def heads(self) -> int: ...

    @property
    def d_model(self) -> int: ...


def setting(default: Any, title: str, why: str, **allowed: Any) -> Any:
    """title, why: for people. allowed: `choices`, or `low` and `high`; `when`: the other fields' values that give it meaning (a
    tuple: any of them); `same_weights`: it says how the model runs or learns, not what it has, so that weights learned with
    another value of it fit."""
    return field(default=default, metadata={"title": title, "why": why, **allowed})


def default(config: type, name: str, value: Any) -> Any:
    """A field of a Config that this one is made from, with another default."""
    inherited = next(f for f in fields(config) if f.name == name)
    return field(default=value, metadata=inherited.metadata)


def heads_share(config: Headed) -> list[tuple[str, Any, str]]:
    """A Spec's check: the heads share the width evenly."""
    if config.d_model % config.heads == 0:
        return []
    return [("heads", config.heads, f"a divisor of the model width {config.d_model}, which the heads share evenly")]
