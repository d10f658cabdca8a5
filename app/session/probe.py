"""What a freshly built model taps and how many heads each relation has, found by running it once on two rows."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable

import torch
from torch import Tensor, nn

from app.session import describing, given
from app.session.events import Schema
from app.session.scenario import Scenario
from models import Inputs, Rows
from models.parts.tap import Recorder
from models.parts.tape import Record, Tape
from models.tasks import Features
from models.tasks.objective import pad_features

Found = tuple[Schema, dict[str, int], dict[str, int]]
MOST = 64
_known: OrderedDict[tuple[object, ...], Found] = OrderedDict()


def probe(model: nn.Module, scenario: Scenario, device: torch.device) -> Found:
    """The contract of every tap and parameter, heads by relation name, and the size of every axis that is not a row's.

    Masks of the scenario are left aside. All of it follows from what the model is built of, so it is found once for each of the
    last `MOST` and shared by the runs: two thirds of the time that a run takes to open.
    """
    key = _built_of(model, scenario)
    found = _known.pop(key, None) or _found(model, scenario, device)
    _known[key] = found
    if len(_known) > MOST:
        _known.popitem(last=False)
    return found


def _built_of(model: nn.Module, scenario: Scenario) -> tuple[object, ...]:
    shapes = tuple((name, p.shape, p.dtype) for name, p in model.named_parameters())
    features = scenario.requests[0].features if isinstance(given.task_of(scenario).source, Features) else None
    return scenario.architecture, scenario.task, json.dumps(scenario.config, sort_keys=True), features, shapes


def _found(model: nn.Module, scenario: Scenario, device: torch.device) -> Found:
    spec = given.spec_of(scenario)
    recorder = Recorder(gradients=True)
    outputs, _ = model(_small(scenario, device), model.initial_state(1), recorder)  # type: ignore[operator]
    tape = recorder.tape.finish()
    reached = _backward(model, outputs.values.sum() + sum(outputs.penalties.values()), tape)
    model.zero_grad()
    heads = {r.name: _heads(tape.records, r.path) for r in spec.relations}
    sizes = {axis: size for axis, size in tape.sizes.items() if axis.rstrip("'") not in ("b", "s", "t", "i", "j")}
    return describing.schema(tape, model, scenario, reached), heads, sizes


def _small(scenario: Scenario, device: torch.device) -> Inputs:
    """Two rows of each owner that the task has. Features are the first request's own: a picture has a size of its own."""
    task = given.task_of(scenario)
    two = Rows(torch.ones(1, 2, dtype=torch.int64, device=device), torch.tensor([2], device=device))
    none = Rows(two.values[:, :0], two.lengths - 2)
    source = None if task.source is None else two
    if isinstance(task.source, Features):
        source = pad_features([scenario.requests[0].features or ()], task.source.width).to(device)
    return Inputs(two if given.writes(scenario) else none, source)


def _backward(model: nn.Module, total: Tensor, tape: Tape) -> dict[str, int]:
    """Run a backward pass: where in it each tap is reached (0 first), and the last one before a parameter's gradient is whole."""
    reached: dict[str, int] = {}

    def hook(name: str) -> Callable[[Tensor], None]:
        return lambda _: reached.__setitem__(f"parameter.{name}", len(tape.reached()) - 1)

    hooks = [p.register_post_accumulate_grad_hook(hook(name)) for name, p in model.named_parameters() if p.requires_grad]
    total.backward()
    for handle in hooks:
        handle.remove()
    return reached | {path: i for i, path in enumerate(tape.gradients)}


def _heads(records: dict[str, Record], path: str) -> int:
    """The size of axis h in the weights under this scope; 1 where they have no heads."""
    scope = path.format(layer=0)
    weights = next((r for p, r in records.items() if p.startswith(scope + ".") and r.type in ("weights", "coefficients")), None)
    return weights.value.shape[weights.axes.index("h")] if weights is not None and "h" in weights.axes else 1
