"""Edits at taps on real runs: what they change, what stands beside it, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from app.session.commands import Change, Choose, Command, Enter, Step
from app.session.engine import Engine
from app.session.events import Refused
from app.session.methods import Policy
from app.session.policy import divergence
from app.session.shown import RequestView
from tests.session.driving import NO_SOURCE_2, SOURCES, counted, do, edits, logits, numbers, opened, value

HEAD_OFF = {"path": "decoder.layer0.cross.mixed", "index": [None, 1], "action": "scale", "value": 0.0}


def test_a_set_weight_changes_its_row_and_head_from_there_on_and_nothing_before() -> None:
    engine = opened("decoder_only", requests=[{"target": ["the", "black", "cat"]}], phase="prefill")
    do(engine, Step())
    paths = (
        "decoder.layer0.self.weights",
        "decoder.layer0.self.values",
        "decoder.layer0.self.mixed",
        "logits",
    )
    plain = {path: value(engine, path) for path in paths}
    x = value(engine, "decoder.embedding.sum")
    do(engine, edits({"path": paths[0], "index": [0, 1, 2, 0], "action": "set", "value": 0.9}))
    edited = {path: value(engine, path) for path in paths}
    assert edited[paths[0]][1, 2, 0] == np.float32(0.9)
    assert (edited[paths[0]] != plain[paths[0]]).sum() == 1
    np.testing.assert_array_equal(value(engine, paths[0], "unedited"), plain[paths[0]])
    by_hand = _rest_of_gpt(engine, edited[paths[0]], plain[paths[1]], x)
    torch.testing.assert_close(torch.tensor(edited["logits"]), by_hand)
    np.testing.assert_array_equal(
        edited["logits"][[0, 1, 3]], plain["logits"][[0, 1, 3]]
    )  # one layer: no other row reads row 2's output
    assert (edited["logits"][2] != plain["logits"][2]).any()


def _rest_of_gpt(engine: Engine, weights: np.ndarray, values: np.ndarray, x: np.ndarray) -> Tensor:
    """A one-layer GPT from its weights on, written again: `[t, v]`."""
    model: Any = engine.learner.model
    block = model.decoder.layer0
    with torch.no_grad():
        mixed = torch.tensor(weights) @ torch.tensor(values)
        y = torch.tensor(x) + block.self.W_O(mixed.transpose(0, 1).flatten(1))
        y = y + block.ffn.W_2(F.gelu(block.ffn.W_1(block.ffn.norm(y)), approximate="tanh"))
        return F.linear(model.decoder.final(y), model.decoder.embedding.token.weight)


@pytest.mark.parametrize(
    ("edit", "path", "zero"),
    [
        (HEAD_OFF, "decoder.layer0.cross.mixed", (1,)),
        (
            {"path": "decoder.layer0.ffn.output", "index": [None, 1], "action": "scale", "value": 0.0},
            "decoder.layer0.ffn.output",
            (1,),
        ),
        ({"path": "decoder.layer0.cross.output", "action": "scale", "value": 0.0}, "decoder.layer0.cross.output", ()),
        ({"path": "encoder.memory", "index": [None, 2], "action": "set", "value": 0.0}, "encoder.memory", (2,)),
    ],
)
@pytest.mark.parametrize("execution", ["cached", "full_prefix"])
def test_a_head_a_row_and_a_layer_are_zeroed_whenever_they_are_computed(
    edit: dict[str, Any], path: str, zero: tuple[int, ...], execution: str
) -> None:
    engine = opened(edits=[edit], policy={"execution": execution})
    for _ in range(3):
        do(engine, Step())
    found = value(engine, path)
    assert (found[zero] == 0).all() and (value(engine, path, "unedited")[zero] != 0).any()


@pytest.mark.parametrize("execution", ["cached", "full_prefix"])
@pytest.mark.parametrize(
    "change", [{"edits": [HEAD_OFF]}, {"masks": [NO_SOURCE_2]}, {"edits": [HEAD_OFF], "masks": [NO_SOURCE_2]}]
)
def test_beside_an_edited_run_stands_the_same_run_unedited(change: dict[str, Any], execution: str) -> None:
    plain = opened(requests=[SOURCES[0]], policy={"execution": execution})
    engine = opened(requests=[SOURCES[0]], policy={"execution": execution}, **change)
    for _ in range(4):
        token = engine.moved(()).requests[0].choice
        assert token is not None
        for each in (plain, engine):
            do(each, Choose(request=0, token=token))
        view = engine.moved(()).requests[0]
        assert view.unedited is not None and view.unedited.logits is not None and view.unedited.without == tuple(change)
        np.testing.assert_allclose(numbers(view.unedited.logits), logits(plain), rtol=0, atol=1e-6)
        assert view.unedited.choice == plain.moved(()).requests[0].choice
        assert view.unedited.log_probability == pytest.approx(plain.moved(()).requests[0].log_probability, abs=1e-6)
        assert view.unedited.kl == pytest.approx(_kl(logits(engine), logits(plain)), rel=1e-4, abs=1e-9)
    do(engine, Change(fields={"edits": [], "masks": []}))
    assert engine.moved(()).requests[0].unedited is None
    np.testing.assert_allclose(logits(engine), logits(plain), rtol=0, atol=1e-6)


def _kl(edited: np.ndarray, plain: np.ndarray, temperature: float = 1.0) -> float:
    """Sum of p (log p - log q), with softmax written out."""
    p, q = (np.exp(x.astype(float) / temperature) for x in (edited, plain))
    p, q = p / p.sum(), q / q.sum()
    return float((p * (np.log(p) - np.log(q))).sum())


def test_the_divergence_is_that_of_the_edited_from_the_unedited_under_the_temperature() -> None:
    edited, plain = torch.tensor([2.0, 0.0, -1.0]), torch.tensor([0.0, 1.0, 0.0])
    for temperature in (1.0, 2.0):
        found = divergence(edited, plain, Policy(temperature=temperature))
        assert found == pytest.approx(_kl(edited.numpy(), plain.numpy(), temperature))
    assert found != pytest.approx(divergence(plain, edited, Policy(temperature=2.0)))
    assert divergence(edited, edited, Policy()) == 0


def test_each_request_has_its_own_unedited_distribution_in_prefill_too() -> None:
    plain, engine = (opened(requests=SOURCES, phase="prefill", edits=e) for e in ([], [{**HEAD_OFF, "index": [1, 1]}]))
    for each in (plain, engine):
        do(each, Step())
    first, second = engine.moved(()).requests
    assert first.unedited is not None and first.unedited.kl == 0
    assert second.unedited is not None and second.unedited.logits is not None and (second.unedited.kl or 0) > 0
    np.testing.assert_allclose(numbers(second.unedited.logits), logits(plain, 1), rtol=0, atol=1e-6)


def test_the_loss_without_stands_beside_the_loss() -> None:
    plain, engine = (opened(phase="train", edits=e) for e in ([], [HEAD_OFF]))
    for each in (plain, engine):
        do(each, Step())
    before, beside = plain.moved(()).train, engine.moved(()).train
    assert before is not None and beside is not None
    assert before.unedited_loss is None and beside.loss != before.loss
    assert beside.unedited_loss == pytest.approx(before.loss, abs=1e-6)
    do(engine, Step())
    assert engine.moved(()).train.unedited_loss != beside.unedited_loss  # type: ignore[union-attr]


def test_what_is_unedited_costs_one_more_call_and_only_while_there_is_something_to_compare() -> None:
    engine = opened()
    switched_off = edits({**HEAD_OFF, "enabled": False})
    same_mask = Change(fields={"masks": [{"relation": "cross", "program": "full"}]})
    for change, calls in (
        (Step(), 1),
        (switched_off, None),
        (Step(), 1),
        (same_mask, None),
        (Step(), 1),
        (edits(HEAD_OFF), None),
        (Step(), 2),
    ):
        with counted(engine) as count:
            do(engine, change)
        assert calls is None or count == [calls]
    do(engine, Enter(phase="train"))
    with counted(engine) as count:
        do(engine, Step())
    assert count == [2]


def test_log_p_of_what_was_written_is_that_of_the_model_as_it_is_now() -> None:
    engine = opened()
    for _ in range(3):
        do(engine, Step())
    before = engine.moved(()).requests[0]
    do(engine, edits(HEAD_OFF))
    after = engine.moved(()).requests[0]
    assert after.log_p is not None and before.log_p is not None and after.unedited is not None
    assert numbers(after.log_p).shape == (3,) and (numbers(after.log_p) != numbers(before.log_p)).all()
    assert after.unedited.log_probability == pytest.approx(before.log_probability, abs=1e-6)
    assert after.log_probability == pytest.approx(float(numbers(after.log_p).sum()), abs=1e-5)


LAST = {"path": "decoder.layer0.cross.output", "action": "patch"}


@pytest.mark.parametrize(
    ("command", "field", "words"),
    [
        (edits({**HEAD_OFF, "value": float("nan")}), "edits.0.value", "a finite number"),
        (edits({**HEAD_OFF, "value": 1e308}), "edits.0.value", "at most"),
        (edits({"path": "logits", "action": "set"}), "edits.0.value", "has no value"),
        (edits({**HEAD_OFF, "donor": {"source": ["you"]}}), "edits.0.donor", "has no donor"),
        (edits({"path": "logits", "action": "patch"}), "edits.0.donor", "patches from nothing"),
        (edits({**LAST, "value": 1.0, "donor": {"source": ["you"]}}), "edits.0.value", "has no value"),
        (edits({**LAST, "donor": {}}), "edits.0.donor.source", "type a source"),
        (edits({**LAST, "donor": {"source": ["you"], "row": 4}}), "edits.0.donor.row", "no row to put it into"),
        (
            edits({**LAST, "index": [0, 1], "donor": {"source": ["you"]}}),
            "edits.0.donor.row",
            "too short: it has 1 target rows, row 1",
        ),
        (
            edits({**LAST, "index": [0, 1], "donor": {"source": ["you"], "row": 7}}),
            "edits.0.donor.row",
            "row 7 is not among them",
        ),
        (
            edits({"path": "encoder.memory", "index": [0, 2], "action": "patch", "donor": {"source": ["thank", "you"]}}),
            "edits.0.donor.row",
            "it has 2 source rows, row 2",
        ),
        (
            edits({"path": "logits", "index": [0, 129], "action": "set", "value": 0.0}),
            "edits.0.index.1",
            "has 129 places on axis t",
        ),
        (edits({**LAST, "donor": {"moment": 99}}), "moment", "moment 99 is not in this run"),
        (edits({**LAST, "donor": {"moment": -1}}), "fields.edits.0.donor.moment", "a whole number from 0"),
        (edits({**LAST, "donor": {"moment": 0, "request": 5}}), "fields.edits.0.donor", "there is no request 5"),
        (
            edits({**LAST, "donor": {"source": ["you"], "masks": [{"relation": "x", "program": "full"}]}}),
            "edits.0.donor.masks.0.relation",
            "'x'",
        ),
    ],
)
def test_an_edit_that_cannot_be_made_says_why_and_changes_nothing(command: Command, field: str, words: str) -> None:
    engine = opened()
    do(engine, Step())
    before = engine.digest()
    with pytest.raises(Refused) as refusal:
        do(engine, command)
    assert [p.field for p in refusal.value.problems] == [field] and words in str(refusal.value)
    assert engine.digest() == before


def test_a_moment_of_other_weights_or_of_training_is_no_donor() -> None:
    engine = opened(phase="train")
    do(engine, Step())
    do(engine, Enter(phase="decode"))
    read = engine.timeline.at
    with pytest.raises(Refused, match="no request was read"):
        do(engine, edits({**LAST, "donor": {"moment": 0}}))
    do(engine, Enter(phase="train"))
    do(engine, Step())
    with pytest.raises(Refused, match="read by other weights"):
        do(engine, edits({**LAST, "donor": {"moment": read}}))


def test_an_edit_of_a_row_that_is_gone_waits_until_it_is_there_again() -> None:
    engine = opened(requests=[SOURCES[0]], edits=[{"path": "encoder.memory", "index": [0, 2], "action": "set", "value": 0.0}])
    do(engine, Change(fields={"requests": [SOURCES[1]]}))
    view: RequestView = engine.moved(()).requests[0]
    assert len(engine.scenario.edits) == 1 and view.unedited is not None and view.unedited.kl == 0
    do(engine, Change(fields={"requests": [SOURCES[0]]}))
    assert (value(engine, "encoder.memory")[2] == 0).all()
