"""Who is in a class, and what the class asks of a connection and of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from app.session.class_words import Where

State = Literal["following", "own", "lost"]


class Member(Protocol):
    """Somebody's connection."""

    def due(self) -> None:
        """Something changed: soon it is told the class as it is then."""

    def say(self, message: dict[str, Any]) -> None:
        """This at once."""

    def close(self, code: int, reason: str) -> None:
        """Nothing more after what was said."""


class Run(Protocol):
    """What a class follows: a session. While it is held, only who has the key writes."""

    @property
    def id(self) -> str: ...

    def hold(self, key: str, trust: bool) -> None: ...

    def release(self) -> None: ...


@dataclass(eq=False)
class Person:
    """A student. member: None while he is lost. since: when his state began. called: he was called while he was lost."""

    name: str
    token: str
    since: float
    member: Member | None = None
    where: Where | None = None
    vote: int | None = None
    called: bool = False

    @property
    def own(self) -> bool:
        return self.where is not None and self.where.own

    @property
    def state(self) -> State:
        return "lost" if self.member is None else "own" if self.own else "following"


def person_told(person: Person, now: float) -> dict[str, Any]:
    return {
        "name": person.name,
        "state": person.state,
        "where": where_told(person.where),
        "edits": person.where.edits if person.where else 0,
        "seconds": int(now - person.since),
    }


def where_told(where: Where | None) -> dict[str, Any] | None:
    return {"phase": where.phase, "step": where.step, "label": where.label} if where else None
