"""Training without watching: how the shipped weights are made (`lookback train`).

The same batch, loss, optimizer and clip as an update on the page; what the page leaves constant, the learning rate, here rises in
the first steps (post-norm needs it: Xiong et al. 2020, arXiv 2002.04745) and then falls along half a cosine to 0. A curriculum
may give it the shortest examples of a task first (Bengio et al. 2009), and then mixed with all others, so that they are not
forgotten (Zaremba and Sutskever 2014, arXiv 1410.4615, section 3).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from app.session import given, weights
from app.session.scenario import Scenario
from app.session.training import clip, draw, make_optimizer
from models import Inputs
from models.catalogue import tasks
from models.parts import norms
from models.parts.tap import OFF, Recorder, Tap
from models.tasks import Example, Task
from models.tasks.objective import Corruption, differentiated, lesson, total_loss
from models.tasks.reinforce import settle

WARM_UP = 0.05  # of all steps


def fit(
    scenario: Scenario,
    steps: int,
    report: Callable[[int, float], None] = lambda step, loss: None,
    short: int = 0,
    begin: str | None = None,
) -> tuple[nn.Module, float]:
    """Train the scenario's model on its task for so many updates, on the CPU. A pure function of its arguments on one machine.

    `report` gets (updates done, loss) after each. short: so many updates learn from the shortest examples of the task alone, and
    of the updates after them every other one (0: none). begin: a shipped checkpoint that it begins with.
    Returns the model and the mean loss of the last updates, in nats a row.
    """
    model, _ = weights.build(scenario, "cpu")
    parameters = list(model.parameters())
    for parameter in parameters:
        parameter.data = parameter.data.clone()
    if begin is not None:
        weights.begin_with(model, begin)
    optimizer = make_optimizer(scenario.training, parameters)
    task, losses = tasks()[scenario.task], []
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = scenario.training.learning_rate * rate(step, steps)
        now = task.shortest() if step < short or (short and step % 2) else task
        losses.append(_update(model, optimizer, scenario, draw(now, scenario.seed, step, scenario.training.batch_size), step))
        report(step + 1, losses[-1])
    last = losses[-100:]
    return model, sum(last) / len(last)


def _update(model: nn.Module, optimizer: torch.optim.Optimizer, scenario: Scenario, examples: list[Example], step: int) -> float:
    """Learn from one batch. Returns its loss."""
    taught = lesson(tasks()[scenario.task], examples, given.corruption(scenario, str(step)))
    state = model.initial_state(len(examples))  # type: ignore[operator]
    chances = given.training_chances(scenario, step, taught.inputs.values.shape)
    with norms.teaching(model) as seen:
        outputs, _ = model(Inputs(taught.inputs, taught.source, chances=chances), state, OFF)
    each, loss = total_loss(outputs, taught)
    optimizer.zero_grad()
    differentiated(outputs, taught, each, loss).backward()
    clip(model.parameters(), scenario.training.clip_norm)
    optimizer.step()
    norms.settle(seen)
    if outputs.drawn is not None:
        settle(each, taught.loss_rows, outputs.drawn)
    return float(loss.item())


def rate(step: int, steps: int) -> float:
    """The share of the full learning rate at this step: up along a line, down along half a cosine."""
    warm = max(1, round(WARM_UP * steps))
    if step < warm:
        return (step + 1) / warm
    return (1 + math.cos(math.pi * (step - warm) / (steps - warm))) / 2


def loss_of(
    model: nn.Module, task: Task, examples: list[Example], corruption: Corruption | None = None, tap: Tap = OFF
) -> Tensor:
    """What is minimised over a batch, a scalar with its graph: nats per row that counts, and the model's penalties.

    A tap that records has its tape finished, ready for a backward pass.
    """
    taught = lesson(task, examples, corruption)
    state = model.initial_state(len(examples))  # type: ignore[operator]
    outputs, _ = model(Inputs(taught.inputs, taught.source), state, tap)
    if isinstance(tap, Recorder):
        tap.tape.finish()
    return total_loss(outputs, taught)[1]
