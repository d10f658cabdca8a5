"""Training without watching: how the shipped weights are made (`lookback train`).

The same batch, loss, optimizer and clip as an update on the page; what the page leaves constant, the learning rate, here rises in
the first steps (post-norm needs it: Xiong et al. 2020, arXiv 2002.04745) and then falls along half a cosine to 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from torch import Tensor, nn

from app.session import weights
from app.session.scenario import Scenario
from app.session.training import clip, draw, make_optimizer
from models import Inputs
from models.catalogue import tasks
from models.parts.tap import OFF
from models.tasks import Example, Task
from models.tasks.objective import batch, mean_loss, row_losses, shift

WARM_UP = 0.05  # of all steps


def fit(
    scenario: Scenario, steps: int, report: Callable[[int, float], None] = lambda step, loss: None
) -> tuple[nn.Module, float]:
    """Train the scenario's model on its task for so many updates, on the CPU. A pure function of its arguments on one machine.

    `report` gets (updates done, loss) after each. Returns the model and the mean loss of the last updates, in nats a row.
    """
    model, _ = weights.build(scenario, "cpu")
    parameters = list(model.parameters())
    for parameter in parameters:
        parameter.data = parameter.data.clone()
    optimizer = make_optimizer(scenario.training, parameters)
    task, losses = tasks()[scenario.task], []
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = scenario.training.learning_rate * rate(step, steps)
        loss = loss_of(model, task, draw(task, scenario.seed, step, scenario.training.batch_size))
        optimizer.zero_grad()
        loss.backward()
        clip(parameters, scenario.training.clip_norm)
        optimizer.step()
        losses.append(loss.item())
        report(step + 1, losses[-1])
    last = losses[-100:]
    return model, sum(last) / len(last)


def rate(step: int, steps: int) -> float:
    """The share of the full learning rate at this step: up along a line, down along half a cosine."""
    warm = max(1, round(WARM_UP * steps))
    if step < warm:
        return (step + 1) / warm
    return (1 + math.cos(math.pi * (step - warm) / (steps - warm))) / 2


def loss_of(model: nn.Module, task: Task, examples: list[Example]) -> Tensor:
    """Mean loss of a batch under teacher forcing, a scalar with its graph (nats per row that counts)."""
    source, target = batch(task, examples)
    shifted = shift(target, task.separator)
    state = model.initial_state(len(examples))  # type: ignore[operator]
    outputs, _ = model(Inputs(shifted.inputs, source), state, OFF)
    return mean_loss(row_losses(outputs.values, shifted.labels), shifted.loss_rows)
