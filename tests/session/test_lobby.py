"""Making, finding and bringing back sessions; limits; expiry."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.session.commands import Look, Open, Selector, Step, Watch
from app.session.events import Moved, Notice, Opened, Values, Welcome
from app.session.lobby import Full, Lobby, Missing
from app.session.services import Services
from app.session.session import Session
from tests.session.pages import Page, known, services


def lobby(given: Services, limit: int = 10, idle: float = 1000) -> Lobby:
    return Lobby(given, limit, idle, expiry=7)


async def begun(found: Session, steps: int = 3) -> Page:
    page = Page(found)
    await page.done(Open(scenario={}))
    for _ in range(steps):
        await page.done(Step())
    return page


async def test_sessions_have_names_of_their_own_and_are_independent() -> None:
    async with services() as given:
        all_of_them = lobby(given)
        first, second = await all_of_them.find(None), await all_of_them.find(None)
        assert first.id != second.id and await all_of_them.find(first.id) is first
        one, other = await begun(first, 3), await begun(second, 1)
        await one.done(Step())
        assert [m.at for m in other.heard(Moved)] == [0, 1]
        assert {f.session for f in one.frames} == {first.id} and {f.session for f in other.frames} == {second.id}
        await all_of_them.close()


@pytest.mark.parametrize("name", ["", "x", "x" * 22, "../../etc/passwd", "a' OR 1=1 --", "ü" * 22])
async def test_a_name_that_nobody_has_is_missing(name: str) -> None:
    async with services() as given:
        with pytest.raises(Missing, match="no such session"):
            await lobby(given).find(name)


async def test_a_session_that_left_memory_comes_back_as_it_was(tmp_path: Path) -> None:
    async with services(tmp_path / "journal") as given:
        first = lobby(given)
        found = await first.find(None)
        page = await begun(found)
        await page.done(Look(view={"layer": 3}))
        last = page.frames[-1]
        await first.close()
        assert page.connection.outbox.closing == (1012, "the server stops; reconnect in a moment")

        second = lobby(given)
        again = Page(await second.find(found.id), "again", after=last.seq, epoch=last.epoch)
        notice = await again.until(Notice)
        assert notice.code == "recovered"
        assert again.heard(Welcome) == [Welcome("writer", True, False)]
        assert (again.heard(Moved)[-1].at, again.heard(Opened)[-1].view) == (3, {"layer": 3})
        assert again.frames[-1].seq > last.seq and again.frames[-1].epoch > last.epoch
        await again.done(Watch(selectors=(Selector(path="a"),)))
        await again.done(Step())
        assert known(again.heard(Values)) == {(0, "a"): {0: 0, 1: 1, 2: 2, 3: 3}}
        await second.close()


async def test_a_command_that_was_answered_before_a_restart_is_not_done_again(tmp_path: Path) -> None:
    async with services(tmp_path / "journal") as given:
        first = lobby(given)
        found = await first.find(None)
        page = await begun(found)
        seq = page.say(Step())
        await page.reply(seq)

        second = lobby(given)  # the first one was killed: it never closed
        again = Page(await second.find(found.id))
        assert (await again.ask(Step(), seq)).ok
        await again.done(Step())
        assert again.heard(Moved)[-1].at == 5
        await second.close()
        await first.close()


async def test_pages_that_come_back_at_once_find_one_session(tmp_path: Path) -> None:
    async with services(tmp_path / "journal") as given:
        first = lobby(given)
        found = await first.find(None)
        await begun(found)
        await first.close()
        second = lobby(given)
        same = await asyncio.gather(*(second.find(found.id) for _ in range(5)))
        assert len({id(s) for s in same}) == 1 and len(second) == 1
        await second.close()


async def test_who_comes_back_while_the_session_leaves_memory_finds_all_that_it_did(tmp_path: Path) -> None:
    async with services(tmp_path / "journal") as given:
        some = lobby(given, idle=0)
        page = await begun(await some.find(None), 3)
        page.say(Open(scenario={}, log=({},) * 20))
        await page.until(Opened)
        page.leave()
        _, back = await asyncio.gather(some.tidy(), some.find(page.session.id))
        assert back is not page.session
        assert (await Page(back, "back").until(Moved)).at == 20
        await some.close()


async def test_a_session_that_cannot_be_brought_back_is_missing_with_the_reason(tmp_path: Path) -> None:
    async with services(tmp_path / "journal") as given:
        await given.journal.append("b" * 22, 1, "c", 1, Open(scenario={"crashes_at": 1}))
        await given.journal.append("b" * 22, 2, "c", 2, Step())
        with pytest.raises(Missing, match="ZeroDivisionError"):
            await lobby(given).find("b" * 22)


async def test_when_all_sessions_are_in_use_a_new_one_is_refused_and_an_unused_one_makes_room() -> None:
    async with services() as given:
        full = lobby(given, limit=2)
        pages = [await begun(await full.find(None)) for _ in range(2)]
        with pytest.raises(Full, match="all 2 sessions"):
            await full.find(None)
        pages[0].leave()
        third = await full.find(None)
        await begun(third)
        assert len(full) == 2
        pages[1].leave()
        back = Page(await full.find(pages[0].session.id), "back")
        assert (await back.until(Moved)).at == 3
        await full.close()


async def test_what_nobody_looks_at_leaves_memory_and_later_the_journal(tmp_path: Path) -> None:
    async with services(tmp_path / "journal") as given:
        some = lobby(given, idle=0)
        used, left, empty = [await some.find(None) for _ in range(3)]
        await begun(used)
        page = await begun(left)
        page.leave()
        await asyncio.sleep(0.01)
        await some.tidy()
        assert len(some) == 1 and await some.find(used.id) is used
        assert (await some.find(left.id)).opened
        with pytest.raises(Missing):
            await some.find(empty.id)
        await given.journal.expire(days=0)
        await some.tidy()
        with pytest.raises(Missing):
            await some.find(left.id)
        await some.close()


async def test_a_run_that_a_class_follows_stays_in_memory_though_nobody_looks() -> None:
    async with services() as given:
        small = lobby(given, limit=1, idle=-1)
        page = await begun(await small.find(None))
        page.session.hold("key", trust=True)
        page.leave()
        await small.tidy()
        with pytest.raises(Full):
            await small.find(None)
        assert await small.find(page.session.id) is page.session
        page.session.release()
        await small.find(None)
        assert len(small) == 1
        await small.close()
