"""What a text costs a language model, a character at a time: one scale for every tokenizer."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import nn

from app.session.training import batches
from models import Inputs
from models.parts.tap import OFF
from models.tasks import UNK, Example, Task
from models.tasks.objective import lesson, losses


@torch.no_grad()
def per_character(model: nn.Module, task: Task, examples: Sequence[Example]) -> dict[str, float]:
    """For a task with a tokenizer: how many pieces a character takes, and how many bits whole texts cost with their end, divided
    by their characters. Several cuts may stand for one text; the tokenizer's own is counted, so that the bits are an upper bound.

    Where words are unknown, their share stands in place of the bits: what <unk> costs does not tell which word it was.
    """
    assert task.tokenizer is not None
    nats, characters, pieces, unknown = 0.0, 0, 0, 0
    for some in batches(examples):
        taught = lesson(task, some)
        outputs, _ = model(Inputs(taught.inputs), model.initial_state(len(some)), OFF)  # type: ignore[operator]
        nats += float((losses(outputs, taught) * taught.loss_rows).sum())
        characters += sum(len(task.tokenizer.text(e.target)) for e in some)
        pieces += sum(len(e.target) for e in some)
        unknown += int((taught.labels == UNK).sum())
    found = {"pieces": pieces / characters}
    return found | ({"unknown": unknown / pieces} if unknown else {"bits": nats / characters / math.log(2)})
