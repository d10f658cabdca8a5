"""Keeping a run and sharing it."""

from __future__ import annotations

import pytest
import torch

from app.session import interventions
from app.session.commands import (
    Back,
    Change,
    Enter,
    Open,
    Share,
    Step,
    Undo,
)
from app.session.engine import Engine
from app.session.events import Analysis, Moved, Notice, Shared
from app.session.scenario import parse
from tests.session.driving import NO_SOURCE_2, do, masks, of, opened, scenario


@pytest.mark.parametrize("stage", [None, "loss"])
def test_a_saved_run_stands_again_bit_for_bit_and_goes_on_the_same(stage: str | None) -> None:
    engine = opened()
    do(engine, Step())
    do(engine, Enter(phase="train"))
    for _ in range(5):
        do(engine, Step())
    while stage and engine.timeline.here.place.stage != stage:
        do(engine, Step(unit="stage"))
    again = Engine.restore(engine.save(), torch.device("cpu"))
    assert again.digest() == engine.digest() and again.epoch == engine.epoch
    assert [again.timeline.node(m) for m in again.timeline.moments] == [engine.timeline.node(m) for m in engine.timeline.moments]
    for command in (Step(), Back(), Back(), Back(), Enter(phase="decode"), Step()):
        do(engine, command)
        do(again, command)
        assert again.digest() == engine.digest()


def test_what_another_version_saved_is_refused_in_words() -> None:
    data = opened().save().replace(b'"format":2', b'"format":9', 1)
    with pytest.raises(ValueError, match="the saved run has format 9, this version reads format 2"):
        Engine.restore(data, torch.device("cpu"))


def test_opening_a_long_log_tells_its_progress_and_nothing_that_will_not_last() -> None:
    log = ({"command": {"kind": "enter", "phase": "train"}}, {"command": {"kind": "step"}, "times": 40})
    events = do(Engine(torch.device("cpu")), Open(scenario=scenario(), log=log))
    assert [e.progress for e in of(events, Analysis)] == pytest.approx([16 / 41, 32 / 41, 1])
    assert [m.step for m in of(events, Moved)] == [40]


def test_a_link_opens_the_same_run() -> None:
    engine = opened()
    for command in (Step(), masks(NO_SOURCE_2), Step(), Enter(phase="train"), Step(), Step(), Step(unit="stage")):
        do(engine, command)
    shared = of(do(engine, Share(view={"head": 1})), Shared)[0]
    assert shared.link.startswith("#s=") and shared.file["view"] == {"head": 1}
    other = Engine(torch.device("cpu"))
    do(other, Open(scenario=shared.file["scenario"], log=tuple(shared.file["log"])))
    assert other.digest() == engine.digest()


def test_an_edit_inside_a_loop_names_its_step_like_any_row() -> None:
    edit = {"path": "cell", "index": [1, 2], "action": "set", "value": 9.0}
    one = parse({"edits": [edit]})
    editing = interventions.edits(one, [0, 0], {})["cell"]
    at = [editing(torch.zeros(2, 3), ("b", "d"), ("t", t)) for t in range(4)]
    assert [float(v.sum()) for v in at] == [0, 0, 27, 0] and (at[2][1] == 9).all()


def test_another_architecture_keeps_the_text_that_it_can_read_and_says_what_it_leaves() -> None:
    engine = opened()
    mine = [{"source": ["a", "black", "cat"], "target": []}]
    do(engine, Change(fields={"requests": mine, "masks": [NO_SOURCE_2]}))
    do(engine, Step())
    said = [n for n in do(engine, Change(fields={"architecture": "bahdanau"})) if isinstance(n, Notice)]
    assert _source(engine) == ("a", "black", "cat")
    assert [n.message for n in said if n.code == "left_behind"] == [
        "Not carried over to this architecture: your masks, the steps of this run."
    ]
    said = [n for n in do(engine, Change(fields={"architecture": "decoder_only"})) if isinstance(n, Notice)]
    assert _source(engine) is None
    assert [(n.message, n.offer) for n in said if n.code == "left_behind"] == [
        ("Not carried over to this architecture: your text.", {"kind": "undo"})
    ]
    do(engine, Undo())
    assert _source(engine) == ("a", "black", "cat")


def _source(engine: Engine) -> object:
    return engine.scenario.requests[0].source
