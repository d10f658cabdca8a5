"""What a run keeps of its recording: packed, whole while it is small, and the same when it is made again."""

from __future__ import annotations

import numpy as np
import pytest

from app.session.commands import Selector, Step
from app.session.engine import Engine
from app.session.events import Event
from app.session.standing import UNPACKED
from tests.session.driving import Reader, do, moved, numbers, opened

EVERYTHING = tuple(Selector(path="*", side=side, index={"b": b}, dtype="f32") for b in (0, 1) for side in ("value", "unedited"))
REQUESTS = [{"source": ["the", "cat", "sleeps"], "target": ["le"]}, {"source": ["thank", "you"], "target": ["le", "chat", "le"]}]
HALVED = [{"path": "decoder.layer0.cross.weights", "index": [0, 1, 4, 0], "action": "scale", "value": 0.5}]


def stepped(steps: int, execution: str = "cached") -> tuple[Engine, list[Event]]:
    """Two requests of different lengths, one row of one of them edited; and all that was said since prefill."""
    policy = {"limit": 40, "execution": execution}
    engine = opened(requests=REQUESTS, edits=HALVED, policy=policy, seed=3)
    events: list[Event] = [engine.keyframe(EVERYTHING)]
    for _ in range(steps):
        events += do(engine, Step(), EVERYTHING)
    return engine, events


def test_packed_reads_hold_what_was_told_step_by_step() -> None:
    engine, events = stepped(3 * UNPACKED)
    assert len(engine.standing.calls) <= 1 + UNPACKED + 1
    told, kept = Reader(), Reader()
    told.take(events)
    kept.take([engine.keyframe(EVERYTHING)])
    for key, values in kept.known.items():
        if key[1].endswith((".keys", ".values")):
            continue  # caches: the newest stands for all
        np.testing.assert_array_equal(np.nan_to_num(values), np.nan_to_num(told.known[key]), err_msg=str(key))


@pytest.mark.parametrize("architecture", ["decoder_only", "encoder_decoder"])
def test_full_prefix_execution_keeps_every_row_once(architecture: str) -> None:
    engine = opened(architecture, policy={"limit": 40, "execution": "full_prefix"}, seed=3)
    for _ in range(3):
        do(engine, Step())
    rows = engine.moved(()).sizes["t"]
    pieces = engine.keyframe((Selector(path="decoder.*.self.weights"),)).pieces
    assert [p.array.shape[2:] for p in pieces] == [(rows, rows)]
    if architecture == "encoder_decoder":
        assert numbers(engine.keyframe((Selector(path="encoder.*.weights"),)).pieces[0].array).size


def test_a_recording_that_grew_too_large_is_made_again_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = stepped(2 * UNPACKED)
    monkeypatch.setattr("app.session.standing.TAPE_BUDGET", 1000)
    trimmed, _ = stepped(2 * UNPACKED)
    assert [len(trimmed.standing.calls), trimmed.standing.whole] == [1, False]
    assert trimmed.keyframe(EVERYTHING) == whole.keyframe(EVERYTHING)


@pytest.mark.parametrize("architecture", ["recurrent", "sutskever_2014", "lstmn"])
def test_the_states_of_a_loop_stay_row_by_row(architecture: str) -> None:
    engine = opened(architecture, policy={"limit": 40}, seed=3)
    watch, told, kept = (Selector(path="*", index={"b": 0}, dtype="f32"),), Reader(), Reader()
    told.take([engine.keyframe(watch)])
    for _ in range(2 * UNPACKED):
        told.take(do(engine, Step(), watch))
    kept.take([engine.keyframe(watch)])
    states = [t.path for t in engine.schema.taps if t.type == "state" and t.axes == ("b", "t", "n")]
    assert states
    for path in states:
        np.testing.assert_array_equal(kept.known[0, path], told.known[0, path], err_msg=path)
        assert kept.known[0, path].shape[1] >= 2 * UNPACKED
        assert np.isfinite(kept.known[0, path]).all()
    if architecture == "sutskever_2014":
        assert np.isfinite(kept.known[0, "encoder.layer0.hidden"]).all(), "the source's states are those of its one call"


def test_the_gold_alignment_of_what_is_typed_is_told_where_the_grammar_writes_it() -> None:
    engine = opened(requests=[{"source": ["the", "black", "cat", "sleeps"]}, {"source": ["black", "sleeps"]}])
    known, unknown = engine.opened().gold
    assert known is not None and unknown is None
    assert known.target == ("le", "chat", "noir", "dort") and known.links == ((0, 0), (1, 2), (2, 1), (3, 3))
    assert opened("decoder_only").opened().gold == (None,)


def test_a_batch_comes_with_its_gold_alignment() -> None:
    mine = [{"source": ["thank", "you"], "target": ["merci"]}, {"source": ["thank", "you"], "target": ["le"]}]
    engine = opened(phase="train", requests=mine, training={"batch": "mine"})
    do(engine, Step(unit="stage"))
    train = engine.moved(()).train
    assert train is not None and train.gold == (((0, 0), (1, 0)), ())


@pytest.mark.parametrize(("batch", "origin"), [("mine", "person"), ("task", "task")])
def test_a_batch_says_whose_words_it_holds(batch: str, origin: str) -> None:
    mine = [{"source": ["thank", "you"], "target": ["merci"]}]
    engine = opened(phase="train", requests=mine, training={"batch": batch, "batch_size": 2})
    do(engine, Step(unit="stage"))
    train = engine.moved(()).train
    assert train is not None and train.sources
    assert {row.origin for row in train.sources[0] if row.state == "known"} == {origin}


@pytest.mark.parametrize(
    ("architecture", "order"),
    [
        (
            "bahdanau",
            ("decoder", "decoder.cross", "decoder.layer0", "decoder.readout", "logits"),
        ),  # s_(t-1) asks, then s_t is made
        ("luong", ("decoder", "decoder.layer0", "decoder.cross", "decoder.readout", "logits")),  # h_t is made, then it asks
    ],
)
def test_operations_stand_in_the_order_of_the_paper(architecture: str, order: tuple[str, ...]) -> None:
    engine = opened(architecture, seed=3)
    decoded = moved(do(engine, Step()))
    assert [stage.ops for stage in decoded.stages if stage.ops] == [order]
    encoded, read = (stage.ops for stage in moved(do(opened(architecture, phase="prefill", seed=3), Step())).stages)
    assert read == order and all(op.startswith("encoder") for op in encoded), "no target row is there while the source is encoded"
    trained = opened(architecture, phase="train", seed=3)
    do(trained, Step(unit="stage"))
    forward = {stage.name: stage.ops for stage in moved(do(trained, Step(unit="stage"))).stages}["forward"]
    assert tuple(op for op in forward if not op.startswith("encoder")) == order
