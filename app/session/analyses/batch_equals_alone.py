"""Batch = each request alone: the same prompt and the same written rows, once beside the others and once by itself.

Padding and the other requests may change nothing (000 0x0B.4): the request axis is not the future-token axis.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from torch import Tensor

from app.session import checks
from app.session.analyses import Result, Run
from app.session.checks_parts import broken
from app.session.events import Check, Status
from app.session.reading import Reading
from app.session.timeline import Written

NAME = "batch_equals_alone"
TITLE = "A request decides the same beside others and alone"
ARGUMENTS: dict[str, str] = {}
TOLERANCE = 1e-4


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """Largest difference in the logits of each request's newest decision row, computed in the batch and alone."""
    requests, written = run.place.scenario.requests, run.place.written
    if len(requests) < 2:
        yield Check(NAME, checks.ALONE, "does_not_apply", "", "measured", "there is one request")
        yield Result({"by_request": []})
        return
    together, off = _decisions(run, range(len(requests)), written), []
    for b in range(len(requests)):
        alone = _decisions(run, [b], written[b : b + 1])
        off.append(float((together[b] - alone[0]).abs().max()) if len(alone[0]) else 0.0)
        yield (b + 1) / len(requests)
    worst = math.nan if any(map(math.isnan, off)) else max(off)
    status: Status = "pass" if worst <= TOLERANCE else "fail"
    place = {} if status == "pass" else {"request": off.index(worst) if worst in off else 0}
    reason = broken(run.place.scenario, "alone") if status == "fail" else ""
    yield Check(NAME, checks.ALONE, status, f"max |Δlogit| {checks.small(worst)}", "measured", reason, place)
    yield Result({"by_request": off, "tolerance": TOLERANCE})


def _decisions(run: Run, which: range | list[int], written: tuple[Written, ...]) -> list[Tensor]:
    """Of each of these requests the logits of its newest decision row `[v]` (where nothing is written of all that decide
    `[rows, v]`), read together from their prompts on. Edits name a request by
    its number in the batch, so they are left out."""
    requests = tuple(run.place.scenario.requests[b] for b in which)
    scenario = run.place.scenario.model_copy(update={"requests": requests, "edits": ()})
    reading = Reading(run.model, scenario, run.device, record=False)
    if not reading.encoded:
        reading.encode()
    reading.prefill()
    if not reading.writes:
        return [said for b in range(len(requests)) if (said := reading.answers(b)) is not None]
    for decided in range(1, max((len(w.ids) for w in written), default=0) + 1):
        if any(w.read(decided) != w.read(decided - 1) for w in written):
            reading.decode(written, decided)
    assert reading.logits is not None
    return list(reading.logits)
