"""One session: order, answers, roles, playing, cancelling, failing, resuming."""

from __future__ import annotations

import asyncio
import json
import time
from typing import get_args

import pytest

from app.session import worker
from app.session.audience import LIFE, MOST_WATCHED
from app.session.commands import (
    ANYONE,
    Analyse,
    Back,
    Cancel,
    Change,
    Choose,
    Command,
    Enter,
    Fetch,
    Go,
    Look,
    Open,
    Pause,
    Play,
    Reset,
    Selector,
    Share,
    Step,
    Undo,
    Watch,
)
from app.session.events import (
    Analysis,
    Checked,
    Moved,
    Notice,
    Opened,
    Playing,
    Reply,
    Shared,
    Values,
    Viewed,
    Welcome,
)
from app.session.session import MOST_WAITING, Session
from tests.session.pages import Page, known, services, session

JOINED = ["Opened", "Schema", "History", "Curve", "Moved", "Checked", "Playing", "Viewed"]
ALL = (
    *(Open(scenario={}), Step(), Back(), Go(moment=0), Choose(request=0, token=4), Enter(phase="train")),
    *(Change(fields={"seed": 1}), Undo(), Reset(), Play(), Pause(), Watch(selectors=()), Fetch(selector=Selector(path="*"))),
    *(Analyse(name="a", arguments={"ticks": 1}), Cancel(), Look(view={}), Share()),
)


def steps(page: Page) -> list[int]:
    return [m.at for m in page.heard(Moved)]


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


# --- writer and readers


async def test_a_reader_hears_everything_and_may_not_command() -> None:
    async with session() as (made, page):
        reader = Page(made, "reader", "reader")
        await reader.until(Viewed)
        assert reader.kinds() == ["Welcome", *JOINED]
        assert reader.heard(Welcome) == [Welcome("reader", True, False)]
        for command in ALL:
            reply = await reader.ask(command)
            assert reply.ok == isinstance(command, ANYONE), command
        await page.done(Step())
        assert (await reader.until(Moved)).at == 1


async def test_the_newest_page_that_asks_to_write_writes_until_it_goes() -> None:
    async with session() as (made, page):
        second = Page(made, "second")
        await second.until(Viewed)
        assert await page.until(Welcome) == Welcome("reader", True, True)
        assert not (await page.ask(Step())).ok
        assert (await second.ask(Step())).ok
        second.leave()
        assert await page.until(Welcome) == Welcome("writer", True, True)
        assert (await page.ask(Step())).ok


async def test_a_newer_connection_of_the_same_page_replaces_the_older() -> None:
    async with session() as (made, page):
        again = Page(made)
        await again.until(Viewed)
        assert page.connection.outbox.closing and page.connection.outbox.closing[0] == 4409
        assert (made.connections, again.connection.role) == (1, "writer")


async def test_the_view_is_mirrored_kept_and_bounded() -> None:
    async with session() as (made, page):
        reader = Page(made, "reader", "reader")
        await reader.until(Viewed)
        await page.done(Look(view={"layer": 2, "note": "ä"}))
        assert (await reader.until(Viewed)).view == {"layer": 2, "note": "ä"}
        reply = await page.ask(Look(view={"note": "x" * 9000}))
        assert (reply.ok, reply.errors[0].field) == (False, "view")
        late = Page(made, "late", "reader")
        assert (await late.until(Viewed)).view == {"layer": 2, "note": "ä"}
        assert late.heard(Opened)[0].view == {"layer": 2, "note": "ä"}


async def test_what_one_page_asks_to_fetch_or_share_nobody_else_gets() -> None:
    async with session() as (made, page):
        reader = Page(made, "reader", "reader")
        await reader.until(Viewed)
        fetched = [e for e in await reader.done(Fetch(selector=Selector(path="a"))) if isinstance(e, Values)]
        shared = [e for e in await reader.done(Share(view={"layer": 1})) if isinstance(e, Shared)]
        assert fetched[0].fetched and shared[0].file["view"] == {"layer": 1}
        await page.done(Step())
        assert not page.heard(Values) and not page.heard(Shared)


# --- values


async def test_each_page_gets_the_values_of_its_own_selectors_under_its_own_numbers() -> None:
    a, b, c = (Selector(path=name) for name in "abc")
    async with session() as (made, page):
        reader = Page(made, "reader", "reader")
        await page.done(Watch(selectors=(a, b), mark=1))
        await reader.done(Watch(selectors=(c, b, b), mark=2))
        await page.done(Step())
        await reader.until(Checked)
        mine, theirs = page.heard(Values)[-1], reader.heard(Values)[-1]
        assert [(p.selector, p.path) for p in mine.pieces] == [(0, "a"), (1, "b")]
        assert sorted((p.selector, p.path) for p in theirs.pieces) == [(0, "c"), (1, "b"), (2, "b")]
        assert (mine.mark, theirs.mark) == (1, 2)


async def test_nobody_gets_values_that_nobody_watches() -> None:
    async with session() as (_, page):
        await page.done(Watch(selectors=(Selector(path="a"),)))
        await page.done(Watch(selectors=()))
        count = len(page.heard(Values))
        await page.done(Step())
        assert len(page.heard(Values)) == count


@pytest.mark.parametrize("width", [1, 4096], ids=["merged", "keyframe"])
async def test_a_page_that_draws_nothing_costs_bounded_memory_and_ends_up_knowing_the_same(width: int) -> None:
    async with session(width=width) as (made, page):
        slow = Page(made, "slow", "reader", acks=False)
        for one in (page, slow):
            await one.done(Watch(selectors=(Selector(path="a"),)))
        for _ in range(200):
            await page.done(Step())
        await slow.until_quiet()
        assert len(slow.heard(Values)) == 2
        while slow.heard(Values)[-1].at < 200:
            made.ack(slow.connection, slow.frames[-1].seq)
            await slow.until(Values)
        assert known(slow.heard(Values)) == known(page.heard(Values))


async def test_watching_too_much_is_refused_by_size_and_what_was_watched_before_stays() -> None:
    async with session(width=1 << 20) as (_, page):
        await page.done(Watch(selectors=(Selector(path="a"),)))
        for _ in range(6):
            await page.done(Step())
        reply = await page.ask(Watch(selectors=(Selector(path="a"), Selector(path="b"))))
        assert (reply.ok, reply.errors[0].given, reply.errors[0].allowed) == (False, "12 MiB", "at most 8 MiB")
        assert (await page.ask(Fetch(selector=Selector(path="a")))).ok
        for _ in range(3):
            await page.done(Step())
        assert [p.path for p in page.heard(Values)[-1].pieces] == ["a"]
        assert not (await page.ask(Fetch(selector=Selector(path="a")))).ok


async def test_values_that_grow_too_large_are_not_watched_any_more_and_the_page_is_told() -> None:
    async with session(width=5 << 20) as (_, page):
        await page.done(Step())
        await page.done(Watch(selectors=(Selector(path="a"),)))
        await page.done(Step())
        await page.done(Back())
        await page.done(Step())
        assert not page.heard(Notice)
        await page.done(Go(moment=2))
        assert "10 MiB" in page.heard(Notice)[0].message
        before = len(page.heard(Values))
        await page.done(Step())
        assert len(page.heard(Values)) == before


async def test_all_pages_of_a_session_together_watch_a_bounded_number_of_selectors() -> None:
    async with session() as (made, page):
        pages = [page, *(Page(made, f"reader{i}", "reader") for i in range(MOST_WATCHED // 64))]
        replies = [
            await one.ask(Watch(selectors=tuple(Selector(path=f"{i}.{j}") for j in range(64)))) for i, one in enumerate(pages)
        ]
        assert [r.ok for r in replies] == [True] * (len(pages) - 1) + [False]


# --- playing


async def test_playing_steps_until_the_run_ends() -> None:
    async with session(ends_at=3) as (_, page):
        await page.done(Play(rate=60))
        while (await page.until(Playing)).playing:
            pass
        assert steps(page) == [0, 1, 2, 3]
        reply = await page.ask(Play())
        assert not reply.ok and "ended" in reply.errors[0].message


async def test_playing_keeps_to_its_rate() -> None:
    async with session() as (_, page):
        begun = time.monotonic()
        await page.done(Play(rate=20))
        while len(steps(page)) < 11:
            await page.hear()
        assert time.monotonic() - begun >= 9 / 20
        await page.done(Pause())


async def test_playing_stops_where_a_check_begins_to_fail_but_not_for_one_that_failed_before() -> None:
    async with session(fails_check_at=2, fails_check_to=4, ends_at=6) as (_, page):
        await page.done(Play(rate=60))
        assert "rows sum to 1" in (await page.until(Notice)).message
        assert not (await page.until(Playing)).playing
        assert steps(page)[-1] == 2
        await page.done(Play(rate=60))
        while (await page.until(Playing)).playing:
            pass
        assert steps(page)[-1] == 6


async def test_playing_stops_where_the_loss_runs_away() -> None:
    async with session(diverges_at=2) as (_, page):
        await page.done(Play(rate=60))
        while (await page.until(Playing)).playing:
            pass
        assert steps(page)[-1] == 2


@pytest.mark.parametrize(
    "command", [Step(), Pause(), Back(), Reset(), Analyse(name="a", arguments={"ticks": 1})], ids=lambda c: c.kind
)
async def test_another_command_stops_playing_and_is_done(command: Command) -> None:
    async with session() as (_, page):
        await page.done(Play(rate=60))
        await page.until(Moved)
        assert (await page.ask(command)).ok
        assert not page.heard(Playing)[-1].playing
        await page.done(Look(view={}))
        at = steps(page)
        await asyncio.sleep(0.05)
        await page.done(Look(view={}))
        assert steps(page) == at


async def test_looking_and_watching_do_not_stop_playing() -> None:
    async with session() as (made, page):
        reader = Page(made, "reader", "reader")
        await page.done(Play(rate=60))
        for command in (Watch(selectors=(Selector(path="a"),)), Look(view={}), Fetch(selector=Selector(path="a")), Share()):
            await page.done(command)
        await reader.ask(Step())
        await page.until(Moved)
        assert page.heard(Playing)[-1].playing


async def test_a_page_that_is_loaded_again_while_playing_finds_the_run_playing() -> None:
    async with session() as (made, page):
        await page.done(Play(rate=60))
        page.leave()
        again = Page(made, "again")
        assert (await again.until(Playing)).playing
        await again.until(Moved)


async def test_a_run_does_not_play_on_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "PLAY_ALONE", 0.0)
    async with session() as (made, page):
        await page.done(Play(rate=60))
        page.leave()
        await asyncio.sleep(0.1)
        assert not (await Page(made, "again").until(Playing)).playing


async def test_a_step_that_is_refused_ends_playing_with_its_reason() -> None:
    async with session(ends_at=2) as (_, page):
        await page.done(Play(rate=60))
        await page.until(Moved)
        assert not (await page.until(Playing)).playing


# --- cancelling and failing


@pytest.mark.parametrize("command", [Analyse(name="long", arguments={"ticks": 5000}), Go(moment=5000)], ids=lambda c: c.kind)
async def test_a_long_command_is_cancelled_and_the_run_stands_where_it_stood(command: Command) -> None:
    async with session() as (_, page):
        await page.done(Step())
        seq = page.say(command)
        await page.until(Analysis if isinstance(command, Analyse) else Moved)
        assert (await page.ask(Cancel())).ok
        reply = await page.reply(seq)
        assert not reply.ok and "cancelled" in reply.errors[0].message
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
        assert not reply.ok and "ZeroDivisionError" in reply.errors[0].message
        assert steps(broken)[-1] == 2 and broken.frames[-1].epoch > epoch
        assert broken.heard(Notice)[-1].code == "stopped"
        assert known(broken.heard(Values)) == {(0, "a"): {0: 0, 1: 1}}
        await broken.done(Back())
        for _ in range(3):
            await whole.done(Step())
        assert steps(whole) == [0, 1, 2, 3] and not whole.heard(Notice)
        await first.close()
        await second.close()


# --- resuming


async def test_a_page_resumes_with_just_what_it_missed() -> None:
    async with session() as (made, page):
        other = Page(made, "other", "reader")
        await other.until(Viewed)
        last = other.frames[-1]
        other.leave()
        await page.done(Step())
        await page.done(Step())
        again = Page(made, "other", "reader", last.seq, last.epoch)
        await again.done(Watch(selectors=(Selector(path="a"),)))
        assert again.heard(Welcome) == [Welcome("reader", True, True)]
        assert again.kinds() == ["Welcome", "Moved", "Checked", "Moved", "Checked", "Values", "Reply"]
        assert [f.seq for f in again.frames[1:5]] == [last.seq + i for i in (1, 2, 3, 4)]
        assert again.heard(Values)[0].keyframe


@pytest.mark.parametrize(
    "after, epoch", [(0, 0), (10_000, 0), (3, LIFE), (-1, -1)], ids=["none", "ahead", "another life", "less"]
)
async def test_a_page_that_cannot_resume_joins_anew(after: int, epoch: int) -> None:
    async with session() as (made, _):
        again = Page(made, "other", "reader", after, epoch)
        await again.until(Viewed)
        assert again.kinds() == ["Welcome", *JOINED]
        assert not again.heard(Welcome)[0].resumed
        assert [f.seq for f in again.frames] == [0] * len(JOINED) + [6]


async def test_what_is_kept_for_resuming_is_bounded() -> None:
    async with session() as (made, page):
        first = page.frames[-1]
        for i in range(100):
            await page.done(Look(view={"note": f"{i} " + "x" * 8000}))
        late = Page(made, "late", "reader", first.seq, first.epoch)
        await late.until(Viewed)
        assert not late.heard(Welcome)[0].resumed
        recent = page.frames[-2]
        soon = Page(made, "soon", "reader", recent.seq - 5, recent.epoch)
        assert (await soon.until(Welcome)).resumed
        assert len([await soon.until(Viewed) for _ in range(5)]) == 5


async def test_what_goes_in_and_out_of_a_session_is_plain_data() -> None:
    async with session() as (_, page):
        for command in ALL:
            assert type(command).model_validate_json(command.model_dump_json()) == command
            await page.ask(command)
        assert all(isinstance(json.dumps(vars(f.event), default=repr), str) for f in page.frames)
