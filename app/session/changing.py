"""A person changes what a run is: another model is built, a part of it exchanged, a phase entered, a setting moved; and back.

A change of what the model is made of (`REBUILD`) begins another run; the one that it leaves waits for Undo. Every other change is
a moment of the same run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from app.session import carried, exchanging, given, interventions, weights
from app.session.batching import Batching
from app.session.commands import Change, Command, Enter, Redo, Selector, Undo
from app.session.events import Event, Notice, Refused
from app.session.lineage import BUILD, Learner, Snapshots
from app.session.probe import probe
from app.session.reading import within_limit
from app.session.scenario import Scenario
from app.session.standing import stand
from app.session.taking_back import Earlier, Later, made_again, taken_back, undone
from app.session.timeline import Place, Timeline
from models import Phase
from models.parts.visibility import NoVisibleKey

REBUILD = ("architecture", "config", "task", "weights", "seed")
RUN = ("learner", "timeline", "snapshots", "standing", "loaded", "heads", "widths", "schema", "measured")


class Changing(Batching):
    """A run whose scenario changes."""

    def _run(self, command: Command, watch: Sequence[Selector]) -> Iterator[Event]:
        raise NotImplementedError

    # ---- building

    def _place(self, scenario: Scenario) -> None:
        """A new model and a new history. What stood before goes only when the new one stands."""
        model, loaded = weights.build(scenario, self.device)
        learner = Learner(model)
        schema, heads, sizes = probe(model, scenario, self.device)
        interventions.refuse_edits(scenario, schema.taps, sizes)
        place = _entered(scenario, scenario.phase, 0)
        timeline = Timeline()
        timeline.add(None, "", "open", place, BUILD, BUILD)
        standing = stand(learner, place, False, self.device)
        self.learner, self.timeline, self.snapshots, self.standing = learner, timeline, Snapshots(), standing
        self.loaded, self.heads, self.widths, self.schema, self.measured = loaded, heads, sizes, schema, {}
        self._dirty = False
        self.epoch += 1

    def _joined(self, watch: Sequence[Selector]) -> Iterator[Event]:
        yield from self.describe()
        yield self.keyframe(watch)
        self.standing.trim()

    def _enter(self, command: Enter, watch: Sequence[Selector]) -> Iterator[Event]:
        here, spec, phases = self.timeline.here, given.spec_of(self.scenario), given.phases_of(self.scenario)
        if command.phase not in phases:
            allowed = ", ".join(phases)
            raise Refused.one("phase", command.phase, allowed, f"{spec.name} has no phase {command.phase!r}; allowed: {allowed}")
        scenario = given.fitting(self.scenario.model_copy(update={"phase": command.phase}))
        yield from self._restart(command, _entered(scenario, command.phase, here.place.updates), watch)

    # ---- changing the scenario

    def _change(self, command: Change, watch: Sequence[Selector]) -> Iterator[Event]:
        if "phase" in command.fields:
            message = "The phase is entered, not changed: send enter."
            raise Refused.one("fields.phase", command.fields["phase"], "the command enter", message)
        command = command.model_copy(update={"fields": interventions.named_donors(command.fields, self.timeline)})
        scenario = carried.changed(self.scenario, command.fields)
        yield from self._remembering([], self._apply(command, scenario, watch))

    def _remembering(self, later: list[Later], applied: Iterator[Event]) -> Iterator[Event]:
        """What Redo can bring back while a change is applied, and afterwards; a refused one leaves it as it was."""
        before, self.later = self.later, later
        try:
            yield from applied
        except (Refused, NoVisibleKey):
            self.later = before
            raise

    def _apply(self, command: Command, scenario: Scenario, watch: Sequence[Selector]) -> Iterator[Event]:
        before, place = self.scenario, self.timeline.here.place
        if any(getattr(before, f) != getattr(scenario, f) for f in REBUILD):
            yield from self._exchange(command, scenario, watch)
            return
        place = replace(place, scenario=scenario)
        interventions.refuse_edits(place.everyone, self.schema.taps, self.widths)
        if scenario.policy.kind == "beam" and place.turns and scenario.requests == before.requests:
            message = "A beam follows one request, and here others joined or left. Enter decode again, then search."
            raise Refused.one("policy.kind", "beam", "greedy or sample", message)
        if scenario.requests == before.requests:
            place = replace(place, written=within_limit(place))
            if place.phase != "train" and _decides_anew(before, scenario) and place.written == self.timeline.here.place.written:
                yield from self._reconsider(command, place)
                return
        elif place.phase != "train":  # another text: what was written for the old one does not hold
            place = _entered(scenario, place.phase, place.updates)
        yield from self._restart(command, place, watch, again=place.phase == "train")

    def _exchange(self, command: Command, scenario: Scenario, watch: Sequence[Selector]) -> Iterator[Event]:
        """Another model, or the same one anew. Where it reads the same, the run stands where it stood: a part shows at once."""
        before, path = self.scenario, [*self.timeline.path()][::-1]
        run, moments = {name: getattr(self, name) for name in RUN}, len(self.timeline.moments)
        again = exchanging.again(path, scenario)
        self._place(scenario if again is None else scenario.model_copy(update={"phase": again.phase}))
        try:
            for one in () if again is None else again.commands:
                if not self.ended:  # else where the model gives no numbers
                    deque(self._run(one, ()), 0)
        except (Refused, NoVisibleKey):
            self._stand_in(run)
            raise
        self.standing.compare(self.timeline.here.place)
        self.earlier = [*(e.without_run() for e in self.earlier), Earlier(before, run)]
        yield from self._joined(watch)
        yield from self.warnings()
        said, fields = "" if again is None else again.said, command.fields if isinstance(command, Change) else {}
        if isinstance(command, Change) and again is None:
            said = carried.left_behind(before, scenario, fields, moments)
        for words in filter(None, (said, carried.untrained(run["loaded"], self.loaded, scenario, fields))):
            yield Notice("left_behind", words, {"kind": "undo"})

    def _stand_in(self, run: dict[str, Any]) -> None:
        for name, value in run.items():
            setattr(self, name, value)

    def _undo(self, command: Undo, watch: Sequence[Selector]) -> Iterator[Event]:
        """Take back the last change on this path that was not taken back yet; then changes that left a run."""
        back, _ = undone([*self.timeline.path()][::-1])
        if back:
            yield from self._apply(command, back[-1].model_copy(update={"phase": self.scenario.phase}), watch)
        elif self.earlier:
            yield from self._return(watch)
        else:
            message = "There is no change to take back. Back moves in time."
            raise Refused.one("kind", "undo", "a change to take back", message)

    def _redo(self, command: Redo, watch: Sequence[Selector]) -> Iterator[Event]:
        """Make the change again that Undo took back last; a part or a model is exchanged where the run stands now."""
        scenario, later = made_again([*self.timeline.path()][::-1], self.later)
        if self.scenario.phase in given.phases_of(scenario):
            scenario = scenario.model_copy(update={"phase": self.scenario.phase})
        yield from self._remembering(later, self._apply(command, scenario, watch))

    def _return(self, watch: Sequence[Selector]) -> Iterator[Event]:
        """To the run that a change of the model left: as it stood where it is still in memory, else from its start."""
        left, path = self.earlier[-1], [*self.timeline.path()][::-1]
        if left.run is None:
            self._place(left.scenario)
        else:
            self._stand_in(left.run)
            self.epoch += 1
        self.earlier.pop()
        self.later += taken_back(path, [*self.timeline.path()][::-1])
        yield from self._joined(watch)

    def follow(self, before: Changing) -> None:
        """This run is opened in place of that one: Undo leads back to it."""
        left = Earlier(before.scenario, {name: getattr(before, name) for name in RUN})
        self.earlier = [*(e.without_run() for e in before.earlier), left]

    def leave(self, scenarios: Iterable[Scenario], later: Iterable[Later] = ()) -> None:
        """Remember runs that were left before (after a restore): only their scenarios are known. later: for Redo."""
        self.earlier, self.later = [Earlier(s, None) for s in scenarios], [*later]


def _entered(scenario: Scenario, phase: Phase, updates: int) -> Place:
    """The start of a phase. Decode begins where prefill ends, so its prompt is read at once."""
    return Place(scenario, phase, updates if phase == "train" else 0, "", updates)


def _decides_anew(before: Scenario, after: Scenario) -> bool:
    """Whether the two differ in how a decision is made alone: every number that a model computes stays."""
    policy = after.policy.model_copy(update={"execution": before.policy.execution})
    searched = "beam" in (before.policy.kind, after.policy.kind)
    return (
        not searched and before.policy != after.policy == policy and after.model_copy(update={"policy": before.policy}) == before
    )
