"""One tree over all phases: forward, back, branches, snapshots."""

from __future__ import annotations

from collections.abc import Generator
from itertools import pairwise

import pytest

from app.session.commands import (
    Back,
    Change,
    Choose,
    Command,
    Enter,
    Go,
    Reset,
    Step,
)
from app.session.events import Curve, Refused
from app.session.lineage import Snapshots
from tests.session.driving import CAUSAL_CELL, NO_SOURCE_2, do, masks, of, opened, tokens


@pytest.mark.parametrize("architecture", ["encoder_decoder", "decoder_only"])
def test_forward_50_back_50_forward_50_is_exact(architecture: str) -> None:
    engine = opened(architecture)
    engine.snapshots = Snapshots(every=3, most=2)
    way: list[Command] = []
    digests = [engine.digest()]
    plan = _way(architecture)
    for command in plan:
        do(engine, command)
        way.append(command)
        digests.append(engine.digest())
    assert len(plan) == 50 and len(set(digests)) > 40
    for expected in reversed(digests[:-1]):
        do(engine, Back())
        assert engine.digest() == expected
    for command, expected in zip(way, digests[1:], strict=True):
        do(engine, command)
        assert engine.digest() == expected
    assert len(engine.timeline.moments) == 51, "the same commands lead to the same moments"


def test_snapshots_lie_the_closer_the_nearer_they_are() -> None:
    """So that a step back replays about as far as it goes at most, from wherever a run stands."""
    kept = Snapshots(every=1, most=6)
    for update in range(1, 201):
        kept.keep(update, update, b"")
    found = [update for update in range(201) if update in kept]
    gaps = [later - earlier for earlier, later in pairwise(found)]
    assert len(found) == 6 and found[-1] == 200
    assert gaps == sorted(gaps, reverse=True) and gaps[-1] == 1 < gaps[0]
    assert all(gap <= 2 * (201 - earlier) for gap, earlier in zip(gaps, found, strict=False)) and found[0] <= 150


def _way(architecture: str) -> list[Command]:
    hidden = (
        NO_SOURCE_2 if architecture == "encoder_decoder" else {**CAUSAL_CELL, "cells": [{"query": 3, "key": 1, "visible": False}]}
    )
    way: list[Command] = [Step() for _ in range(6)]
    way += [masks(hidden), Step(), Step(unit="stage"), Step(unit="stage")]
    way += [Enter(phase="train"), *[Step() for _ in range(9)], Step(unit="stage"), Step(unit="stage"), masks(), Step()]
    way += [Change(fields={"training": {"optimizer": "sgd", "learning_rate": 0.1}}), *[Step() for _ in range(8)]]
    way += [Enter(phase="prefill"), Step(unit="stage"), Step(), *[Step() for _ in range(4)]]
    way += [Change(fields={"policy": {"kind": "sample", "temperature": 1.5}}), *[Step() for _ in range(3)]]
    way += [Enter(phase="train"), *[Step() for _ in range(5)]]
    return way


def test_a_different_command_from_an_earlier_moment_is_a_branch_and_loses_nothing() -> None:
    engine = opened()
    do(engine, Step())
    do(engine, Step())
    first, at = tokens(engine), engine.timeline.at
    do(engine, Back())
    other = engine.moved(()).requests[0].candidates[1].id
    do(engine, Choose(request=0, token=other))
    assert tokens(engine)[:2] == first[:2] and tokens(engine)[2] != first[2]
    assert engine.moved(()).requests[0].target[2].origin == "chosen"
    do(engine, Go(moment=at))
    assert tokens(engine) == first


def test_back_at_the_root_and_unknown_moments_are_refused() -> None:
    engine = opened()
    with pytest.raises(Refused, match="where the run begins"):
        do(engine, Back())
    with pytest.raises(Refused, match="moment 99 is not in this run; allowed: 0 to 0"):
        do(engine, Go(moment=99))


def test_reset_begins_again_with_the_scenario_of_the_start() -> None:
    engine = opened()
    start = engine.digest()
    do(engine, masks(NO_SOURCE_2))
    do(engine, Step())
    do(engine, Reset())
    assert engine.digest() == start and len(engine.timeline.moments) == 1


def test_closing_a_replay_early_leaves_the_run_where_it_stood() -> None:
    engine = opened(phase="train")
    engine.snapshots = Snapshots(every=1000)
    for _ in range(40):
        do(engine, Step())
    before, at = engine.digest(), engine.timeline.at
    replay = engine.run(Go(moment=30))
    assert isinstance(replay, Generator)
    assert next(replay).progress < 1
    replay.close()
    assert engine.timeline.at == at and engine.digest() == before


def test_the_curve_follows_the_path() -> None:
    engine = opened(phase="train")
    points = [of(do(engine, Step()), Curve)[-1] for _ in range(21)]
    assert [p.updates for p in points] == [(i,) for i in range(1, 22)] and not any(p.whole for p in points)
    assert points[19].validation and points[19].validation[0][0] == 20
    whole = of(do(engine, Back()), Curve)[-1]
    assert whole.whole and whole.updates == tuple(range(1, 21)) and whole.loss == tuple(p.loss[0] for p in points[:20])
