"""What a training row is given: limits are teacher forcing and free-running, the schedule is the paper's, draws are keyed."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from app.session import feeding, given
from app.session.commands import Back, Step
from app.session.engine import Engine
from app.session.events import Refused
from app.session.methods import Training
from app.session.reading import Reading
from app.session.shown import TrainView
from app.session.timeline import Written
from tests.session.driving import do, opened

FAMILIES = ["encoder_decoder", "bahdanau", "recurrent", "unified"]


def trained(architecture: str = "bahdanau", updates: int = 1, **training: Any) -> Engine:
    small = {"config": {"width": 12, "d_token": 8}} if architecture in ("bahdanau", "recurrent") else {}
    engine = opened(architecture, phase="train", training={"batch_size": 3, **training}, seed=3, **small)
    for _ in range(updates):
        do(engine, Step())
    return engine


def told(engine: Engine) -> TrainView:
    train = engine.moved(()).train
    assert train is not None
    return train


def parameters(engine: Engine) -> dict[str, torch.Tensor]:
    return {n: p.detach().clone() for n, p in engine.learner.model.named_parameters()}


@pytest.mark.parametrize("architecture", FAMILIES)
def test_gold_with_probability_one_is_teacher_forcing_and_with_zero_free_running(architecture: str) -> None:
    constant = {"feeding": "scheduled", "schedule": "constant"}
    ends = [
        (trained(architecture, 2, feeding="teacher"), trained(architecture, 2, **constant, gold_share=1.0)),
        (trained(architecture, 2, feeding="free"), trained(architecture, 2, **constant, gold_share=0.0)),
    ]
    for one, other in ends:
        torch.testing.assert_close(parameters(one), parameters(other), rtol=0, atol=0)
        assert [r.input for row in told(one).rows for r in row] == [r.input for row in told(other).rows for r in row]
    teacher, free = parameters(ends[0][0]), parameters(ends[1][0])
    assert any(not torch.equal(teacher[n], free[n]) for n in teacher)
    assert all(r.gold is None for row in told(ends[0][0]).rows for r in row)
    do(ends[0][1], Step(unit="stage"))
    update = ends[0][1].standing.update
    assert update is not None and update.own is None, "nothing is written where nothing of it is used"


@pytest.mark.parametrize("architecture", ["encoder_decoder", "bahdanau", "recurrent"])
def test_free_running_gives_what_greedy_decoding_writes(architecture: str) -> None:
    """The other road: prefill and decode from the kept state, as the engine does when it writes."""
    engine = opened(architecture, phase="train", training={"batch_size": 2, "feeding": "free"}, seed=3)
    do(engine, Step(unit="stage"))
    update = engine.standing.update
    assert update is not None and update.lesson is not None and update.own is not None
    words = [list(e.source or ()) for e in update.examples]
    requests = [{"source": w or None, "target": []} for w in words]
    scenario = opened(architecture, requests=requests).scenario
    reading = Reading(engine.learner.model, scenario, torch.device("cpu"), record=False)
    if not reading.encoded:
        reading.encode()
    reading.prefill()
    ids: list[tuple[int, ...]] = [()] * len(words)
    for step in range(1, update.lesson.inputs.values.shape[1]):
        assert reading.logits is not None
        ids = [(*row, int(reading.logits[b].argmax())) for b, row in enumerate(ids)]
        for b, row in enumerate(ids):
            if update.own[b, step]:
                assert int(update.lesson.inputs.values[b, step]) == row[-1]
        reading.decode(tuple(Written(row) for row in ids), step)


def test_the_loss_stays_on_the_gold_labels_and_own_inputs_are_marked() -> None:
    teacher, mixed = trained(feeding="teacher"), trained(feeding="scheduled", schedule="constant", gold_share=0.4)
    assert [r.label for row in told(teacher).rows for r in row] == [r.label for row in told(mixed).rows for r in row]
    own = [(b, t) for b, row in enumerate(told(mixed).rows) for t, r in enumerate(row) if r.gold is not None]
    assert 0 < len(own) < sum(r.counts for row in told(mixed).rows for r in row)
    for b, row in enumerate(told(mixed).rows):
        for t, r in enumerate(row):
            assert r.counts or r.gold is None
            if r.gold is not None:
                assert t and r.gold == row[t - 1].label == told(teacher).rows[b][t].input
    assert told(mixed).gold_share == 0.4 and told(teacher).gold_share == 1.0


def test_draws_follow_from_seed_and_update_and_a_step_back_is_exact() -> None:
    engine = trained(updates=3, feeding="scheduled", schedule="constant", gold_share=0.5)
    inputs, before = [r.input for row in told(engine).rows for r in row], engine.digest()
    do(engine, Back())
    do(engine, Step())
    assert engine.digest() == before and [r.input for row in told(engine).rows for r in row] == inputs
    assert trained(updates=3, feeding="scheduled", schedule="constant", gold_share=0.5).digest() == before


def test_schedules_are_the_papers() -> None:
    """Worked by hand from the formulas of section 2.4, i counted from 0."""

    def share(update: int, **training: Any) -> float:
        return feeding.gold_share(Training(feeding="scheduled", **training), update)

    assert [share(u, schedule="linear", decay=4.0) for u in (1, 2, 3, 5, 9)] == [1.0, 0.75, 0.5, 0.0, 0.0]
    assert share(1, schedule="inverse_sigmoid", decay=3.0) == 0.75
    assert share(4, schedule="inverse_sigmoid", decay=3.0) == pytest.approx(3 / (3 + math.e))
    assert share(10**6, schedule="inverse_sigmoid", decay=1.0) == pytest.approx(0, abs=1e-300)
    assert feeding.gold_share(Training(), 5) == 1.0 and feeding.gold_share(Training(feeding="free"), 5) == 0.0


@pytest.mark.parametrize(
    ("training", "field"),
    [
        ({"feeding": "sometimes"}, "training.feeding"),
        ({"feeding": "scheduled", "gold_share": 1.5}, "training.gold_share"),
        ({"feeding": "scheduled", "decay": 0.5}, "training.decay"),
        ({"schedule": "steps"}, "training.schedule"),
    ],
)
def test_what_cannot_be_fed_is_refused(training: dict[str, Any], field: str) -> None:
    with pytest.raises(Refused) as refusal:
        opened(training=training)
    assert refusal.value.problems[0].field == field


def test_own_sequences_are_fed_too() -> None:
    mine = [{"source": ["the", "black", "cat"], "target": ["le", "chat", "noir"]}]
    engine = opened(phase="train", requests=mine, training={"batch": "mine", "feeding": "free"})
    do(engine, Step())
    row = told(engine).rows[0]
    assert [r.gold for r in row] == [None, "le", "chat", "noir"] and [r.label for r in row] == ["le", "chat", "noir", "<eos>"]
    assert given.task_of(engine.scenario).objective == "next_token"
