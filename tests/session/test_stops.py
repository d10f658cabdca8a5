"""Stops of playing, on real runs: each kind ends it exactly where it says, with its reason; one that cannot be is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from app.session import given
from app.session.commands import (
    MAX_STOPS,
    Open,
    Play,
    Step,
    Stop,
    StopAtLoss,
    StopAtOp,
    StopAtStage,
    StopAtStep,
    StopAtToken,
)
from app.session.engine import Engine
from app.session.events import Moved, Notice, Playing
from app.session.scenario import defaults
from app.session.session import Session
from tests.session.driving import scenario
from tests.session.pages import Page, services, session, steps


@asynccontextmanager
async def run(**fields: Any) -> AsyncIterator[Page]:
    """A page on a real run."""
    async with services(engine=Engine) as needs:
        made = Session("s" * 22, needs)
        page = Page(made)
        await page.done(Open(scenario=scenario(**fields)))
        yield page
        await made.close()


async def stopped(page: Page, *stops: Stop, **play: Any) -> tuple[Moved, str]:
    """Where playing ends, and why."""
    await page.done(Play(rate=60, stops=stops, **play))
    while (ended := await page.until(Playing)).playing:
        pass
    said = [n.message for n in page.heard(Notice) if n.code == "stopped"]
    assert ended.stop in [s.model_dump(mode="json") for s in stops]
    return page.heard(Moved)[-1], said[-1]


def place(moved: Moved) -> tuple[str, int, str]:
    return moved.phase, moved.step, moved.stage


@pytest.mark.parametrize(
    ("phase", "stop", "ends", "words"),
    [
        ("train", StopAtStep(phase="train", step=3), ("train", 3, ""), "Update 3 has ended"),
        ("train", StopAtStage(phase="train", stage="backward"), ("train", 0, "backward"), "Update 1 has done its stage backward"),
        ("train", StopAtStage(phase="train", stage="update"), ("train", 1, ""), "Update 1 has done its stage update"),
        ("train", StopAtOp(phase="train", scope="decoder.layer0.cross"), ("train", 0, "forward"), "decoder.layer0.cross"),
        ("prefill", StopAtStage(phase="prefill", stage="encode"), ("prefill", 0, "encode"), "Prefill has done its stage encode"),
        ("prefill", StopAtOp(phase="prefill", scope="decoder.layer0.self"), ("prefill", 1, ""), "decoder.layer0.self"),
        ("prefill", StopAtStep(phase="decode", step=2), ("decode", 2, ""), "Decode 2 has ended"),
        ("decode", StopAtStage(phase="decode", stage="choose"), ("decode", 0, "choose"), "its stage choose"),
        ("decode", StopAtOp(phase="decode", scope="decoder.layer0.ffn"), ("decode", 1, ""), "decoder.layer0.ffn"),
    ],
)
async def test_playing_ends_exactly_there(phase: str, stop: Stop, ends: tuple[str, int, str], words: str) -> None:
    async with run(phase=phase) as page:
        moved, said = await stopped(page, stop)
        assert place(moved) == ends
        assert words in said


async def test_a_stage_is_stopped_at_in_each_step_and_the_steps_between_are_whole() -> None:
    async with run(phase="train") as page:
        stop = StopAtStage(phase="train", stage="loss")
        assert [place((await stopped(page, stop))[0]) for _ in range(2)] == [("train", 0, "loss"), ("train", 1, "loss")]


async def test_stages_inside_a_step_do_not_wait_for_the_rate() -> None:
    async with run(phase="train") as page:
        await page.done(Play(rate=0.1, stops=(StopAtStage(phase="train", stage="clip"),)))
        while (await page.until(Playing)).playing:
            pass
        assert place(page.heard(Moved)[-1]) == ("train", 0, "clip")


async def test_a_token_stops_where_it_was_chosen_and_not_again() -> None:
    async with run(weights="trained", config={}) as page:
        word = given.task_of(defaults()).target.ids["chat"]
        moved, said = await stopped(page, StopAtToken(token=word))
        assert place(moved) == ("decode", 2, "") and "Decode 2 chose “chat”" in said
        await page.done(Play(rate=60, stops=(StopAtToken(token=word),)))
        while (await page.until(Playing)).playing:
            pass
        assert page.heard(Moved)[-1].ended


async def test_by_stages_a_token_stops_as_soon_as_it_is_chosen() -> None:
    async with run(weights="trained", config={}) as page:
        word = given.task_of(defaults()).target.ids["chat"]
        assert place((await stopped(page, StopAtToken(token=word), unit="stage"))[0]) == ("decode", 1, "choose")


async def test_a_loss_stops_where_it_passes_the_value_and_not_while_it_stays_beyond() -> None:
    async with run(phase="train") as page:
        await page.done(Step())
        first = page.heard(Moved)[-1].train
        assert first is not None and first.loss is not None
        stop = StopAtLoss(side="below", value=first.loss * 0.9)
        moved, said = await stopped(page, stop)
        assert moved.train is not None and moved.train.loss is not None
        assert moved.train.loss < stop.value and "below" in said
        before = [m.train.loss for m in page.heard(Moved)[:-1] if m.train and m.train.loss is not None]
        assert all(loss >= stop.value for loss in before)
        later = moved.step + 2
        moved, _ = await stopped(page, StopAtLoss(side="above", value=0.0), StopAtStep(phase="train", step=later))
        assert place(moved) == ("train", later, ""), "it was above 0 before"


@pytest.mark.parametrize(
    ("stop", "words"),
    [
        (StopAtStage(phase="train", stage="lunch"), "train has no stage 'lunch'; allowed: batch, forward"),
        (StopAtOp(phase="decode", scope="decoder.layer7.self"), "records nothing in 'decoder.layer7.self'"),
        (StopAtToken(token=10**6), "token 1000000 is not in the vocabulary; allowed: 0 to"),
    ],
)
async def test_a_stop_that_this_run_can_never_reach_is_refused(stop: Stop, words: str) -> None:
    async with run() as page:
        reply = await page.ask(Play(stops=(StopAtStep(phase="train", step=1), stop)))
        assert not reply.ok and words in reply.errors[0].message
        assert reply.errors[0].field.startswith("stops.1.")
        assert not page.heard(Playing)[-1].playing


async def test_the_player_stops_at_the_first_of_several_and_goes_on_from_there() -> None:
    async with session(ends_at=6) as (_, page):
        several = tuple(StopAtStep(phase="decode", step=n) for n in (4, 2))
        for expected in (2, 4):
            await page.done(Play(rate=60, stops=several))
            while (await page.until(Playing)).playing:
                pass
            assert steps(page)[-1] == expected
        with pytest.raises(ValueError, match="at most"):
            Play(stops=several * MAX_STOPS)
