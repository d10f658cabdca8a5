"""A run's state, and how it is told: every event that says where it stands is made here."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from app.session import checks, checks_parts, describing, given, link, rows, trace
from app.session.beam import spread
from app.session.commands import LARGEST_OPEN, MAX_LOG, MAX_REPLAY, Selector, Share
from app.session.events import Check, Checked, Curve, Event, History, Moved, Notice, Opened, Schema, Shared, Values
from app.session.leak import labels_in_sight
from app.session.lineage import Learner, Snapshots
from app.session.reading import Call
from app.session.scenario import Scenario
from app.session.shown import Gold, StageTime
from app.session.standing import Standing, stand
from app.session.taking_back import Earlier, Later
from app.session.timeline import STAGES, Moment, Timeline
from app.session.updating import HELD_OUT, VALIDATE_EVERY
from models.tasks import words_of

NEWEST = 4000  # moments that somebody who joins is told of; older ones stay reachable by Back
NAMED = 3  # changed choices that a notice names
FAR_ABOVE = 5.0  # a loss this many times its start is called divergence


class Told:
    """See the module. `epoch` changes when earlier values no longer mean what they meant."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.epoch = 0
        self.timeline = Timeline()
        self.snapshots = Snapshots()
        self.standing = Standing()
        self.learner: Learner
        self.loaded: dict[str, Any] = {}
        self.schema = Schema(())
        self.heads: dict[str, int] = {}
        self.widths: dict[str, int] = {}
        self.measured: dict[str, Check] = {}
        self.new = False  # whether the last move made a new moment
        self.earlier: list[Earlier] = []  # what a change of the model left behind, for Undo
        self.later: list[Later] = []  # changes of the model that Undo took back, for Redo

    @property
    def scenario(self) -> Scenario:
        return self.timeline.here.place.scenario

    @property
    def ended(self) -> bool:
        """Nothing further can be decided: every request has finished (decode), or the loss is no longer a number (train)."""
        here = self.timeline.here
        if here.place.phase == "train":
            return any(x is not None and not math.isfinite(x) for x in (here.loss, here.norm))
        over = bool(here.place.written) and all(w.finished for w in here.place.written)
        over = over or (here.place.step > 0 and not given.writes(here.place.scenario))
        return over or self.standing.unreadable(here.place.written) is not None

    def opened(self) -> Opened:
        task, scenario = given.task_of(self.scenario), self.scenario
        source = words_of(task)
        words: dict[str, Any] = {"source": None if source is None else list(source.words), "target": list(task.target.words)}
        words["specials"] = {"source": None if source is None else list(source.specials), "target": list(task.target.specials)}
        count = sum(p.numel() for p in self.learner.model.parameters())
        seen = describing.relations(scenario, self.heads)
        gold = tuple(None if g is None else Gold(g.target, g.alignment) for g in given.gold(scenario))
        dumped, device, task_told = scenario.model_dump(mode="json"), str(self.device), describing.task(scenario)
        return Opened(dumped, self.loaded, count, seen, words, device, {}, gold, len(self.earlier), task_told, len(self.later))

    def describe(self) -> tuple[Event, ...]:
        """For somebody who joins: all that is not a recorded value."""
        newest = self.timeline.moments[-NEWEST:]
        here = self.timeline.here
        nodes = tuple(self.timeline.node(m) for m in (newest if here.id >= newest[0].id else [here, *newest]))
        return (self.opened(), self.schema, History(nodes, self.timeline.at), self.curve(), self.moved(()), self.checked())

    def keyframe(self, watch: Sequence[Selector]) -> Values:
        """Everything known at this moment for these selectors."""
        return self.values(watch, keyframe=True)

    def arrived(
        self, moment: Moment, calls: list[Call], watch: Sequence[Selector], *, keyframe: bool, gradients: bool = False
    ) -> Iterator[Event]:
        """What a step says: where the run stands now, and the values that are new."""
        yield self.moved((moment,) if self.new else ())
        update = self.standing.update
        pieces = [p for c in calls for p in trace.pieces(c.tape, watch, c.starts, c.lengths, c.requests)]
        if update is not None and keyframe:
            pieces = list(self.keyframe(watch).pieces)
        elif update is not None:
            pieces = trace.pieces(update.tape, watch, *update.extent, gradients_only=True) if gradients else []
            pieces += trace.parameters(self.learner.model, watch)
        if pieces or keyframe:
            yield Values(moment.id, keyframe, tuple(pieces))
        yield self.checked()

    def everything(self, watch: Sequence[Selector], nodes: Sequence[Moment]) -> Iterator[Event]:
        yield self.moved(nodes)
        yield self.keyframe(watch)
        self.standing.trim()
        yield self.checked()
        yield self.curve()

    def values(self, watch: Sequence[Selector], *, keyframe: bool, fetched: bool = False) -> Values:
        update = self.standing.update
        found = trace.pieces(update.tape, watch, *update.extent) if update is not None else trace.joined(self.calls(), watch)
        backward = update is not None and update.norms is not None  # before it a gradient is that of the update before
        found += trace.parameters(self.learner.model, watch, ("value", "gradient") if backward else ("value",))
        if fetched:
            found = [replace(p, selector=-1) for p in found]
        return Values(self.timeline.at, keyframe, tuple(found), fetched)

    def calls(self) -> list[Call]:
        """All calls since the source was encoded; made again where only the newest was kept."""
        if self.standing.whole or self.standing.reading is None:
            return self.standing.calls
        return stand(self.learner, self.timeline.here.place, False, self.device).calls

    def moved(self, nodes: Sequence[Moment]) -> Moved:
        """Where the run stands, what is known there and what was decided; `nodes` are new in the tree."""
        place, here = self.timeline.here.place, self.standing
        newest, reading = here.calls[-1] if here.calls else None, here.reading
        stages, sizes = self._stages()
        forward = next((s.ms for s in reversed(stages) if s.ms is not None and s.name in ("read", "encode", "forward")), 0.0)
        return Moved(
            self.timeline.at,
            place.phase,
            place.step,
            place.stage,
            stages,
            self.ended,
            () if reading is None else rows.requests(spread(place), reading, newest, here.would),
            None if here.update is None else rows.train(here.update),
            () if reading is None else describing.kept(reading.state),
            sizes,
            tuple(self.timeline.node(m) for m in nodes),
            forward,
            place.updates,
            here.unreadable(place.written),
            None if reading is None or here.search is None else here.search.view(reading),
        )

    def _stages(self) -> tuple[tuple[StageTime, ...], dict[str, int]]:
        """The stages of this step, done and to come, and the axis sizes of its newest call."""
        place, here, source = self.timeline.here.place, self.standing, given.task_of(self.scenario).source
        apart = source is not None and given.writes(self.scenario)  # else the one read of prefill takes the source too
        cut = given.cuts(self.scenario)
        left_out = {*([] if apart else ["encode"]), *([] if cut else ["pieces"])}
        joining = self.timeline.here.kind == "join"  # read on its own, as prefill reads
        names = [s for s in STAGES["prefill" if joining else place.phase] if s not in left_out]
        done = {s.name: s for s in here.stages}
        if cut and here.reading is not None and place.phase == "prefill" and (place.step or place.stage):
            done["pieces"] = StageTime("pieces", here.reading.cutting_ms, sum(map(len, here.reading.prompts)))
        sizes = here.calls[-1].tape.sizes if here.calls else {}
        if here.update is not None:
            done, sizes = here.update.stage_times(), here.update.tape.sizes
        elif place.phase == "decode" and not joining:
            done = {"choose": StageTime("choose", 0.0, 0), **done} if place.decided else {}
            done = {"choose": done["choose"]} if place.stage == "choose" else done
        return tuple(done.get(n, StageTime(n, None, 0)) for n in names), dict(sizes)

    def checked(self) -> Checked:
        """What must hold here, measured on the values of this step; the encoding's own checks go with every later read."""
        here = self.standing
        if here.update is not None:
            found = checks.of_update(here.update)
            if here.update.outputs is not None:
                lengths = tuple(here.update.extent[1])
                count = len(lengths)
                forward = Call("forward", here.update.tape, (0,) * count, lengths, 0.0, True, tuple(range(count)))
                found += checks_parts.of_update(self.scenario, forward)
        elif here.calls:
            found = checks.of_calls(here.calls[-1:])
            found = [checks.worse(*pair) for pair in zip(found, here.encoding or found, strict=True)]
            found += checks_parts.of_parts(self.scenario, here.calls[-1])
            everyone = self.timeline.here.place.everyone
            found += [*checks.on_demand(everyone), *checks_parts.on_demand(everyone)]
        else:
            found = []
        return Checked(self.timeline.at, tuple(self.measured.get(c.id, c) for c in found))

    def curve(self, newest: Moment | None = None) -> Curve:
        """Loss and gradient norm by update along this path: all of it, or the newest point alone."""
        path = [newest] if newest is not None else list(self.timeline.path())[::-1]
        points = [m for m in path if m.finished and m.loss is not None]
        by_update = {m.place.updates: m for m in points}
        return Curve(
            tuple(by_update),
            tuple(m.loss or 0.0 for m in by_update.values()),
            tuple(m.norm or 0.0 for m in by_update.values()),
            tuple((u, m.validation) for u, m in by_update.items() if m.validation is not None),
            newest is None,
            tuple(_clipped(m) for m in by_update.values()),
            VALIDATE_EVERY,
            HELD_OUT,
            tuple((u, *m.as_written) for u, m in by_update.items() if m.as_written is not None),
        )

    def warnings(self) -> Iterator[Notice]:
        """What a person should know about this scenario: unknown words, labels in sight, choices that an edit changed."""
        unknown = rows.unknown_words(self.scenario)
        if unknown:
            yield rows.unknown_notice(unknown)
        yield from self._longer()
        update = self.standing.update
        seen = labels_in_sight(update.scenario, update.lesson) if update is not None and update.lesson is not None else []
        if seen:
            b, row = seen[0]
            first = f"The mask lets 1 training row see its own label, row {row} of sequence {b}."
            if len(seen) > 1:
                first = f"The mask lets {len(seen)} training rows see their own labels, first row {row} of sequence {b}."
            yield Notice("label_visible", f"{first} The loss can fall without anything being learned.")
        if self.standing.would:
            vocabulary = given.task_of(self.scenario).target.words
            place = self.timeline.here.place
            several, prompts = len(place.everyone.requests) > 1, given.prompts(place.everyone)
            was = {(b, row): vocabulary[place.written[b].ids[row - len(prompts[b])]] for b, row in self.standing.would}
            now = [
                f"“{was[b, row]}” in row {row} of request {b} would be “{vocabulary[id]}”"
                if several
                else f"“{was[b, row]}” in row {row} would be “{vocabulary[id]}”"
                for (b, row), id in sorted(self.standing.would.items())
            ]
            more = [f"and {len(now) - NAMED} more would differ"] if len(now) > NAMED else []
            yield Notice("changed_choice", f"As all is set now, {', '.join([*now[:NAMED], *more])}; what was written is kept.")

    def _longer(self) -> Iterator[Notice]:
        """Requests longer than any sentence that the loaded weights were trained on: rows that nothing was learned for."""
        trained = self.loaded.get("source", {}).get("longest", {})
        for side, most in trained.items():
            given_ = max(
                len((r.features if side == "source" else None) or getattr(r, side) or ()) for r in self.scenario.requests
            )
            if most and given_ > most:
                yield Notice(
                    "longer",
                    f"{given_} {side} tokens are longer than it was trained on: these weights saw at most {most}. "
                    "Later rows carry positions that nothing was learned for.",
                )

    def divergence(self, moment: Moment) -> Iterator[Notice]:
        """A loss that is not a number, or far above its start: the first tensor to blame, and an offer to go back."""
        update, loss, start = self.standing.update, moment.loss, moment.first_loss
        if update is None or loss is None or start is None:
            return
        if update.healthy and (loss <= FAR_ABOVE * max(start, 1.0) or not update.finished):
            return
        what = f"the loss is {loss:.3g}, far above its start {start:.3g}"
        if not update.healthy:
            what = "the loss is not a number" if not math.isfinite(loss) else "the gradient norm is not a number"
        bad = checks.first_not_finite(update.tape)
        back = checks.first_gradient_not_finite(update.tape)
        where = f"the first tensor that is not finite is {bad}" if bad else checks.largest(update.tape)
        where = f"the first gradient that is not finite is that of {back}" if back and not bad else where
        rate = update.scenario.training.learning_rate
        parent = next((m for m in self.timeline.path(moment.parent) if not m.place.stage), moment)
        message = (
            f"Update {update.number}: {what}; {where}. The learning rate is {rate:g}. "
            f"Go back to update {parent.place.updates} and lower it."
        )
        yield Notice("diverged", message, {"kind": "go", "moment": parent.id})

    def share(self, command: Share) -> Shared:
        path = list(self.timeline.path())[::-1]
        log: list[dict[str, Any]] = []
        undone = any(m.kind in ("undo", "redo") for m in path)  # it counts changes, so all of them must stay
        for moment in path[1:]:
            done = json.loads(moment.command)
            if log and log[-1]["command"] == done:
                log[-1]["times"] += 1
            elif log and not undone and _replaces(done, log[-1]["command"]):
                log[-1] = {"command": done, "times": 1}
            else:
                log.append({"command": done, "times": 1})
        file = {"v": 1, "scenario": path[0].place.scenario.model_dump(mode="json"), "log": log, "view": command.view}
        text = link.pack(file)
        opens = len(log) <= MAX_LOG and sum(e["times"] for e in log) <= MAX_REPLAY and len(json.dumps(file)) <= LARGEST_OPEN
        return Shared(f"#s={text}" if opens and len(text) <= link.LONGEST else "", file)


def _clipped(moment: Moment) -> float:
    """The norm of all gradients that an update was made with."""
    norm, limit = moment.norm or 0.0, moment.place.scenario.training.clip_norm
    return norm if limit is None or not norm > limit else limit


def _replaces(command: dict[str, Any], earlier: dict[str, Any]) -> bool:
    """Whether a change sets again just what the change before it set (a mask painted stroke by stroke).

    Requests are left alone: setting others and then the same again begins the text anew.
    """
    both = command["kind"] == earlier["kind"] == "change" and command["fields"].keys() == earlier["fields"].keys()
    return both and "requests" not in command["fields"]
