"""One class: who is told what, who is where, polls, being lost, being called, the end."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from app.session import class_words as words
from app.session.class_people import Person
from app.session.classroom import MOST_PEOPLE, WAIT_FOR_STUDENT, WAIT_FOR_TEACHER, Room
from app.session.events import Refused
from tests.session.attending import Clock, Line, Listener, ask, opened, where


def came(room: Room, *names: str) -> list[tuple[Person, Listener]]:
    found = []
    for name in names:
        member = Listener()
        found.append((room.join(member, name, None), member))
    return found


def states(room: Room) -> dict[str, str]:
    return {p["name"]: p["state"] for p in room.for_teacher()["people"]}


# --- people


def test_equal_names_get_numbers_and_a_name_that_is_free_again_is_used_again() -> None:
    room, _ = opened(Clock())
    people = came(room, "Ann", "ann", "Ann 2", "Ann")
    assert [p.name for p, _ in people] == ["Ann", "ann 2", "Ann 2 2", "Ann 3"]
    room.of_student(people[0][0], words.LeaveClass())
    assert people[0][1].closed == 1000
    assert came(room, "Ann")[0][0].name == "Ann"


def test_a_class_is_full_at_sixty_and_who_was_in_it_comes_back_all_the_same() -> None:
    room, _ = opened(Clock())
    people = came(room, *["Ann"] * MOST_PEOPLE)
    with pytest.raises(Refused, match="full"):
        came(room, "Late")
    person, member = people[-1]
    room.gone(member)
    assert room.join(Listener(), "Somebody", person.token) is person
    assert len(room.people) == MOST_PEOPLE


def test_a_person_has_one_connection_the_newest() -> None:
    room, _ = opened(Clock())
    person, first = came(room, "Ann")[0]
    second = Listener()
    room.join(second, "Ann", person.token)
    assert (first.closed, second.closed) == (4409, 0)
    room.gone(first)  # its end is heard late
    assert states(room) == {"Ann": "following"}


def test_who_is_taken_out_hears_it_and_does_not_come_back_as_the_same() -> None:
    room, _ = opened(Clock())
    (ann, at), (ben, there) = came(room, "Ann", "Ben")
    room.of_teacher(ask())
    room.of_student(ann, words.Vote(option=1))
    room.of_teacher(words.Remove(name="Ann"))
    assert (at.told[-1]["kind"], at.told[-1]["reason"], at.closed, there.closed) == ("ended", "removed", 1000, 0)
    room.gone(at)
    assert states(room) == {"Ben": "following"} and room.for_teacher()["poll"]["answered"] == 0
    for name in ("Ann", "Somebody"):
        with pytest.raises(Refused, match="taken you out") as found:
            room.join(Listener(), name, ann.token)
        assert found.value.problems[0].field == "token"
    room.gone(there)
    room.of_teacher(words.Remove(name="Ben"))  # who is lost, too
    with pytest.raises(Refused, match="Nobody in this class is called 'Ben'"):
        room.of_teacher(words.Remove(name="Ben"))
    with pytest.raises(Refused, match="taken you out"):
        room.join(Listener(), "Ben", ben.token)
    assert came(room, "Ann")[0][0].token != ann.token  # as somebody new: he has no account


def test_a_token_of_another_class_is_somebody_new() -> None:
    room, _ = opened(Clock())
    other, _ = opened(Clock())
    person, _ = came(room, "Ann")[0]
    found = other.join(Listener(), "Eve", person.token)
    assert found.token != person.token and list(other.people) == [found.token]


def test_a_lost_one_stays_for_five_minutes_with_his_vote() -> None:
    clock = Clock()
    room, _ = opened(clock)
    room.of_teacher(ask())
    (ann, at), (ben, _) = came(room, "Ann", "Ben")
    room.of_student(ann, words.Vote(option=1))
    room.of_student(ben, words.Vote(option=1))
    room.of_student(ann, where(2, own=True, edits=3))
    room.gone(at)
    clock.now += WAIT_FOR_STUDENT - 1
    room.tidy()
    person = room.for_teacher()["people"][0]
    assert (person["state"], person["edits"], person["seconds"]) == ("lost", 3, 299)
    assert room.for_teacher()["poll"]["counts"] == [0, 2, 0]
    clock.now += 1
    room.tidy()
    told = room.for_teacher()
    assert states(room) == {"Ben": "following"} and told["poll"]["counts"] == [0, 1, 0] and told["poll"]["of"] == 1
    assert room.join(Listener(), "Ann", ann.token) is not ann


def test_seconds_count_from_when_a_state_began() -> None:
    clock = Clock()
    room, _ = opened(clock)
    ann, at = came(room, "Ann")[0]

    def seconds(after: float) -> int:
        clock.now += after
        found: int = room.for_teacher()["people"][0]["seconds"]
        return found

    assert seconds(10) == 10
    room.of_student(ann, where(1))  # still following
    assert seconds(10) == 20
    room.of_student(ann, where(1, own=True))
    assert seconds(4) == 4
    room.of_student(ann, where(2, own=True, edits=1))
    assert seconds(4) == 8
    room.gone(at)
    assert seconds(1) == 1
    room.join(Listener(), "Ann", ann.token)
    assert (seconds(2), states(room)) == (2, {"Ann": "own"})


def test_who_is_called_while_he_is_lost_hears_it_when_he_comes_back_once() -> None:
    room, _ = opened(Clock())
    (ann, at), (_, ben) = came(room, "Ann", "Ben")
    room.gone(at)
    room.of_teacher(words.Call())
    assert (ben.kinds(), at.kinds()) == (["called"], [])
    for expected in (["called"], []):
        back = Listener()
        room.joined(room.join(back, "Ann", ann.token))
        assert back.kinds() == expected


# --- polls


def test_students_know_no_count_and_no_answer_before_they_are_shown() -> None:
    room, _ = opened(Clock())
    (ann, _), (ben, _) = came(room, "Ann", "Ben")
    room.of_teacher(ask())
    room.of_student(ann, words.Vote(option=2))
    room.of_teacher(words.Answer(option=1, measured="0.79"))
    for person, mine in ((ann, 2), (ben, None)):
        poll = room.for_student(person)["poll"]
        assert (poll["counts"], poll["answer"], poll["measured"], poll["mine"]) == (None, None, "", mine)
        assert (poll["answered"], poll["of"], poll["open"]) == (1, 2, True)
    room.of_teacher(words.Show(shown=True))
    poll = room.for_student(ben)["poll"]
    assert (poll["counts"], poll["answer"], poll["measured"], poll["open"]) == ([0, 0, 1], 1, "0.79", False)
    room.of_teacher(words.Show(shown=False))
    assert room.for_student(ben)["poll"]["counts"] is None


def test_a_vote_changes_while_the_poll_is_open() -> None:
    room, _ = opened(Clock())
    ann, _ = came(room, "Ann")[0]
    with pytest.raises(Refused, match="no poll"):
        room.of_student(ann, words.Vote(option=0))
    room.of_teacher(ask())
    for option in (0, 2, 1):
        room.of_student(ann, words.Vote(option=option))
    assert room.for_teacher()["poll"]["counts"] == [0, 1, 0]
    with pytest.raises(Refused, match="from 0 to 2"):
        room.of_student(ann, words.Vote(option=3))
    for closing, opening in ((words.Close(), words.Again()), (words.Show(shown=True), words.Show(shown=False))):
        room.of_teacher(closing)
        with pytest.raises(Refused, match="closed"):
            room.of_student(ann, words.Vote(option=0))
        room.of_teacher(opening)
        room.of_student(ann, words.Vote(option=2))
    assert room.for_teacher()["poll"]["counts"] == [0, 0, 1]


@pytest.mark.parametrize("anew", [words.Again(), ask("x", "y")])
def test_a_poll_anew_has_no_votes_and_no_answer(anew: words.OfTeacher) -> None:
    room, _ = opened(Clock())
    (ann, _), (ben, at) = came(room, "Ann", "Ben")
    room.of_teacher(ask())
    for person in (ann, ben):
        room.of_student(person, words.Vote(option=1))
    room.gone(at)
    room.of_teacher(words.Answer(option=1, measured="x"))
    room.of_teacher(words.Show(shown=True))
    room.of_teacher(anew)
    poll = room.for_teacher()["poll"]
    assert (poll["answered"], poll["of"], poll["answer"], poll["measured"]) == (0, 2, None, "")
    assert (poll["open"], poll["shown"]) == (True, False)


def test_what_needs_a_poll_is_refused_without_one() -> None:
    room, _ = opened(Clock())
    needing: list[words.OfTeacher] = [words.Answer(option=0), words.Show(shown=True), words.Close(), words.Again()]
    for said in needing:
        with pytest.raises(Refused, match="no poll"):
            room.of_teacher(said)
    room.of_teacher(ask())
    with pytest.raises(Refused, match="from 0 to 2"):
        room.of_teacher(words.Answer(option=3))
    room.of_teacher(words.Clear())
    assert room.for_teacher()["poll"] is None


# --- the teacher, the run, the end


def test_the_newest_teacher_is_the_teacher() -> None:
    room, first = opened(Clock())
    ann, _ = came(room, "Ann")[0]
    second = Listener()
    room.seat_teacher(second)
    assert first.closed == 4409
    room.gone(first)
    assert room.for_student(ann)["teacher"]["here"]


def test_a_teacher_is_waited_for_ten_minutes() -> None:
    clock = Clock()
    run = Line()
    room, teacher = opened(clock, run)
    ann, at = came(room, "Ann")[0]
    room.of_teacher(where(3))
    room.gone(teacher)
    assert room.for_student(ann)["teacher"] == {"here": False, "where": {"phase": "decode", "step": 3, "label": ""}}
    clock.now += WAIT_FOR_TEACHER - 1
    room.tidy()
    assert run.key == room.key
    back = Listener()
    room.seat_teacher(back)
    clock.now += WAIT_FOR_TEACHER
    room.tidy()
    assert run.key == room.key
    room.gone(back)
    clock.now += WAIT_FOR_TEACHER
    room.tidy()
    assert room.over and run.key == ""
    assert (at.told[-1]["reason"], at.closed) == ("gone", 1000)


def test_the_end_is_heard_by_all_and_names_are_forgotten() -> None:
    run = Line()
    room, teacher = opened(Clock(), run)
    people = came(room, "Ann", "Ben")
    room.gone(people[1][1])
    assert run.key == room.key
    room.of_teacher(words.End())
    ended = {"kind": "ended", "reason": "ended", "message": "The teacher has ended the class."}
    assert teacher.told[-1] == people[0][1].told[-1] == ended
    assert (teacher.closed, people[0][1].closed, people[1][1].told) == (1000, 1000, [])
    assert run.key == "" and not room.people
    room.end("gone")  # once is enough
    assert len(teacher.told) == 1


def test_a_class_that_goes_to_another_run_leaves_the_first() -> None:
    first, second = Line("first"), Line("second")
    room, _ = opened(Clock(), first)
    ann, at = came(room, "Ann")[0]
    room.of_teacher(where(5))
    before = at.changes
    room.follow(second)
    assert (first.key, at.changes > before) == ("", True)
    told = room.for_student(ann)
    assert (told["session"], told["teacher"]) == ("second", {"here": True, "where": None})


def test_everybody_is_told_of_every_change_and_nobody_of_a_refusal() -> None:
    room, teacher = opened(Clock())
    (ann, at), (_, ben) = came(room, "Ann", "Ben")

    def heard(said: Any, of: Person | None = None) -> list[int]:
        before = [m.changes for m in (teacher, at, ben)]
        with suppress(Refused):
            room.of_student(of, said) if of else room.of_teacher(said)
        return [m.changes - b for m, b in zip((teacher, at, ben), before, strict=True)]

    assert heard(ask()) == [1, 1, 1]
    assert heard(words.Vote(option=1), ann) == [1, 1, 1]
    assert heard(words.Vote(option=9), ann) == [0, 0, 0]
    assert heard(words.Answer(option=9)) == [0, 0, 0]
