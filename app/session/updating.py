"""One training update, stage by stage: batch, forward, loss, backward, clip, update (inventory C1, 000 0x0B.2-0x0B.3).

An `Update` is work in progress: it holds the graph between stages, so a moment inside an update is made again by running
its stages again from the parameters that the update began with.
"""

from __future__ import annotations

import math
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from weakref import WeakSet

import torch
from torch import Tensor

from app.session import given, interventions
from app.session.events import Refused
from app.session.feeding import fed
from app.session.leak import as_it_writes
from app.session.lineage import Learner
from app.session.operations import ops
from app.session.reading import listening
from app.session.scenario import Scenario
from app.session.shown import StageTime
from app.session.timeline import STAGES, Place
from app.session.training import clip, draw
from models import Inputs, Outputs, Rows
from models.parts import norms
from models.parts.tap import Recorder
from models.parts.tape import Tape, TapeFull
from models.parts.visibility import NoVisibleKey
from models.tasks import Example
from models.tasks.objective import Lesson, TooFewFrames, differentiated, lesson, losses, mean_loss, total_loss
from models.tasks.reinforce import settle

VALIDATE_EVERY = 10  # updates
HELD_OUT = 16  # examples of the validation loss
ROOM = 64 << 20  # bytes of values that one update may record; their gradients take as much again
EVERYBODY = 512 << 20  # the same for the updates of all sessions of this process together
_live: WeakSet[Update] = WeakSet()
_counting = threading.Lock()


def room() -> int:
    """How many bytes of values a new update may record now."""
    with _counting:
        return max(0, min(ROOM, EVERYBODY - sum(u.recorded for u in _live)))


@dataclass(eq=False)
class Update:
    """Update number `number` (from 1) of a run. Fields fill stage by stage.

    `moves`: of every parameter the L2 norms of what the optimizer added to it and of what it was before. `room`: bytes of values
    that it may record; one that needs more is refused in its forward stage.
    """

    learner: Learner
    scenario: Scenario
    number: int
    record: bool = True
    room: int = ROOM
    recorded: int = 0
    done: list[tuple[str, float]] = field(default_factory=list)  # (stage, measured ms)
    examples: list[Example] = field(default_factory=list)
    lesson: Lesson | None = None
    gold: Tensor | None = None  # the target rows as teacher forcing gives them `[b, t]`
    own: Tensor | None = None  # which of them the model's own tokens stand in for `[b, t]`; None: none
    tape: Tape = field(default_factory=Tape)
    seen: list[norms.Seen] = field(default_factory=list)  # what norms over rows measured
    outputs: Outputs | None = None
    losses: Tensor | None = None
    loss: Tensor | None = None
    norms: list[tuple[str, float]] | None = None
    norm: float | None = None
    clip_factor: float | None = None
    moves: list[tuple[str, float, float]] | None = None
    unedited_loss: float | None = None  # of the same batch without edits and masks of a person, where there are any

    @property
    def stage(self) -> str:
        """The last stage done, "" before the first."""
        return self.done[-1][0] if self.done else ""

    def stage_times(self) -> dict[str, StageTime]:
        """The stages done, by name, with their measured times."""
        rows = 0 if self.lesson is None else self.lesson.rows.valid.numel()
        at = {"forward": (rows, ops(self.tape)), "backward": (0, ops(self.tape, self.tape.gradients))}
        return {name: StageTime(name, ms, *at.get(name, (0, ()))) for name, ms in self.done}

    @property
    def extent(self) -> tuple[list[int], list[int]]:
        """The first target row of each sequence, and how many are real."""
        lengths = [] if self.lesson is None else self.lesson.inputs.lengths.tolist()
        return [0] * len(lengths), lengths

    @property
    def finished(self) -> bool:
        return self.stage == STAGES["train"][-1]

    def advance(self) -> str:
        """Do the next stage and return its name."""
        stage = STAGES["train"][len(self.done)]
        began = time.perf_counter()
        getattr(self, f"_{stage}")()
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        self.done.append((stage, (time.perf_counter() - began) * 1e3))
        plain = interventions.unedited(self.scenario) if stage == "loss" and self.record else None
        self.unedited_loss = self.unedited_loss if plain is None else self._loss_of(plain)
        return stage

    @property
    def healthy(self) -> bool:
        """Whether loss and gradient norm are numbers, as far as they are computed. If not, the update is not carried out."""
        loss = None if self.loss is None else float(self.loss.detach())
        return all(math.isfinite(x) for x in (loss, self.norm) if x is not None)

    def until(self, stage: str) -> Update:
        """Advance to the end of this stage, or to where loss or gradient norm stop being numbers."""
        while self.stage != stage and self.healthy:
            self.advance()
        return self

    def place(self, place: Place) -> Place:
        """That place with this update as far as it got."""
        updates = self.number if self.finished else self.number - 1
        return replace(place, stage="" if self.finished else self.stage, step=updates, updates=updates)

    @property
    def _device(self) -> torch.device:
        return next(self.learner.model.parameters()).device

    def _batch(self) -> None:
        s, task = self.scenario, given.task_of(self.scenario)
        mine = s.training.batch == "mine"
        self.examples = given.own_examples(s) if mine else draw(task, s.seed, self.number, s.training.batch_size)
        gold = lesson(task, self.examples, given.corruption(s, str(self.number))).to(self._device)
        self.gold = gold.inputs.values
        self.lesson, self.own = fed(self.learner.model, s, gold, self.number)

    def _forward(self) -> None:
        assert self.lesson is not None
        model = self.learner.model
        model.zero_grad()
        self.tape.room = self.room
        starts = [0] * len(self.examples)
        tap = listening(model, self.scenario, starts, self.tape if self.record else None, gradients=True)
        state = model.initial_state(len(self.examples))  # type: ignore[operator]
        try:
            with norms.teaching(model) as self.seen:
                self.outputs, _ = model(self._inputs(self.scenario), state, tap)
        except TapeFull:
            raise self._too_large() from None
        self.recorded = int(self.room - self.tape.room)
        self.tape.finish()
        with _counting:
            _live.add(self)

    def _too_large(self) -> Refused:
        """What to say where the recording does not fit: measured on the batch's first sequence, as long as all of them are."""
        assert self.lesson is not None
        tape, size, source = Tape(), len(self.examples), self.lesson.source
        one = Rows(self.lesson.inputs.values[:1], self.lesson.inputs.lengths[:1])
        first = None if source is None else Rows(source.values[:1], source.lengths[:1])
        rows = self.lesson.rows.values.shape[1]
        with torch.no_grad(), norms.teaching(self.learner.model):
            inputs = Inputs(one, first, given.visibility(self.scenario))
            self.learner.model(inputs, self.learner.model.initial_state(1), Recorder(tape))  # type: ignore[operator]
        each = sum(r.value.nbytes for r in tape.records.values())
        fits = self.room // each
        need, may = (f"{2 * n / 2**20:.0f} MiB" for n in (each * size, self.room))
        allowed = f"at most {fits} sequences of {rows} rows with this model now"
        message = (
            f"Update {self.number} would hold {need} of values and gradients for looking at; {may} are free, enough for {fits} "
            f"sequences of {rows} rows. Take a smaller batch (now {size}), or fewer layers or a smaller width."
        )
        return Refused.one("training.batch_size", size, allowed, message)

    def _loss(self) -> None:
        assert self.lesson is not None and self.outputs is not None
        try:
            self.losses, self.loss = total_loss(self.outputs, self.lesson)
        except TooFewFrames as error:
            allowed, message = f"{error.needed} or more frames", f"Nothing was changed: {error}."
            raise Refused.one("training.batch", error.frames, allowed, message) from None

    def _inputs(self, scenario: Scenario) -> Inputs:
        assert self.lesson is not None
        chances = given.training_chances(scenario, self.number, self.lesson.inputs.values.shape)
        return Inputs(self.lesson.inputs, self.lesson.source, given.visibility(scenario), chances)

    def _loss_of(self, scenario: Scenario) -> float:
        """The loss of this batch under another scenario's masks and edits, with the weights as they are; nothing is recorded."""
        assert self.lesson is not None
        model, size = self.learner.model, len(self.examples)
        with torch.no_grad(), norms.teaching(model):
            tap = listening(model, scenario, [0] * size, None)
            outputs, _ = model(self._inputs(scenario), model.initial_state(size), tap)  # type: ignore[operator]
            return float(total_loss(outputs, self.lesson)[1])

    def _backward(self) -> None:
        assert self.outputs is not None and self.losses is not None and self.loss is not None
        assert self.lesson is not None
        differentiated(self.outputs, self.lesson, self.losses, self.loss).backward()
        # The graph has done its work; it would hold memory for as long as somebody looks at this update.
        self.outputs, self.losses, self.loss = self.outputs.detached(), self.losses.detach(), self.loss.detach()
        named = [(n, p.grad) for n, p in self.learner.model.named_parameters() if p.grad is not None]
        lengths = torch.stack([g.norm() for _, g in named]).tolist()
        self.norms = [(n, length) for (n, _), length in zip(named, lengths, strict=True)]

    def _clip(self) -> None:
        self.norm, self.clip_factor = clip(self.learner.model.parameters(), self.scenario.training.clip_norm)

    def _update(self) -> None:
        model = self.learner.model
        before = [p.detach().clone() for p in model.parameters()] if self.record else []
        self.learner.update(self.scenario.training, self.number)
        norms.settle(self.seen)
        if self.outputs is not None and self.outputs.drawn is not None:
            assert self.losses is not None and self.lesson is not None
            settle(self.losses, self.lesson.loss_rows, self.outputs.drawn)
        if self.record:
            pairs = [(p.detach() - old, old) for p, old in zip(model.parameters(), before, strict=True)]
            lengths = torch.stack([torch.stack([x.norm() for x in pair]) for pair in pairs]).tolist()
            self.moves = [(n, *both) for (n, _), both in zip(model.named_parameters(), lengths, strict=True)]


AsWritten = tuple[float, float, float]  # as in `events.Curve.written`


def validated(learner: Learner, scenario: Scenario) -> tuple[float | None, AsWritten | None]:
    """Mean loss over a fixed held-out draw under the present parameters (nats per counted row), without recording; and where
    labels are in sight, what `leak.as_it_writes` finds of the same rows.

    None where the scenario's masks leave one of its rows without a key: those rows are not in any batch.
    """
    task, model = given.task_of(scenario), learner.model
    examples = [task.example(scenario.seed, "held_out", i) for i in range(HELD_OUT)]
    device = next(model.parameters()).device
    taught = lesson(task, examples, given.corruption(scenario, "held_out")).to(device)
    with torch.no_grad(), suppress(NoVisibleKey, TooFewFrames):
        state = model.initial_state(HELD_OUT)  # type: ignore[operator]
        inputs = Inputs(taught.inputs, taught.source, given.visibility(scenario))
        outputs, _ = model(inputs, state, listening(model, scenario, [0] * HELD_OUT, None))
        written = as_it_writes(model, scenario, taught)
        loss = float(mean_loss(losses(outputs, taught), taught.loss_rows))
        return loss, None if written is None else (written.loss, written.right, written.right_in_sight)
    return None, None
