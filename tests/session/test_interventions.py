"""Edits at taps: they change what they say and nothing else, and beside what they change stands what was there without them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from app.session import given
from app.session.commands import Back, Change, Choose, Command, Enter, Open, Selector, Share, Step, Undo
from app.session.engine import Engine
from app.session.events import Checked, Opened, Refused, RequestView, Shared, Values
from app.session.methods import Policy
from app.session.policy import divergence
from app.session.scenario import defaults
from models.catalogue import architectures
from tests.session.driving import do, moved, numbers, of, opened, tokens

SOURCES = [{"source": ["the", "black", "cat"]}, {"source": ["thank", "you"], "target": ["merci"]}]
HEAD_OFF = {"path": "decoder.layer0.cross.mixed", "index": [None, 1], "action": "scale", "value": 0.0}
NO_KEY_2 = {"relation": "cross", "program": "full", "cells": [{"query": q, "key": 2, "visible": False} for q in range(40)]}


def edits(*several: dict[str, Any]) -> Change:
    return Change(fields={"edits": list(several)})


def value(engine: Engine, path: str, side: str = "value") -> np.ndarray:
    """What is recorded at a tap for the first request, all rows."""
    watch = (Selector.model_validate({"path": path, "side": side, "index": {"b": 0}, "dtype": "f32"}),)
    return numbers(engine.keyframe(watch).pieces[0].array)[0]


def logits(engine: Engine, request: int = 0) -> np.ndarray:
    array = engine.moved(()).requests[request].logits
    assert array is not None
    return numbers(array)


@contextmanager
def counted(engine: Engine) -> Iterator[list[int]]:
    """How many model calls happen inside."""
    calls = [0]

    def count(*_: object) -> None:
        calls[0] += 1

    hook = engine.learner.model.register_forward_hook(count)
    yield calls
    hook.remove()


# ---- what an edit changes


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


# ---- what stands beside it


@pytest.mark.parametrize("execution", ["cached", "full_prefix"])
@pytest.mark.parametrize("change", [{"edits": [HEAD_OFF]}, {"masks": [NO_KEY_2]}, {"edits": [HEAD_OFF], "masks": [NO_KEY_2]}])
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


# ---- patches


def patch(path: str, index: list[int | None], **donor: Any) -> dict[str, Any]:
    return {"path": path, "index": index, "action": "patch", "donor": donor}


@pytest.mark.parametrize(
    ("path", "index"),
    [
        ("decoder.layer0.cross.output", [0, 2]),
        ("decoder.layer0.cross.mixed", [0, 1, 2]),
        ("decoder.layer0.self.weights", [0, 0, 2]),
        ("decoder.layer0.self.keys", [0, None, 1]),
        ("encoder.layer0.ffn.output", [0, 1]),
    ],
)
@pytest.mark.parametrize("execution", ["cached", "full_prefix"])
def test_a_patch_puts_in_what_another_moment_recorded(path: str, index: list[int | None], execution: str) -> None:
    engine = opened(requests=[SOURCES[0]], policy={"execution": execution})
    for token in (20, 30, 40):
        do(engine, Choose(request=0, token=token))
    there, at = engine.timeline.at, tuple(index[1:])
    donor = value(engine, path)
    for _ in range(3):
        do(engine, Back())
    masked = Change(fields={"masks": [NO_KEY_2, {**NO_KEY_2, "relation": "source_self"}]})
    for command in (masked, Choose(request=0, token=50), Choose(request=0, token=60), Choose(request=0, token=70)):
        do(engine, command)
    place = tuple(slice(None) if i is None else i for i in at)
    assert not np.allclose(value(engine, path)[place], donor[place], atol=1e-4)
    do(engine, edits(patch(path, index, moment=there)))
    np.testing.assert_allclose(value(engine, path)[place], donor[place], rtol=0, atol=1e-6)
    carried = engine.scenario.edits[0].donor
    assert carried is not None and len(carried.target) == 3 and not carried.masks
    other = Engine(torch.device("cpu"))
    file = of(do(engine, Share()), Shared)[0].file
    do(other, Open(scenario=file["scenario"], log=tuple(file["log"])))
    assert other.digest() == engine.digest()
    do(engine, Undo())
    assert not engine.scenario.edits and engine.scenario.masks


@pytest.mark.parametrize("architecture", architectures())
def test_a_patch_from_the_same_read_changes_nothing_at_any_tap(architecture: str) -> None:
    engine = Engine(torch.device("cpu"))
    do(engine, Open(scenario=defaults(architecture, weights="random").model_dump(mode="json")))
    for _ in range(2 if "decode" in given.phases_of(engine.scenario) else 1):
        do(engine, Step())
    before, donor = logits(engine), {"moment": engine.timeline.at}
    taps = [t.path for t in engine.schema.taps if t.editable]
    for some in (taps[i : i + 64] for i in range(0, len(taps), 64)):
        do(engine, edits(*({"path": path, "action": "patch", "donor": donor} for path in some)))
        np.testing.assert_allclose(logits(engine), before, rtol=0, atol=1e-4)
        beside = engine.moved(()).requests[0].unedited
        assert beside is not None and (beside.kl or 0.0) < 1e-6


def test_a_patch_from_another_input_takes_the_row_that_it_names() -> None:
    donor = opened(requests=[{"source": ["thank", "you"]}])
    do(donor, Choose(request=0, token=20))
    word = tokens(donor)[-1]
    engine = opened(requests=[SOURCES[0]])
    for _ in range(3):
        do(engine, Step())
    path = "decoder.layer0.ffn.hidden"
    before = value(engine, path)
    do(engine, edits(patch(path, [0, 2], source=["thank", "you"], target=[word], row=1)))
    after = value(engine, path)
    np.testing.assert_allclose(after[2], value(donor, path)[1], rtol=0, atol=1e-6)
    np.testing.assert_allclose(after[:2], before[:2], rtol=0, atol=1e-6)


def test_a_patched_head_takes_the_rows_that_its_donor_has_and_leaves_the_others() -> None:
    path, source = "decoder.layer0.cross.mixed", ["thank", "you"]
    donor, engine = opened(requests=[{"source": source}]), opened(requests=[SOURCES[0]])
    for _ in range(3):
        do(engine, Step())
    before = value(engine, path)
    do(engine, edits(patch(path, [None, 1], source=source)))
    after = value(engine, path)
    np.testing.assert_allclose(after[1, 0], value(donor, path)[1, 0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(after[1, 1:], before[1, 1:], rtol=0, atol=1e-6)
    np.testing.assert_array_equal(after[0], before[0])


def test_patched_weights_are_zero_on_keys_that_the_donor_does_not_have() -> None:
    engine = opened(requests=[SOURCES[0]])
    do(engine, edits(patch("decoder.layer0.cross.weights", [0, 0, 0], source=["you"])))
    np.testing.assert_allclose(value(engine, "decoder.layer0.cross.weights")[0, 0], [1, 0, 0])
    assert next(c for c in of([engine.checked()], Checked)[0].checks if c.id == "rows_sum").status == "pass"


def test_patches_work_in_training_and_follow_the_weights() -> None:
    path, source = "decoder.layer0.cross.output", ["thank", "you"]
    engine = opened(phase="train", edits=[patch(path, [1, 0], source=source)])
    for _ in range(2):
        do(engine, Step())
    watch = (Selector(path=path, index={"b": 1}, dtype="f32"),)
    patched = numbers(engine.keyframe(watch).pieces[0].array)[0, 0]
    do(engine, Step())
    later = numbers(engine.keyframe(watch).pieces[0].array)[0, 0]
    assert (patched != later).any()
    do(engine, Back())
    np.testing.assert_array_equal(numbers(engine.keyframe(watch).pieces[0].array)[0, 0], patched)


# ---- policies


def test_another_policy_reads_the_same_numbers_without_a_model_call() -> None:
    engine = opened(weights="trained", config={})
    for _ in range(3):
        do(engine, Step())
    before, epoch = logits(engine), engine.epoch
    sample = {"kind": "sample", "temperature": 3.0, "top_k": 4, "top_p": 0.9}
    with counted(engine) as calls:
        events = do(engine, Change(fields={"policy": sample}))
    assert calls == [0] and engine.epoch == epoch and not of(events, Values)
    assert of(events, Opened)[0].scenario["policy"]["top_k"] == 4
    view = moved(events).requests[0]
    np.testing.assert_array_equal(logits(engine), before)
    assert 0 < sum(c.policy_probability > 0 for c in view.candidates) <= 4
    again = Engine.restore(engine.save(), torch.device("cpu"))
    assert again.digest() == engine.digest() and again.moved(()).requests == engine.moved(()).requests
    do(engine, Undo())
    assert engine.moved(()).requests[0].choice == int(before.argmax())


def test_a_larger_limit_lets_a_request_go_on_and_a_smaller_one_ends_it() -> None:
    engine, plain = opened(policy={"limit": 2}), opened(policy={"limit": 9})
    for _ in range(2):
        do(engine, Step())
    assert engine.ended
    do(engine, Change(fields={"policy": {"limit": 9}}))
    do(engine, Step())
    for _ in range(3):
        do(plain, Step())
    assert tokens(engine) == tokens(plain)
    torch.testing.assert_close(engine.standing.reading.logits, plain.standing.reading.logits)  # type: ignore[union-attr]
    do(engine, Change(fields={"policy": {"limit": 2}}))
    assert engine.ended and engine.moved(()).requests[0].finished == "limit"


def test_a_padded_prompt_says_what_its_padding_would_say() -> None:
    requests = [{"target": ["the", "cat"]}, {"target": ["the", "black", "cat", "sleeps"]}]
    engine = opened("decoder_only", requests=requests, phase="prefill")
    do(engine, Step())
    short, long = engine.moved(()).requests
    watch = (Selector(path="logits", index={"b": 0}, dtype="f32"),)
    last = numbers(engine.keyframe(watch).pieces[0].array)[0, -1]
    assert short.unused is not None and long.unused is None
    assert short.unused.id == int(last.argmax()) and short.unused.logit == pytest.approx(float(last.max()))
    do(engine, Step())
    assert engine.moved(()).requests[0].unused is None


# ---- what is refused


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
