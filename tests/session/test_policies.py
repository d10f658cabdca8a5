"""Another policy on the same numbers; limits; what padding would say."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from app.session.commands import Change, Selector, Step, Undo
from app.session.engine import Engine
from app.session.events import Opened, Values
from tests.session.driving import counted, do, logits, moved, numbers, of, opened, tokens


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
