"""How noisy the gradient is that REINFORCE estimates: the same batch and parameters, drawn anew many times.

The variance of an estimate is that of all its numbers together, E |g - E g|^2 = trace of the covariance (Xu et al. 2015, section
4.1, name it as what the baseline is for). Measured once with the baseline and once without, on the same draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from app.session import checks, given
from app.session.analyses import Result, Run
from app.session.events import Check, Refused, Status
from app.session.reading import listening
from app.session.updating import Update
from models import Inputs
from models.tasks.objective import differentiated, total_loss

NAME = "draw_noise"
TITLE = "How noisy the gradient through the draw is"
ARGUMENTS: dict[str, str] = {"draws": "how often the batch is drawn anew, 2 to 200 (default 24)"}
DRAWS = 24


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """Variance of the gradient over all parameters, with and without the baseline, and the length of its mean."""
    count = _count(arguments.get("draws", DRAWS))
    update = run.update
    if update is None or update.outputs is None or update.outputs.drawn is None or update.lesson is None or run.before is None:
        message = "There is no update here whose model draws. Train hard attention, and ask after a forward stage."
        raise Refused.one("name", NAME, "an update of a model that draws", message)
    model, found = run.before(), list[Tensor]()
    for i in range(count):
        found.append(torch.stack(_gradients(model, update, i)))
        yield (i + 1) / count
    every = torch.stack(found)  # draw, with and without, numbers
    with_baseline, without = (float(every[:, k].var(0).sum()) for k in (0, 1))
    signal = float(every[:, 0].mean(0).norm())
    calmer = with_baseline <= without
    status: Status = "pass" if calmer and math.isfinite(without) else "fail"
    measured = f"variance {with_baseline:.2g}, without {without:.2g}"
    reason = "" if calmer else "the baseline does not fit these rewards yet; it follows them from update to update"
    yield Check(NAME, checks.NOISE, status, measured, "measured", reason)
    yield Result({"draws": count, "with_baseline": with_baseline, "without": without, "mean_length": signal})


def _gradients(model: nn.Module, update: Update, draw: int) -> list[Tensor]:
    """All gradients of one draw in one row of numbers: with the baseline, without."""
    lesson, scenario = update.lesson, update.scenario
    assert lesson is not None
    size = len(update.examples)
    parameters = [p for p in model.parameters() if p.requires_grad]
    with torch.enable_grad():
        chances = given.training_chances(scenario, update.number, lesson.inputs.values.shape, draw)
        inputs = Inputs(lesson.inputs, lesson.source, given.visibility(scenario), chances)
        outputs, _ = model(inputs, model.initial_state(size), listening(model, scenario, [0] * size, None))  # type: ignore[operator]
        each, loss = total_loss(outputs, lesson)
        drawn = outputs.drawn
        assert drawn is not None
        bare = replace(outputs, drawn=replace(drawn, baseline=torch.zeros_like(drawn.baseline)))
        wholes = [differentiated(o, lesson, each, loss) for o in (outputs, bare)]
        return [_flat(torch.autograd.grad(w, parameters, retain_graph=True, allow_unused=True), parameters) for w in wholes]


def _flat(gradients: tuple[Tensor | None, ...], parameters: list[nn.Parameter]) -> Tensor:
    return torch.cat([(torch.zeros_like(p) if g is None else g).flatten() for g, p in zip(gradients, parameters, strict=True)])


def _count(given: Any) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or not 2 <= given <= 200:
        raise Refused.one("arguments.draws", given, "2 to 200", f"arguments.draws was given {given!r}; allowed: 2 to 200")
    return given
