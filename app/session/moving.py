"""How a run moves: forward by steps and stages, back and sideways in the tree, and again from the start of a step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch

from app.session import given
from app.session.commands import Choose, Command, Selector, Step, Unit
from app.session.events import Event, Refused
from app.session.reading import Call, decide
from app.session.standing import Standing, load, parameters_before, stand
from app.session.telling import Told
from app.session.timeline import OWN, STAGES, Moment, Place, Written
from app.session.updating import Update, validation_loss

VALIDATE_EVERY = 20


class Moving(Told):
    """A run that can move. `_dirty`: tensors are ahead of the moment they belong to, until the move is committed."""

    def __init__(self, device: torch.device) -> None:
        super().__init__(device)
        self._dirty = False

    def _step(self, command: Step, watch: Sequence[Selector]) -> Iterator[Event]:
        if self.scenario.phase == "train":
            yield from self._train(command, watch)
        else:
            yield from self._advance(command, command.unit, None, watch)

    def _choose(self, command: Choose, watch: Sequence[Selector]) -> Iterator[Event]:
        self._refuse_choice(command)
        yield from self._advance(command, "step", (command.request, command.token), watch)

    def _refuse_choice(self, command: Choose) -> None:
        place, last = self.timeline.here.place, len(given.task_of(self.scenario).target) - 1
        requests = len(place.scenario.requests)
        if command.request >= requests:
            message = f"request {command.request} does not exist; allowed: 0 to {requests - 1}"
            raise Refused.one("request", command.request, f"0 to {requests - 1}", message)
        if command.token > last:
            message = f"token {command.token} is not in the vocabulary; allowed: 0 to {last}"
            raise Refused.one("token", command.token, f"0 to {last}", message)
        if place.written and place.written[command.request].finished:
            message = f"Request {command.request} has ended. Go back to choose another token."
            raise Refused.one("request", command.request, "a request that goes on", message)
        message = ""
        if place.phase == "train":
            message = "In training the next token is given, not chosen. Go to Decode to choose one."
        elif place.stage == "choose":
            message = "A token was chosen already in this step. Step to read it, or go back."
        elif place.phase == "prefill" and not place.step:
            message = "Nothing was read yet, so there is no distribution. Step first."
        if message:
            raise Refused.one("kind", "choose", "step", message)

    def _advance(
        self, command: Step | Choose, unit: Unit, override: tuple[int, int] | None, watch: Sequence[Selector]
    ) -> Iterator[Event]:
        """One step or stage of prefill or decode; a finished prefill goes on into decode."""
        place = self.timeline.here.place
        if self.ended:
            message = "Every request has ended. Go back to choose another token, or reset the run."
            raise Refused.one("kind", command.kind, "back, go, reset", message)
        self._dirty = True
        if place.phase == "prefill" and not place.step:
            place, calls = self._prefill(place, unit)
        else:
            place, calls = self._decode(place, unit, override)
        here = self.timeline.here
        moment, new = self._commit(command, place, here.weights, here.weights, None)
        whole = (place.phase == "prefill" and calls[0].stage == "encode") or bool(calls and calls[-1].whole)
        yield from self.arrived(moment, new, calls, watch, keyframe=whole)

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
        self.standing.trim()
        return replace(place, step=done, stage=""), calls

    def _train(self, command: Step, watch: Sequence[Selector]) -> Iterator[Event]:
        here = self.timeline.here
        if self.ended:
            message = (
                f"Update {here.place.updates + 1} gave a loss that is not a number. Go back, lower the learning rate, step again."
            )
            raise Refused.one("kind", "step", "back, go, change", message)
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
        made = here.before if here.place.stage else here.weights
        moment, new = self._commit(command, place, OWN if update.finished else made, made, update)
        forward, backward = STAGES["train"].index("forward"), STAGES["train"].index("backward")
        span = range(STAGES["train"].index(before) + 1 if before else 0, STAGES["train"].index(update.stage) + 1)
        yield from self.arrived(moment, new, [], watch, keyframe=forward in span, gradients=backward in span)
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

    def _commit(self, command: Command, place: Place, weights: int, before: int, update: Update | None) -> tuple[Moment, bool]:
        """Stand at the child that this command leads to: a new moment, or the one it led to before."""
        key = command.model_dump_json()
        moment = self.timeline.child(key)
        new = moment is None or moment.place != place
        if moment is None or new:
            moment = self.timeline.add(self.timeline.at, command.model_dump(mode="json"), key, place, weights, before)
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
            raise Refused.one("kind", "back", "step", "This is where the run begins; there is nothing before it.")
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
        yield from self.everything(watch, ())

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

    def _restart(self, command: Command, place: Place, watch: Sequence[Selector], shown: Moment | None = None) -> Iterator[Event]:
        """A child whose tensors are made anew from its place. `shown`: it shows the same update as this moment, run again."""
        here = self.timeline.here
        weights_before = here.before if here.place.stage or shown else here.weights
        again = shown is not None and not place.stage and here.weights != here.before
        trial = Moment(-3, here.id, {}, place, OWN if again else weights_before, weights_before)
        self._dirty = True
        yield from load(self.learner, self.snapshots, self.timeline, parameters_before(trial))
        standing = stand(self.learner, trial, self.device)
        update = standing.update
        moment, new = self._commit(command, place, trial.weights, trial.before, update)
        self.standing = standing
        self.epoch += 1
        yield self.opened()
        yield from self.everything(watch, (moment,) if new else ())
        if update is not None and update.finished:
            yield from self._after_update(moment, new)
        yield from self.warnings()
