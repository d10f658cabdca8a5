"""Both schedules agree: the same weights and rows, run in each way that a model's Config offers under `schedule`.

A linear recurrence can run row after row, or all known rows at once (a convolution with its kernel, a parallel scan). Both
compute the same outputs but for rounding (000 0x0C.3, 0x0C.4). Edits at taps are left aside: a state that is never made has none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from app.session import checks, given, weights
from app.session.analyses import Result, Run, one_request, whole
from app.session.counting import count
from app.session.events import Check, Refused, Status
from models import Inputs, Rows
from models.catalogue import config_schema, read_config
from models.parts.tap import OFF, Recorder
from models.parts.tape import Tape
from models.tasks import source_size
from models.tasks.objective import pad

NAME = "schedules"
TITLE = "Both schedules of a linear recurrence give the same outputs"
ARGUMENTS = {
    "request": "a request, from 0: whose numbers are told",
    "path": "a tap with a number for each row and channel",
    "channel": "a channel of it, from 0",
}
TOLERANCE = 1e-4


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """Largest difference in the logits of any known row, and by row, between the first schedule and each other. With a path also
    `ways`: by schedule the steps that wait for each other, and one request's numbers at that tap, row by row."""
    scenario = run.place.scenario
    if "schedule" not in scenario.config:
        raise Refused.one("name", NAME, "a model with a schedule", "This architecture runs in one way only. Pick S4 or Mamba.")
    choices = _choices(run)
    outputs = []
    for i, choice in enumerate(choices, 1):
        outputs.append(_outputs(run, choice))
        yield i / len(choices)
    by_row = torch.stack([(o - outputs[0]).abs().amax(-1) for o in outputs[1:]]).amax(0)
    worst = float(by_row.max())
    status: Status = "pass" if worst <= TOLERANCE else "fail"
    yield Check(NAME, "both schedules agree", status, f"max |Δlogit| {checks.small(worst)}", "measured")
    told = by_row.tolist() if not math.isnan(worst) else []
    ways = {"ways": [_way(run, c, arguments) for c in choices]} if arguments.get("path") is not None else {}
    yield Result({"largest": worst, "by_row": told, "schedules": choices, "tolerance": TOLERANCE, **arguments, **ways})


def _choices(run: Run) -> list[str]:
    fields = config_schema(given.spec_of(run.place.scenario).config)
    return list(next(f["choices"] for f in fields if f["name"] == "schedule"))


def _model(run: Run, schedule: str) -> nn.Module:
    """The same weights, to be run in that way."""
    scenario, spec, task = run.place.scenario, given.spec_of(run.place.scenario), given.task_of(run.place.scenario)
    config, _ = read_config(spec, scenario.config)
    with weights.ONE_AT_A_TIME, torch.random.fork_rng(devices=[]):
        model = spec.build(replace(config, schedule=schedule), source_size(task), len(task.target)).to(run.device)
    for name, parameter in run.model.named_parameters():
        model.get_parameter(name).data = parameter.data
    return model


def _outputs(run: Run, schedule: str) -> Tensor:
    """Logits of all known rows under one schedule `[b, t, v]`, those of padding 0; of a class `[b, v]`."""
    model, inputs = _model(run, schedule), _inputs(run)
    with torch.no_grad():
        found, _ = model(inputs, model.initial_state(len(inputs.target.lengths)), OFF)  # type: ignore[operator]
    values: Tensor = found.values
    return values if values.dim() == 2 else torch.where(inputs.target.valid[..., None], values, 0.0)


def _way(run: Run, schedule: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """How many steps wait for each other in one pass over one request, and what the asked tap and channel give at each row."""
    _, target, source = one_request(run, arguments, NAME)
    model, tape, inputs = _model(run, schedule), Tape(), Inputs(target, source)
    with torch.no_grad():
        model(inputs, model.initial_state(1), Recorder(tape))  # type: ignore[operator]
        steps = count(lambda tap: model(inputs, model.initial_state(1), tap)).sequential  # type: ignore[operator]
    value = _numbers(tape.finish(), arguments["path"])
    channel = whole(arguments, "channel", 0, value.shape[-1] - 1, 0)
    return {"schedule": schedule, "steps": steps, "values": value[:, channel].tolist()}


def _numbers(tape: Tape, path: Any) -> Tensor:
    """What a tap recorded of the request `[row, channel]`."""
    record = tape.records.get(path) if isinstance(path, str) else None
    if record is None or record.value.dim() != 3 or record.axes[:1] != ("b",):
        allowed = ", ".join(p for p, r in tape.records.items() if r.value.dim() == 3 and r.axes[:1] == ("b",))
        raise Refused.one("arguments.path", path, allowed, f"path was given {path!r}; allowed: {allowed}")
    return record.value[0]


def _inputs(run: Run) -> Inputs:
    scenario, source = run.place.scenario, given.source_rows(run.place.scenario)
    written = [w.read(run.place.decided) for w in run.place.written] or [()] * len(scenario.requests)
    target: Rows = pad([[*p, *w] for p, w in zip(given.prompts(scenario), written, strict=True)])
    return Inputs(target.to(run.device), None if source is None else source.to(run.device))
