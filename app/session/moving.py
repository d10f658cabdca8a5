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
from app.session.timeline import STAGES, Moment, Place, Written
from app.session.updating import VALIDATE_EVERY, Update, room, validated


class Moving(Told):
    """A run that can move. `_dirty`: tensors are ahead of the moment they belong to, until the move is committed."""

    def __init__(self, device: torch.device) -> None:
        super().__init__(device)
        self._dirty = False

    def _step(self, command: Step, watch: Sequence[Selector]) -> Iterator[Event]:
        self._refuse_written(command.written)
        if self.scenario.phase == "train":
            yield from self._train(command, watch)
        else:
            yield from self._advance(command, command.unit, None, watch)

    def _choose(self, command: Choose, watch: Sequence[Selector]) -> Iterator[Event]:
        self._refuse_choice(command)
        self._refuse_written(command.written)
        yield from self._advance(command, "step", (command.request, command.token), watch)

    def _refuse_written(self, written: Sequence[int | None]) -> None:
        last, place = len(given.task_of(self.scenario).target) - 1, self.timeline.here.place
        wrong = next((id for id in written if id is not None and id > last), None)
        if wrong is not None:
            message = f"token {wrong} is not in the vocabulary; allowed: 0 to {last}"
            raise Refused.one("written", wrong, f"0 to {last}", message)
        if written and (place.phase == "train" or self.standing.search is not None):
            message = "Only tokens decided one by one can have been written before: not in training, and not by a beam."
            raise Refused.one("written", list(written), "a step of decode", message)

    def _refuse_choice(self, command: Choose) -> None:
        place, last = self.timeline.here.place, len(given.task_of(self.scenario).target) - 1
        requests = len(place.everyone.requests)
        if command.request >= requests:
            message = f"request {command.request} does not exist; allowed: 0 to {requests - 1}"
            raise Refused.one("request", command.request, f"0 to {requests - 1}", message)
        if command.token > last:
            message = f"token {command.token} is not in the vocabulary; allowed: 0 to {last}"
            raise Refused.one("token", command.token, f"0 to {last}", message)
        if place.written and place.written[command.request].finished:
            message = f"Request {command.request} has ended. Go back to choose another token."
            if place.written[command.request].finished == "left":
                message = f"Request {command.request} has left the batch. Go back to choose another token for it."
            raise Refused.one("request", command.request, "a request that goes on", message)
        message = ""
        if self.standing.search is not None:
            message = "A beam decides by itself which hypotheses go on. Decide by greedy or sample to choose a token."
        if place.phase == "train":
            message = "In training the next token is given, not chosen. Go to Decode to choose one."
        elif place.stage == "choose":
            message = "A token was chosen already in this step. Step to read it, or go back."
        elif not given.writes(place.scenario):
            message = "Here a decision is not fed back, so there is nothing to choose. Change the input instead."
        elif place.phase == "prefill" and not place.step:
            message = "Nothing was read yet, so there is no distribution. Step first."
        if message:
            raise Refused.one("kind", "choose", "step", message)

    def _advance(
        self, command: Step | Choose, unit: Unit, override: tuple[int, int] | None, watch: Sequence[Selector]
    ) -> Iterator[Event]:
        """One step or stage of prefill or decode; a finished prefill goes on into decode."""
        place = self.timeline.here.place
        broken = self.standing.unreadable(place.written)
        if broken:
            message = f"There is no distribution to choose from: {broken} is not finite. Go back, or take the edit back."
            raise Refused.one("kind", command.kind, "back, go, undo", message)
        if self.ended:
            message = "Every request has ended. Go back to choose another token, or reset the run."
            if not given.writes(place.scenario):
                message = "The whole input was read in one call, and nothing is written. Change the input, or go back."
            raise Refused.one("kind", command.kind, "back, go, reset", message)
        self._dirty = True
        anew, calls = False, list[Call]()
        if place.phase == "prefill" and not place.step:
            place, calls = self._prefill(place, unit)
        else:
            chosen = place.stage == "choose"
            if not chosen:
                place, anew = self._decide(place, override, command.written)
            if chosen or unit == "step":
                place, calls = self._read(place)
                left = len(place.turns)
                place = self._released(place)
                anew = anew or len(place.turns) > left
        here = self.timeline.here
        moment = self._commit(command, place, here.weights, here.weights)
        whole = (place.phase == "prefill" and bool(calls) and calls[0].stage == "encode") or bool(calls and calls[-1].whole)
        if anew:
            yield from self.everything(watch, (moment,) if self.new else ())
        else:
            yield from self.arrived(moment, calls, watch, keyframe=whole)

    def _prefill(self, place: Place, unit: Unit) -> tuple[Place, list[Call]]:
        reading, calls = self.standing.reading, list[Call]()
        assert reading is not None
        if unit == "stage" and not place.stage and given.cuts(place.scenario):
            return replace(place, stage="pieces"), calls
        if not reading.encoded:
            calls.append(reading.encode())
            if unit == "stage":
                self.standing.remember(calls[-1])
                return replace(place, stage="encode"), calls
            self.standing.remember(calls[-1])
        calls.append(reading.prefill())
        self.standing.remember(calls[-1])
        return replace(place, step=1, stage=""), calls

    def _decide(self, place: Place, override: tuple[int, int] | None, given_: Sequence[int | None]) -> tuple[Place, bool]:
        """The place where the next tokens are chosen, and whether rows changed places (in a beam)."""
        reading, search = self.standing.reading, self.standing.search
        assert reading is not None and reading.logits is not None
        scenario = place.scenario
        scenario = scenario if scenario.phase == "decode" else scenario.model_copy(update={"phase": "decode"})
        chosen = replace(place, scenario=scenario, phase="decode", step=place.decided, stage="choose")
        if search is not None:
            anew = self.standing.branch()
            return replace(chosen, written=search.written), anew
        written = decide(reading, place.written or tuple(Written() for _ in reading.prompts), override, given_)
        reading.decided(written, place.decided + 1)
        return replace(chosen, written=written), False

    def _read(self, place: Place) -> tuple[Place, list[Call]]:
        """Read what was chosen."""
        reading = self.standing.reading
        assert reading is not None
        done = place.decided
        calls = [reading.decode(place.written, done)] if reading.goes_on(place.written, done) else []
        if not calls:
            self.standing.stages = []  # every request has ended: nothing was read in this step
        for call in calls:
            self.standing.remember(call)
        self.standing.trim()
        return replace(place, step=done, stage=""), calls

    def _released(self, place: Place) -> Place:
        """The place after those have left who leave by themselves."""
        for number in place.leaving:
            place, turn = place.without(number)
            self.standing.take(turn, place.everyone)
        return place

    def _train(self, command: Step, watch: Sequence[Selector]) -> Iterator[Event]:
        here = self.timeline.here
        if self.ended:
            number = here.place.updates + 1
            message = f"Update {number} has a loss or a gradient that is not finite. Go back, lower the learning rate, go on."
            raise Refused.one("kind", "step", "back, go, change", message)
        update = self.standing.update
        self._dirty = True
        if update is None or update.finished:
            self.standing, update = Standing(), None  # what the last update holds goes first
            update = Update(self.learner, here.place.scenario, here.place.updates + 1, room=room())
            self.standing = Standing(update=update)
        before = len(update.done)
        update.until("update") if command.unit == "step" else update.advance()
        made = here.before if here.place.stage else here.weights
        moment = self._commit(command, update.place(here.place), None if update.finished else made, made, update)
        done = STAGES["train"][before : len(update.done)]
        keyframe = "batch" in done or "forward" in done
        yield from self.arrived(moment, [], watch, keyframe=keyframe, gradients="backward" in done)
        if update.finished:
            yield self.curve(moment)
        yield from self.divergence(moment)

    def _commit(self, command: Command, place: Place, weights: int | None, before: int, update: Update | None = None) -> Moment:
        """Stand at the child that this command leads to: a new moment, or the one it led to before."""
        text = command.model_dump_json()
        moment = self.timeline.child(text)
        self.new = moment is None or moment.place != place
        if moment is None or self.new:
            moment = self.timeline.add(self.timeline.at, text, command.kind, place, weights, before)
            self._label(moment, update)
        self.timeline.at = moment.id
        self.learner.weights = moment.weights
        self.measured = {}
        self._dirty = False
        if moment.finished:
            self.snapshots.offer(moment.id, self.learner)
            if self.new and place.updates % VALIDATE_EVERY == 0:
                moment.validation, moment.as_written = validated(self.learner, place.scenario)
        return moment

    def _label(self, moment: Moment, update: Update | None) -> None:
        words = given.task_of(moment.place.scenario).target.words
        if update is not None:
            moment.loss = None if update.loss is None else float(update.loss.detach())
            moment.norm = update.norm
            moment.label = f"{moment.loss:.3f}" if moment.loss is not None else ""
            moment.first_loss = moment.loss if moment.first_loss is None else moment.first_loss
        elif moment.kind in ("join", "leave"):
            moment.label = str(moment.place.turns[-1].request)
        elif moment.place.written:
            own = moment.place.written[:1] if moment.place.scenario.policy.kind == "beam" else moment.place.written
            newest = [w.ids[-1] for w in own if w.ids and w.decided == moment.place.decided]
            moment.label = "·".join(words[id] for id in newest)

    def _back(self, watch: Sequence[Selector]) -> Iterator[Event]:
        parent = self.timeline.here.parent
        if parent is None:
            raise Refused.one("kind", "back", "step", "This is where the run begins; there is nothing before it.")
        yield from self._go(self.timeline.moments[parent], watch)

    def _go(self, moment: Moment, watch: Sequence[Selector]) -> Iterator[Event]:
        changed = moment.place.scenario != self.scenario
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
        self.standing = stand(self.learner, moment.place, moment.finished, self.device)
        self.learner.weights = moment.weights
        self._dirty = False

    def _reconsider(self, command: Command, place: Place) -> Iterator[Event]:
        """Another policy reads the same numbers: no model call."""
        here, reading = self.timeline.here, self.standing.reading
        moment = self._commit(command, place, here.weights, here.before)
        if reading is not None:
            reading.scenario = place.everyone
        self.standing.compare(place)
        yield self.opened()
        yield self.moved((moment,) if self.new else ())
        yield self.checked()
        yield from self.warnings()

    def _restart(self, command: Command, place: Place, watch: Sequence[Selector], *, again: bool = False) -> Iterator[Event]:
        """A child whose tensors are made anew from its place. `again`: it shows the update that is shown here, run again."""
        here = self.timeline.here
        before = here.before if here.place.stage or again else here.weights
        self._dirty = True
        yield from load(self.learner, self.snapshots, self.timeline, before)
        standing = stand(self.learner, place, again and here.finished and not place.stage, self.device)
        update, made, search = standing.update, before, standing.search
        if search is not None and place.written:
            place = replace(place, written=search.written, step=len(search.steps) - (place.stage == "choose"))
        if update is not None:
            place = update.place(place)
        moment = self._commit(command, place, None if update is not None and update.finished else made, before, update)
        self.standing = standing
        self.epoch += 1
        yield self.opened()
        yield from self.everything(watch, (moment,) if self.new else ())
        yield from self.divergence(moment)
        yield from self.warnings()
