"""The parts of an update that a person can set: the optimizer, the clip, the batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import torch
from torch import nn

from app.session.methods import Training
from models.tasks import Example, Task, words_of

T = TypeVar("T")

STRIDE = 128  # indices that one update owns: more than a batch may hold, so that two updates never share an example
TOGETHER = 64  # examples that are measured in one call


def make_optimizer(training: Training, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """AdamW (Loshchilov and Hutter 2019; betas of Vaswani et al. 2017, section 5.3) or plain SGD without momentum."""
    match training.optimizer:
        case "adamw":
            return torch.optim.AdamW(parameters, lr=training.learning_rate, betas=(0.9, 0.98), weight_decay=0.01)
        case "sgd":
            return torch.optim.SGD(parameters, lr=training.learning_rate)


def clip(parameters: Iterable[nn.Parameter], limit: float | None) -> tuple[float, float]:
    """Scale all gradients together so that their L2 norm is at most `limit` (Pascanu et al. 2013, section 3.2).

    Returns the norm before and the factor applied (1.0 = not clipped, or no limit).
    """
    gradients = [p.grad for p in parameters if p.grad is not None]
    if not gradients:
        return 0.0, 1.0
    norm = float(torch.stack([g.norm() for g in gradients]).norm())
    if limit is None or norm <= limit:
        return norm, 1.0
    for gradient in gradients:
        gradient.mul_(limit / norm)
    return norm, limit / norm


def batches(items: Sequence[T]) -> list[list[T]]:
    """In their order, as many at once as are measured together; the last one may be smaller."""
    return [list(items[i : i + TOGETHER]) for i in range(0, len(items), TOGETHER)]


def draw(task: Task, seed: int, update: int, size: int) -> list[Example]:
    """The batch of one update: the first `size` of the examples that this update owns.

    A batch of two or more has rows of different counts if the task has any, so that padding can be seen in it.
    """
    own = [task.example(seed, "train", update * STRIDE + i) for i in range(size)]
    if size > 1 and _varies(task) and len({_rows(task, e) for e in own}) == 1:
        spare = (task.example(seed, "train", update * STRIDE + i) for i in range(size, STRIDE))
        own[-1] = next((e for e in spare if _rows(task, e) != _rows(task, own[0])), own[-1])
    return own


def _varies(task: Task) -> bool:
    """Whether it makes sense to look for another count: pictures are all alike, and so may sequences be."""
    return task.objective == "next_token" or words_of(task) is not None


def _rows(task: Task, example: Example) -> int:
    return len(example.target if task.objective == "next_token" else example.source or ())
