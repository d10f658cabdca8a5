"""A class as its pages meet it: a teacher and students, cut and back, a run that is held."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import pytest

from app.session.events import Moved, Welcome
from tests.server.attending import run, school, seat, student, teacher
from tests.server.serving import closing, page, served


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with served(tmp_path_factory.mktemp("data"), LOOKBACK_CLASSES="40") as found:
        yield found


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


async def test_who_opens_a_class_on_the_run_before_the_teacher_is_back_gives_way(tmp_path: Path) -> None:
    with served(tmp_path) as port:
        async with run(port) as (_, session), teacher(port, session) as one, student(port, one.first["code"], "Ann") as ann:
            pass
    known = {"code": one.first["code"], "key": one.first["key"]}
    with served(tmp_path) as port:
        for token in (ann.first["token"], one.first["key"][:-8] + "AAAAAAAA"):  # what a student has, and what he may make up
            async with teacher(port, session, code=known["code"], key=token) as early:
                assert early.first["code"] != known["code"]
                async with teacher(port, session, **known) as again:
                    assert again.first == one.first
                    assert (await early.until("ended"))["reason"] == "ended"
                    async with seat(port) as anew:
                        refusal = await anew.refused("open", session=session, code=early.first["code"], key=early.first["key"])
                        assert refusal["field"] == "session"
                    await again.say("end")
                    await again.until("ended")


async def test_who_is_taken_out_is_told_and_stays_out(port: int) -> None:
    async with school(port) as (one, ann, ben, _stage):
        assert (await ben.refused("remove", name="Ann"))["field"] == "kind"
        assert (await one.refused("remove", name="Eve"))["field"] == "name"
        await one.say("remove", name="Ann")
        assert (await ann.until("ended"))["reason"] == "removed"
        await ann.socket.wait_closed()
        assert ann.socket.close_code == 1000
        assert [p["name"] for p in (await one.until("class", following=1))["people"]] == ["Ben"]
        async with seat(port) as again:
            refusal = await again.refused("join", code=one.first["code"], name="Ann", token=ann.first["token"])
            assert refusal["field"] == "token" and "taken you out" in refusal["message"]


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
        there = await one.until("room")
        assert there == {**one.first, "session": second, "key": there["key"]}
        assert there["key"] != known["key"]  # the old one is good for this class as long as it lasts
        assert (await ann.until("class", session=second))["name"] == "Ann"
        await one.say("open", session=session, **known)
        assert (await one.until("room"))["session"] == session
        assert (await ann.until("class", session=session))["name"] == "Ann"
        assert (await one.refused("open", session=second))["field"] == "kind"
        assert (await one.refused("open", session=second, code=known["code"], key="k" * 22))["field"] == "kind"
        async with teacher(port, second, **known) as moved:
            assert moved.first == {**one.first, "session": second, "key": moved.first["key"]}
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
