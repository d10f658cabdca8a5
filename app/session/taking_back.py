"""Which changes of the scenario can be taken back on a path, which can be made again, and the runs that a change left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from app.session.events import Refused
from app.session.scenario import Scenario
from app.session.timeline import Moment


@dataclass(frozen=True)
class Earlier:
    """A run that a change of the model left. Only the newest is kept whole; of older ones their scenario."""

    scenario: Scenario
    run: dict[str, Any] | None

    def without_run(self) -> Earlier:
        return replace(self, run=None)


@dataclass(frozen=True)
class Later:
    """What Redo brings back of a run that Undo left. redos: how many changes of the run that it came back to could be made again
    then: they are older, and forgotten."""

    scenario: Scenario
    redos: int


def taken_back(left: Sequence[Moment], path: Sequence[Moment]) -> list[Later]:
    """left: the run that Undo left, path: the one that it led back to. First what made the one of the other, then what was taken
    back in it before; the next one last."""
    then = [Later(scenario, 0) for scenario in undone(left)[1]]
    return [*then, Later(left[-1].place.scenario, len(undone(path)[1]))]


def made_again(path: Sequence[Moment], later: list[Later]) -> tuple[Scenario, list[Later]]:
    """The scenario that Redo brings, and what it leaves of `later`. Raises Refused."""
    again = undone(path)[1]
    if later and len(again) <= later[-1].redos:
        return later[-1].scenario, later[:-1]
    if again:
        return again[-1], later
    raise Refused.one("kind", "redo", "a change that was taken back", "There is no change to make again.")


def undone(path: Sequence[Moment]) -> tuple[list[Scenario], list[Scenario]]:
    """path: from the root to where a run stands. The scenarios that Undo and Redo would bring, each with the next one last.

    A change forgets what could be made again, as in every editor; steps do not.
    """
    undo: list[Scenario] = []
    redo: list[Scenario] = []
    for before, moment in pairwise(path):
        match moment.kind:
            case "change":
                undo.append(before.place.scenario)
                redo.clear()
            case "undo":
                undo.pop()
                redo.append(before.place.scenario)
            case "redo":
                redo[-1:] = []  # none where it was taken back in a run that was left
                undo.append(before.place.scenario)
    return undo, redo
