"""What this run costs, four things that are never one: work, steps that wait for each other, ways between rows, what is kept.

All four are counted from the run's own shapes, masks and loops: over all known rows of one request in one call, and for one
further row. Beside them stand the leading terms of the papers (`models/parts/terms.py`) and the measured time (000 0x07D-0x07H).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from app.session import counting, given
from app.session.analyses import Result, Run, whole
from app.session.describing import kept
from app.session.events import Check, Refused
from models import Capabilities, Inputs, Rows
from models.catalogue import read_config
from models.parts import reach
from models.parts.tap import OFF, Recorder
from models.parts.terms import crossovers, terms
from models.tasks import SPECIALS

NAME = "cost"
TITLE = "Work, steps, ways and what is kept"
ARGUMENTS = {"request": "a request, from 0", "sweep": "true: also for other numbers of rows"}
MATRIX = 64  # rows of which the whole matrix of ways is told
SWEEP = (4, 8, 16, 32, 64, 128, 256)
WIDTHS = ("d_model", "width", "d", "d_hidden", "hidden", "d_state")


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """work (multiply-accumulates by operation), sequential, ways by relation, kept, terms, time; sweep: the same by n."""
    if run.place.phase == "train":
        raise Refused.one("phase", "train", "prefill or decode", "Costs are counted of a request: enter prefill or decode.")
    scenario = run.place.scenario
    b = whole(arguments, "request", 0, len(scenario.requests) - 1, 0)
    prompt = given.prompts(scenario)[b]
    written = run.place.written[b].read(run.place.decided) if run.place.written else ()
    ids = torch.tensor([[*prompt, *written]], device=run.device)
    source = given.source_rows(scenario)
    if source is not None:
        n = int(source.lengths[b])
        source = Rows(source.values[b : b + 1, :n], source.lengths[b : b + 1]).to(run.device)
    found = _measure(run, _rows(ids), source, matrix=True)
    yield 0.3
    sweep: list[dict[str, Any]] = []
    if arguments.get("sweep"):
        lengths = _lengths(given.spec_of(scenario).capabilities, source)
        for done, n in enumerate(lengths, 1):
            one = _measure(run, *_drawn(run, n, source), matrix=False)
            sweep.append({"n": n, **{k: one[k] for k in ("macs", "sequential", "longest", "bytes", "ms", "terms")}})
            yield 0.3 + 0.7 * done / len(lengths)
    yield Result({**found, "request": b, "sweep": sweep})


def _rows(ids: Tensor) -> Rows:
    return Rows(ids, torch.tensor([ids.shape[1]], device=ids.device))


def _lengths(can: Capabilities, source: Rows | None) -> list[int]:
    most = min(can.largest_rows, can.largest_source if source is not None else can.largest_rows)
    return [n for n in SWEEP if n <= most]


def _drawn(run: Run, n: int, source: Rows | None) -> tuple[Rows, Rows | None]:
    """n rows of the task's words (or features), drawn from the run's seed, in both texts where there are two."""
    scenario, task = run.place.scenario, given.task_of(run.place.scenario)
    draw = torch.Generator().manual_seed(scenario.seed)
    first = len(SPECIALS)
    ids = torch.randint(first, len(task.target), (1, n), generator=draw).to(run.device)
    if source is None:
        return _rows(ids), None
    if source.values.ndim == 2:
        return _rows(ids), _rows(torch.randint(first, int(source.values.max()) + 1, (1, n), generator=draw).to(run.device))
    values = torch.rand((1, n, *source.values.shape[2:]), generator=draw).to(run.device)
    return _rows(ids), Rows(values, torch.tensor([n], device=run.device))


def _measure(run: Run, target: Rows, source: Rows | None, matrix: bool) -> dict[str, Any]:
    model: Any = run.model
    scenario = run.place.scenario
    inputs = Inputs(target, source, given.visibility(scenario))
    counted = counting.count(lambda tap: model(inputs, model.initial_state(1), tap))
    ms = counting.timed(lambda: model(inputs, model.initial_state(1), OFF), 5 if matrix else 3)
    with torch.no_grad():
        _, state = model(inputs, model.initial_state(1), OFF)
    remains = kept(state)
    n = target.values.shape[1]
    ways = _ways(run, n, source, counted, matrix)
    found: dict[str, Any] = {
        "rows": n,
        "source_rows": None if source is None else source.values.shape[1],
        "macs": counted.total,
        "sequential": counted.sequential,
        "longest": max((w["longest"] for w in ways), default=0),
        "bytes": sum(k["bytes"] for k in remains),
        "bytes_per_row": sum(k["bytes_per_row"] for k in remains),
        "ms": ms,
        "terms": _terms(scenario, n or (0 if source is None else source.values.shape[1])),
    }
    if matrix:
        found |= {"by_op": list(counted.macs.items()), "ways": ways, "cells": _cells(run, inputs)}
        found |= {"loops": {scope: len(steps) for scope, steps in counted.loops.items()}, "next": _next(run, state, target)}
    return found


def _next(run: Run, state: Any, target: Rows) -> dict[str, Any] | None:
    """One further row with what is kept: its work and its time. None where rows do not come one by one."""
    spec = given.spec_of(run.place.scenario)
    if "decode" not in spec.phases or not target.values.shape[1] or target.values.shape[1] >= spec.capabilities.largest_rows:
        return None
    model: Any = run.model
    row = Inputs(_rows(target.values[:, -1:]), None, given.visibility(run.place.scenario))
    counted = counting.count(lambda tap: model(row, state, tap))
    return {"macs": counted.total, "sequential": counted.sequential, "ms": counting.timed(lambda: model(row, state, OFF))}


def _ways(run: Run, n: int, source: Rows | None, counted: counting.Counted, matrix: bool) -> list[dict[str, Any]]:
    """Among rows of one owner: the fewest layers (or steps of a loop) from row j to row i, through the masks of all layers."""
    spec, seen = given.spec_of(run.place.scenario), given.visibility(run.place.scenario)
    sizes = {"t": n, "s": 0 if source is None else source.values.shape[1]}
    found = []
    for relation in spec.relations:
        if relation.query != relation.key or not sizes[relation.query]:
            continue
        rows = min(sizes[relation.query], MATRIX) if matrix else sizes[relation.query]
        path = reach.paths_through([v.dense(rows, rows) for v in seen[relation.name]])
        found.append(_way(relation.title, relation.query, "layers", path, matrix))
    read = {w["owner"] for w in found}
    for owner, rows in sizes.items():
        loops = [scope for scope, steps in counted.loops.items() if len(steps) == rows and rows > 1]
        if rows and owner not in read and loops and (owner == "t" or rows != n):
            i = torch.arange(min(rows, MATRIX) if matrix else rows)
            chain = torch.where(i[:, None] >= i[None, :], i[:, None] - i[None, :], -1)
            found.append(_way("the loop", owner, "steps", chain, matrix))
    return found


def _way(name: str, owner: str, unit: str, path: Tensor, matrix: bool) -> dict[str, Any]:
    told = {"name": name, "owner": owner, "unit": unit, "longest": max(0, reach.longest(path))}
    return told | ({"path": [[None if p < 0 else p for p in row] for row in path.tolist()]} if matrix else {})


def _cells(run: Run, inputs: Inputs) -> dict[str, int]:
    """Of all reads of this call: the cells that masks let through, and all cells. A dense product computes the others too. Of the
    largest read, a head's scores that are held at once, and all its scores."""
    model: Any = run.model
    recorder = Recorder()
    with torch.no_grad():
        model(inputs, model.initial_state(1), recorder)
    masks = [r.value for r in recorder.tape.finish().records.values() if r.type == "mask"]
    read, cells = counting.visible(masks)
    queries, keys = max((tuple(m.shape[-2:]) for m in masks), key=math.prod, default=(0, 0))
    config, _ = read_config(given.spec_of(run.place.scenario), run.place.scenario.config)
    tile = config.tile if getattr(config, "mask_enters", "") == "tiles" else max(queries, keys)
    held = min(tile, queries) * min(tile, keys)
    return {"visible": read, "all": cells, "held": held, "square": queries * keys}


def _terms(scenario: Any, n: int) -> dict[str, Any]:
    config, _ = read_config(given.spec_of(scenario), scenario.config)
    width = next((getattr(config, name) for name in WIDTHS if hasattr(config, name)), 0)
    if not width or n < 1:
        return {}
    k, r = getattr(config, "kernel", 3), 2 * getattr(config, "radius", 8) + 1
    values: Mapping[str, int] = terms(n, width, k, r)
    return {"n": n, "d": width, "k": k, "r": r, "values": values, "crossovers": crossovers(width, k, r)}
