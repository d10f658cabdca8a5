"""The tensors of a moment: made from its place and the parameters in force, the same way each time, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import torch
from torch import nn

from app.session import checks, policy, trace
from app.session.beam import Search, scenario_of
from app.session.events import Analysis, Check
from app.session.lineage import BUILD, Learner, Snapshot, Snapshots
from app.session.operations import ops
from app.session.reading import Call, Reading
from app.session.scenario import Scenario
from app.session.shown import StageTime
from app.session.timeline import Moment, Place, Timeline, Turn, Written
from app.session.updating import Update

TAPE_BUDGET = 768 << 10  # bytes of recorded values
UNPACKED = 8  # reads whose tensors are kept one by one


@dataclass
class Standing:
    """What is in memory at a moment: the requests on their way and the calls that made them, or the update in progress.

    whole: `calls` hold every known row since the source was encoded; otherwise only the newest was kept.
    would: (request, target row) -> the id that the policy would now decide there, where that differs from what was written.
    """

    reading: Reading | None = None
    calls: list[Call] = field(default_factory=list)
    whole: bool = True
    update: Update | None = None
    stages: list[StageTime] = field(default_factory=list)  # the calls of this step
    decodes: bool = False  # the prompt was read: each further call is a step of its own
    would: dict[tuple[int, int], int] = field(default_factory=dict)
    encoding: list[Check] = field(default_factory=list)  # what the encoding's own read satisfies
    search: Search | None = None  # of a beam

    def remember(self, call: Call) -> None:
        """Keep this call's recording. What an older one holds of a cache is in the newest one anyway, for all who go on."""
        here = set(() if self.reading is None else self.reading.requests)
        for old in [c for c in self.calls[-1:] if here & set(c.requests) <= set(call.requests)]:
            for path in [p for p, r in old.tape.records.items() if r.type == "state" and _holds_all(call, p)]:
                del old.tape.records[path]
        if not self.whole:
            self.calls = []
        elif call.whole and call.stage == "read":  # every known row anew: earlier reads are in it
            self.calls = [c for c in self.calls if c.stage == "encode"]
        self.calls.append(call)
        if call.stage == "encode":
            found = checks.of_calls([call])
            self.encoding = [checks.worse(*pair) for pair in zip(found, self.encoding or found, strict=True)]
        reads = [c for c in self.calls if c.stage == "read"]
        if len(reads) > UNPACKED:
            self.calls = [*(c for c in self.calls if c.stage == "encode"), *trace.packed(reads[:-1]), reads[-1]]
        done = StageTime(call.stage, call.ms, _rows(call), ops(call.tape))
        self.stages = [done] if call.stage == "encode" or self.decodes else [*self.stages, done]
        self.decodes = self.decodes or call.stage == "read"

    def take(self, turn: Turn, scenario: Scenario) -> list[Call]:
        """A request leaves, or joins: then it is read on its own, and its state is put beside the others'. scenario: with it."""
        reading = self.reading
        assert reading is not None
        if not turn.joins:
            reading.leave(turn.request)
            return []
        alone = Reading(reading.model, scenario, reading.device, record=reading.record, only=[turn.request])
        calls = [replace(call, whole=False) for call in ([] if alone.encoded else [alone.encode()]) + [alone.prefill()]]
        reading.join(alone)
        for call in calls:
            self.remember(call)
        cut = StageTime("pieces", alone.cutting_ms, len(alone.prompts[0]))
        self.stages = [cut, *(StageTime(call.stage, call.ms, _rows(call), ops(call.tape)) for call in calls)]
        return calls

    def branch(self) -> bool:
        """A beam takes a step: every hypothesis goes on from the row that it continues. Whether rows changed places."""
        assert self.search is not None and self.reading is not None and self.reading.logits is not None
        before, parents = len(self.search.written), self.search.advance(self.reading.logits)
        moved = parents != list(range(before))
        if moved:
            self.reading.pick(parents)
            self.calls = [c.pick(parents) for c in self.calls]
        self.reading.scenario = scenario_of(self.search.scenario, len(parents))
        self.reading.decided(self.search.written, len(self.search.steps))
        return moved

    def compare(self, place: Place) -> None:
        """Mark the rows whose choice would be another one now. Where the logits are no numbers, nothing would be chosen."""
        reading, scenario = self.reading, place.scenario
        self.would = {}
        if self.search is not None:
            return  # a change searches anew
        if reading is None or not place.written:
            return
        for b, prompt, decisions in zip(reading.requests, reading.prompts, reading.decisions, strict=True):
            one = place.written[b]
            for step, logits in enumerate(decisions):
                if one.origins[step] == "model" and policy.readable(logits):
                    now = policy.choose(logits, scenario.policy, scenario.seed, step, b)
                    if now != one.ids[step]:
                        self.would[b, len(prompt) + step] = now

    def unreadable(self, written: tuple[Written, ...]) -> str | None:
        """The first tensor that is not finite, where it leaves a request that goes on without a distribution."""
        reading = self.reading
        said = None if reading is None else [a for b in range(len(reading.prompts)) if (a := reading.answers(b)) is not None]
        logits = torch.cat(said) if said else None if reading is None else reading.logits
        here = [written[b] for b in reading.requests] if reading and written else []
        goes_on = [not w.finished for w in here] or [True] * (0 if logits is None else len(logits))
        if logits is None or policy.readable(logits):
            return None
        if all(policy.readable(row) for row, on in zip(logits, goes_on, strict=True) if on):
            return None
        return next((p for c in self.calls if (p := checks.first_not_finite(c.tape))), "logits")

    def trim(self) -> None:
        """Keep earlier calls only while all of them together stay small."""
        if len(self.calls) > 1 and sum(c.bytes for c in self.calls) > TAPE_BUDGET:
            self.calls, self.whole = self.calls[-1:], False


def _holds_all(call: Call, path: str) -> bool:
    """Whether a state of this call has the rows of all calls before it, as a cache has, or its own alone, as a loop."""
    record = call.tape.records.get(path)
    if record is None:
        return False
    rows = next((n for axis, n in zip(record.axes, record.value.shape, strict=True) if axis.rstrip("'") == "t"), None)
    return call.whole or rows is None or rows > max(call.lengths)


def _rows(call: Call) -> int:
    return sum(call.lengths) or call.tape.sizes.get("s", 0) * call.tape.sizes.get("b", 1)


def stand(learner: Learner, place: Place, finished: bool, device: torch.device) -> Standing:
    """The tensors at a place; the learner must hold the parameters that `load` gave for it. `finished`: an update ends there."""
    if place.phase != "train":
        return read(learner.model, place, device)
    if not finished and not place.stage:
        return Standing()
    update = Update(learner, place.scenario, place.updates + (0 if finished else 1))
    return Standing(update=update.until(place.stage or "update"))


def read(model: nn.Module, place: Place, device: torch.device, *, record: bool = True) -> Standing:
    """The requests of a place, read up to there: call by call, as they came and left."""
    reading = Reading(model, place.everyone, device, record=record, only=place.first)
    here = Standing(reading)
    begun = place.phase == "decode" or place.step > 0
    if not reading.encoded and (begun or place.stage == "encode"):
        here.remember(reading.encode())
    if begun:
        here.remember(reading.prefill())
    if place.scenario.policy.kind == "beam":
        here.search = Search(place.scenario)
        _searched(here, here.search, place)
    elif begun:
        for decided in range(place.decided + 1):
            if decided:
                _decoded(here, reading, place, decided)
            for turn in place.turns:
                if turn.after == decided:
                    here.take(turn, place.everyone)
    here.compare(place)
    return here


def _decoded(here: Standing, reading: Reading, place: Place, decided: int) -> None:
    """The decode step of this number, as far as the place has it."""
    reading.decided(place.written, decided)
    if not reading.goes_on(place.written, decided):
        here.stages = []  # every request ended by this decision
    elif not (decided == place.decided and place.stage == "choose"):
        here.remember(reading.decode(place.written, decided))


def _searched(here: Standing, search: Search, place: Place) -> None:
    """The beam after as many steps as the place has decisions, or to its end."""
    assert here.reading is not None
    for decided in range(1, place.decided + 1):
        if search.ended or here.unreadable(search.written):
            return
        here.branch()
        if not any(w.read(decided) != w.read(decided - 1) for w in search.written):
            here.stages = []
        elif not (decided == place.decided and place.stage == "choose"):
            here.remember(here.reading.decode(search.written, decided))


def load(learner: Learner, snapshots: Snapshots, timeline: Timeline, weights: int) -> Iterator[Analysis]:
    """Give the learner the parameters of a moment, by the nearest snapshot and replay of what follows. Yields progress."""
    at, chain = way(snapshots, timeline, weights, learner.weights)
    if at == BUILD and learner.weights != BUILD:
        learner.reset()
    elif at != learner.weights:
        learner.load(at, Snapshot.unpack(snapshots.packed(at)), timeline.moments[at].place.scenario.training)
    for done, moment in enumerate(chain, 1):
        place = timeline.moments[moment].place
        Update(learner, place.scenario, place.updates, record=False).until("update")
        learner.weights = moment
        if len(chain) - done <= 2 * snapshots.every:
            snapshots.offer(moment, learner)
        if done % 16 == 0 or (done == len(chain) and done > 16):
            yield Analysis("replay", done / len(chain), None)


def way(snapshots: Snapshots, timeline: Timeline, weights: int, loaded: int = BUILD) -> tuple[int, list[int]]:
    """Where a replay to these parameters begins (what is loaded, a snapshot, or the build), and the moments on the way."""
    chain: list[int] = []
    at = weights
    while at not in (BUILD, loaded) and at not in snapshots:
        chain.append(at)
        at = timeline.moments[at].before
    return at, chain[::-1]


def parameters_before(moment: Moment) -> int:
    """Which parameters the step that this moment shows began with."""
    return moment.before if moment.place.phase == "train" else moment.weights
