"""The phases of a run: training, prefill and decode, step by step."""

from __future__ import annotations

import itertools

import pytest
import torch

from app.session.commands import (
    Back,
    Change,
    Choose,
    Enter,
    Go,
    Step,
)
from app.session.events import Opened, Refused
from tests.session.driving import do, moved, of, opened, phrase, tokens


def test_decode_begins_with_the_prompt_read_and_writes_one_token_a_step() -> None:
    engine = opened()
    assert [r.token for r in engine.moved(()).requests[0].target] == ["<bos>"]
    for length in range(2, 6):
        event = moved(do(engine, Step()))
        assert len(event.requests[0].target) == length
        assert [r.state for r in event.requests[0].target][-1] == "new"
        assert [s.rows for s in event.stages] == [0, 1]


def test_a_step_takes_the_largest_candidate_when_greedy() -> None:
    engine = opened()
    before = engine.moved(()).requests[0]
    leading = max(before.candidates, key=lambda c: c.probability)
    assert before.choice == leading.id and leading.policy_probability == 1.0
    assert moved(do(engine, Step())).requests[0].target[-1].id == leading.id


def test_probabilities_of_candidates_and_the_rest_are_a_distribution() -> None:
    request = opened().moved(()).requests[0]
    assert sum(c.probability for c in request.candidates) + request.rest == pytest.approx(1.0, abs=1e-9)
    assert [c.probability for c in request.candidates] == sorted((c.probability for c in request.candidates), reverse=True)


def test_decode_ends_at_the_limit_and_then_says_so() -> None:
    engine = opened(policy={"limit": 3})
    events = [moved(do(engine, Step())) for _ in range(3)]
    assert [e.ended for e in events] == [False, False, True]
    assert events[-1].requests[0].finished == "limit"
    with pytest.raises(Refused, match="Every request has ended"):
        do(engine, Step())


def test_choosing_eos_ends_the_request_and_counts_in_its_probability() -> None:
    engine = opened()
    request = engine.moved(()).requests[0]
    end = next(i for i, w in enumerate(of(list(engine.describe()), Opened)[0].vocabulary["target"]) if w == "<eos>")
    logits = engine.standing.reading.logits[0].double()  # type: ignore[union-attr, index]
    event = moved(do(engine, Choose(request=0, token=end)))
    assert event.ended and event.requests[0].finished == "eos" and event.requests[0].choice is None
    torch.testing.assert_close(event.requests[0].log_probability, float(torch.log_softmax(logits, -1)[end]))
    assert request.finished == ""


def test_prefill_encodes_then_reads_then_goes_on_into_decode() -> None:
    engine = opened(phase="prefill")
    assert moved(do(engine, Step(unit="stage"))).stage == "encode"
    event = moved(do(engine, Step(unit="stage")))
    assert (event.phase, event.step, event.stage) == ("prefill", 1, "")
    event = moved(do(engine, Step(unit="stage")))
    assert (event.phase, event.stage) == ("decode", "choose")
    assert event.requests[0].target[-1].state == "unknown"
    assert moved(do(engine, Step(unit="stage"))).requests[0].target[-1].state == "new"


def test_the_last_valid_row_decides_in_a_right_padded_batch() -> None:
    several = [{"target": ["the", "report", "was"]}, {"target": ["the"]}]
    engine = opened("decoder_only", requests=several)
    first, second = engine.moved(()).requests
    assert (first.decision_row, second.decision_row) == (3, 1)
    assert [r.state for r in second.target] == ["new", "new", "padded", "padded"]


@pytest.mark.parametrize("execution", ["cached", "full_prefix"])
def test_a_step_that_only_ends_reads_no_row(execution: str) -> None:
    engine = opened(policy={"limit": 1, "execution": execution})
    assert [s.rows for s in moved(do(engine, Step())).stages] == [0, 0]
    do(engine, Back())
    assert [s.rows for s in moved(do(engine, Go(moment=1))).stages] == [0, 0]


@pytest.mark.parametrize("execution", ["cached", "full_prefix"])
def test_a_request_in_a_batch_decides_as_it_does_alone(execution: str) -> None:
    several = [{"target": ["the", "report", "was", "not"]}, {"target": ["the"]}, {"target": ["the", "black"]}]
    policy = {"limit": 6, "execution": execution}
    together = opened("decoder_only", requests=several, policy=policy)
    for _ in range(6):
        do(together, Step())
    for i, one in enumerate(several):
        alone = opened("decoder_only", requests=[one], policy=policy)
        for _ in range(6):
            do(alone, Step())
        assert tokens(together, i) == tokens(alone)


def test_full_prefix_execution_writes_what_cached_execution_writes() -> None:
    cached, full = (opened(policy={"execution": e, "limit": 8}) for e in ("cached", "full_prefix"))
    for _ in range(8):
        one, other = (moved(do(e, Step())) for e in (cached, full))
        torch.testing.assert_close(
            [c.logit for c in one.requests[0].candidates], [c.logit for c in other.requests[0].candidates], atol=1e-4, rtol=0
        )
    assert tokens(cached) == tokens(full)
    assert moved(do(opened(policy={"execution": "full_prefix"}), Step())).stages[1].rows == 2


def test_training_shows_its_stages_one_by_one() -> None:
    engine = opened(phase="train")
    seen = [moved(do(engine, Step(unit="stage"))) for _ in range(6)]
    assert [e.stage for e in seen] == ["batch", "forward", "loss", "backward", "clip", ""]
    assert [e.train.loss is not None for e in seen] == [False, False, True, True, True, True]  # type: ignore[union-attr]
    assert seen[3].train.parameter_norms and seen[3].train.activation_norms  # type: ignore[union-attr]
    assert (seen[5].step, seen[4].step) == (1, 0)


def test_padded_rows_and_loss_rows_differ_in_the_batch() -> None:
    rows = moved(do(opened(phase="train"), Step())).train.rows  # type: ignore[union-attr]
    flat = list(itertools.chain(*rows))
    assert any(r.key_valid and not r.counts for r in flat), "a row given <eos> is a key but has no label"
    assert any(not r.key_valid for r in flat)
    assert all(r.gradient == 0 for r in flat if not r.counts)


def test_training_lowers_the_loss_and_clips() -> None:
    engine = opened(phase="train", training={"batch": "mine", "clip_norm": 0.5, "learning_rate": 0.01}, **phrase())
    losses = []
    for _ in range(30):
        view = moved(do(engine, Step())).train
        assert view is not None and view.loss is not None and view.norm is not None
        losses.append(view.loss)
        assert view.clip_factor == pytest.approx(min(1.0, 0.5 / view.norm))
    assert losses[-1] < 0.3 * losses[0]
    assert engine.moved(()).updates == 30


def test_what_was_trained_is_what_decodes() -> None:
    engine = opened(phase="train", training={"batch": "mine", "learning_rate": 0.01}, **phrase())
    for _ in range(60):
        do(engine, Step())
    do(engine, Enter(phase="decode"))
    do(engine, Change(fields={"requests": [{"source": ["the", "black", "cat", "sleeps"], "target": []}]}))
    for _ in range(5):
        do(engine, Step())
    assert tokens(engine) == ["<bos>", "le", "chat", "noir", "dort", "<eos>"]


def test_the_same_seed_gives_the_same_run_and_another_seed_another() -> None:
    policy = {"kind": "sample", "temperature": 2.0}
    runs = [opened(seed=s, policy=policy) for s in (3, 3, 0, -4)]
    for engine in runs:
        for _ in range(6):
            do(engine, Step())
    assert runs[0].digest() == runs[1].digest()
    assert len({tuple(tokens(e)) for e in runs}) == 3
