"""What is left of each row's write adds up to the state, in every layer of every request at this moment.

Only where the model declares how a state is carried (`Spec.carries`): it is linear in what rows wrote, so that no other way leads
from a row to it. Edits at taps are in force.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import torch
from torch import Tensor

from app.session import checks, given
from app.session.analyses import Result, Run, one_request
from app.session.events import Check, Refused, Status
from app.session.reading import listening
from models import Inputs
from models.parts.carrying import Carry, left
from models.parts.tape import Tape

NAME = "state_shares"
TITLE = "What is left of each row adds up to the state"
ARGUMENTS: dict[str, str] = {}


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """The largest difference to a state, as a share of its largest number; by request and scope the norm of what is left of
    each row's write."""
    scenario = run.place.scenario
    carries = given.spec_of(scenario).carries(given.config_of(scenario))
    if not carries:
        allowed = "a model whose state is linear in what rows wrote"
        raise Refused.one("name", NAME, allowed, "The rows of this state cannot be told apart. Pick Mamba, S4 or an LSTM.")
    count, scopes, worst = len(scenario.requests), list[dict[str, Any]](), 0.0
    for request in range(count):
        for carry in carries:
            for scope, there, state in _left(run, request, carry):
                off = float((there.sum(0) - state).abs().max() / state.abs().max().clamp(min=1e-30))
                worst = off if math.isnan(off) else max(worst, off)
                scopes.append({"request": request, "scope": scope, "off": off, "left": there.flatten(1).norm(dim=1).tolist()})
        yield (request + 1) / count
    status: Status = "pass" if worst <= checks.TOLERANCE else "fail"
    edited = status == "fail" and any(e.enabled for e in scenario.edits)
    reason = "an edit sets numbers that no row wrote" if edited else ""
    yield Check(NAME, checks.SHARES, status, f"max |Δ| {checks.small(worst)}", "measured", reason)
    yield Result({"largest": worst, "scopes": scopes})


def _left(run: Run, request: int, carry: Carry) -> Iterator[tuple[str, Tensor, Tensor]]:
    """By scope: what is left of each row `[r, ..., n]`, and the state after the last row as the model kept (or made) it."""
    scenario, tape = run.place.scenario, Tape()
    model, target, source = one_request(run, {"request": request}, NAME)
    with torch.no_grad():
        heard = listening(model, scenario, [0], tape, requests=[request])
        _, state = model(Inputs(target, source, given.visibility(scenario)), model.initial_state(1), heard)  # type: ignore[operator]
    records, kept = tape.finish().records, state.kept()
    for scope in dict.fromkeys(path.rpartition(".")[0] for path in records):
        path = f"{scope}.{carry.state}"
        if not fnmatchcase(scope, carry.scope) or not (path in kept or path in records):
            continue
        there = left(carry, records, scope)[0]
        if len(there):
            yield scope, there, kept[path][0][0] if path in kept else records[path].value[0, -1]
