"""Rooms without sockets: somebody who only listens, a run that only counts, a clock that is set."""

from __future__ import annotations

from typing import Any

from app.session import class_words as words
from app.session.class_keys import Keys
from app.session.classes import Classes
from app.session.classroom import Room


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Listener:
    """told: what was said to it at once. closed: with which code, once it is."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.changes = 0
        self.closed = 0

    def due(self) -> None:
        assert not self.closed, "somebody who was closed is told nothing more"
        self.changes += 1

    def say(self, message: dict[str, Any]) -> None:
        assert not self.closed
        self.told.append(message)

    def close(self, code: int, reason: str) -> None:
        assert reason and not self.closed
        self.closed = code

    def kinds(self) -> list[str]:
        return [message["kind"] for message in self.told]


class Line:
    """A run that notes who holds it."""

    def __init__(self, id: str = "run") -> None:
        self.id = id
        self.key = ""
        self.trust = False

    def hold(self, key: str, trust: bool) -> None:
        self.key, self.trust = key, trust

    def release(self) -> None:
        self.key = ""


def school(most: int, clock: Clock, each: int = 1000) -> Classes:
    """All classes of a server. Another one with the same clock is that server after a restart."""
    return Classes(most, each, Keys(b"secret", clock), clock)


def opened(clock: Clock, run: Line | None = None) -> tuple[Room, Listener]:
    """A class with its teacher."""
    room, teacher = school(5, clock).open(run or Line(), None, None), Listener()
    room.seat_teacher(teacher)
    return room, teacher


def ask(*options: str) -> words.Ask:
    return words.Ask(question="Which?", options=tuple(words.Option(text=o) for o in options or ("a", "b", "c")))


def where(step: int = 0, own: bool = False, edits: int = 0) -> words.Where:
    return words.Where(phase="decode", step=step, own=own, edits=edits)
