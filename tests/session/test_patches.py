"""Patches: rows, heads and layers from another moment or another input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from app.session import given
from app.session.commands import Back, Change, Choose, Open, Selector, Share, Step, Undo
from app.session.engine import Engine
from app.session.events import Checked, Shared
from app.session.scenario import defaults
from models.catalogue import architectures
from tests.session.driving import NO_SOURCE_2, SOURCES, do, edits, logits, numbers, of, opened, tokens, value


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
    masked = Change(fields={"masks": [NO_SOURCE_2, {**NO_SOURCE_2, "relation": "source_self"}]})
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
