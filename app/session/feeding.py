"""What a training row is given: the gold token, or what the model itself would have written there (inventory C2, 000 0x0B.7).

Teacher forcing gives gold tokens. Scheduled sampling (Bengio et al. 2015, arXiv 1506.03099, section 2.4) gives each row its gold
token with probability epsilon, which falls with the updates i = 0, 1, ...; free-running never does (epsilon 0):

    constant         epsilon_i = epsilon
    linear           epsilon_i = max(0, 1 - i / k)
    inverse_sigmoid  epsilon_i = k / (k + exp(i / k))

The model's token is its most probable one after the inputs so far, read anew from the first row: any model that writes can be fed
so. No gradient goes through that choice, and the loss stays on the gold labels. A row whose own label does not count keeps
its token. The draws follow from the seed and the update.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor, nn

from app.session import given
from app.session.keyed import generator
from app.session.methods import Training
from app.session.reading import listening
from app.session.scenario import Scenario
from models import Inputs, Rows
from models.tasks.objective import Lesson


def gold_share(training: Training, update: int) -> float:
    """With which probability a row of this update (from 1) is given its gold token."""
    if training.feeding != "scheduled":
        return float(training.feeding == "teacher")
    i, k = update - 1, training.decay
    match training.schedule:
        case "constant":
            return training.gold_share
        case "linear":
            return max(0.0, 1 - i / k)
        case "inverse_sigmoid":
            return k / (k + math.exp(min(i / k, 700.0)))


def fed(model: nn.Module, scenario: Scenario, lesson: Lesson, update: int) -> tuple[Lesson, Tensor | None]:
    """The lesson with the model's own tokens in place of some, and which `[b, t]` (bool); None: every row has its gold token."""
    share, counts = gold_share(scenario.training, update), lesson.loss_rows
    if share >= 1 or given.task_of(scenario).objective != "next_token":
        return lesson, None
    draws = torch.rand(counts.shape, generator=generator(scenario.seed, "feed", update))
    own = draws.to(counts.device) >= share
    own[:, 0] = False
    own[:, 1:] &= counts[:, :-1] & counts[:, 1:]
    values = lesson.inputs.values.clone()
    for t in range(1, values.shape[1]):
        if own[:, t].any():
            values[:, t] = torch.where(own[:, t], _written(model, scenario, lesson, values[:, :t]), values[:, t])
    return replace(lesson, inputs=Rows(values, lesson.inputs.lengths)), own


def _written(model: nn.Module, scenario: Scenario, lesson: Lesson, values: Tensor) -> Tensor:
    """What the model would write after these rows: ids `[b, t]` -> `[b]`."""
    size, count = values.shape
    rows = Rows(values, lesson.inputs.lengths.clamp(max=count))
    with torch.no_grad():
        inputs = Inputs(rows, lesson.source, given.visibility(scenario))
        tap = listening(model, scenario, [0] * size, None)
        outputs, _ = model(inputs, model.initial_state(size), tap)  # type: ignore[operator]
    return outputs.values[:, -1].argmax(-1)
