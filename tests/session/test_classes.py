"""All classes: codes, how they are typed and guessed, one class a run, coming back with a key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.session import class_words as words
from app.session.classes import LENGTH, MOST_CODES, SIGNS, network, plain, written
from app.session.classroom import WAIT_FOR_TEACHER
from app.session.events import Refused
from tests.session.attending import Clock, Line, Listener, school

KEY = "k" * 22


def problem(found: pytest.ExceptionInfo[Refused]) -> str:
    return found.value.problems[0].field


def test_a_code_is_six_signs_none_alike() -> None:
    assert LENGTH == 6 and len(SIGNS) == len(set(SIGNS)) == 25 and not set(SIGNS) & set("01OIL")
    classes = school(200, Clock())
    codes = [classes.open(Line(str(i)), None, None).code for i in range(200)]
    assert len(set(codes)) == 200
    assert all(len(c) == 7 and c[3] == "-" and set(plain(c)) <= set(SIGNS) for c in codes)


@given(st.text(SIGNS, min_size=6, max_size=6), st.text(" -", max_size=3))
def test_a_code_is_found_however_it_is_typed(code: str, between: str) -> None:
    alike = code.replace("8", "b").replace("5", "s").replace("2", "Z")
    for typed in (code, code.lower(), written(code), f" {code[:2]}{between}{code[2:]} ", alike):
        assert plain(typed) == code


def test_a_key_brings_back_the_class_and_without_it_another_one_comes() -> None:
    classes = school(3, Clock())
    run = Line()
    room = classes.open(run, None, None)
    assert (run.key, run.trust) == (room.key, True)
    assert classes.open(run, room.code, room.key) is room
    assert classes.open(run, "222-222", room.key) is room  # the key says which
    with pytest.raises(Refused) as found:
        classes.open(run, room.code, KEY)
    assert problem(found) == "session"
    other = classes.open(Line("other"), room.code, KEY)
    assert other is not room and other.code != room.code and other.key != KEY


def test_after_a_restart_a_class_has_its_code_and_key_and_trusts_nobody_without_it() -> None:
    clock, run = Clock(), Line()
    before = school(3, clock).open(run, None, None)
    room = school(3, clock).open(run, before.code.lower(), before.key)
    assert (room.code, room.key, run.key, run.trust) == (before.code, before.key, before.key, False)


def test_after_a_restart_a_code_belongs_to_who_has_its_key_on_its_run() -> None:
    clock, run = Clock(), Line()
    before = school(3, clock).open(run, None, None)
    mine = school(3, clock).open(Line("mine"), None, None)
    for key, line in ((KEY, run), (mine.key, run), (before.key, Line("mine"))):  # made up, another's, on another run
        room = school(3, clock).open(line, before.code, key)
        assert room.code != before.code and room.key != key, key


def test_who_had_the_class_comes_before_who_opened_one_on_its_run_since() -> None:
    clock, run = Clock(), Line()
    teacher = school(3, clock).open(run, None, None)
    clock.now += 5
    classes = school(3, clock)
    student = classes.open(run, None, None)
    listener = Listener()
    student.seat_teacher(listener)
    assert classes.open(run, teacher.code, teacher.key).code == teacher.code
    assert (run.key, student.over, listener.kinds()) == (teacher.key, True, ["ended"])
    with pytest.raises(Refused) as found:  # and not the other way round
        classes.open(run, student.code, student.key)
    assert problem(found) == "session" and run.key == teacher.key


@pytest.mark.parametrize(
    "code, key", [("KQ7-42V", None), (None, KEY), ("KQ7-42V", ""), ("KQ7-42V", "ü" * 22), ("KQ7-42V", "k" * 23)]
)
def test_half_of_code_and_key_or_a_key_that_is_none_is_refused(code: str | None, key: str | None) -> None:
    run = Line()
    with pytest.raises(Refused) as found:
        school(3, Clock()).open(run, code, key)
    assert problem(found) == "key" and run.key == ""


def test_a_class_goes_to_another_run_and_not_to_one_that_is_taken() -> None:
    classes = school(3, Clock())
    first, second, third = Line("1"), Line("2"), Line("3")
    room, other = classes.open(first, None, None), classes.open(third, None, None)
    old = room.key
    assert classes.open(second, room.code, old) is room
    assert (first.key, second.key, second.trust) == ("", room.key, False)
    assert room.key != old and classes.open(second, room.code, old) is room  # it is known as long as the class is
    with pytest.raises(Refused) as found:
        classes.open(third, room.code, room.key)
    assert (problem(found), third.key, second.key) == ("session", other.key, room.key)
    assert classes.open(first, None, None).run is first  # free again


def test_so_many_classes_and_then_none_until_one_is_over() -> None:
    clock = Clock()
    classes = school(2, clock)
    rooms = [classes.open(Line(str(i)), None, None) for i in range(2)]
    extra = Line("extra")
    with pytest.raises(Refused, match="LOOKBACK_CLASSES"):
        classes.open(extra, None, None)
    assert extra.key == ""
    rooms[0].seat_teacher(Listener())
    rooms[0].of_teacher(words.End())
    assert classes.open(extra, None, None).run is extra
    clock.now += WAIT_FOR_TEACHER  # nobody ever taught the second
    classes.tidy()
    assert rooms[1].over
    with pytest.raises(Refused, match="no class"):
        classes.find(rooms[1].code, "10.0.0.1")


def test_one_address_opens_so_many_and_a_class_that_comes_back_one_more() -> None:
    clock = Clock()
    before = school(9, clock, 2).open(Line("before"), None, None, "10.0.0.1")
    classes = school(9, clock, 2)
    room, _ = (classes.open(Line(str(i)), None, None, "10.0.0.1") for i in range(2))
    with pytest.raises(Refused, match="LOOKBACK_CLASSES_ADDRESS"):
        classes.open(Line("2"), None, None, "10.0.0.1")
    assert classes.open(Line("2"), None, None, "10.0.0.2")
    assert classes.open(Line("before"), before.code, before.key, "10.0.0.1").code == before.code
    classes.open(Line("other"), room.code, room.key, "10.0.0.1")  # to another run: it is no further one
    room.end("ended")
    with pytest.raises(Refused, match="LOOKBACK_CLASSES_ADDRESS"):
        classes.open(Line("3"), None, None, "10.0.0.1")
    classes.find(plain(next(iter(classes._rooms))), "10.0.0.1").end("ended")
    assert classes.open(Line("3"), None, None, "10.0.0.1")


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"])
def test_this_machine_itself_opens_as_many_as_there_may_be(address: str) -> None:
    classes = school(3, Clock(), 1)
    for i in range(3):
        classes.open(Line(str(i)), None, None, address)
    with pytest.raises(Refused, match="LOOKBACK_CLASSES allows"):
        classes.open(Line("4"), None, None, address)


# --- guessing


def codes(n: int) -> list[str]:
    return [f"{SIGNS[i % 25]}{SIGNS[i // 25]}2222" for i in range(n)]


def test_so_many_different_codes_a_minute_from_one_address() -> None:
    clock = Clock()
    classes = school(3, clock)
    room = classes.open(Line(), None, None)
    wrong = [c for c in codes(MOST_CODES + 10) if c != plain(room.code)]
    for code in wrong[:MOST_CODES]:
        clock.now += 1
        with pytest.raises(Refused, match="no class"):
            classes.find(code, "10.0.0.1")
    for code in (wrong[MOST_CODES], room.code):  # the right one too: whether it is would be told
        with pytest.raises(Refused, match="try again in 31 seconds"):
            classes.find(code, "10.0.0.1")
    with pytest.raises(Refused, match="no class"):
        classes.find(wrong[0], "10.0.0.1")  # known already, no guess
    assert classes.find(room.code, "10.0.0.2") is room
    clock.now += 31
    assert classes.find(room.code, "10.0.0.1") is room
    clock.now += 60
    classes.tidy()
    assert not classes._tries


def test_a_school_behind_one_address_tries_one_code_as_often_as_it_likes() -> None:
    classes = school(3, Clock())
    for _ in range(500):
        with pytest.raises(Refused, match="no class"):
            classes.find("KQ7-42V", "10.0.0.1")
    room = classes.open(Line(), None, None)
    for _ in range(500):
        assert classes.find(room.code, "10.0.0.1") is room


@pytest.mark.parametrize("code", ["", "x", "KQ742VV", "00O-III", "ü" * 6, "../../", "\ud800"])
def test_what_is_no_code_is_no_guess(code: str) -> None:
    classes = school(3, Clock())
    with pytest.raises(Refused, match="no class"):
        classes.find(code, "10.0.0.1")
    assert not classes._tries


@pytest.mark.parametrize(
    "one, other, same",
    [
        ("10.0.0.1", "10.0.0.2", False),
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("", "", True),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.2", False),
    ],
)
def test_a_household_is_one_address(one: str, other: str, same: bool) -> None:
    assert (network(one) == network(other)) == same
