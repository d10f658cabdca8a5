"""Rows beyond those that a model was trained on: its loss by row number, under each RoPE scaling, with the same weights.

The task's own held-out examples, made longer where it can make them; the model is built again for each scaling and given the
parameters of this run. Sources of the scalings: `models/parts/rates.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from app.session import given, weights
from app.session.analyses import Result, Run, whole
from app.session.events import Check, Refused
from app.session.measures import REPORT_SEED
from models import Inputs
from models.catalogue import read_config
from models.parts.rates import SCALINGS
from models.parts.tap import OFF
from models.tasks import Example, Task
from models.tasks.language_model import LanguageModel
from models.tasks.objective import batch, row_losses, shift
from models.tasks.repeats import SIGNS, Repeats

NAME = "extrapolation"
TITLE = "Loss by row, beyond the trained rows"
ARGUMENTS = {"times": "how many times the trained rows, from 1 to 8", "factor": "the factor of every scaling, from 1 to 64"}
EXAMPLES = 96
WINDOW = 8  # rows that one point of the curve is the mean of


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """By scaling: mean loss (nats) of the rows that can be known, in windows of rows; `trained`: the most rows learned."""
    scenario = run.place.scenario
    config, _ = read_config(given.spec_of(scenario), scenario.config)
    if getattr(config, "position", None) != "rope" or not hasattr(run.model, "decoder"):
        raise Refused.one("name", NAME, "a model with RoPE", "Only RoPE has scalings for more rows: set Position to RoPE.")
    trained = config.trained_rows
    rows = trained * whole(arguments, "times", 1, 8, 4)
    examples = _examples(given.task_of(scenario), rows)
    curves, factor = {}, whole(arguments, "factor", 1, 64, 4)
    for done, scaling in enumerate(SCALINGS):
        model = _scaled(run.model, scenario, scaling, factor)
        curves[scaling] = _curve(model, given.task_of(scenario), examples, rows)
        yield (done + 1) / len(SCALINGS)
    yield Result(
        {"trained": trained, "rows": rows, "factor": factor, "window": WINDOW, "curves": curves, "examples": len(examples)}
    )


def _scaled(model: nn.Module, scenario: Any, scaling: str, factor: int) -> nn.Module:
    """The same parameters, their queries and keys turned otherwise."""
    config = {**scenario.config, "scaling": scaling, "factor": float(factor)}
    other, _ = weights.build(scenario.model_copy(update={"config": config, "weights": "random"}), next(model.parameters()).device)
    own = dict(model.named_parameters())
    for name, parameter in other.named_parameters():
        parameter.data = own[name].data
    return other


def _examples(task: Task, rows: int) -> list[Example]:
    """As long as `rows`, as far as the task can make them so."""
    longer: Task = task
    if isinstance(task, Repeats):
        longer = Repeats((4, min(len(SIGNS), rows // 2)))
    elif isinstance(task, LanguageModel):
        longer = LanguageModel((5, 5))
    return [longer.example(REPORT_SEED, "held_out", i) for i in range(EXAMPLES)]


@torch.no_grad()
def _curve(model: nn.Module, task: Task, examples: list[Example], rows: int) -> list[list[float]]:
    """Points (first row of a window, mean loss). Of repeated segments only the second copy counts: the first cannot be known."""
    source, target = batch(task, examples)
    shifted = shift(target)
    outputs, _ = model(Inputs(shifted.inputs, source), model.initial_state(len(examples)), OFF)  # type: ignore[operator]
    losses, counted = row_losses(outputs.values, shifted.labels), shifted.loss_rows
    if isinstance(task, Repeats):
        half = torch.tensor([len(e.target) // 2 for e in examples])[:, None]
        at = torch.arange(losses.shape[1])
        counted = counted & (at > half) & (at < 2 * half)
    found = []
    for begin in range(0, min(rows, losses.shape[1]), WINDOW):
        some = counted[:, begin : begin + WINDOW]
        if bool(some.any()):
            found.append([begin, float(losses[:, begin : begin + WINDOW][some].mean())])
    return found
