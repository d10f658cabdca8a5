"""Who hears what: roles, values for each page at its own pace, resuming."""

from __future__ import annotations

import pytest

from app.session.audience import LIFE, MOST_WATCHED
from app.session.commands import (
    ANYONE,
    Back,
    Fetch,
    Go,
    Look,
    Selector,
    Share,
    Step,
    Watch,
)
from app.session.events import Checked, Moved, Notice, Opened, Shared, Values, Viewed, Welcome
from tests.session.pages import ALL, Page, known, session

JOINED = ["Opened", "Schema", "History", "Curve", "Moved", "Checked", "Playing", "Viewed"]


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


# --- a class


async def test_a_run_that_is_held_is_written_with_its_key_alone() -> None:
    async with session() as (made, page):
        made.hold("key", trust=False)
        assert await page.until(Welcome) == Welcome("reader", True, True)
        assert "the teacher's" in (await page.ask(Step())).errors[0].message
        teacher = Page(made, "teacher", key="key")
        await teacher.until(Viewed)
        for newer in (Page(made, "newer"), Page(made, "wrong", key="wrong")):
            await newer.until(Viewed)
            assert newer.connection.role == "reader"
        assert (await teacher.ask(Step())).ok
        teacher.leave()
        assert not any(c.role == "writer" for c in made._audience.connections)
        made.release()
        assert newer.connection.role == "writer"


async def test_who_wrote_when_the_class_began_goes_on_until_he_is_cut() -> None:
    async with session() as (made, page):
        Page(made, "reader", "reader")
        made.hold("key", trust=True)
        assert (await page.ask(Step())).ok
        again = Page(made)  # the same page, without the key
        await again.until(Viewed)
        assert not (await again.ask(Step(), 10)).ok
        keyed = Page(made, key="key")
        await keyed.until(Viewed)
        assert (await keyed.ask(Step(), 11)).ok


async def test_followers_cannot_keep_their_teacher_from_looking() -> None:
    async with session() as (made, page):
        made.hold("key", trust=True)
        readers = [Page(made, f"reader{i}", "reader") for i in range(MOST_WATCHED // 64 + 1)]
        pages = [*readers, page]
        replies = [
            await one.ask(Watch(selectors=tuple(Selector(path=f"{i}.{j}") for j in range(64)))) for i, one in enumerate(pages)
        ]
        assert [r.ok for r in replies] == [True] * (len(readers) - 1) + [False, True]


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
