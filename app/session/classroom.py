"""One class: who is in it, where everybody stands, and what was asked. Knows no sockets and keeps nothing beyond itself.

It says nothing by itself: whoever has a place in it (`Member`) is told that something changed, and asks what holds then.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any, Literal

from app.session.class_people import Member, Person, Run, State, person_told, where_told
from app.session.class_words import (
    Again,
    Answer,
    Ask,
    Call,
    Clear,
    Close,
    End,
    LeaveClass,
    OfStudent,
    OfTeacher,
    Remove,
    Show,
    Vote,
    Where,
)
from app.session.events import Refused
from app.session.poll import Poll

MOST_PEOPLE = 60
WAIT_FOR_STUDENT = 300.0  # seconds that one who was cut stays in the list
WAIT_FOR_TEACHER = 600.0  # seconds until the class of a teacher who was cut is over

Why = Literal["ended", "gone", "removed"]
REASONS: dict[Why, str] = {
    "ended": "The teacher has ended the class.",
    "gone": "The teacher has been away for 10 minutes; the class is over.",
    "removed": "The teacher has taken you out of this class.",
}


class Room:
    """code: what students type. key: what makes one its teacher, on this run. clock: seconds."""

    def __init__(self, code: str, key: str, run: Run, clock: Callable[[], float]) -> None:
        self.code = code
        self._keys = [key]  # the last one for this run, those before it for runs that it followed
        self.run = run
        self.people: dict[str, Person] = {}
        self.over = False
        self._clock = clock
        self._teacher: Member | None = None
        self._teacher_left = clock()
        self._where: Where | None = None
        self._poll: Poll | None = None
        self._removed: set[str] = set()  # their tokens

    @property
    def key(self) -> str:
        return self._keys[-1]

    @key.setter
    def key(self, key: str) -> None:
        self._keys.append(key)

    def has(self, key: str) -> bool:
        """Whether it is, or was, the key of this class."""
        return any(secrets.compare_digest(k, key) for k in self._keys)

    # --- coming and going

    def seat_teacher(self, member: Member) -> None:
        """He is the teacher from now on; an older connection of his goes."""
        if self._teacher is not None and self._teacher is not member:
            self._teacher.close(4409, "replaced by a newer connection of the teacher")
        self._teacher = member
        self._changed()

    def follow(self, run: Run) -> None:
        """The class goes to another run, which is held already."""
        self.run.release()
        self.run, self._where = run, None
        self._changed()

    def join(self, member: Member, name: str, token: str | None) -> Person:
        """A student comes in, or comes back. Raises `Refused` where the class is full, or he was taken out of it."""
        if token in self._removed:
            raise Refused.one("token", "one that was taken out", "that of somebody in the class", REASONS["removed"])
        person = self.people.get(token or "") or self._newcomer(name)
        before = person.state
        if person.member is not None:
            person.member.close(4409, "replaced by a newer connection of the same person")
        person.member = member
        self._entered(person, before)
        return person

    def joined(self, person: Person) -> None:
        """He has heard that he is in: now what he missed."""
        if person.called and person.member is not None:
            person.called = False
            person.member.say({"kind": "called"})

    def _newcomer(self, name: str) -> Person:
        if len(self.people) >= MOST_PEOPLE:
            allowed = f"at most {MOST_PEOPLE} people"
            message = f"This class is full: {MOST_PEOPLE} people are in it. Ask the teacher, or try again in a few minutes."
            raise Refused.one("code", self.code, allowed, message)
        person = Person(self._free(name), secrets.token_urlsafe(16), self._clock())
        self.people[person.token] = person
        return person

    def _free(self, name: str) -> str:
        taken = {p.name.casefold() for p in self.people.values()}
        names = (name, *(f"{name} {n}" for n in range(2, MOST_PEOPLE + 2)))
        return next(n for n in names if n.casefold() not in taken)

    def gone(self, member: Member) -> None:
        """A connection is cut. A student stays in the list for a while, a teacher is waited for."""
        if member is self._teacher:
            self._teacher, self._teacher_left = None, self._clock()
            self._changed()
        for person in self.people.values():
            if person.member is member:
                before, person.member = person.state, None
                self._entered(person, before)

    def _entered(self, person: Person, before: State) -> None:
        if person.state != before:
            person.since = self._clock()
        self._changed()

    # --- what they say

    def of_teacher(self, said: OfTeacher) -> None:
        """Raises `Refused`."""
        match said:
            case Where():
                self._where = said
            case Ask():
                self._poll = Poll(said)
                self._forget_votes()
            case Answer():
                self._asked().answered(said)
            case Show():
                self._asked().shown = said.shown
            case Close():
                self._asked().closed = True
            case Again():
                self._asked().again()
                self._forget_votes()
            case Clear():
                self._poll = None
                self._forget_votes()
            case Call():
                self._call()
            case Remove(name=name):
                self._remove(name)
            case End():
                self.end("ended")
        self._changed()

    def of_student(self, person: Person, said: OfStudent) -> None:
        """Raises `Refused`."""
        match said:
            case Where():
                before, person.where = person.state, said
                self._entered(person, before)
            case Vote(option=option):
                self._asked().admit(option)
                person.vote = option
                self._changed()
            case LeaveClass():
                self._leaves(person)

    def _leaves(self, person: Person) -> None:
        self.people.pop(person.token, None)
        if person.member is not None:
            person.member.close(1000, "you have left the class")
        self._changed()

    def _remove(self, name: str) -> None:
        """He hears it, and does not come back as the one that he was."""
        person = next((p for p in self.people.values() if p.name == name), None)
        if person is None:
            message = f"Nobody in this class is called {name!r} (any more)."
            raise Refused.one("name", name, "a name of the list", message)
        self._removed.add(person.token)
        if person.member is not None:
            person.member.say({"kind": "ended", "reason": "removed", "message": REASONS["removed"]})
            person.member.close(1000, "the teacher has taken you out of the class")
        del self.people[person.token]

    def _asked(self) -> Poll:
        if self._poll is None:
            raise Refused.one("kind", None, "a poll first", "There is no poll (any more); the teacher asks one first.")
        return self._poll

    def _forget_votes(self) -> None:
        for person in self.people.values():
            person.vote = None

    def _call(self) -> None:
        for person in self.people.values():
            if person.member is None:
                person.called = True
            else:
                person.member.say({"kind": "called"})

    # --- time and the end

    def tidy(self) -> None:
        """Who was lost for long is gone; a class whose teacher was away for long is over."""
        now = self._clock()
        gone = [p for p in self.people.values() if p.state == "lost" and now - p.since >= WAIT_FOR_STUDENT]
        for person in gone:
            del self.people[person.token]
        if gone:
            self._changed()
        if self._teacher is None and now - self._teacher_left >= WAIT_FOR_TEACHER:
            self.end("gone")

    def end(self, why: Why) -> None:
        """Everybody hears it; the run is free again, and the names are forgotten."""
        if self.over:
            return
        self.over = True
        self.run.release()
        for member in self._members():
            member.say({"kind": "ended", "reason": why, "message": REASONS[why]})
            member.close(1000, "the class is over")
        self.people.clear()
        self._teacher = self._poll = None

    def _members(self) -> list[Member]:
        return [m for m in (self._teacher, *(p.member for p in self.people.values())) if m is not None]

    def _changed(self) -> None:
        for member in self._members():
            member.due()

    # --- what holds now

    def for_teacher(self) -> dict[str, Any]:
        now = self._clock()
        states = [p.state for p in self.people.values()]
        return {
            "kind": "class",
            "code": self.code,
            "session": self.run.id,
            **{state: states.count(state) for state in ("following", "own", "lost")},
            "people": [person_told(p, now) for p in self.people.values()],
            "poll": self._poll and self._poll.for_teacher(self._votes()),
        }

    def for_student(self, person: Person) -> dict[str, Any]:
        return {
            "kind": "class",
            "code": self.code,
            "session": self.run.id,
            "name": person.name,
            "people": len(self.people),
            "teacher": {"here": self._teacher is not None, "where": where_told(self._where)},
            "poll": self._poll and self._poll.for_student(self._votes(), person.vote),
        }

    def _votes(self) -> list[int | None]:
        return [p.vote for p in self.people.values()]
