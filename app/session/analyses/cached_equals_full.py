"""Cached = full prefix: the same decisions' distributions, once with kept keys and values, once from every known row anew.

Source: 000 0x0B.5 (both implement the same autoregressive dependency).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from app.session import checks
from app.session.analyses import Result, Run
from app.session.beam import Search, scenario_of
from app.session.checks_parts import broken
from app.session.events import Check, Status
from app.session.reading import Reading
from app.session.scenario import Scenario
from app.session.standing import Standing

NAME = "cached_equals_full"
TITLE = "Cached execution gives the distributions of the full prefix"
ARGUMENTS: dict[str, str] = {}
TOLERANCE = 1e-4


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """Largest difference in any decision row's logits, over prefill and every decode step so far."""
    pending = next(c for c in checks.on_demand(run.place.scenario) if c.id == NAME)
    if pending.status == "does_not_apply":
        yield pending
        yield Result({"reason": pending.reason})
        return
    steps: list[float] = []
    for off in (_searched if run.place.scenario.policy.kind == "beam" else _decided)(run):
        steps.append(off)
        yield len(steps) / (run.place.decided + 1)
    worst = math.nan if any(map(math.isnan, steps)) else max(steps)
    status: Status = "pass" if worst <= TOLERANCE else "fail"
    reason = broken(run.place.scenario, "cached") if status == "fail" else ""
    yield Check(NAME, "cached = full prefix", status, f"max |Δlogit| {checks.small(worst)}", "measured", reason)
    yield Result({"largest": worst, "by_step": steps, "tolerance": TOLERANCE})


def _decided(run: Run) -> Iterator[float]:
    """Of each decision: how far the two are apart."""
    cached, full = (_reading(run, execution) for execution in ("cached", "full_prefix"))
    for decided in range(run.place.decided + 1):
        for reading in (cached, full):
            _advance(reading, run, decided)
        yield _apart(cached, full)


def _searched(run: Run) -> Iterator[float]:
    """The same for a beam: its rows, put in order by parent at every step, against each hypothesis read anew by itself."""
    one = run.place.scenario.model_copy(update={"requests": run.place.scenario.requests[:1]})
    search, cached = Search(one), _reading(run, "cached", one)
    here = Standing(cached, search=search)
    _advance(cached, run, 0)
    for decided in range(run.place.decided + 1):
        if decided:
            here.branch()
            if any(w.read(decided) != w.read(decided - 1) for w in search.written):
                cached.decode(search.written, decided)
        full = _reading(run, "full_prefix", scenario_of(one, len(search.written)))
        _advance(full, run, 0)
        if any(w.ids for w in search.written):
            full.decode(search.written, decided)
        yield _apart(cached, full)


def _apart(cached: Reading, full: Reading) -> float:
    assert cached.logits is not None and full.logits is not None
    return float((cached.logits - full.logits).abs().max())


def _reading(run: Run, execution: str, scenario: Scenario | None = None) -> Reading:
    policy = run.place.scenario.policy.model_copy(update={"execution": execution})
    which = run.place.scenario if scenario is None else scenario
    return Reading(run.model, which.model_copy(update={"policy": policy}), run.device, record=False)


def _advance(reading: Reading, run: Run, decided: int) -> None:
    if decided == 0:
        if not reading.encoded:
            reading.encode()
        reading.prefill()
    elif any(w.read(decided) != w.read(decided - 1) for w in run.place.written):
        reading.decode(run.place.written, decided)
