"""Playing: its rate, and what stops it."""

from __future__ import annotations

import asyncio
import time

import pytest

from app.session import worker
from app.session.commands import (
    Analyse,
    Back,
    Command,
    Fetch,
    Look,
    Pause,
    Play,
    Reset,
    Selector,
    Share,
    Step,
    Watch,
)
from app.session.events import Moved, Notice, Playing
from tests.session.pages import Page, session, steps


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


async def test_an_analysis_does_not_stop_playing() -> None:
    """A check may measure itself while somebody presses Play."""
    async with session() as (_, page):
        await page.done(Play(rate=20))
        await page.done(Analyse(name="a", arguments={"ticks": 1}))
        before = len(steps(page))
        while len(steps(page)) < before + 3:
            await page.until(Moved)
        await page.done(Pause())


@pytest.mark.parametrize("command", [Step(), Pause(), Back(), Reset()], ids=lambda c: c.kind)
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
