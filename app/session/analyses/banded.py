"""A window computed as a band gives what the model computed as one masked matrix, in every layer and head of this moment.

Source: Beltagy et al. 2020, arXiv 2004.05150, section 3.1; `models/parts/band.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from app.session import checks, given
from app.session.analyses import Result, Run, known
from app.session.events import Check, Status
from models import Relation
from models.parts.band import Projected, Window, banded, bound, edges
from models.parts.tape import Tape
from models.parts.visibility import Visibility

NAME = "banded"
TITLE = "A window as a band gives the masked matrix"
ARGUMENTS: dict[str, str] = {}


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """The largest difference in any row's mixed values, and how many cells each layer's window has."""
    pending = next((c for c in checks.on_demand(run.place.scenario) if c.id == NAME), None)
    if pending is None or pending.status == "does_not_apply":
        reason = "no read of this model is a window" if pending is None else pending.reason
        yield pending or Check(NAME, checks.BAND, "does_not_apply", "", "measured", reason)
        yield Result({"reason": reason})
        return
    tape, spec, seen = known(run), given.spec_of(run.place.scenario), given.visibility(run.place.scenario)
    relation = next(r for r in spec.relations if r.default.program == "sliding")
    layers = list(_layers(tape, relation, seen[relation.name]))
    worst = max(layer["largest"] for layer in layers)
    status: Status = "pass" if worst <= checks.TOLERANCE else "fail"
    yield Check(NAME, checks.BAND, status, f"max |Δ| {checks.small(worst)}", "measured")
    yield Result({"largest": worst, "layers": layers})


def _layers(tape: Tape, relation: Relation, seen: tuple[Visibility, ...]) -> Iterator[dict[str, Any]]:
    for layer, visible in enumerate(seen):
        at = relation.path.format(layer=layer)
        window = Window(visible.parameter, visible.every, visible.global_rows)
        mask, mixed = tape.records[f"{at}.mask"].value, tape.records[f"{at}.mixed"].value
        valid, n = mask.any(1), mixed.shape[2]
        off = (banded(_of(tape, at), window, valid, _wide(tape, at)) - mixed).abs().amax((1, 3))
        yield {
            "largest": float(torch.where(valid, off, 0.0).max()),
            "edges": edges(window, n),
            "bound": bound(window, n),
            "dense": n * n,
        }


def _of(tape: Tape, at: str, end: str = "") -> Projected:
    return Projected(*(_read(tape, f"{at}.{name}{end}") for name in "qkv"))


def _wide(tape: Tape, at: str) -> Projected | None:
    return _of(tape, at, "_global") if f"{at}.q_global" in tape.records else None


def _read(tape: Tape, path: str) -> Tensor:
    return tape.records[path].value
