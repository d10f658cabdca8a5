"""A part is exchanged, and the run stands where it stood: which commands lead a model that was just built to the same place.

What was written is read by the new model as it stands, token by token, so that one sees the same place under another part. What
was trained is trained again, from the same start on the same batches, while that is short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.session.commands import COMMANDS, Choose, Command, Enter, Step
from app.session.scenario import Scenario
from app.session.timeline import STAGES, Moment, Place
from models import Phase

MOST_UPDATES = 16  # trained again at once: a second or two


@dataclass(frozen=True)
class Again:
    """The phase that the new run begins in, the commands that lead on from there, and what a person should know of them."""

    phase: Phase
    commands: tuple[Command, ...]
    said: str = ""


def again(path: Sequence[Moment], after: Scenario) -> Again | None:
    """path: from the root of the run that is left to where it stands. None: the new one reads something else."""
    here = path[-1].place
    if any(getattr(here.scenario, name) != getattr(after, name) for name in ("architecture", "task", "requests")):
        return None
    same_start = (here.scenario.weights, here.scenario.seed) == (after.weights, after.seed)
    trains = same_start and here.updates <= MOST_UPDATES
    updates, said = [Step()] * here.updates if trains else [], _said(here.updates, trains)
    if here.phase == "train":
        stages = STAGES["train"][: STAGES["train"].index(here.stage) + 1] if here.stage and trains else ()
        return Again("train", (*updates, *(Step(unit="stage") for _ in stages)), said)
    begun = max(i for i, m in enumerate(path) if _begins(m.place))
    phase = path[begun].place.phase
    read = [c for before, m in zip(path[begun:], path[begun + 1 :], strict=False) if (c := _forced(before.place, m)) is not None]
    first: list[Command] = [Enter(phase="train"), *updates, Enter(phase=phase)] if updates else []
    return Again(phase, (*first, *read), said)


def _said(updates: int, trains: bool) -> str:
    if not updates:
        return ""
    if trains:
        return f"Trained anew from its start, on the same batches: {updates} updates. Undo brings back the run before."
    return f"Not carried over: the {updates} updates of this run. This model stands before its first; Undo brings them back."


def _begins(place: Place) -> bool:
    return place.phase != "train" and not (place.step or place.stage or place.written)


def _forced(before: Place, moment: Moment) -> Command | None:
    """The command that led to this moment, with what was written in it; None: it changed the scenario, and moved nothing."""
    if moment.kind not in ("step", "choose", "join", "leave"):
        return None
    done: Command = COMMANDS.validate_json(moment.command)
    if not isinstance(done, Step | Choose) or moment.place.scenario.policy.kind == "beam":
        return done
    return done.model_copy(update={"written": _new(before, moment.place)})


def _new(before: Place, after: Place) -> tuple[int | None, ...]:
    """By request, the token that it took between the two; () where none took any."""
    had = [len(w.ids) for w in before.written] or [0] * len(after.written)
    new = [w.ids[n] if len(w.ids) > n else None for w, n in zip(after.written, had, strict=True)]
    return tuple(new) if any(id is not None for id in new) else ()
