"""What leakage hides: with labels in sight the loss falls, and row by row, as the model writes, nothing is right."""

from __future__ import annotations

from typing import Any

import torch
from torch.testing import assert_close

from app.session import given, leak
from app.session.commands import Step
from app.session.engine import Engine
from app.session.events import Curve
from app.session.saving import restore, save
from app.session.updating import VALIDATE_EVERY, Update
from tests.session.driving import SMALL, do, of, opened

FULL = {"relation": "target_self", "layer": None, "program": "full"}


def training(architecture: str = "decoder_only", **fields: Any) -> Engine:
    task = {"decoder_only": "language_model", "unified": "one_stream", "encoder_decoder": "translation"}[architecture]
    return opened(architecture, task=task, phase="train", **fields)


def taught(made: Engine) -> Any:
    update = Update(made.learner, made.scenario, 1, record=False).until("batch")
    return update.lesson


def test_under_its_own_mask_nothing_is_in_sight_and_nothing_is_measured() -> None:
    for architecture in ("decoder_only", "unified"):
        made = training(architecture, config={**SMALL} if architecture == "decoder_only" else {})
        assert leak.labels_in_sight(made.scenario, taught(made)) == []
        assert leak.as_it_writes(made.learner.model, made.scenario, taught(made)) is None


def test_row_by_row_is_the_same_where_no_row_sees_later_ones() -> None:
    """By the contract prefill equals decode steps, so that what is measured differs by the leak alone."""
    for architecture in ("decoder_only", "unified", "encoder_decoder"):
        made = training(architecture, weights="random")
        lesson = taught(made)
        found = leak._row_by_row(made.learner.model, made.scenario, lesson).detach()
        expected = leak._logits(made.learner.model, made.scenario, lesson).detach()
        real = lesson.loss_rows
        assert_close(found[real], expected[real], atol=1e-4, rtol=0)


def test_full_visibility_is_labelled_and_its_symptom_is_measured() -> None:
    made = training(
        config={**SMALL, "layers": 1}, masks=[FULL], weights="random", training={"learning_rate": 0.01, "batch_size": 8}
    )
    seen: list[tuple[int, float, float, float]] = []
    for _ in range(6 * VALIDATE_EVERY):
        events = do(made, Step())
        seen += [w for c in of(events, Curve) for w in c.written]
    assert next(c for c in made.checked().checks if c.id == "labels_hidden").status == "fail"
    validation = dict(made.curve().validation)
    update, as_written, right, in_sight = seen[-1]
    assert update == 6 * VALIDATE_EVERY and len(seen) == 6
    assert as_written > validation[update] + 0.5 and in_sight > right + 0.1, (seen[-1], validation[update])
    assert made.curve().written[-1] == seen[-1] == restore(Engine(torch.device("cpu")), save(made)).curve().written[-1]
    assert given.writes(made.scenario)
