"""Batch = each request alone: the same prompt and the same written rows, once beside the others and once by itself.

Padding and the other requests may change nothing, whoever joins and leaves (000 0x0B.4, 0x0B.5): the request axis is not the
future-token axis.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from torch import Tensor

from app.session import checks
from app.session.analyses import Result, Run
from app.session.checks_parts import broken
from app.session.events import Check, Status
from app.session.scenario import Scenario
from app.session.standing import read
from app.session.timeline import Place

NAME = "batch_equals_alone"
TITLE = "A request decides the same beside others and alone"
ARGUMENTS: dict[str, str] = {}
TOLERANCE = 1e-4


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """Largest difference in the logits of each present request's newest decision row, computed in the batch and alone. Edits and
    places that a person set name a request by its number, so they are left out."""
    place = replace(run.place, phase="decode", scenario=_plain(run.place.everyone), joined=())
    if len(place.present) < 2:
        yield Check(NAME, checks.ALONE, "does_not_apply", "", "measured", "there is one request")
        yield Result({"by_request": []})
        return
    together = _decisions(run, place)
    off: list[float | None] = [None] * len(place.scenario.requests)
    for done, (b, logits) in enumerate(zip(place.present, together, strict=True), 1):
        [alone] = _decisions(run, _alone(place, b))
        off[b] = float((logits - alone).abs().max()) if len(alone) else 0.0
        yield done / len(together)
    measured = [d for d in off if d is not None]
    worst = math.nan if any(map(math.isnan, measured)) else max(measured)
    status: Status = "pass" if worst <= TOLERANCE else "fail"
    where = {} if status == "pass" else {"request": off.index(worst) if worst in off else place.present[0]}
    reason = broken(run.place.scenario, "alone") if status == "fail" else ""
    yield Check(NAME, checks.ALONE, status, f"max |Δlogit| {checks.small(worst)}", "measured", reason, where)
    yield Result({"by_request": off, "tolerance": TOLERANCE})


def _plain(scenario: Scenario) -> Scenario:
    """Without edits; what a beam wrote is given, not searched again."""
    policy = scenario.policy.model_copy(update={"kind": "greedy"})
    return scenario.model_copy(update={"edits": (), "draws": (), "policy": policy})


def _alone(place: Place, b: int) -> Place:
    """The same place with this request alone, as if it had been here from the start."""
    scenario = place.scenario.model_copy(update={"requests": place.scenario.requests[b : b + 1]})
    written = tuple(replace(w, joined=0) for w in place.written[b : b + 1])
    return replace(place, scenario=scenario, written=written, turns=())


def _decisions(run: Run, place: Place) -> list[Tensor]:
    """Of each present request the logits of its newest decision row `[v]` (where nothing is written of all that decide
    `[rows, v]`), read from the prompts on."""
    reading = read(run.model, place, run.device, record=False).reading
    assert reading is not None
    if not reading.writes:
        return [said for b in place.present if (said := reading.answers(b)) is not None]
    assert reading.logits is not None
    return list(reading.logits)
