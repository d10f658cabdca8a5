"""Source and target in one stream, through the engine: what counts, what leaks under which mask, and that the cache holds."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from app.session.commands import Analyse, Open, Step
from app.session.engine import Engine
from app.session.events import Check, Checked
from models.tasks.one_stream import TASK

SENTENCES = (["the", "black", "cat", "sleeps", "→"], ["thank", "you", "→", "merci"])


def opened(phase: str, mask: dict[str, Any] | None, steps: int) -> Engine:
    masks = [{"relation": "target_self", **mask}] if mask else []
    scenario = {"architecture": "unified", "task": "one_stream", "phase": phase, "weights": "random", "masks": masks}
    engine = Engine(torch.device("cpu"))
    list(engine.run(Open(scenario={**scenario, "requests": [{"target": s} for s in SENTENCES]})))
    for _ in range(steps):
        list(engine.run(Step()))
    return engine


def check(engine: Engine, name: str, measure: bool = False) -> Check:
    told = list(engine.run(Analyse(name=name))) if measure else []
    found = [c for e in (*told, engine.checked()) if isinstance(e, Checked) for c in e.checks if c.id == name]
    return found[-1]


@pytest.mark.parametrize("mask", [None, {"program": "prefix", "parameter": 4}])
def test_the_cache_gives_what_the_full_prefix_gives(mask: dict[str, Any] | None) -> None:
    """A prefix that ends within every prompt was read whole in the first call."""
    engine = opened("decode", mask, 4)
    found = check(engine, "cached_equals_full", measure=True)
    assert found.status == ("pass" if mask is None else "does_not_apply")


@pytest.mark.parametrize(("mask", "status"), [(None, "pass"), ({"program": "causal"}, "pass"), ({"program": "full"}, "fail")])
def test_what_leaks(mask: dict[str, Any] | None, status: str) -> None:
    """Source rows read each other by design; a target row that reads a later one leaks."""
    assert check(opened("decode", mask, 4), "no_future_leak", measure=True).status == status


@pytest.mark.parametrize(
    ("mask", "status"),
    [
        (None, "pass"),
        ({"program": "causal"}, "pass"),
        ({"program": "full"}, "fail"),
        ({"program": "prefix", "parameter": 0}, "pass"),
        ({"program": "prefix", "parameter": 200}, "fail"),
    ],
)
def test_training_says_where_a_label_is_in_sight(mask: dict[str, Any] | None, status: str) -> None:
    """Next-token training under full visibility is allowed, and named for what it is."""
    engine = opened("train", mask, 1)
    found = check(engine, "labels_hidden")
    assert found.status == status
    assert status == "pass" or "see the token that it must predict" in found.reason


def test_rows_of_the_source_do_not_count() -> None:
    engine = opened("train", None, 1)
    update = engine.standing.update
    assert update is not None and update.lesson is not None
    given, counts = update.lesson.inputs.values, update.lesson.loss_rows
    for ids, row in zip(given.tolist(), counts.tolist(), strict=True):
        assert not any(row[: ids.index(TASK.separator)]) and row[ids.index(TASK.separator)]
