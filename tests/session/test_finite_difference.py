"""The check of gradients against finite differences, on runs of the engine."""

from __future__ import annotations

from typing import Any

import pytest
from torch import nn

from app.session.commands import Analyse, Step
from app.session.engine import Engine
from app.session.events import Analysis, Check, Checked, Event, Refused
from tests.session.driving import SMALL, do, opened

MEASURE = Analyse(name="finite_difference")


def _training(**fields: Any) -> Engine:
    engine = opened(**{"phase": "train", "weights": "random", "config": SMALL, "training": {"batch_size": 2}, **fields})
    do(engine, Step())
    return engine


def _check(events: list[Event]) -> Check:
    checked = next(e for e in reversed(events) if isinstance(e, Checked))
    return next(c for c in checked.checks if c.id == "finite_difference")


def _result(events: list[Event]) -> dict[str, Any]:
    return next(e.result for e in events if isinstance(e, Analysis) and e.result is not None)


def _half_more(_: nn.Module, inner: Any, outer: Any) -> Any:
    return tuple(None if g is None else 1.5 * g for g in inner)


@pytest.mark.parametrize("fields", [{}, {"architecture": "bahdanau", "config": {}}, {"architecture": "recurrent", "config": {}}])
def test_the_backward_pass_is_the_slope_of_the_loss(fields: dict[str, Any]) -> None:
    engine = _training(**fields)
    before = engine.digest()
    said = do(engine, MEASURE)
    check, result = _check(said), _result(said)
    assert check.status == "pass", check
    assert result["relative"] < 1e-5 and result["recorded"] < 1e-3 and len(result["sample"]) == 32
    assert engine.digest() == before  # the run's own parameters were not touched


def test_a_gradient_that_is_not_the_slope_fails_and_says_where() -> None:
    engine = opened(phase="train", weights="random", config=SMALL, training={"batch_size": 2})
    for _ in ("batch", "forward", "loss", "backward"):  # before the update, so that the model is the run's own
        do(engine, Step(unit="stage"))
    for layer in engine.learner.model.modules():
        if isinstance(layer, nn.Linear):
            layer.register_full_backward_hook(_half_more)
    check = _check(do(engine, MEASURE))
    assert check.status == "fail" and "backward says" in check.reason


def test_norms_that_are_not_those_of_the_gradient_fail() -> None:
    engine = _training()
    update = engine.standing.update
    assert update is not None and update.norms is not None
    update.norms = [(name, 1.5 * length) for name, length in update.norms]
    check = _check(do(engine, MEASURE))
    assert check.status == "fail" and "recorded" in check.reason


def test_before_backward_there_is_nothing_to_compare() -> None:
    engine = opened(phase="train", weights="random", config=SMALL)
    with pytest.raises(Refused, match="after backward"):
        do(engine, MEASURE)
