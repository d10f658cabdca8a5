"""What exchanged parts of a block do to what otherwise holds, measured on the values that were recorded: a mask that enters late,
queries that are keys, a norm over many rows. A model without such parts has none of these checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from app.session import given
from app.session.checks import TOLERANCE, small
from app.session.events import Check, Status
from app.session.reading import Call
from app.session.scenario import Scenario

OFFSET = "offset_only"
OFFSET_CLAIM = "rotated scores: the offset alone"
NEIGHBOURS = "batch_norm"
NEIGHBOURS_CLAIM = "norms keep rows apart"


def of_parts(scenario: Scenario, call: Call) -> list[Check]:
    """Those that apply to this call of the model."""
    found = (_normaliser(call), _symmetric(call), _rows_together(call, given.config_of(scenario)))
    return [c for c in found if c is not None]


def of_update(scenario: Scenario, call: Call) -> list[Check]:
    """Those that apply to the forward pass of an update."""
    found = _rows_together(call, given.config_of(scenario), taught=True)
    return [] if found is None else [found]


def on_demand(scenario: Scenario) -> Iterator[Check]:
    """Those that an analysis measures."""
    if getattr(given.config_of(scenario), "position", None) == "rope":
        yield Check(OFFSET, OFFSET_CLAIM, "pending", "", "measured")
    if getattr(given.config_of(scenario), "norm_kind", None) == "batch":
        yield Check(NEIGHBOURS, NEIGHBOURS_CLAIM, "pending", "", "measured")


def broken(scenario: Scenario, promise: str) -> str:
    """Why this configuration breaks a promise (`Spec.gives_up`), or ""."""
    return given.spec_of(scenario).gives_up(given.config_of(scenario)).get(promise, "")


def _normaliser(call: Call) -> Check | None:
    """What hidden keys take of the sum, where the mask is multiplied after the softmax; and whether it is given back."""
    least, most, leaked, place, back = 1.0, 0.0, 0.0, dict[str, Any](), False
    for path, record in call.tape.records.items():
        scope, _, name = path.rpartition(".")
        if name != "spread":
            continue
        mask, real = call.tape.records[f"{scope}.mask"].value[:, None], torch.zeros(record.value.shape[:3], dtype=torch.bool)
        for b, length in enumerate(call.lengths):
            real[b, :, : length if "t" in record.axes else None] = True
        kept = torch.where(mask, record.value, 0.0).sum(-1)[real]
        if not kept.numel():
            continue
        back = back or f"{scope}.coefficients" in call.tape.records
        least, most = min(least, float(kept.min())), max(most, float(kept.max()))
        if 1 - float(kept.min()) >= leaked:
            leaked, at = 1 - float(kept.min()), real.nonzero()[int(kept.argmin())].tolist()
            start = call.starts[at[0]] if "t" in record.axes else 0
            place = {"path": f"{scope}.weights", "request": call.requests[at[0]], "head": at[1], "row": at[2] + start}
    if not place:
        return None
    claim, figure = "no hidden key in the normaliser", f"Σ {least:.2f} to {most:.2f}"
    if leaked <= TOLERANCE:
        return Check("normaliser", claim, "pass", figure, "measured")
    if back:
        reason = f"hidden keys took up to {leaked:.2f} of a row, which was then divided out"
        return Check("normaliser", claim, "pass", f"{figure}, divided out", "measured", reason)
    reason = f"hidden keys took {leaked:.2f} of row {place['row']} in the softmax, and nobody gets it"
    return Check("normaliser", claim, "fail", figure, "measured", reason, place)


def _symmetric(call: Call) -> Check | None:
    """Where queries and keys are one, row i fits row j as row j fits row i."""
    worst, seen, place = 0.0, False, dict[str, Any]()
    for path, record in call.tape.records.items():
        scope, _, name = path.rpartition(".")
        q, k = (call.tape.records.get(f"{scope}.{n}") for n in "qk")
        square = record.value.dim() > 1 and record.value.shape[-1] == record.value.shape[-2]
        if name != "scores" or q is None or k is None or not square or not torch.equal(q.value, k.value):
            continue
        off, seen = float((record.value - record.value.transpose(-1, -2)).abs().max()), True
        worst, place = (off, {"path": path}) if off > worst else (worst, place)
    if not seen:
        return None
    status: Status = "pass" if worst <= TOLERANCE else "fail"
    reason = "what the place adds to a score depends on the direction" if status == "fail" else ""
    return Check("symmetric", "Q = K: symmetric", status, f"max |S−Sᵀ| {small(worst)}", "measured", reason, place)


def _rows_together(call: Call, config: Any, taught: bool = False) -> Check | None:
    """How many rows one mean and one deviation are taken over, where the norm is over rows of the call."""
    if getattr(config, "norm_kind", None) != "batch" or (config.statistics == "running" and not taught):
        return None
    count = len(call.lengths) * call.tape.sizes.get("t", 0)
    if not count:
        return None
    padding, claim = count - sum(call.lengths), "a norm reads one row alone"
    if count == 1:
        reason = (
            "BatchNorm was given one row, which is its own mean: whatever it was, it becomes the shift; allowed: 2 rows or more"
        )
        return Check("rows_together", claim, "fail", "1 row: all is lost", "exact", reason)
    reason = "each place is measured over all rows of the call, other requests and padding among them"
    return Check("rows_together", claim, "fail", f"{count} rows in one, {padding} padding", "exact", reason)
