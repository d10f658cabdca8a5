"""Whatever is said in a class, in whatever order: what must hold of it, and what nobody is told."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from app.session import class_words as words
from app.session.class_people import Person
from app.session.classroom import MOST_PEOPLE, WAIT_FOR_STUDENT, WAIT_FOR_TEACHER, Room
from app.session.events import Refused
from tests.session.attending import Clock, Line, Listener, ask, school, where

OPTIONS = st.integers(0, 11)


class Lesson(RuleBasedStateMachine):
    """votes: what each person voted last, kept beside the class; shown, open: of its poll."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.run = Line()
        self.room: Room = school(3, self.clock).open(self.run, None, None)
        self.teacher: Listener | None = None
        self.seats: dict[str, Listener] = {}  # by token: who is connected
        self.everyone: dict[str, Person] = {}
        self.size = 0  # options of the poll; 0: none
        self.shown = self.closed = False
        self.votes: dict[str, int] = {}

    # --- what may happen

    @rule()
    def teacher_comes(self) -> None:
        if not self.room.over:
            self.teacher = Listener()
            self.room.seat_teacher(self.teacher)

    @precondition(lambda self: self.teacher)
    @rule()
    def teacher_is_cut(self) -> None:
        assert self.teacher
        self.room.gone(self.teacher)
        self.teacher = None

    @rule(name=st.sampled_from(["Ann", "ann", "Ann 2", "Ben", "李"]))
    def comes(self, name: str) -> None:
        if not self.room.over and len(self.room.people) < MOST_PEOPLE:
            self._joins(name, None)

    def _joins(self, name: str, token: str | None) -> None:
        member = Listener()
        known = token in self.room.people
        person = self.room.join(member, name, token)
        assert (person.token == token) == known
        self.seats[person.token], self.everyone[person.token] = member, person

    @precondition(lambda self: self.everyone)
    @rule(data=st.data())
    def comes_back(self, data: st.DataObject) -> None:
        if not self.room.over:
            self._joins("Again", self._somebody(data))

    @precondition(lambda self: self.seats)
    @rule(data=st.data())
    def is_cut(self, data: st.DataObject) -> None:
        token = data.draw(st.sampled_from(list(self.seats)))
        self.room.gone(self.seats.pop(token))

    @precondition(lambda self: self.seats)
    @rule(data=st.data(), step=st.integers(0, 5), own=st.booleans())
    def stands(self, data: st.DataObject, step: int, own: bool) -> None:
        self._says(data, where(step, own))

    @precondition(lambda self: self.seats)
    @rule(data=st.data(), option=OPTIONS)
    def votes_for(self, data: st.DataObject, option: int) -> None:
        token = data.draw(st.sampled_from(list(self.seats)))
        allowed = option < self.size and not self.shown and not self.closed
        try:
            self.room.of_student(self.everyone[token], words.Vote(option=option))
            assert allowed
            self.votes[token] = option
        except Refused:
            assert not allowed

    @precondition(lambda self: self.seats)
    @rule(data=st.data())
    def leaves(self, data: st.DataObject) -> None:
        token = data.draw(st.sampled_from(list(self.seats)))
        self.room.of_student(self.everyone[token], words.LeaveClass())
        member = self.seats.pop(token)
        assert member.closed == 1000
        self.votes.pop(token, None)

    @precondition(lambda self: self.teacher and self.room.people)
    @rule(data=st.data())
    def is_taken_out(self, data: st.DataObject) -> None:
        person = data.draw(st.sampled_from(list(self.room.people.values())))
        self.room.of_teacher(words.Remove(name=person.name))
        member = self.seats.pop(person.token, None)
        assert member is None or member.closed == 1000
        self.votes.pop(person.token, None)
        self.everyone.pop(person.token)
        try:
            self.room.join(Listener(), "Again", person.token)
            raise AssertionError("he was taken out")
        except Refused:
            pass

    def _says(self, data: st.DataObject, said: words.OfStudent) -> None:
        token = data.draw(st.sampled_from(list(self.seats)))
        self.room.of_student(self.everyone[token], said)

    def _somebody(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(list(self.everyone)))

    @precondition(lambda self: self.teacher)
    @rule(size=st.integers(2, 12))
    def asks(self, size: int) -> None:
        self.room.of_teacher(ask(*map(str, range(size))))
        self.size, self.shown, self.closed = size, False, False
        self.votes.clear()

    @precondition(lambda self: self.teacher)
    @rule(said=st.sampled_from([words.Close(), words.Again(), words.Show(shown=True), words.Show(shown=False)]))
    def goes_on(self, said: words.OfTeacher) -> None:
        try:
            self.room.of_teacher(said)
        except Refused:
            assert not self.size
            return
        assert self.size
        match said:
            case words.Close():
                self.closed = True
            case words.Again():
                self.shown = self.closed = False
                self.votes.clear()
            case words.Show(shown=shown):
                self.shown = shown

    @precondition(lambda self: self.teacher)
    @rule(option=st.none() | OPTIONS)
    def answers(self, option: int | None) -> None:
        allowed = self.size > 0 and (option is None or option < self.size)
        try:
            self.room.of_teacher(words.Answer(option=option, measured="MEASURED"))
            assert allowed
        except Refused:
            assert not allowed

    @precondition(lambda self: self.teacher)
    @rule()
    def calls(self) -> None:
        self.room.of_teacher(words.Call())

    @rule(seconds=st.sampled_from([1.0, WAIT_FOR_STUDENT, WAIT_FOR_TEACHER]))
    def time_passes(self, seconds: float) -> None:
        self.clock.now += seconds
        self.room.tidy()
        for token in set(self.votes) - set(self.room.people):
            del self.votes[token]
        if self.room.over:
            assert not self.teacher, "a class ends by itself only while its teacher is away"
            assert all(m.closed == 1000 and m.kinds()[-1] == "ended" for m in self.seats.values())
            self.seats.clear()

    # --- what must hold

    @invariant()
    def its_run_is_held_as_long_as_it_lives(self) -> None:
        assert (self.run.key == "") == self.room.over
        assert not (self.room.over and self.room.people)

    @invariant()
    def everybody_is_counted_once(self) -> None:
        told = self.room.for_teacher()
        names = [p["name"] for p in told["people"]]
        assert len(set(n.casefold() for n in names)) == len(names) <= MOST_PEOPLE
        states = [p["state"] for p in told["people"]]
        assert [told[s] for s in ("following", "own", "lost")] == [states.count(s) for s in ("following", "own", "lost")]
        assert states.count("lost") == len(states) - len(self.seats)

    @invariant()
    def votes_are_counted(self) -> None:
        poll = self.room.for_teacher()["poll"]
        if poll:
            assert poll["counts"] == [list(self.votes.values()).count(i) for i in range(self.size)]
            assert (poll["answered"], poll["of"]) == (len(self.votes), len(self.room.people))
            assert (poll["open"], poll["shown"]) == (not (self.shown or self.closed), self.shown)

    @invariant()
    def nobody_is_told_what_is_not_his(self) -> None:
        secrets = [self.room.key, *self.room.people]
        views: list[tuple[Person | None, dict[str, Any]]] = [(None, self.room.for_teacher())]
        views += [(p, self.room.for_student(p)) for p in self.room.people.values()]
        for person, told in views:
            text = json.dumps(told)
            assert not any(secret in text for secret in secrets)
            if person and (poll := told["poll"]):
                assert poll["mine"] == self.votes.get(person.token)
                if not self.shown:
                    assert poll["counts"] is None and poll["answer"] is None and "MEASURED" not in text


TestLesson = Lesson.TestCase
TestLesson.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
