"""Where a run stands, forward and back: a tree of moments.

A command makes a child; Back moves to the parent; a different command from there makes a branch and loses nothing. A moment
holds no tensors: its `Place` says what is known, and the tensors are a pure function of the path (see `lineage.py` for
parameters, `reading.py` for prefill and decode).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from app.session.events import Refused
from app.session.scenario import Request, Scenario
from app.session.shown import Node
from models import Phase

MAX_MOMENTS = 50_000

STAGES: dict[Phase, tuple[str, ...]] = {
    "train": ("batch", "forward", "loss", "backward", "clip", "update"),
    "prefill": ("pieces", "encode", "read"),
    "decode": ("choose", "read"),
}

Origin = Literal["model", "chosen"]
Ending = Literal["", "eos", "limit", "left"]


@dataclass(frozen=True)
class Written:
    """What one request has written: ids in order, who decided each, and how it ended ("left": it left while it went on).

    joined: after how many decode steps it came; those from the start came before the first.
    """

    ids: tuple[int, ...] = ()
    origins: tuple[Origin, ...] = ()
    finished: Ending = ""
    joined: int = 0

    @property
    def decided(self) -> int:
        """After how many decode steps its newest token was chosen, or it came."""
        return self.joined + len(self.ids)

    def read(self, decided: int) -> tuple[int, ...]:
        """The ids that were given to the model as rows when `decided` decode steps are read; the last one before an end by
        <eos> or the limit never is."""
        return self.ids[: max(0, min(decided - self.joined, len(self.ids) - (self.finished in ("eos", "limit"))))]


@dataclass(frozen=True)
class Turn:
    """Between two decode steps, after so many of them: this request joins the batch, or leaves it."""

    after: int
    request: int
    joins: bool


@dataclass(frozen=True)
class Place:
    """Everything about a moment but tensors. `stage` is the last stage done inside an unfinished step, "" at a step's end.

    turns: who joined and left, in the order in which it happened. joined: the requests that came, numbered on after the
    scenario's own; a number stays that of its request, also when others leave. `written` then has an entry for each.
    """

    scenario: Scenario
    phase: Phase
    step: int = 0
    stage: str = ""
    updates: int = 0
    written: tuple[Written, ...] = ()
    turns: tuple[Turn, ...] = ()
    joined: tuple[Request, ...] = ()

    @property
    def decided(self) -> int:
        """Decode steps whose token was chosen."""
        return max((w.decided for w in self.written), default=0)

    @cached_property
    def everyone(self) -> Scenario:
        """The scenario with all requests that ever took part, by their numbers."""
        whole = (*self.scenario.requests, *self.joined)
        return self.scenario.model_copy(update={"requests": whole}) if self.joined else self.scenario

    @property
    def present(self) -> tuple[int, ...]:
        """The requests that are in the batch, by number."""
        return self._apart_from(joins=False)

    @property
    def first(self) -> tuple[int, ...]:
        """Those that were in it from the start."""
        return self._apart_from(joins=True)

    def _apart_from(self, joins: bool) -> tuple[int, ...]:
        turned = {t.request for t in self.turns if t.joins == joins}
        return tuple(b for b in range(len(self.scenario.requests) + len(self.joined)) if b not in turned)

    @property
    def leaving(self) -> tuple[int, ...]:
        """Who leaves by itself at the end of this step: what has ended, as far as somebody stays."""
        over = [b for b in self.present if self.scenario.policy.ended == "leaves" and self.written[b].finished]
        return tuple(over[: len(self.present) - 1])

    def without(self, request: int) -> tuple[Place, Turn]:
        """The place after this request has left, and that turn."""
        turn, own = Turn(self.decided, request, False), self.written[request]
        own = own if own.finished else replace(own, finished="left")
        written = (*self.written[:request], own, *self.written[request + 1 :])
        return replace(self, written=written, turns=(*self.turns, turn)), turn


@dataclass
class Moment:
    """A node. `weights`: the moment whose update made the parameters in force here (`BUILD`: none since the build).

    `before`: for a moment inside or at the end of an update, the `weights` that the update began with. `command` is the JSON
    text of the command that led here from the parent. `first_loss`: that of the first update on the path, what divergence is
    measured against.
    """

    id: int
    parent: int | None
    command: str
    place: Place
    weights: int
    before: int
    kind: str = "open"
    label: str = ""
    first_loss: float | None = None
    loss: float | None = None
    norm: float | None = None
    validation: float | None = None
    as_written: tuple[float, float, float] | None = None  # where labels are in sight: see `events.Curve.written`
    children: dict[str, int] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        """Whether an update ends here."""
        return self.weights == self.id


class Timeline:
    """The tree and where the run stands in it."""

    def __init__(self) -> None:
        self.moments: list[Moment] = []
        self.at = 0

    @property
    def here(self) -> Moment:
        return self.moments[self.at]

    def add(self, parent: int | None, command: str, kind: str, place: Place, weights: int | None, before: int) -> Moment:
        """A new child. `weights` None: an update ends here, so that the weights are its own."""
        if len(self.moments) >= MAX_MOMENTS:
            message = f"This run has {MAX_MOMENTS} moments, as many as it can keep. Reset the run to go on."
            raise Refused.one("history", len(self.moments), f"up to {MAX_MOMENTS} moments", message)
        id = len(self.moments)
        new = Moment(id, parent, command, place, id if weights is None else weights, before, kind)
        self.moments.append(new)
        if parent is not None:
            self.moments[parent].children[command] = id
            new.first_loss = self.moments[parent].first_loss
        return new

    def child(self, command: str) -> Moment | None:
        """The moment that this command led to from here, if it was carried out before."""
        found = self.here.children.get(command)
        return None if found is None else self.moments[found]

    def path(self, moment: int | None = None) -> Iterator[Moment]:
        """From a moment (here by default) back to the root."""
        at: int | None = self.at if moment is None else moment
        while at is not None:
            yield self.moments[at]
            at = self.moments[at].parent

    def node(self, moment: Moment) -> Node:
        """As a page is told of it."""
        p = moment.place
        before = p.scenario if moment.parent is None else self.moments[moment.parent].place.scenario
        changed = None if before is p.scenario else difference(before, p.scenario)
        return Node(moment.id, moment.parent, p.phase, p.step, p.stage, moment.label, moment.kind, changed)

    def find(self, moment: int) -> Moment:
        if moment >= len(self.moments):
            allowed = f"0 to {len(self.moments) - 1}"
            raise Refused.one("moment", moment, allowed, f"moment {moment} is not in this run; allowed: {allowed}")
        return self.moments[moment]


def difference(before: Scenario, after: Scenario) -> str | None:
    """What a person set anew between the two, in a few words; None: nothing (a phase is entered, not set)."""
    said: list[str] = []
    for group in ("training", "policy"):
        old, new = getattr(before, group), getattr(after, group)
        said += [f"{n.replace('_', ' ')} {v}" for n, v in new.model_dump().items() if v != getattr(old, n)]
    said += [name for name in ("masks", "edits", "draws") if getattr(before, name) != getattr(after, name)]
    if before.requests != after.requests:
        said.append("another input")
    return ", ".join(said) or None
