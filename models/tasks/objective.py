"""Batches, losses, decisions: what lies between a model's outputs and a number. Each is a small replaceable function.

Sources: 000 0x0B.2 (shift and loss rows), 0x0B.4 (the decision belongs to the last valid row); Devlin et al. 2019, arXiv
1810.04805, section 3.1 (masked tokens: 15 %, of these 80 % hidden, 10 % replaced, 10 % kept); Graves et al. 2006 (CTC).
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from models import Outputs, Rows
from models.tasks import BOS, EOS, MASK, PAD, Example, Features, Special, Task, Token, words_of
from models.tasks.reinforce import surrogate

FATES = ("", "mask", "random", "kept")  # what became of a source row in a masked batch, by its number in `Lesson.became`
BLANK_ID = 0  # of <blank>, which CTC drops


@dataclass(frozen=True)
class Lesson:
    """A batch as a model learns from it.

    inputs: the target rows that it is given, `[b, t]`; none (`[b, 0]`) unless the objective is next_token. source: source rows.
    labels, loss_rows (bool): next_token `[b, t]`, masked `[b, s]`, class `[b, 1]`: the id that each row must say, and whether it
    counts. ctc: labels `[b, n]` right-padded, `label_lengths` of them `[b]`, one loss a request: loss_rows `[b, 1]`.
    became: masked: what was done to each source row `[b, s]`, a number in `FATES`.
    """

    inputs: Rows
    labels: Tensor
    loss_rows: Tensor
    source: Rows | None = None
    label_lengths: Tensor | None = None
    became: Tensor | None = None

    def to(self, device: torch.device) -> Lesson:
        """The same lesson on a device. What became of rows is only told, and stays."""
        lengths = self.label_lengths if self.label_lengths is None else self.label_lengths.to(device)
        source = None if self.source is None else self.source.to(device)
        moved = self.labels.to(device), self.loss_rows.to(device), source, lengths, self.became
        return Lesson(self.inputs.to(device), *moved)

    @property
    def rows(self) -> Rows:
        """The rows that the model computes its outputs for: target rows, or where there are none the source's."""
        return self.source if self.source is not None and not self.inputs.values.shape[1] else self.inputs


@dataclass(frozen=True)
class Corruption:
    """How much of a masked batch is corrupted, and how; the draw follows from `key`. The rest is kept."""

    key: str = ""
    rate: float = 0.15
    hidden: float = 0.8
    replaced: float = 0.1


class TooFewFrames(ValueError):
    """CTC cannot write this target in so few frames. Carries which request, and both numbers."""

    def __init__(self, request: int, frames: int, needed: int) -> None:
        self.request, self.frames, self.needed = request, frames, needed
        super().__init__(
            f"the target of request {request} needs {needed} frames (one a label, and a blank between two that are alike); "
            f"its source has {frames}"
        )


def pad(sequences: Sequence[Sequence[int]]) -> Rows:
    """Ids of unequal length to right-padded rows `[b, n]`."""
    width = max((len(s) for s in sequences), default=0)
    values = torch.full((len(sequences), width), PAD, dtype=torch.int64)
    for i, sequence in enumerate(sequences):
        values[i, : len(sequence)] = torch.tensor(sequence, dtype=torch.int64)
    return Rows(values, torch.tensor([len(s) for s in sequences], dtype=torch.int64))


def pad_features(sources: Sequence[Sequence[Sequence[float]]], width: int) -> Rows:
    """Rows of `width` numbers, of unequal count, right-padded with 0: `[b, n, width]`."""
    values = torch.zeros(len(sources), max((len(s) for s in sources), default=0), width)
    for i, rows in enumerate(sources):
        values[i, : len(rows)] = torch.tensor(rows, dtype=torch.float32).view(len(rows), width)
    return Rows(values, torch.tensor([len(s) for s in sources], dtype=torch.int64))


def opened(task: Task, tokens: Sequence[Token]) -> tuple[Token, ...]:
    """A source as the model is given it: after the task's opening token, if it has one."""
    return (*([] if task.opening is None else [Special(task.opening)]), *tokens)


def source_of(task: Task, examples: Sequence[Example]) -> Rows | None:
    """Source rows of examples: ids `[b, s]`, features `[b, n, w]`, or None where the task has no source."""
    match task.source:
        case None:
            return None
        case Features() as kind:
            return pad_features([e.features or () for e in examples], kind.width)
        case words:
            return pad([words.encode(opened(task, e.source or ())) for e in examples])


def batch(task: Task, examples: Sequence[Example]) -> tuple[Rows | None, Rows]:
    """Source rows (or None) and full target rows, <bos> words <eos>."""
    return source_of(task, examples), pad([[BOS, *task.target.encode(e.target), EOS] for e in examples])


def asked(task: Task, example: Example) -> tuple[list[int], list[int]]:
    """What is given on the target side, <bos> first, and the ids that should follow: a stream asks with its source."""
    ids, ends = task.target.encode(example.target), task.separator
    begin = 0 if ends is None else ids.index(ends) + 1
    return [BOS, *ids[:begin]], ids[begin:]


def shift(full_target: Rows, separator: int | None = None) -> Lesson:
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
    return Lesson(Rows(inputs, lengths), labels, counts)


def lesson(task: Task, examples: Sequence[Example], corruption: Corruption | None = None) -> Lesson:
    """The batch of these examples under the task's objective."""
    if task.objective == "next_token":
        source, target = batch(task, examples)
        return replace(shift(target, task.separator), source=source)
    if task.objective == "masked":
        return masked(task, examples, corruption or Corruption())
    source, none = source_of(task, examples), pad([() for _ in examples])
    labels = pad([task.target.encode(e.target) for e in examples])
    one = torch.ones(len(examples), 1, dtype=torch.bool)
    return Lesson(none, labels.values, one, source, labels.lengths if task.objective == "ctc" else None)


def masked(task: Task, examples: Sequence[Example], how: Corruption) -> Lesson:
    """Of each request's words `rate` (at least one) must be said again; most of them are hidden, some replaced, some kept.

    Special tokens are left alone, so that a request of nothing else has no row that counts.
    """
    words = words_of(task)
    if words is None:
        raise ValueError(f"task {task.id!r} hides words, so its source must be words")
    draw = random.Random(how.key)
    plain = [words.encode(opened(task, e.source or ())) for e in examples]
    given, fates = [list(ids) for ids in plain], [[0] * len(ids) for ids in plain]
    for ids, fate in zip(given, fates, strict=True):
        may = [i for i, id in enumerate(ids) if id >= len(words.specials)]
        for i in draw.sample(may, min(len(may), max(1, round(how.rate * len(may))))):
            share = draw.random()
            fate[i] = 1 if share < how.hidden else 2 if share < how.hidden + how.replaced else 3
            ids[i] = (words.specials.index(MASK), draw.randrange(len(words.specials), len(words)), ids[i])[fate[i] - 1]
    labels, became = pad(plain).values, pad(fates).values
    return Lesson(pad([() for _ in examples]), labels, became > 0, pad(given), became=became)


def row_losses(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy in nats of every row, counted or not: logits `[b, t, v]`, labels `[b, t]` -> `[b, t]`."""
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none").view(labels.shape)


def losses(outputs: Outputs, lesson: Lesson) -> Tensor:
    """Nats of every row that `lesson.loss_rows` speaks of, counted or not, in its shape."""
    match outputs.kind:
        case "next_token" | "same_token":
            return row_losses(outputs.values, lesson.labels)
        case "class":
            return row_losses(outputs.values[:, None], lesson.labels)
        case "frames":
            return ctc_losses(outputs, lesson)[:, None]


def ctc_losses(outputs: Outputs, lesson: Lesson) -> Tensor:
    """-log of the probability of all ways to write the target in the frames, of each request `[b]`. Raises TooFewFrames."""
    assert lesson.label_lengths is not None and lesson.source is not None
    frames = lesson.source.lengths if outputs.lengths is None else outputs.lengths
    for b, (have, count) in enumerate(zip(frames.tolist(), lesson.label_lengths.tolist(), strict=True)):
        needed = frames_needed(lesson.labels[b, :count].tolist())
        if have < needed:
            raise TooFewFrames(b, have, needed)
    log_p = outputs.values.log_softmax(-1).transpose(0, 1)
    return F.ctc_loss(log_p, lesson.labels, frames, lesson.label_lengths, blank=BLANK_ID, reduction="none")


def frames_needed(labels: Sequence[int]) -> int:
    """The fewest frames that can say these labels: one each, and a blank between two that are alike."""
    return len(labels) + sum(a == b for a, b in itertools.pairwise(labels))


def collapse(ids: Sequence[int]) -> list[int]:
    """What a row of frames says: a label held over several frames is one, and blanks only part."""
    return [id for id, _ in itertools.groupby(ids) if id != BLANK_ID]


def mean_loss(losses: Tensor, loss_rows: Tensor) -> Tensor:
    """Mean over the rows that count: `[b, t]`, `[b, t]` bool -> a scalar."""
    return torch.where(loss_rows, losses, 0.0).sum() / loss_rows.sum().clamp(min=1)


def total_loss(outputs: Outputs, lesson: Lesson) -> tuple[Tensor, Tensor]:
    """The losses of all rows, and what is minimised: their mean over the rows that count, and the model's penalties."""
    each = losses(outputs, lesson)
    return each, mean_loss(each, lesson.loss_rows) + sum(outputs.penalties.values())


def differentiated(outputs: Outputs, lesson: Lesson, each: Tensor, loss: Tensor) -> Tensor:
    """What the backward pass begins from: the loss, and of a model that draws also what its draws learn by (`reinforce.py`).

    That part has a gradient, and no meaning as a number."""
    return loss if outputs.drawn is None else loss + surrogate(each, lesson.loss_rows, outputs.drawn)


def decision_rows(lengths: Tensor) -> Tensor:
    """The row that decides, per request: the last valid one. `[b]` -> `[b]`; -1 where a request has no row."""
    return lengths - 1


def deciding(outputs: Outputs, source: Rows, hidden: int | None = None) -> list[list[int | None]]:
    """The source rows that decide, per request, apart from next tokens: every masked one (its id is `hidden`), the request as a
    whole (None), or every frame."""
    match outputs.kind:
        case "class":
            return [[None] for _ in range(len(source.lengths))]
        case "same_token":
            real = (source.values == hidden) & source.valid
            return [row.nonzero().flatten().tolist() for row in real]
        case _:
            lengths = source.lengths if outputs.lengths is None else outputs.lengths
            return [list(range(n)) for n in lengths.tolist()]
