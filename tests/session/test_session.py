"""One session: order, answers, cancelling, failing."""

from __future__ import annotations

import asyncio
import json
from typing import get_args

import pytest

from app.session.commands import (
    Analyse,
    Back,
    Cancel,
    Command,
    Go,
    Look,
    Open,
    Pause,
    Selector,
    Step,
    Watch,
)
from app.session.events import Analysis, Notice, Opened, Refused, Reply, Values, Welcome
from app.session.session import MOST_WAITING, Session
from tests.session.pages import ALL, Page, known, services, session, steps

# --- order and answers


async def test_a_new_session_says_that_nothing_is_open_and_then_tells_what_was_opened() -> None:
    async with session() as (_, page):
        assert page.kinds()[:3] == ["Welcome", "Playing", "Viewed"]
        assert page.heard(Welcome) == [Welcome("writer", False, False)]
        assert page.kinds()[3:] == ["Opened", "Schema", "History", "Curve", "Moved", "Checked", "Reply"]


async def test_all_commands_are_answered_once_and_well() -> None:
    assert {type(c) for c in ALL} == set(get_args(get_args(Command)[0]))
    async with session() as (_, page):
        for command in ALL:
            assert (await page.ask(command)).ok, command
        await page.ask(Pause())
        answered = [r.to for r in page.heard(Reply)]
        assert sorted(answered) == list(range(1, len(ALL) + 3))


async def test_commands_that_come_at_once_are_done_in_order() -> None:
    async with session() as (_, page):
        sent = [page.say(Step()), page.say(Step()), page.say(Back()), page.say(Step())]
        await page.reply(sent[-1])
        assert steps(page) == [0, 1, 2, 1, 2]
        assert [r.to for r in page.heard(Reply)][1:] == sent


async def test_reliable_events_are_numbered_without_gaps_and_own_frames_repeat_the_last_number() -> None:
    async with session() as (_, page):
        await page.done(Step())
        numbers = [f.seq for f in page.frames if not isinstance(f.event, Reply | Welcome | Values)][2:]
        assert numbers == list(range(1, len(numbers) + 1))
        assert [f.seq for f in page.frames if isinstance(f.event, Reply)] == [6, 8]


@pytest.mark.parametrize(
    "command", [c for c in ALL if not isinstance(c, Open | Pause | Cancel | Look | Watch)], ids=lambda c: c.kind
)
async def test_before_a_scenario_is_open_commands_are_refused_by_name(command: Command) -> None:
    async with services() as given:
        made = Session("s" * 22, given)
        reply = await Page(made).ask(command)
        assert not reply.ok and reply.errors[0].given == command.kind
        await made.close()


async def test_a_refused_command_changes_nothing_and_says_which_field() -> None:
    async with session() as (_, page):
        await page.done(Step())
        reply = await page.ask(Open(scenario={"refused": True}))
        assert [p.field for p in reply.errors] == ["scenario"]
        await page.done(Step())
        assert steps(page) == [0, 1, 2]


async def test_an_open_whose_log_fails_leaves_the_old_run_and_the_page_is_told_again() -> None:
    async with session() as (_, page):
        await page.done(Step())
        epoch = page.frames[-1].epoch
        reply = await page.ask(Open(scenario={"ends_at": 1}, log=({}, {})))
        assert not reply.ok
        assert page.kinds()[-7:] == ["Opened", "Schema", "History", "Curve", "Moved", "Checked", "Reply"]
        assert (steps(page)[-1], page.frames[-1].epoch) == (1, epoch)
        await page.done(Step())
        assert steps(page)[-1] == 2
        await page.done(Open(scenario={}))
        assert page.frames[-1].epoch > epoch + 1


async def test_a_seq_that_was_answered_is_not_done_again() -> None:
    async with session() as (_, page):
        seq = page.say(Step())
        first = await page.reply(seq)
        assert await page.ask(Step(), seq) == first
        assert steps(page) == [0, 1]


async def test_a_seq_that_goes_back_is_refused() -> None:
    async with session() as (_, page):
        await page.ask(Step(), seq=10)
        reply = await page.ask(Step(), seq=9)
        assert (reply.ok, reply.errors[0].field, reply.errors[0].allowed) == (False, "seq", "a whole number above 10")


async def test_a_page_that_lost_its_connection_gets_the_answer_on_the_next_one() -> None:
    async with session() as (made, page):
        seq = page.say(Analyse(name="long", arguments={"ticks": 50}))
        await page.until(Analysis)
        last = page.frames[-1]
        page.leave()
        again = Page(made, after=last.seq, epoch=last.epoch)
        again.say(Analyse(name="long", arguments={"ticks": 50}), seq)
        assert (await again.reply(seq)).ok
        assert (await again.ask(Step())).ok
        assert [a.progress for a in again.heard(Analysis)].count(1.0) == 1


async def test_a_flood_of_commands_is_refused_beyond_a_limit() -> None:
    async with session() as (_, page):
        sent = [page.say(Step()) for _ in range(MOST_WAITING + 5)]
        replies = {seq: await page.reply(seq) for seq in (sent[-1], sent[0])}
        assert not replies[sent[-1]].ok and "at most 32" in replies[sent[-1]].errors[0].allowed


# --- cancelling and failing


@pytest.mark.parametrize("command", [Analyse(name="long", arguments={"ticks": 5000}), Go(moment=5000)], ids=lambda c: c.kind)
async def test_a_long_command_is_cancelled_and_the_run_stands_where_it_stood(command: Command) -> None:
    async with session() as (_, page):
        await page.done(Step())
        seq = page.say(command)
        await page.until(Analysis)
        assert (await page.ask(Cancel())).ok
        reply = await page.reply(seq)
        assert not reply.ok and reply.errors[0].field == "cancel" and reply.errors[0].message.startswith("Cancelled")
        await page.done(Step())
        assert steps(page)[-2:] == [1, 2]


async def test_cancel_when_nothing_runs_does_nothing() -> None:
    async with session() as (_, page):
        await page.done(Cancel())
        await page.done(Step())
        assert steps(page) == [0, 1]


async def test_an_engine_that_fails_takes_down_only_its_step() -> None:
    async with services() as given:
        first, second = Session("a" * 22, given), Session("b" * 22, given)
        broken, whole = Page(first), Page(second)
        await broken.done(Open(scenario={"crashes_at": 3}))
        await whole.done(Open(scenario={}))
        await broken.done(Watch(selectors=(Selector(path="a"),)))
        for _ in range(2):
            await broken.done(Step())
        epoch = broken.frames[-1].epoch
        reply = await broken.ask(Step())
        message = reply.errors[0].message
        assert not reply.ok and "failed at this" in message and "ZeroDivisionError" not in message
        assert steps(broken)[-1] == 2 and broken.frames[-1].epoch > epoch
        assert broken.heard(Notice)[-1].code == "stopped"
        assert known(broken.heard(Values)) == {(0, "a"): {0: 0, 1: 1}}
        await broken.done(Back())
        for _ in range(3):
            await whole.done(Step())
        assert steps(whole) == [0, 1, 2, 3] and not whole.heard(Notice)
        await first.close()
        await second.close()


async def test_what_goes_in_and_out_of_a_session_is_plain_data() -> None:
    async with session() as (_, page):
        for command in ALL:
            assert type(command).model_validate_json(command.model_dump_json()) == command
            await page.ask(command)
        assert all(isinstance(json.dumps(vars(f.event), default=repr), str) for f in page.frames)


async def test_a_command_that_says_no_progress_is_not_cut_in_the_middle() -> None:
    async with session() as (_, page):
        seq = page.say(Open(scenario={}, log=({},) * 20))
        await page.until(Opened)
        assert (await page.ask(Cancel())).ok
        assert (await page.reply(seq)).ok
        assert steps(page)[-1] == 20


async def test_who_waits_for_a_session_that_ends_is_told_so() -> None:
    async with services() as given:
        ends = Session("s" * 22, given)
        page = Page(ends)
        await page.done(Open(scenario={}))
        page.say(Analyse(name="a", arguments={"ticks": 10**6}))
        saved, opened = asyncio.create_task(ends.saved()), asyncio.create_task(ends.open("page", Open(scenario={})))
        await asyncio.sleep(0)
        await ends.close()
        with pytest.raises(Refused, match="ended before"):
            await saved
        assert "ended before" in (await opened)[0].message
        with pytest.raises(Refused, match="ended before"):
            await ends.saved()
