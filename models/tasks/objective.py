"""Shift, loss rows, loss, decision rows: what lies between a model's outputs and a number. Each is a small replaceable function.

Source: 000 0x0B.2 (shift and loss rows), 0x0B.4 (the decision belongs to the last valid row).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from models import Rows
from models.tasks import BOS, EOS, PAD, Example, Task, words_of


@dataclass(frozen=True)
class Shifted:
    """Teacher forcing: `inputs` rows `[b, t]`, `labels` `[b, t]`, and which rows count, `loss_rows` `[b, t]` (bool)."""

    inputs: Rows
    labels: Tensor
    loss_rows: Tensor


def pad(sequences: Sequence[Sequence[int]]) -> Rows:
    """Ids of unequal length to right-padded rows `[b, n]`."""
    width = max((len(s) for s in sequences), default=0)
    values = torch.full((len(sequences), width), PAD, dtype=torch.int64)
    for i, sequence in enumerate(sequences):
        values[i, : len(sequence)] = torch.tensor(sequence, dtype=torch.int64)
    return Rows(values, torch.tensor([len(s) for s in sequences], dtype=torch.int64))


def batch(task: Task, examples: Sequence[Example]) -> tuple[Rows | None, Rows]:
    """Source rows (or None) and full target rows, <bos> words <eos>."""
    words = words_of(task)
    source = None if words is None else pad([words.encode(e.source or ()) for e in examples])
    return source, pad([[BOS, *task.target.encode(e.target), EOS] for e in examples])


def asked(task: Task, example: Example) -> tuple[list[int], list[int]]:
    """What is given on the target side, <bos> first, and the ids that should follow: a stream asks with its source."""
    ids, ends = task.target.encode(example.target), task.separator
    begin = 0 if ends is None else ids.index(ends) + 1
    return [BOS, *ids[:begin]], ids[begin:]


def shift(full_target: Rows, separator: int | None = None) -> Shifted:
    """Row t is given token t and must predict token t + 1; a row whose label is padding does not count. In a stream that begins
    with its source, neither do the rows before the separator: what the source says is given, not learned.

    The row that is given <eos> is a real key row (its input is not padding) but has no label: key validity and loss rows
    differ there (000 0x0B.2). In a rectangle cut by one, only rows shorter than the longest keep their <eos> input.
    """
    inputs, labels = full_target.values[:, :-1], full_target.values[:, 1:]
    lengths = full_target.lengths.clamp(max=inputs.shape[1])
    counts = labels != PAD
    if separator is not None:
        counts = counts & ((inputs == separator).cumsum(1) > 0)
    return Shifted(Rows(inputs, lengths), labels, counts)


def row_losses(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy in nats of every row, counted or not: logits `[b, t, v]`, labels `[b, t]` -> `[b, t]`."""
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none").view(labels.shape)


def mean_loss(losses: Tensor, loss_rows: Tensor) -> Tensor:
    """Mean over the rows that count: `[b, t]`, `[b, t]` bool -> a scalar."""
    return torch.where(loss_rows, losses, 0.0).sum() / loss_rows.sum().clamp(min=1)


def decision_rows(lengths: Tensor) -> Tensor:
    """The row that decides, per request: the last valid one. `[b]` -> `[b]`; -1 where a request has no row."""
    return lengths - 1
