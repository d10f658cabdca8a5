"""No future leak: change one token and look at the logits of the rows before it.

Every known row but the first is changed in turn; under causal visibility no earlier row may move at all. Method: a later token
changed (not the gradient). Source: 000 0x09D, 0x0B.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from app.session import checks, given
from app.session.analyses import Result, Run
from app.session.events import Check, Status
from models import Inputs, Rows
from models.parts.tap import OFF
from models.tasks.objective import pad

NAME = "no_future_leak"
TITLE = "No row's logits change when a later token does"
ARGUMENTS: dict[str, str] = {}


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """Largest change in any row's logits when a later token of its own request is replaced."""
    scenario, place = run.place.scenario, run.place
    written = [w.ids for w in place.written] or [()] * len(scenario.requests)
    rows = pad([[*p, *w] for p, w in zip(given.prompts(scenario), written, strict=True)])
    visibility, source = given.visibility(scenario), given.source_rows(scenario)
    size = len(given.task_of(scenario).target)

    def logits(values: torch.Tensor) -> torch.Tensor:
        target = Rows(values.to(run.device), rows.lengths.to(run.device))
        read = None if source is None else Rows(source.values.to(run.device), source.lengths.to(run.device))
        with torch.no_grad():
            state = run.model.initial_state(len(values))  # type: ignore[operator]
            outputs, _ = run.model(Inputs(target, read, visibility), state, OFF)
        return outputs.values

    before, worst, at = logits(rows.values), 0.0, 0
    count = rows.values.shape[1]
    for changed in range(1, count):
        values = rows.values.clone()
        values[:, changed] = (values[:, changed] + 1) % size
        moved = float((logits(values)[:, :changed] - before[:, :changed]).abs().max())
        if moved > worst:
            worst, at = moved, changed
        yield changed / count
    applies = next(c for c in checks.on_demand(scenario) if c.id == NAME).status != "does_not_apply"
    status: Status = "pass" if worst == 0 else "fail"
    claim = "no future leak (a later token changed)"
    reason = "" if applies else "the mask lets a row read a later one"
    if count < 2:
        yield Check(NAME, claim, "does_not_apply", "", "measured", "only one row is known")
    else:
        yield Check(NAME, claim, status, f"max |Δlogit| {worst:.0e}", "measured", reason, {"row": at} if worst else {})
    yield Result({"largest": worst, "row": at})
