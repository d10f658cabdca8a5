"""Undo and Redo: changes of the scenario are taken back and made again; time is left alone."""

from __future__ import annotations

import pytest

from app.session.commands import (
    Change,
    Redo,
    Step,
    Undo,
)
from app.session.events import Opened, Refused
from tests.session.driving import NO_SOURCE_2, do, masks, opened, tokens


def test_undo_takes_back_edits_one_by_one_and_leaves_time_alone() -> None:
    engine = opened()
    do(engine, Step())
    do(engine, masks(NO_SOURCE_2))
    do(engine, Step())
    do(engine, Change(fields={"policy": {"limit": 5}}))
    written = tokens(engine)
    do(engine, Undo())
    assert engine.scenario.policy.limit == 32 and engine.scenario.masks
    do(engine, Undo())
    assert not engine.scenario.masks and tokens(engine) == written
    with pytest.raises(Refused, match="no change to take back"):
        do(engine, Undo())


def test_what_was_taken_back_can_be_made_again_until_something_else_is_changed() -> None:
    engine = opened()
    do(engine, masks(NO_SOURCE_2))
    do(engine, Change(fields={"policy": {"limit": 5}}))
    changed = engine.digest()
    do(engine, Undo())
    do(engine, Undo())
    do(engine, Redo())
    assert engine.scenario.masks and engine.scenario.policy.limit == 32
    do(engine, Redo())
    assert engine.scenario.policy.limit == 5 and engine.digest() == changed
    do(engine, Undo())
    do(engine, Step())
    do(engine, Change(fields={"policy": {"limit": 7}}))
    with pytest.raises(Refused, match="no change to make again"):
        do(engine, Redo())
    do(engine, Undo())
    do(engine, Undo())
    assert not engine.scenario.masks


def test_how_many_runs_undo_leads_back_to_is_told_when_a_run_is_opened() -> None:
    engine = opened()
    assert [e.left for e in do(engine, Change(fields={"seed": 8})) if isinstance(e, Opened)] == [1]
    assert [e.left for e in do(engine, Undo()) if isinstance(e, Opened)] == [0]


def test_undo_takes_back_a_change_that_built_another_model() -> None:
    engine = opened()
    do(engine, Change(fields={"architecture": "decoder_only"}))
    assert engine.scenario.architecture == "decoder_only" and engine.scenario.requests[0].source is None
    do(engine, Undo())
    assert engine.scenario.architecture == "encoder_decoder"


def test_undo_of_another_model_brings_the_run_back_as_it_stood() -> None:
    engine = opened(phase="train")
    do(engine, Step())
    do(engine, Change(fields={"training": {"learning_rate": 0.01}}))
    do(engine, Step())
    before, moments = engine.digest(), len(engine.timeline.moments)
    do(engine, Change(fields={"seed": 99}))
    do(engine, Step())
    do(engine, Undo())
    assert engine.digest() == before and len(engine.timeline.moments) == moments
    do(engine, Undo())
    assert engine.scenario.training.learning_rate == 1e-3
