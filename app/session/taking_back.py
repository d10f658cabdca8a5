"""Which changes of the scenario can be taken back on a path, which can be made again, and the runs that a change left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from app.session.scenario import Scenario
from app.session.timeline import Moment


@dataclass(frozen=True)
class Earlier:
    """A run that a change of the model left. Only the newest is kept whole; of older ones their scenario."""

    scenario: Scenario
    run: dict[str, Any] | None

    def without_run(self) -> Earlier:
        return replace(self, run=None)


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
                redo.pop()
                undo.append(before.place.scenario)
    return undo, redo
