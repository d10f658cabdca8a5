"""Leakage: rows that may read their own label, through all layers, and what the loss hides then.

Such a row is taught to copy what it will not have when it writes (000 0x09: full visibility with next-token labels). So the same
held-out rows are also read one at a time, each before its label exists, as the model reads when it writes.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn

from app.session import given
from app.session.reading import listening
from app.session.scenario import Scenario
from models import Inputs, Rows
from models.parts.visibility import NoVisibleKey, Visibility
from models.tasks.objective import Lesson, mean_loss, row_losses


@lru_cache(maxsize=32)
def causal(visibility: Visibility, rows: int) -> bool:
    """Whether no one of so many rows may read a later one."""
    return not visibility.sees_later(rows, rows)


def labels_in_sight(scenario: Scenario, lesson: Lesson) -> list[tuple[int, int]]:
    """(sequence, row) of the counted rows that the masks let see their own label, through all layers.

    Row t must predict the token that row t + 1 is given: it is in sight if some way of reads, a layer each, leads there.
    """
    rows = torch.arange(lesson.labels.shape[1])
    spec, seen = given.spec_of(scenario), given.visibility(scenario)
    own = [seen[r.name] for r in spec.relations if r.query == "t" and r.key == "t"]
    if not given.writes(scenario):
        return []
    if not own or all(causal(v, len(rows)) for v in dict.fromkeys(own[0])):
        return []
    valid = lesson.inputs.valid.cpu()
    sees = torch.eye(len(rows), dtype=torch.bool).expand(len(valid), -1, -1)
    for layer in own[0]:
        reads = (layer.allows(rows[:, None], rows[None, :]) & valid[:, None, :]) | torch.eye(len(rows), dtype=torch.bool)
        sees = (reads.float() @ sees.float()) > 0
    visible = torch.zeros_like(valid)
    visible[:, :-1] = sees.diagonal(1, 1, 2)
    return [(b, t) for b, t in (visible & lesson.loss_rows.cpu()).nonzero().tolist()]


@dataclass(frozen=True)
class Written:
    """Of the counted rows: mean loss (nats) as the model writes, row by row; the share whose most probable token is right, so and
    with the labels in sight."""

    loss: float
    right: float
    right_in_sight: float


def as_it_writes(model: nn.Module, scenario: Scenario, lesson: Lesson) -> Written | None:
    """None where no label is in sight (then it is the same either way), or where a first row may only read later ones."""
    if not labels_in_sight(scenario, lesson):
        return None
    with torch.no_grad(), suppress(NoVisibleKey):
        found = _row_by_row(model, scenario, lesson)
        at_once = _logits(model, scenario, lesson)
        loss = float(mean_loss(row_losses(found, lesson.labels), lesson.loss_rows))
        return Written(loss, _right(found, lesson), _right(at_once, lesson))
    return None


def _right(logits: Tensor, lesson: Lesson) -> float:
    return float((logits.argmax(-1) == lesson.labels)[lesson.loss_rows].float().mean())


def _logits(model: nn.Module, scenario: Scenario, lesson: Lesson) -> Tensor:
    size = len(lesson.labels)
    inputs = Inputs(lesson.inputs, lesson.source, given.visibility(scenario))
    return model(inputs, model.initial_state(size), listening(model, scenario, [0] * size, None))[0].values  # type: ignore


def _row_by_row(model: nn.Module, scenario: Scenario, lesson: Lesson) -> Tensor:
    """Logits `[b, t, v]` of rows that are read in one call up to the first that counts, then one a call, from what is kept."""
    values, lengths = lesson.inputs.values, lesson.inputs.lengths
    state, source, seen = model.initial_state(len(values)), lesson.source, given.visibility(scenario)  # type: ignore[operator]
    known = torch.zeros_like(lengths)
    upto = torch.minimum(lesson.loss_rows.long().argmax(1) + 1, lengths)
    found: Tensor | None = None
    while bool((known < lengths).any()):
        new = (upto - known).clamp(min=0)
        at = (known[:, None] + torch.arange(int(new.max()), device=values.device)).clamp(max=values.shape[1] - 1)  # b n
        rows = Rows(values.gather(1, at), new)
        tap = listening(model, scenario, known.tolist(), None)
        outputs, state = model(Inputs(rows, source, seen), state, tap)
        found = outputs.values.new_zeros(*values.shape, outputs.values.shape[-1]) if found is None else found
        b, n = rows.valid.nonzero(as_tuple=True)
        found[b, at[b, n]] = outputs.values[b, n]
        source, known, upto = None, upto, torch.minimum(upto + 1, lengths)
    assert found is not None
    return found
