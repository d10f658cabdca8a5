"""A class as its pages meet it: a teacher and students, cut and back, a run that is held, nonsense."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from app.server import class_socket
from app.session.events import Moved, Welcome
from tests.server.attending import Seat, seat, student, teacher
from tests.server.serving import Page, closing, page, served


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with served(tmp_path_factory.mktemp("data"), LOOKBACK_CLASSES="40") as found:
        yield found


@asynccontextmanager
async def run(port: int) -> AsyncIterator[tuple[Page, str]]:
    """A page with a run, and the name of its session."""
    async with page(port) as one:
        assert (await one.do(kind="open", scenario={})).ok
        yield one, one.frames[0].session


@asynccontextmanager
async def school(port: int) -> AsyncIterator[tuple[Seat, Seat, Seat, Page]]:
    """A teacher, Ann and Ben, and the teacher's run."""
    async with run(port) as (stage, session), teacher(port, session) as one:
        code = one.first["code"]
        async with student(port, code, "Ann") as ann, student(port, code.lower().replace("-", " "), "Ben") as ben:
            await one.until("class", following=2)
            yield one, ann, ben, stage


async def test_a_teacher_and_two_students_from_the_first_word_to_the_last(port: int) -> None:
    async with school(port) as (one, ann, ben, _stage):
        assert ann.first["session"] == one.first["session"] and ann.first["code"] == one.first["code"]
        await one.say("where", phase="decode", step=3, label="noir")
        told = await ann.until("class", teacher={"here": True, "where": {"phase": "decode", "step": 3, "label": "noir"}})
        assert (told["name"], told["people"], told["poll"]) == ("Ann", 2, None)

        await ben.say("where", own=True, phase="decode", step=1, edits=2)
        people = (await one.until("class", own=1))["people"]
        assert [(p["name"], p["state"], p["edits"]) for p in people] == [("Ann", "following", 0), ("Ben", "own", 2)]
        assert people[1]["where"] == {"phase": "decode", "step": 1, "label": ""}

        await one.say("poll", question="Which?", options=["the", {"text": "cat", "key": "2"}], about={"row": 3})
        asked = await ann.poll(question="Which?")
        assert asked["options"] == [{"text": "the", "key": None}, {"text": "cat", "key": "2"}] and asked["about"] == {"row": 3}
        await ann.say("vote", option=1)
        assert (await ann.poll(mine=1, answered=1, counts=None))["open"]
        assert (await one.poll(answered=1))["counts"] == [0, 1]
        await one.say("answer", option=1, measured="0.79")
        await one.say("show", shown=True)
        shown = await ben.poll(shown=True)
        assert (shown["counts"], shown["answer"], shown["measured"], shown["mine"]) == ([0, 1], 1, "0.79", None)

        await one.say("call")
        await asyncio.gather(ann.until("called"), ben.until("called"))
        await one.say("end")
        for member in (one, ann, ben):
            assert (await member.until("ended"))["reason"] == "ended"
            await member.socket.wait_closed()
            assert member.socket.close_code == 1000
        async with seat(port) as late:
            assert (await late.refused("join", code=one.first["code"], name="Late"))["field"] == "code"


async def test_who_was_cut_comes_back_with_name_place_and_vote(port: int) -> None:
    async with school(port) as (one, ann, ben, _stage):
        await one.say("poll", question="Which?", options=["a", "b"])
        await ben.say("vote", option=0)
        await ben.say("where", own=True, phase="prefill", step=0)
        await one.poll(answered=1)
        ben.socket.transport.abort()
        lost = (await one.until("class", lost=1))["people"][1]
        assert (lost["name"], lost["state"], lost["seconds"]) == ("Ben", "lost", 0)
        await one.say("call")
        await ann.until("called")
        async with student(port, one.first["code"], "Other", token=ben.first["token"]) as again:
            assert again.first["name"] == "Ben" and again.first["token"] == ben.first["token"]
            await again.until("called")
            assert (await again.poll())["mine"] == 0
            assert (await one.until("class", lost=0))["own"] == 1
            async with student(port, one.first["code"], "Other", token=ben.first["token"]) as third:
                await again.socket.wait_closed()
                assert again.socket.close_code == 4409
                await third.say("leave")
                await third.socket.wait_closed()
                assert [p["name"] for p in (await one.until("class", own=0))["people"]] == ["Ann"]


async def test_a_teacher_who_was_cut_has_his_class_again_and_students_hear_of_it(port: int) -> None:
    async with run(port) as (_stage, session), teacher(port, session) as one:
        known = {"code": one.first["code"], "key": one.first["key"]}
        async with student(port, known["code"], "Ann") as ann:
            one.socket.transport.abort()
            away = await ann.until("class", teacher={"here": False, "where": None})
            assert away["session"] == session
            async with teacher(port, session, **known) as again:
                assert again.first == one.first
                assert (await again.until("class"))["following"] == 1
                assert (await ann.until("class"))["teacher"]["here"]
                async with teacher(port, session, **known):
                    await again.socket.wait_closed()
                    assert again.socket.close_code == 4409


async def test_after_a_restart_the_teacher_opens_the_same_class_and_students_come_in_again(tmp_path: Path) -> None:
    with served(tmp_path) as port:
        async with run(port) as (_, session), teacher(port, session) as one, student(port, one.first["code"], "Ann") as ann:
            pass
    known = {"code": one.first["code"], "key": one.first["key"]}
    with served(tmp_path) as port:
        async with seat(port) as early:
            refusal = await early.refused("join", code=known["code"], name="Ann", token=ann.first["token"])
            assert refusal["field"] == "code"
            async with page(port, f"session={session}") as usurper:
                assert (await usurper.until(Welcome)).role == "writer"
                async with teacher(port, session, **known) as again:
                    assert again.first == one.first
                    assert (await usurper.until(Welcome)).role == "reader"
                    await early.say("join", code=known["code"], name="Ann", token=ann.first["token"])
                    assert (await early.until("joined"))["name"] == "Ann"
                    async with page(port, f"session={session}&key={known['key']}") as stage:
                        assert (await stage.until(Welcome)).role == "writer"


# --- the run is held


async def test_while_a_class_is_open_only_its_key_writes(port: int) -> None:
    async with school(port) as (one, _ann, _ben, stage):
        session, key = one.first["session"], one.first["key"]
        assert (await stage.do(kind="step")).ok  # who wrote when the class was opened goes on
        async with page(port, f"session={session}") as usurper:
            assert (await usurper.until(Welcome)).role == "reader"
            refused = await usurper.do(kind="step")
            assert not refused.ok and "the teacher's" in refused.errors[0].message
            async with page(port, f"session={session}&key=wrong") as guesser:
                assert (await guesser.until(Welcome)).role == "reader"
            async with page(port, f"session={session}&key={key}") as again:
                assert (await again.until(Welcome)).role == "writer"
                assert (await stage.until(Welcome)).role == "reader"
                assert (await again.do(kind="step")).ok
                assert (await usurper.until(Moved)).at == 2
            assert (await stage.until(Welcome)).role == "writer"
            await one.say("end")
            await one.until("ended")
            assert (await usurper.until(Welcome)).role == "writer"  # a run as any other


async def test_a_held_run_is_not_opened_over_by_a_route(port: int) -> None:
    async with school(port) as (one, _ann, _ben, _stage):
        session = one.first["session"]
        async with page(port, f"session={session}&client=usurper") as usurper:
            await usurper.until(Welcome)
            async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:
                answer = await http.post(
                    f"/api/sessions/{session}/open", params={"client": "usurper"}, json={"kind": "open", "scenario": {}}
                )
            assert answer.status_code == 422 and "the teacher's" in answer.json()["errors"][0]["message"]


async def test_a_run_has_one_class_and_a_class_may_go_to_another_run(port: int) -> None:
    async with school(port) as (one, ann, _ben, _stage), run(port) as (other, second):
        session, known = one.first["session"], {"code": one.first["code"], "key": one.first["key"]}
        async with seat(port) as rival:
            assert (await rival.refused("open", session=session))["field"] == "session"
        await one.say("open", session=second, **known)
        assert await one.until("room") == {**one.first, "session": second}
        assert (await ann.until("class", session=second))["name"] == "Ann"
        await one.say("open", session=session, **known)
        assert await one.until("room") == one.first
        assert (await ann.until("class", session=session))["name"] == "Ann"
        assert (await one.refused("open", session=second))["field"] == "kind"
        assert (await one.refused("open", session=second, code=known["code"], key="k" * 22))["field"] == "kind"
        async with teacher(port, second, **known) as moved:
            assert moved.first == {**one.first, "session": second}
            assert (await ann.until("class", session=second))["teacher"] == {"here": True, "where": None}
            assert (await other.until(Welcome)).role == "reader"
            async with page(port, f"session={session}") as free:
                assert (await free.until(Welcome)).role == "writer"


async def test_a_held_run_stays_in_memory_and_its_teacher_always_comes_in(tmp_path: Path) -> None:
    with served(tmp_path, LOOKBACK_SESSIONS="1") as port:
        async with run(port) as (_, session):
            pass
        async with teacher(port, session) as one:
            code, reason = await closing(port)
            assert (code, "in use" in reason) == (4429, True)
            async with AsyncExitStack() as stack:
                for _ in range(64):
                    await stack.enter_async_context(page(port, f"session={session}&role=reader"))
                assert (await closing(port, f"session={session}&role=reader"))[0] == 4429
                async with page(port, f"session={session}&key={one.first['key']}") as stage:
                    assert (await stage.until(Welcome)).role == "writer"


# --- nonsense


BAD: list[tuple[str, str]] = [
    ("", "message"),
    ("nonsense", "message"),
    ("[]", "message"),
    ("5", "message"),
    ("[" * 4000, "message"),
    ('{"kind": "join", "code": "A", "name": NaN}', "name"),
    ("{}", "kind"),
    ('{"kind": "stand"}', "kind"),
    ('{"kind": ["join"]}', "kind"),
    ('{"kind": "join"}', "code"),
    ('{"kind": "join", "code": "KQ7-42V", "name": ""}', "name"),
    ('{"kind": "join", "code": "KQ7-42V", "name": " \\u3164\\u200b "}', "name"),
    ('{"kind": "join", "code": "KQ7-42V", "name": "\\u202eeve"}', "name"),
    ('{"kind": "join", "code": "KQ7-42V", "name": "\\ud800"}', "message"),
    ('{"kind": "join", "code": "KQ7-42V", "name": "' + "x" * 25 + '"}', "name"),
    ('{"kind": "join", "code": "KQ7-42V", "name": "Z' + "\\u0301" * 20 + '"}', "name"),
    ('{"kind": "join", "code": "KQ7-42V", "name": "Ann", "role": "teacher"}', "role"),
    ('{"kind": "open", "session": "nobody"}', "session"),
    ('{"kind": "open", "session": "nobody", "code": "KQ7-42V"}', "session"),
    ('{"kind": "vote", "option": 0}', "kind"),
    ('{"kind": "end"}', "kind"),
]


async def test_nonsense_is_answered_and_the_socket_goes_on(port: int) -> None:
    async with school(port) as (one, _ann, _ben, _stage), seat(port) as stranger:
        for text, field in BAD:
            await stranger.socket.send(text)
            errors = (await stranger.until("refused"))["errors"]
            assert errors[0]["field"] == field and errors[0]["message"], text
        await stranger.say("ping", n=7)
        assert await stranger.until("pong") == {"kind": "pong", "n": 7}
        await stranger.say("join", code=one.first["code"], name="Cleo")
        await stranger.until("joined")
        await one.until("class", following=3)


async def test_nobody_does_what_is_somebody_elses(port: int) -> None:
    async with school(port) as (one, ann, _ben, _stage):
        theirs: dict[str, dict[str, Any]] = {
            "poll": {"question": "?", "options": ["a", "b"]},
            "show": {"shown": True},
            "call": {},
            "end": {},
            "open": {"session": one.first["session"]},
            "join": {"code": one.first["code"], "name": "Ann"},
        }
        for kind, fields in theirs.items():
            assert (await ann.refused(kind, **fields))["field"] == "kind", kind
        for kind in ("vote", "leave"):
            assert (await one.refused(kind, **({"option": 0} if kind == "vote" else {})))["field"] == "kind"
        assert (await ann.refused("vote", option=0))["field"] == "kind"  # nothing was asked
        assert (await one.refused("close"))["field"] == "kind"
        await one.say("poll", question="?", options=["a", "b"])
        await ann.poll(open=True)
        assert (await ann.refused("vote", option=2))["field"] == "option"
        await one.say("close")
        await ann.poll(open=False)
        assert (await ann.refused("vote", option=0))["field"] == "option"


@pytest.mark.parametrize(
    "message, code",
    [
        (b"{}", 1003),
        ('{"kind": "ping"}' + " " * 4096, 1009),
        ("ü" * 2100, 1009),
        ("x" * 70_000, 1009),
    ],
    ids=["binary", "too long", "too many bytes", "far too long"],
)
async def test_what_is_no_text_or_too_long_is_closed_and_the_class_goes_on(port: int, message: Any, code: int) -> None:
    async with school(port) as (one, ann, _ben, _stage):
        found, _ = await closing(port, path="/ws/class", send=message)
        assert found == code
        await one.say("where", phase="train", step=1)
        assert (await ann.until("class"))["kind"] == "class"


async def test_wrong_codes_are_limited_by_how_many_different_ones(tmp_path: Path) -> None:
    with served(tmp_path) as port:
        async with run(port) as (_, session), teacher(port, session) as one, seat(port) as guesser:
            first, *others = [f"{a}22{b}22" for a in "CDFGHJ" for b in "CDFGHJ"]
            for code in (first, *others[:29]):
                assert "There is no class" in (await guesser.refused("join", code=code, name="Eve"))["message"]
            limited = await guesser.refused("join", code=others[29], name="Eve")
            assert limited["field"] == "code" and "try again in" in limited["message"]
            assert "try again in" in (await guesser.refused("join", code=one.first["code"], name="Eve"))["message"]
            assert "There is no class" in (await guesser.refused("join", code=first, name="Eve"))["message"]


async def test_who_says_nothing_is_closed(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_socket, "TIME_TO_SAY", 0.05)
    code, reason = await closing(port, path="/ws/class")
    assert code == 4400 and "neither open nor join" in reason


async def test_a_class_takes_sixty_people_and_a_server_so_many_classes(tmp_path: Path) -> None:
    with served(tmp_path, LOOKBACK_CLASSES="1") as port:
        async with run(port) as (_, session), teacher(port, session) as one, AsyncExitStack() as stack:
            for _ in range(60):
                await stack.enter_async_context(student(port, one.first["code"], "Ann"))
            people = (await one.until("class", following=60))["people"]
            assert [p["name"] for p in people] == ["Ann", *(f"Ann {n}" for n in range(2, 61))]
            async with seat(port) as late:
                assert "full" in (await late.refused("join", code=one.first["code"], name="Late"))["message"]
                async with run(port) as (_, second):
                    assert "LOOKBACK_CLASSES" in (await late.refused("open", session=second))["message"]


async def test_a_flood_is_read_slowly_and_hurts_nobody(port: int) -> None:
    async with school(port) as (one, ann, ben, _stage):
        for n in range(200):
            await ben.say("where", phase="decode", step=n)
        await one.say("where", phase="train", step=7)
        told = await ann.until("class", teacher={"here": True, "where": {"phase": "train", "step": 7, "label": ""}})
        assert told["kind"] == "class"
        people = (await one.until("class"))["people"]
        assert people[1]["where"]["step"] < 199


def test_who_does_not_read_is_sent_away_and_keeps_nothing_waiting() -> None:
    place = class_socket.Place()
    for n in range(class_socket.MOST_UNSENT):
        place.say({"kind": "pong", "n": n})
    assert (place.closing, len(place.waiting)) == (None, 64)
    place.say({"kind": "pong", "n": 64})
    place.close(4409, "replaced")
    assert place.closing and place.closing[0] == 1013 and not place.waiting


async def test_a_class_is_told_at_most_five_times_a_second(port: int) -> None:
    async with school(port) as (one, ann, _ben, _stage):
        before = len(ann.heard)
        for n in range(30):
            await one.say("where", phase="decode", step=n)
            await asyncio.sleep(0.01)
        while ann.heard[-1]["kind"] != "class" or (ann.heard[-1]["teacher"]["where"] or {}).get("step") != 29:
            await ann.hear()
        assert len(ann.heard) - before <= 5


async def test_names_are_written_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    secret = "Zyxwvut Nobody"
    with served(tmp_path) as port:
        async with run(port) as (stage, session), teacher(port, session) as one, student(port, one.first["code"], secret) as ann:
            await one.say("poll", question="Qqwerty?", options=["a", "b"])
            await ann.poll(open=True)
            await ann.say("where", own=True, phase="decode", step=1, label="Asdfgh")
            await ann.refused("vote", option=9)
            await stage.do(kind="step")
            await ann.socket.send(secret * 400)
    said = " ".join(r.getMessage() for r in caplog.records if not r.name.startswith("websockets"))
    kept = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert len(kept) > 1000
    for text in (secret, "Qqwerty", "Asdfgh", one.first["code"], one.first["key"]):
        assert text.encode() not in kept and text not in said
