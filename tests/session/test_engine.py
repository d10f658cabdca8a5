"""The engine where it was hard: abandoned updates, full histories, numbers that are none, refused commands."""

from __future__ import annotations

import pytest
import torch

from app.session.commands import (
    Analyse,
    Back,
    Change,
    Choose,
    Command,
    Enter,
    Go,
    Open,
    Share,
    Step,
    Undo,
)
from app.session.engine import Engine
from app.session.events import Curve, Notice, Refused, Shared
from app.session.standing import way
from tests.session.driving import (
    NO_SOURCE_2,
    do,
    masks,
    measured,
    moved,
    of,
    opened,
    phrase,
    scenario,
)


def test_an_abandoned_update_with_another_optimizer_leaves_no_trace() -> None:
    engine = opened(phase="train")
    for _ in range(5):
        do(engine, Step())
    do(engine, Enter(phase="decode"))
    there, digest = engine.timeline.at, engine.digest()
    do(engine, Change(fields={"training": {"optimizer": "sgd", "learning_rate": 0.5}}))
    do(engine, Enter(phase="train"))
    do(engine, Step(unit="stage"))
    do(engine, Step(unit="stage"))
    do(engine, Go(moment=there))
    assert engine.digest() == digest
    again = Engine.restore(engine.save(), torch.device("cpu"))
    assert again.digest() == digest


def test_a_full_history_refuses_and_leaves_the_weights_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = opened(phase="train")
    do(engine, Step())
    before = engine.digest()
    monkeypatch.setattr("app.session.timeline.MAX_MOMENTS", 2)
    for command in (Step(), Change(fields={"training": {"learning_rate": 0.5}})):
        with pytest.raises(Refused, match="as many as it can keep"):
            do(engine, command)
        assert engine.digest() == before


def test_held_out_rows_that_a_mask_blinds_cost_no_step() -> None:
    blind = {
        "relation": "target_self",
        "program": "causal",
        "cells": [{"query": 5, "key": k, "visible": False} for k in range(6)],
    }
    engine = opened(phase="train", training={"batch": "mine"}, masks=[blind], **phrase())
    curves = [of(do(engine, Step()), Curve)[-1] for _ in range(20)]
    assert curves[-1].updates == (20,) and curves[-1].validation == ()


def test_a_run_can_be_restored_at_every_update() -> None:
    engine = opened(phase="train", training={"batch_size": 1})
    for _ in range(40):
        do(engine, Step())
        assert Engine.restore(engine.save(), torch.device("cpu")).digest() == engine.digest()


def test_snapshots_keep_every_replay_short() -> None:
    engine = opened(phase="train", training={"batch_size": 1})
    for _ in range(200):
        do(engine, Step())
    path = list(engine.timeline.path())
    for moment in path[:-1]:
        _, chain = way(engine.snapshots, engine.timeline, moment.before)
        assert len(chain) <= max(16, (200 - moment.place.updates) * 0.8 + 8)


def test_strokes_of_one_mask_are_one_entry_of_a_link() -> None:
    engine = opened()
    do(engine, Step())
    for n in range(1, 40):
        do(engine, masks({**NO_SOURCE_2, "cells": NO_SOURCE_2["cells"][:n]}))
    do(engine, Step())
    shared = of(do(engine, Share()), Shared)[0]
    assert [e["command"]["kind"] for e in shared.file["log"]] == ["step", "change", "step"]
    other = Engine(torch.device("cpu"))
    do(other, Open(scenario=shared.file["scenario"], log=tuple(shared.file["log"])))
    assert other.digest() == engine.digest()


def test_a_run_that_could_not_be_opened_again_has_no_link() -> None:
    engine = opened("decoder_only", requests=[{"target": ["the"] * 100}])
    for n in range(60):
        do(engine, Change(fields={"requests": [{"target": [f"word{n}"] * 120}]}))
        do(engine, Change(fields={"policy": {"limit": n + 1}}))
    assert of(do(engine, Share()), Shared)[0].link == ""


def test_a_huge_learning_rate_ends_in_a_named_step_and_layer_and_an_offer_to_go_back() -> None:
    engine = opened(phase="train", training={"learning_rate": 1e6})
    notice: Notice | None = None
    for _ in range(10):
        found = [n for n in of(do(engine, Step()), Notice) if n.code == "diverged"]
        if found:
            notice = found[0]
            break
    assert notice is not None and "learning rate is 1e+06" in notice.message and notice.message.startswith("Update ")
    assert "coder." in notice.message and notice.offer is not None
    do(engine, Go(moment=notice.offer["moment"]))
    do(engine, Change(fields={"training": {"learning_rate": 1e-3}}))
    assert not [n for n in of(do(engine, Step()), Notice) if n.code == "diverged"]


OVERFLOW = {"path": "decoder.layer0.ffn.hidden", "action": "scale", "value": 3e38}


@pytest.mark.parametrize("at", ["enter", "finished", "stage"])
def test_a_loss_that_is_no_number_is_not_learned_from(at: str) -> None:
    engine = opened(phase="train")
    for _ in range({"enter": 0, "finished": 2, "stage": 2}[at]):
        do(engine, Step())
    if at == "stage":
        do(engine, Step(unit="stage"))
    before = {n: p.clone() for n, p in engine.learner.model.named_parameters()}
    events = do(engine, Change(fields={"edits": [OVERFLOW, OVERFLOW]}))
    events += do(engine, Step()) if at != "finished" else []
    assert moved(events).ended and moved(events).stage == "loss"
    assert "first tensor that is not finite is decoder.layer0.ffn.hidden" in of(events, Notice)[-1].message
    if at != "finished":
        torch.testing.assert_close(dict(engine.learner.model.named_parameters()), before, rtol=0, atol=0)
    assert all(p.isfinite().all() for p in engine.learner.model.parameters())
    with pytest.raises(Refused, match="not finite"):
        do(engine, Step())


@pytest.mark.parametrize("kind", ["greedy", "sample"])
def test_logits_that_are_no_numbers_leave_nothing_to_choose(kind: str) -> None:
    at_once = opened(policy={"kind": kind}, edits=[OVERFLOW, OVERFLOW])
    assert at_once.moved(()).unreadable == "decoder.layer0.ffn.hidden" and at_once.ended
    engine = opened(policy={"kind": kind})
    do(engine, Step())
    event = moved(do(engine, Change(fields={"edits": [OVERFLOW, OVERFLOW]})))
    assert event.ended and event.requests[0].choice is None and not event.requests[0].candidates
    assert event.unreadable == "decoder.layer0.ffn.hidden"
    with pytest.raises(Refused, match=r"decoder\.layer0\.ffn\.hidden is not finite"):
        do(engine, Step())
    check = measured(engine, "cached_equals_full")
    assert check.status == "fail" and "NaN" in check.measured
    assert measured(engine, "no_future_leak").status == "fail"
    do(engine, Undo())
    do(engine, Step())


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (Choose(request=3, token=5), "request 3 does not exist; allowed: 0 to 0"),
        (Choose(request=0, token=99999), "token 99999 is not in the vocabulary"),
        (Analyse(name="magic"), "analysis 'magic' is unknown"),
        (Analyse(name="no_future_leak", arguments={"x": 1}), "no_future_leak has no argument 'x'"),
        (Change(fields={"seed": "seven"}), "seed was given 'seven'"),
        (Change(fields={"phase": "train"}), "send enter"),
        (Change(fields={"colour": 1}), "colour is not a field"),
        (Change(fields={"architecture": "rnn9"}), "architecture 'rnn9' is unknown"),
        (Change(fields={"config": {"heads": 3}}), "config.heads"),
        (
            Change(fields={"edits": [{"path": "decoder.layer0.self.mask", "action": "set", "value": 1.0}]}),
            "cannot be edited at a tap",
        ),
        (
            Change(fields={"edits": [{"path": "decoder.layer0.self.q", "index": [0] * 8, "action": "set", "value": 1.0}]}),
            "too many indices",
        ),
        (
            Change(fields={"edits": [{"path": "decoder.layer0.self.q", "index": [0, 2], "action": "set", "value": 1.0}]}),
            "has 2 places on axis h; 2 was given",
        ),
        (Change(fields={"edits": [{"path": "decoder.nowhere", "action": "set", "value": 1.0}]}), "decoder.nowhere"),
        (Open(scenario={"requests": [{"source": []}]}), "requests.0.source is empty"),
        (Open(scenario=scenario(), log=({"command": {"kind": "back"}},)), "A log holds no back"),
        (Open(scenario=scenario(), log=({"command": {"kind": "step"}, "times": 0},)), "log.0.times was given 0"),
        (
            Open(scenario=scenario(), log=({"command": {"kind": "step"}, "times": 20000}, {"command": {"kind": "step"}})),
            "allowed are 20000",
        ),
    ],
)
def test_a_refused_command_says_why_and_changes_nothing(command: Command, words: str) -> None:
    engine = opened()
    do(engine, Step())
    before = engine.digest()
    with pytest.raises(Refused, match=words):
        do(engine, command)
    assert engine.digest() == before
    do(engine, Step())


def _said(engine: Engine) -> torch.Tensor:
    """What the first request's hidden words are given."""
    reading = engine.standing.reading
    assert reading is not None
    said = reading.answers(0)
    assert said is not None
    return said


def test_a_part_that_is_exchanged_after_prefill_shows_at_once() -> None:
    """The whole input was read; the variant reads it too, one step behind the start, and Undo returns to the run before."""
    engine = opened(architecture="encoder_only", task="masked_french", phase="prefill")
    do(engine, Step())
    before = _said(engine)
    do(engine, Change(fields={"config": {**engine.scenario.config, "norm_kind": "rms"}}))
    assert engine.timeline.here.place.step == 1 and not torch.equal(before, _said(engine))
    do(engine, Back())
    assert engine.timeline.here.place.step == 0
    do(engine, Undo())
    assert torch.equal(before, _said(engine))
    do(engine, Change(fields={"requests": [{"source": ["le", "chat", {"special": "<mask>"}]}]}))
    assert engine.timeline.here.place.step == 0
