"""No future leak: change one token and look at the logits of the rows before it.

Every known row but the first is changed in turn; under causal visibility no earlier row may move at all. Method: a later token
changed (not the gradient). Source: 000 0x09D, 0x0B.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch

from app.session import checks, given
from app.session.analyses import Result, Run
from app.session.checks_parts import broken
from app.session.events import Check, Status
from app.session.reading import listening
from models import Rows
from models.tasks import Task
from models.tasks.objective import pad

NAME = "no_future_leak"
TITLE = "No row's logits change when a later token does"
ARGUMENTS: dict[str, str] = {}


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """Largest change in any row's logits when a later token of its own request is replaced. Edits at taps are in force."""
    scenario, place = run.place.scenario, run.place
    pending = next(c for c in checks.on_demand(scenario) if c.id == NAME)
    if pending.status == "does_not_apply":
        yield pending
        yield Result({"reason": pending.reason})
        return
    prompts = given.prompts(scenario)
    written = [w.read(place.decided) for w in place.written] or [()] * len(prompts)
    rows = pad([[*p, *w] for p, w in zip(prompts, written, strict=True)])
    count, size = rows.values.shape[1], len(given.task_of(scenario).target)
    first = _first(given.task_of(scenario), rows.values)
    if count <= first:
        reason = "only one row is known" if count < 2 else "no row of a target is known yet"
        yield Check(NAME, checks.NO_LEAK, "does_not_apply", "", "measured", reason)
        yield Result({"largest": 0.0, "row": 0})
        return
    before, moves, cells = _logits(run, rows.values, rows.lengths), list[float](), list[tuple[int, int]]()
    for changed in range(first, count):
        values = rows.values.clone()
        values[:, changed] = (values[:, changed] + 1) % size
        moved = (_logits(run, values, rows.lengths) - before)[:, :changed].abs().amax(-1)
        moves.append(float(moved.max()))
        cells.append(divmod(int(moved.argmax()), changed))
        yield changed / count
    worst = math.nan if any(map(math.isnan, moves)) else max(moves)
    row = moves.index(max(moves)) + first
    status: Status = "pass" if worst == 0 else "fail"
    reason = (broken(scenario, "causal") or f"earlier rows move when row {row} changes") if worst else ""
    where = _place(run, *cells[row - first], row) if worst else {}
    yield Check(NAME, checks.NO_LEAK, status, f"token changed, Δ {checks.small(worst)}", "measured", reason, where)
    yield Result({"largest": worst, "row": row})


def _first(task: Task, ids: torch.Tensor) -> int:
    """The first row whose change counts. In one stream the source's rows may read each other: there it is the target's first."""
    ends = task.separator
    if ends is None or not bool((ids == ends).any()):
        return 1
    return int((ids == ends).int().argmax(1).max()) + 1


def _place(run: Run, request: int, row: int, changed: int) -> dict[str, Any]:
    """Where one looks first: the cell in which the row that moved most reads the row that was changed."""
    own = next((r for r in given.spec_of(run.place.scenario).relations if r.query == r.key == "t"), None)
    at = {"request": request, "row": row, "key": changed}
    return at if own is None else {"path": own.path.format(layer=0), **at}


def _logits(run: Run, values: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """All known rows in one call, without a cache: `[b, t, v]`."""
    scenario, source = run.place.scenario, given.source_rows(run.place.scenario)
    rows = Rows(values, lengths).to(run.device)
    inputs = given.inputs(scenario, rows, source and source.to(run.device), [0] * len(values))
    with torch.no_grad():
        state = run.model.initial_state(len(values))  # type: ignore[operator]
        outputs, _ = run.model(inputs, state, listening(run.model, scenario, [0] * len(values), None))
    return outputs.values
