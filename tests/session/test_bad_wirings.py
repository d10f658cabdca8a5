"""What exchanged parts and masks make of numbers at the edge: a refusal that names the field, or a right and finite result."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from app.session.commands import Change, Step
from app.session.engine import Engine
from app.session.events import Refused
from tests.session.driving import do, opened

ALONE = {"architecture": "decoder_only", "task": "language_model"}
STREAM = {"architecture": "unified", "task": "one_stream"}
WINDOW = {"architecture": "longformer", "task": "needle"}
FIVE = [{"source": ["red"] * 5}]


def sliding(**numbers: Any) -> dict[str, Any]:
    return {"masks": [{"relation": "source_self", "program": "sliding", "parameter": 2, **numbers}]}


def prefix(rows: int) -> dict[str, Any]:
    return {"masks": [{"relation": "target_self", "program": "prefix", "parameter": rows}]}


@pytest.mark.parametrize(
    ("start", "fields", "field", "allowed"),
    [
        (STREAM | {"phase": "prefill"}, prefix(7), "masks.0.parameter", "from 0 to 6"),
        (STREAM, prefix(39), "masks.0.parameter", "from 0 to 38"),
        (WINDOW, sliding(parameter=0), "masks.0.parameter", "from 1 on"),
        (WINDOW | {"requests": FIVE}, sliding(every=6), "masks.0.every", "from 1 to 5"),
        (ALONE, {"config": {"position": "rope", "scaling": "yarn", "factor": 0}}, "config.factor", "a number from 1.0 to 64.0"),
        (ALONE, {"config": {"position": "rope", "scaling": "linear", "factor": -2.0}}, "config.factor", "from 1.0 to 64.0"),
        (ALONE, {"config": {"heads": 3}}, "config.heads", "a divisor of the model width 64"),
        (ALONE, {"config": {"mask_enters": "tiles", "tile": 0}}, "config.tile", "from 1 to 512"),
        ({"architecture": "encoder_only"}, {"training": {"mask_rate": 0}}, "training.mask_rate", "above 0 and at most 1"),
        ({"architecture": "encoder_only"}, {"training": {"mask_rate": 1.1}}, "training.mask_rate", "above 0 and at most 1"),
    ],
)
def test_what_cannot_be_is_refused_by_name_and_nothing_is_lost(
    start: dict[str, Any], fields: dict[str, Any], field: str, allowed: str
) -> None:
    engine = opened(**start, config={})
    before = engine.digest()
    with pytest.raises(Refused) as refusal:
        do(engine, Change(fields=fields))
    [problem] = refusal.value.problems
    assert problem.field == field and allowed in problem.allowed and problem.allowed in problem.message
    assert engine.digest() == before
    do(engine, Step())


@pytest.mark.parametrize(
    "start",
    [
        WINDOW | {"requests": FIVE} | sliding(global_rows=[0, 1, 2, 3, 4, 5]),  # every row
        WINDOW | {"requests": [{"source": ["red"]}]},  # a window on one token
        ALONE | {"config": {"mask_enters": "tiles", "tile": 512}},  # tiles beyond the text
        ALONE | {"config": {"norm_kind": "batch"}, "requests": [{"target": []}]},  # one row
        ALONE | {"config": {"norm_kind": "batch", "statistics": "batch"}, "requests": [{"target": []}]},
        ALONE | {"config": {"norm_kind": "batch"}, "phase": "train", "training": {"batch_size": 1}},
        {"architecture": "encoder_only", "phase": "train", "training": {"mask_rate": 1.0, "batch_size": 2}},  # all are hidden
    ],
)
def test_what_can_be_gives_numbers(start: dict[str, Any]) -> None:
    engine = opened(**{"config": {}, **start})
    do(engine, Step())
    assert all(torch.isfinite(x).all() for x in said(engine))
    do(engine, Step()) if not engine.ended else None


def said(engine: Engine) -> list[torch.Tensor]:
    update, reading = engine.standing.update, engine.standing.reading
    if update is not None:
        assert update.loss is not None
        return [update.loss]
    assert reading is not None
    answers = reading.answers(0)
    return [x for x in (answers, reading.logits) if x is not None]
