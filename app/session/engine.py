"""A command goes in, events come out: the engine carries a run from moment to moment.

It is a generator, so whoever pulls it decides the pace: stepping, cancelling and back-pressure come for free. A refused or
cancelled command leaves the run where it stood.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, assert_never

import torch

from app.session import describing, given, saving, trace, weights
from app.session.analyses import analyse
from app.session.commands import (
    COMMANDS,
    Analyse,
    Back,
    Cancel,
    Change,
    Choose,
    Command,
    Enter,
    Fetch,
    Go,
    Look,
    Open,
    Pause,
    Play,
    Reset,
    Selector,
    Share,
    Step,
    Undo,
    Unit,
    Watch,
)
from app.session.events import (
    Check,
    Event,
    Notice,
    Problem,
    Refused,
    Schema,
    Values,
)
from app.session.lineage import BUILD, Learner, Snapshots
from app.session.probe import probe
from app.session.reading import Call, decide
from app.session.scenario import Scenario, defaults, parse, refused
from app.session.standing import Standing, load, parameters_before, stand
from app.session.telling import Told
from app.session.timeline import STAGES, Moment, Place, Timeline, Written
from app.session.updating import Update, validation_loss
from models import Phase
from models.catalogue import architectures
from models.parts.visibility import NoVisibleKey

REBUILD = ("architecture", "config", "task", "weights", "seed")
VALIDATE_EVERY = 20
MAX_REPLAY = 20_000


class Engine(Told):
    """One run. Not thread-safe: one call at a time."""

    def __init__(self, device: torch.device) -> None:
        super().__init__(device)
        self.rebuilt_from: list[Scenario] = []
        self._dirty = False

    # ---- one command

    def run(self, command: Command, watch: Sequence[Selector] = ()) -> Iterator[Event]:
        """Carry out one command and yield what it says. Raises `Refused`; then, and when it is closed early, nothing changed."""
        try:
            yield from self._run(command, watch)
        except NoVisibleKey as error:
            allowed = f"at least one visible key for row {error.row} in {error.relation}"
            raise Refused(Problem("masks", f"row {error.row}", allowed, f"Nothing was changed: {error}.")) from None
        finally:
            if self._dirty:
                for _ in self._stand(self.timeline.here):
                    pass

    def _run(self, command: Command, watch: Sequence[Selector]) -> Iterator[Event]:
        match command:
            case Open():
                yield from self._open(command, watch)
            case Step():
                yield from self._step(command, watch)
            case Choose():
                yield from self._choose(command, watch)
            case Back():
                yield from self._back(watch)
            case Go():
                yield from self._go(self.timeline.find(command.moment), watch)
            case Enter():
                yield from self._enter(command, watch)
            case Change():
                yield from self._change(command, watch)
            case Undo():
                yield from self._undo(command, watch)
            case Reset():
                yield from self._build(self.timeline.moments[0].place.scenario, watch)
            case Fetch():
                yield self.values([command.selector.model_copy()], keyframe=True, fetched=True)
            case Analyse():
                yield from self._analyse(command)
            case Share():
                yield self.share(command)
            case Watch() | Play() | Pause() | Cancel() | Look():
                raise ValueError(f"{command.kind} is the session's own command; the engine never gets it")
            case _:
                assert_never(command)

    # ---- building

    def _open(self, command: Open, watch: Sequence[Selector]) -> Iterator[Event]:
        log = [(_logged(entry, i), _times(entry, i)) for i, entry in enumerate(command.log)]
        total = sum(times for _, times in log)
        if total > MAX_REPLAY:
            raise Refused(
                Problem(
                    "log", total, f"at most {MAX_REPLAY} commands", f"The log holds {total} commands, allowed are {MAX_REPLAY}."
                )
            )
        self.rebuilt_from.clear()
        yield from self._build(parse(command.scenario), watch)
        for one, times in log:
            for _ in range(times):
                yield from (e for e in self._run(one, ()) if isinstance(e, Notice))
        if log:
            yield from self._joined(watch)

    def _build(self, scenario: Scenario, watch: Sequence[Selector]) -> Iterator[Event]:
        """A new model and a new history. What stood before goes only when the new one stands."""
        model, loaded = weights.build(scenario, self.device)
        learner = Learner(model)
        taps, heads = probe(model, scenario, self.device)
        describing.refuse_edits(scenario, taps)
        place = _entered(scenario, scenario.phase, 0)
        timeline = Timeline()
        root = timeline.add(None, {"kind": "open"}, "", place, BUILD, BUILD)
        standing = stand(learner, root, self.device)
        self.learner, self.timeline, self.snapshots, self.standing = learner, timeline, Snapshots(), standing
        self.loaded, self.heads, self.schema, self.measured = loaded, heads, Schema(taps), {}
        self._dirty = False
        self.epoch += 1
        yield from self._joined(watch)
        yield from self.warnings()

    def _joined(self, watch: Sequence[Selector]) -> Iterator[Event]:
        yield from self.describe()
        yield self.keyframe(watch)

    # ---- moving

    def _step(self, command: Step, watch: Sequence[Selector]) -> Iterator[Event]:
        if self.scenario.phase == "train":
            yield from self._train(command, watch)
        else:
            yield from self._advance(command, command.unit, None, watch)

    def _choose(self, command: Choose, watch: Sequence[Selector]) -> Iterator[Event]:
        place, size = self.timeline.here.place, len(given.task_of(self.scenario).target)
        if place.phase == "train":
            raise Refused(
                Problem("kind", "choose", "step", "In training the next token is given, not chosen. Go to Decode to choose one.")
            )
        if command.request >= len(place.scenario.requests):
            allowed = f"0 to {len(place.scenario.requests) - 1}"
            raise Refused(
                Problem("request", command.request, allowed, f"request {command.request} does not exist; allowed: {allowed}")
            )
        if command.token >= size:
            raise Refused(
                Problem(
                    "token",
                    command.token,
                    f"0 to {size - 1}",
                    f"token {command.token} is not in the vocabulary; allowed: 0 to {size - 1}",
                )
            )
        if place.written and place.written[command.request].finished:
            message = f"Request {command.request} has ended. Go back to choose another token."
            raise Refused(Problem("request", command.request, "a request that goes on", message))
        if place.stage == "choose":
            raise Refused(
                Problem("kind", "choose", "step", "A token was chosen already in this step. Step to read it, or go back.")
            )
        if place.phase == "prefill" and not place.step:
            raise Refused(Problem("kind", "choose", "step", "Nothing was read yet, so there is no distribution. Step first."))
        yield from self._advance(command, "step", (command.request, command.token), watch)

    def _advance(
        self, command: Step | Choose, unit: Unit, override: tuple[int, int] | None, watch: Sequence[Selector]
    ) -> Iterator[Event]:
        """One step or stage of prefill or decode; a finished prefill goes on into decode."""
        place = self.timeline.here.place
        if self.ended:
            message = "Every request has ended. Go back to choose another token, or reset the run."
            raise Refused(Problem("kind", command.kind, "back, go, reset", message))
        self._dirty = True
        if place.phase == "prefill" and not place.step:
            place, calls = self._prefill(place, unit)
        else:
            place, calls = self._decode(place, unit, override)
        moment, new = self._commit(command, place)
        whole = (place.phase == "prefill" and calls[0].stage == "encode") or bool(calls and calls[-1].whole)
        yield from self._arrived(moment, new, calls, watch, keyframe=whole)

    def _prefill(self, place: Place, unit: Unit) -> tuple[Place, list[Call]]:
        reading, calls = self.standing.reading, []
        assert reading is not None
        if not reading.encoded:
            calls.append(reading.encode())
            if unit == "stage":
                self.standing.remember(calls[-1])
                return replace(place, stage="encode"), calls
            self.standing.remember(calls[-1])
        calls.append(reading.prefill())
        self.standing.remember(calls[-1])
        return replace(place, step=1, stage=""), calls

    def _decode(self, place: Place, unit: Unit, override: tuple[int, int] | None) -> tuple[Place, list[Call]]:
        reading = self.standing.reading
        assert reading is not None and reading.logits is not None
        scenario = place.scenario.model_copy(update={"phase": "decode"})
        if place.stage != "choose":
            written = place.written or tuple(Written() for _ in reading.prompts)
            written = decide(scenario, reading.logits, written, place.decided, override)
            place = Place(scenario, "decode", place.decided, "choose", place.updates, written)
            if unit == "stage":
                return place, []
        done = place.decided
        goes_on = any(w.read(done) != w.read(done - 1) for w in place.written)
        calls = [reading.decode(place.written, done)] if goes_on else []
        for call in calls:
            self.standing.remember(call)
        return replace(place, step=done, stage=""), calls

    def _train(self, command: Step, watch: Sequence[Selector]) -> Iterator[Event]:
        here = self.timeline.here
        if self.ended:
            message = (
                f"Update {here.place.updates} gave a loss that is not a number. Go back, lower the learning rate, step again."
            )
            raise Refused(Problem("kind", "step", "back, go, change", message))
        update = self.standing.update
        self._dirty = True
        if update is None or update.finished:
            update = Update(self.learner, here.place.scenario, here.place.updates + 1)
            self.standing = Standing(update=update)
        before = update.stage
        update.advance()
        while command.unit == "step" and not update.finished and update.healthy:
            update.advance()
        place = replace(here.place, stage="" if update.finished else update.stage)
        if update.finished:
            place = replace(place, step=update.number, updates=update.number)
        moment, new = self._commit(command, place, update)
        forward, backward = STAGES["train"].index("forward"), STAGES["train"].index("backward")
        span = range(STAGES["train"].index(before) + 1 if before else 0, STAGES["train"].index(update.stage) + 1)
        yield from self._arrived(moment, new, [], watch, keyframe=forward in span, gradients=backward in span)
        if update.finished:
            yield from self._after_update(moment, new)
            yield self.curve(moment)
        elif not update.healthy:
            yield from self.divergence(moment)

    def _after_update(self, moment: Moment, new: bool) -> Iterator[Event]:
        self.snapshots.offer(moment.id, self.learner)
        if moment.place.updates == 1:
            yield self.opened()  # its weights are changed from here on
        if new and moment.place.updates % VALIDATE_EVERY == 0:
            moment.validation = validation_loss(self.learner, moment.place.scenario)
        yield from self.divergence(moment)

    def _commit(self, command: Command, place: Place, update: Update | None = None) -> tuple[Moment, bool]:
        """Stand at the child that this command leads to: a new moment, or the one it led to before."""
        here, key = self.timeline.here, command.model_dump_json()
        moment = self.timeline.child(key)
        new = moment is None or moment.place != place
        if moment is None or new:
            finished = update is not None and update.finished
            made = here.before if here.place.stage else here.weights
            moment = self.timeline.add(here.id, command.model_dump(mode="json"), key, place, -2 if finished else made, made)
            self._label(moment, update)
        self.timeline.at = moment.id
        self.learner.weights = moment.weights
        self.measured = {}
        self._dirty = False
        return moment, new

    def _label(self, moment: Moment, update: Update | None) -> None:
        words = given.task_of(moment.place.scenario).target.words
        if update is not None:
            moment.loss = None if update.loss is None else float(update.loss.detach())
            moment.norm = update.norm
            moment.label = f"{moment.loss:.3f}" if moment.loss is not None else ""
        elif moment.place.written:
            moment.label = words[moment.place.written[0].ids[-1]]

    def _back(self, watch: Sequence[Selector]) -> Iterator[Event]:
        parent = self.timeline.here.parent
        if parent is None:
            raise Refused(Problem("kind", "back", "step", "This is where the run begins; there is nothing before it."))
        yield from self._go(self.timeline.moments[parent], watch)

    def _go(self, moment: Moment, watch: Sequence[Selector]) -> Iterator[Event]:
        changed = moment.place.scenario != self.scenario or bool(moment.place.updates) != bool(self.timeline.here.place.updates)
        self._dirty = True
        yield from self._stand(moment)
        self.timeline.at = moment.id
        self.measured = {}
        self.epoch += 1
        if changed:
            yield self.opened()
        yield from self._everything(watch, ())

    def stand_here(self) -> Iterator[Event]:
        """Make the tensors of this moment anew (after a restore)."""
        yield from self._stand(self.timeline.here)

    def _stand(self, moment: Moment) -> Iterator[Event]:
        """Make the tensors of a moment; may replay updates, with progress."""
        self.standing = Standing()
        yield from load(self.learner, self.snapshots, self.timeline, parameters_before(moment))
        self.standing = stand(self.learner, moment, self.device)
        self.learner.weights = moment.weights
        self._dirty = False

    def _enter(self, command: Enter, watch: Sequence[Selector]) -> Iterator[Event]:
        here, spec = self.timeline.here, given.spec_of(self.scenario)
        if command.phase not in spec.phases:
            allowed = ", ".join(spec.phases)
            raise Refused(
                Problem("phase", command.phase, allowed, f"{spec.name} has no phase {command.phase!r}; allowed: {allowed}")
            )
        scenario = self.scenario.model_copy(update={"phase": command.phase})
        yield from self._restart(command, _entered(scenario, command.phase, here.place.updates), watch)

    def _restart(self, command: Command, place: Place, watch: Sequence[Selector], shown: Moment | None = None) -> Iterator[Event]:
        """A child whose tensors are made anew from its place. `shown`: it shows the same update as this moment, run again."""
        here = self.timeline.here
        weights_before = here.before if here.place.stage or shown else here.weights
        again = shown is not None and not place.stage and here.weights != here.before
        trial = Moment(-3, here.id, {}, place, -2 if again else weights_before, weights_before)
        self._dirty = True
        yield from load(self.learner, self.snapshots, self.timeline, parameters_before(trial))
        standing = stand(self.learner, trial, self.device)
        update = standing.update
        moment, new = self._commit_restart(command, trial, update)
        self.standing = standing
        self.learner.weights = moment.weights
        self.epoch += 1
        yield self.opened()
        yield from self._everything(watch, (moment,) if new else ())
        if update is not None and update.finished:
            yield from self._after_update(moment, new)
        yield from self.warnings()

    def _commit_restart(self, command: Command, trial: Moment, update: Update | None) -> tuple[Moment, bool]:
        key = command.model_dump_json()
        moment = self.timeline.child(key)
        new = moment is None or moment.place != trial.place
        if moment is None or new:
            add = self.timeline.add
            moment = add(self.timeline.at, command.model_dump(mode="json"), key, trial.place, trial.weights, trial.before)
            self._label(moment, update)
        self.timeline.at = moment.id
        self.measured = {}
        self._dirty = False
        return moment, new

    # ---- changing the scenario

    def _change(self, command: Change, watch: Sequence[Selector]) -> Iterator[Event]:
        if "phase" in command.fields:
            raise Refused(
                Problem(
                    "fields.phase", command.fields["phase"], "the command enter", "The phase is entered, not changed: send enter."
                )
            )
        yield from self._apply(command, self._changed(command.fields), watch)

    def _changed(self, fields: dict[str, Any]) -> Scenario:
        """The scenario with these fields replaced. Another architecture or task brings its own example where none was given."""
        now = self.scenario.model_dump(mode="json")
        if (
            fields.get("architecture", now["architecture"]) == now["architecture"]
            and fields.get("task", now["task"]) == now["task"]
        ):
            return parse({**now, **fields})
        architecture = fields.get("architecture", now["architecture"])
        if architecture not in architectures():
            return parse({**now, **fields})
        kept = {k: now[k] for k in ("weights", "seed", "phase", "training", "policy")}
        fresh = defaults(architecture, fields.get("task")).model_dump(mode="json")
        return parse({**fresh, **kept, **fields})

    def _apply(self, command: Command, scenario: Scenario, watch: Sequence[Selector]) -> Iterator[Event]:
        before, place = self.scenario, self.timeline.here.place
        if any(getattr(before, f) != getattr(scenario, f) for f in REBUILD):
            yield from self._build(scenario, watch)
            self.rebuilt_from.append(before)
            return
        describing.refuse_edits(scenario, self.schema.taps)
        if scenario.requests != before.requests:  # another text: what was written for the old one does not hold
            place = _entered(scenario, place.phase, place.updates) if place.phase != "train" else place
        changed = replace(place, scenario=scenario)
        yield from self._restart(command, changed, watch, shown=self.timeline.here if place.phase == "train" else None)

    def _undo(self, command: Undo, watch: Sequence[Selector]) -> Iterator[Event]:
        """Take back the last change on this path that was not taken back yet."""
        skip = 0
        for moment in self.timeline.path():
            kind = moment.command["kind"]
            skip += kind == "undo"
            if kind == "change":
                if not skip:
                    assert moment.parent is not None
                    earlier = self.timeline.moments[moment.parent].place.scenario
                    yield from self._apply(command, earlier.model_copy(update={"phase": self.scenario.phase}), watch)
                    return
                skip -= 1
        if not self.rebuilt_from:
            raise Refused(
                Problem("kind", "undo", "a change to take back", "There is no change to take back. Back moves in time.")
            )
        earlier = self.rebuilt_from.pop()
        yield from self._build(earlier, watch)

    # ---- saying where the run stands

    def _arrived(
        self, moment: Moment, new: bool, calls: list[Call], watch: Sequence[Selector], *, keyframe: bool, gradients: bool = False
    ) -> Iterator[Event]:
        yield self.moved((moment,) if new else ())
        update = self.standing.update
        pieces = [p for c in calls for p in trace.pieces(c.tape, watch, c.starts, c.lengths)]
        if update is not None and (keyframe or gradients):
            n = len(update.examples)
            pieces = trace.pieces(update.tape, watch, [0] * n, [1] * n, gradients_only=not keyframe)
        if pieces or keyframe:
            yield Values(moment.id, keyframe, tuple(pieces))
        yield self.checked()

    def _everything(self, watch: Sequence[Selector], nodes: Sequence[Moment]) -> Iterator[Event]:
        yield self.moved(nodes)
        yield self.keyframe(watch)
        yield self.checked()
        yield self.curve()

    # ---- on demand

    def _analyse(self, command: Analyse) -> Iterator[Event]:
        for event in analyse(self, command.name, command.arguments):
            if isinstance(event, Check):
                self.measured[event.id] = event
                yield self.checked()
            else:
                yield event

    # ---- keeping

    def save(self) -> bytes:
        """All that is needed to stand here again on this machine, bit for bit."""
        return saving.save(self)

    @classmethod
    def restore(cls, data: bytes, device: torch.device) -> Engine:
        """The run that `save` kept."""
        return saving.restore(cls(device), data)

    def digest(self) -> str:
        """Equal for equal runs: a hash of parameters, optimizer state, caches and position."""
        return saving.digest(self)


def _entered(scenario: Scenario, phase: Phase, updates: int) -> Place:
    """The start of a phase. Decode begins where prefill ends, so its prompt is read at once."""
    return Place(scenario, phase, updates if phase == "train" else 0, "", updates)


def _logged(entry: dict[str, Any], i: int) -> Command:
    try:
        command = COMMANDS.validate_json(json.dumps(entry.get("command")))
    except ValueError as error:
        raise refused(error, f"log.{i}.command") from None
    if isinstance(command, Open | Reset | Fetch | Analyse | Share | Watch | Play | Pause | Cancel | Look | Back | Go):
        allowed = "step, choose, enter, change, undo"
        raise Refused(Problem(f"log.{i}.command", command.kind, allowed, f"A log holds no {command.kind}; allowed: {allowed}"))
    return command


def _times(entry: dict[str, Any], i: int) -> int:
    times = entry.get("times", 1)
    if not isinstance(times, int) or isinstance(times, bool) or not 1 <= times <= MAX_REPLAY:
        allowed = f"a whole number from 1 to {MAX_REPLAY}"
        raise Refused(Problem(f"log.{i}.times", times, allowed, f"log.{i}.times was given {times!r}; allowed: {allowed}"))
    return times
