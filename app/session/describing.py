"""A moment and its tensors, said as events: what the page shows that is not a recorded value."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from app.session import given
from app.session.events import Problem, Refused, RelationInfo, TapInfo
from app.session.scenario import Scenario
from models import AXES, State
from models.parts.tap import FIXED_TYPES, Tape
from models.parts.visibility import Visibility

CANDIDATES = 8


def relations(scenario: Scenario, heads: dict[str, int]) -> tuple[RelationInfo, ...]:
    """Every kind of read with its mask in each layer. `heads`: by relation name, as recorded."""
    seen = given.visibility(scenario)
    own = {(m.relation, m.layer) for m in scenario.masks if m.layer is not None}
    layers = given.layers_of(scenario)
    return tuple(
        RelationInfo(
            r.name,
            r.title,
            r.query,
            r.key,
            r.path,
            layers,
            heads[r.name],
            tuple({**_program(v), "own": (r.name, layer) in own} for layer, v in enumerate(seen[r.name])),
            _program(r.default),
        )
        for r in given.spec_of(scenario).relations
    )


def _program(v: Visibility) -> dict[str, Any]:
    cells = [{"query": c.query, "key": c.key, "visible": c.visible} for c in v.cells]
    return {"program": v.program, "parameter": v.parameter, "cells": cells}


def taps(tape: Tape, model: nn.Module) -> tuple[TapInfo, ...]:
    """The contract of every recorded value and of every parameter (inventory D2)."""
    recorded = [
        TapInfo(
            path,
            r.axes,
            (),
            _dtype(r.value),
            owner(r.axes),
            r.type,
            lifetime(r.type),
            r.type not in FIXED_TYPES,
            r.type != "state",
        )
        for path, r in tape.records.items()
    ]
    until = "until the next update"
    parameters = [
        TapInfo(
            f"parameter.{n}",
            (),
            tuple(p.shape),
            _dtype(p),
            "none: one parameter, shared by every row",
            "parameter",
            until,
            False,
            True,
        )
        for n, p in model.named_parameters()
    ]
    return (*recorded, *parameters)


def _dtype(value: Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")


def owner(axes: Sequence[str]) -> str:
    """Who owns a row of it, from the axes alone: "target row", "target row × source row", ..."""
    rows = [a for a in axes if a.rstrip("'") in ("s", "t")]
    named = [AXES[a.rstrip("'")] + (" (read)" if a.endswith("'") else "") for a in rows]
    return " × ".join(named) if named else "none"


def lifetime(type: str) -> str:
    return "kept until the request ends" if type == "state" else "this call"


def refuse_edits(scenario: Scenario, taps: Sequence[TapInfo], sizes: Mapping[str, int]) -> None:
    """Raise `Refused` for an edit that names no tap, one that has its own command, or an index that its axes do not have.

    `sizes`: of every axis that is not a row's; an edit may name a row that is not known yet.
    """
    by_path = {t.path: t for t in taps if t.type != "parameter"}
    problems = []
    for i, edit in enumerate(scenario.edits):
        tap = by_path.get(edit.path)
        if tap is None:
            near = ", ".join(difflib.get_close_matches(edit.path, by_path, 3, 0.3)) or "one of the taps of /api/catalogue"
            problems.append(Problem(f"edits.{i}.path", edit.path, near, f"There is no tap {edit.path!r}; near it: {near}"))
        elif not tap.editable:
            allowed = "a tap that may be edited"
            message = f"{edit.path} holds {tap.type}, which cannot be edited at a tap: it follows from what you set elsewhere."
            problems.append(Problem(f"edits.{i}.path", edit.path, allowed, message))
        elif len(edit.index) > len(tap.axes):
            allowed = f"up to {len(tap.axes)} numbers, for {' '.join(tap.axes)}"
            message = f"The edit of {edit.path} has too many indices ({len(edit.index)}); allowed: {allowed}"
            problems.append(Problem(f"edits.{i}.index", list(edit.index), allowed, message))
        else:
            problems += [
                Problem(
                    f"edits.{i}.index.{n}",
                    at,
                    f"0 to {sizes[axis] - 1}",
                    f"{edit.path} has {sizes[axis]} places on axis {axis}; {at} was given",
                )
                for n, (axis, at) in enumerate(zip(tap.axes, edit.index, strict=False))
                if at is not None and at >= sizes.get(axis, at + 1)
            ]
    if problems:
        raise Refused(*problems)


def kept(state: State) -> tuple[dict[str, Any], ...]:
    """What is retained after this call, in bytes, and what one further target row adds."""
    out = []
    for path, (value, axes, grows) in state.kept().items():
        size = value.numel() * value.element_size()
        letters = axes.split()
        per_row = 0
        if grows:
            at = next(i for i, a in enumerate(letters) if a.rstrip("'") == "t")
            per_row = value.element_size() * math.prod(s for i, s in enumerate(value.shape) if i != at)
        out.append(
            {"path": path, "axes": letters, "shape": list(value.shape), "bytes": size, "grows": grows, "bytes_per_row": per_row}
        )
    return tuple(out)
