"""Gradients against finite differences: is what the backward pass gave the slope of the loss?

A copy of the model with the parameters that this update began with runs in fp64. A seeded sample of parameters, one entry each of
as many tensors as there are, is moved by ±h, and (L(θ + h) − L(θ − h)) / 2h is compared with the backward pass of the copy:
relative error ‖difference‖ / ‖gradient‖ over the sample. The norms that the update itself recorded, in its own precision, are
compared with the copy's too. Edits at taps and masks are in force. Source: 000 0x0B.2.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from app.session import given
from app.session.analyses import Result, Run
from app.session.checks import SLOPES, small
from app.session.checks_parts import broken
from app.session.events import Check, Refused, Status
from app.session.reading import listening
from app.session.scenario import Scenario
from models import Inputs, Rows
from models.parts import norms
from models.tasks.objective import Lesson, total_loss

NAME = "finite_difference"
TITLE = "The backward pass is the slope of the loss"
ARGUMENTS: dict[str, str] = {}
SAMPLE = 32  # parameters
STEP = 1e-5  # of a parameter, in fp64: the square of it is left as error
CLOSE = 1e-4  # relative, of the copy: kinks and cancellation stay far below
RECORDED = 1e-3  # of the norm of all gradients: how far a norm may be off that was recorded in the run's own precision


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """The relative error over a sample of parameters, and the largest one of the norms that were recorded."""
    update = run.update
    if update is None or update.norms is None or update.lesson is None or run.before is None:
        message = "Gradients are there in training, after backward. Step there first."
        raise Refused.one("name", NAME, "an update after backward", message)
    scenario = update.scenario
    if reason := broken(scenario, "gradient"):
        yield Check(NAME, SLOPES, "does_not_apply", "", "measured", reason)
        yield Result({"reason": reason})
        return
    model, lesson = copy.deepcopy(run.before()).double(), _double(update.lesson)
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    loss = _loss(model, scenario, lesson)
    slopes = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
    gradients = {n: torch.zeros_like(p) if g is None else g for (n, p), g in zip(named.items(), slopes, strict=True)}
    entries = _sample(gradients, scenario.seed)
    pairs = []
    for done, (name, at) in enumerate(entries, 1):
        found = _difference(model, named[name], at, scenario, lesson)
        pairs.append((float(gradients[name].flatten()[at]), found))
        yield done / (len(entries) + 1)
    by_pass, measured = torch.tensor(pairs, dtype=torch.float64).T
    error = float((measured - by_pass).norm() / by_pass.norm().clamp_min(1e-12))
    exact = {n: float(g.norm()) for n, g in gradients.items()}
    whole = max(math.hypot(*exact.values()), 1e-12)
    off, name = max((abs(norm - exact[n]) / whole, n) for n, norm in update.norms if n in exact)
    reason = _where(entries, pairs) if not error <= CLOSE else ""
    reason = reason or (f"the recorded norm of {name} is off by {small(off)}" if not off <= RECORDED else "")
    status: Status = "fail" if reason else "pass"
    figure = f"rel. {small(error)}, {len(entries)} θ"
    yield Check(NAME, SLOPES, status, figure, "measured", reason)
    told = [{"parameter": n, "entry": i, "gradient": g, "difference": d} for (n, i), (g, d) in zip(entries, pairs, strict=True)]
    yield Result({"relative": error, "recorded": off, "step": STEP, "sample": told})


def _double(lesson: Lesson) -> Lesson:
    """The same batch for a model in fp64: features become fp64, ids stay."""
    source = lesson.source
    if source is None or not source.values.is_floating_point():
        return lesson
    return replace(lesson, source=Rows(source.values.double(), source.lengths))


def _loss(model: nn.Module, scenario: Scenario, lesson: Lesson) -> Tensor:
    size = len(lesson.labels)
    with torch.enable_grad(), norms.teaching(model):
        state = model.initial_state(size)  # type: ignore[operator]
        inputs = Inputs(lesson.inputs, lesson.source, given.visibility(scenario))
        outputs, _ = model(inputs, state, listening(model, scenario, [0] * size, None))
        return total_loss(outputs, lesson)[1]


def _sample(gradients: dict[str, Tensor], seed: int) -> list[tuple[str, int]]:
    """One entry of each tensor, where its gradient is not 0 if there is such a place; further ones until there are enough."""
    draw = torch.Generator().manual_seed(seed)
    names = list(gradients)
    order = [names[i] for i in torch.randperm(len(names), generator=draw).tolist()]
    found = []
    for i in range(SAMPLE):
        name = order[i % len(order)]
        moving = gradients[name].flatten().nonzero().flatten()
        among = len(moving) or gradients[name].numel()
        at = int(torch.randint(among, (1,), generator=draw))
        found.append((name, int(moving[at]) if len(moving) else at))
    return found


def _difference(model: nn.Module, parameter: Tensor, at: int, scenario: Scenario, lesson: Lesson) -> float:
    """The central difference at one entry; the parameter stays as it was."""
    flat = parameter.data.view(-1)
    before, losses = float(flat[at]), []
    for way in (STEP, -STEP):
        flat[at] = before + way
        with torch.no_grad():
            losses.append(float(_loss(model, scenario, lesson).detach()))
    flat[at] = before
    return (losses[0] - losses[1]) / (2 * STEP)


def _where(entries: list[tuple[str, int]], pairs: list[tuple[float, float]]) -> str:
    """The entry that is off most."""
    off = [math.inf if math.isnan(d) else abs(d - g) for g, d in pairs]
    worst = off.index(max(off))
    name, (slope, difference) = entries[worst][0], pairs[worst]
    return f"{name}: backward says {slope:.3g}, the loss moves by {difference:.3g}"
