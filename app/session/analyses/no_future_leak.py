"""No future leak: change one token and look at the logits of the rows before it.

Every known row but the first is changed in turn; under causal visibility no earlier row may move at all. Method: a later token
changed (not the gradient). Source: 000 0x09D, 0x0B.2.

Where hidden keys enter a sum and are divided out of it again (a mask after the softmax, renormalised) their numbers cancel, but
not their rounding: a weight p_j / sum_j p_j is off by some units of the last place, which depend on the hidden keys. So rows that
move by little are changed again in 64 bits. Rounding is 2^-29 of what it was there (a last place is 2^-53 of a number, before
2^-24); what is read of a later row is as large as before.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import nn

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
LAST_PLACES = 1024  # of the largest logit, in 32 bits: what is rounded in each sum of some layers stays far below
SHRINKS = 2.0**-19  # in 64 bits; rounding alone would be 2^-29, give or take what the two happen to round


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
    before, moves, cells = _logits(run, run.model, rows), list[float](), list[tuple[int, int]]()
    for changed in range(first, count):
        moved = (_logits(run, run.model, _with(rows, changed, size)) - before)[:, :changed].abs().amax(-1)
        moves.append(float(moved.max()))
        cells.append(divmod(int(moved.argmax()), changed))
        yield changed / count
    worst = math.nan if any(map(math.isnan, moves)) else max(moves)
    row = moves.index(max(moves)) + first
    reason = (broken(scenario, "causal") or f"earlier rows move when row {row} changes") if worst else ""
    if 0 < worst <= LAST_PLACES * 2.0**-24 * float(before.abs().max()):
        wide = _in_64_bits(run, rows, row, size)
        if wide <= SHRINKS * worst:
            reason = f"rounding alone: hidden keys are divided out, and in 64 bits {checks.small(wide)} is left of it"
            yield Check(NAME, checks.NO_LEAK, "pass", f"token changed, Δ {checks.small(worst)}", "measured", reason)
            yield Result({"largest": worst, "row": row, "in_64_bits": wide})
            return
    status: Status = "pass" if worst == 0 else "fail"
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


def _with(rows: Rows, changed: int, size: int) -> Rows:
    """Another token in one row."""
    values = rows.values.clone()
    values[:, changed] = (values[:, changed] + 1) % size
    return replace(rows, values=values)


def _in_64_bits(run: Run, rows: Rows, changed: int, size: int) -> float:
    """How far any earlier row moves with that row, by the same model in double precision."""
    model = copy.deepcopy(run.model).double()
    return float((_logits(run, model, _with(rows, changed, size)) - _logits(run, model, rows))[:, :changed].abs().max())


def _logits(run: Run, model: nn.Module, rows: Rows) -> torch.Tensor:
    """All known rows in one call, without a cache: `[b, t, v]`."""
    scenario, source = run.place.scenario, given.source_rows(run.place.scenario)
    if source is not None and source.values.is_floating_point():
        source = replace(source, values=source.values.to(next(model.parameters()).dtype))
    inputs = given.inputs(scenario, rows.to(run.device), source and source.to(run.device), [0] * len(rows.values))
    with torch.no_grad():
        state = model.initial_state(len(rows.values))  # type: ignore[operator]
        outputs, _ = model(inputs, state, listening(model, scenario, [0] * len(rows.values), None))
    return outputs.values
