"""How well a model copies the letters of `models/tasks/selective_copy.py`."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from app.session.training import batches
from models import Inputs
from models.parts.tap import OFF
from models.tasks import Example
from models.tasks.objective import batch, shift
from models.tasks.selective_copy import COPY, SelectiveCopy


@torch.no_grad()
def copied(model: nn.Module, task: SelectiveCopy, examples: Sequence[Example]) -> dict[str, float]:
    """Shares of the letters after "copy" that are the most probable, given those before, and of the examples whose all are."""
    right: list[list[bool]] = []
    for some in batches(examples):
        _, target = batch(task, some)
        outputs, _ = model(Inputs(shift(target).inputs), model.initial_state(len(some)), OFF)  # type: ignore[operator]
        best = outputs.values.argmax(-1).tolist()
        for b, example in enumerate(some):  # the row that predicts word t stands at row t
            after = range(example.target.index(COPY) + 1, len(example.target))
            right.append([best[b][t] == task.target.ids[example.target[t]] for t in after])
    letters = [hit for one in right for hit in one]
    return {"letters": sum(letters) / len(letters), "whole": sum(map(all, right)) / len(right)}
