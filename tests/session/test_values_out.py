"""What goes out: deltas, keyframes, precision, contracts."""

from __future__ import annotations

import numpy as np
import pytest

from app.session import describing
from app.session.commands import (
    Fetch,
    Selector,
    Step,
)
from app.session.events import Values
from tests.session.driving import NO_SOURCE_2, SMALL, Reader, do, numbers, of, opened


def test_deltas_add_up_to_the_keyframe() -> None:
    watch = (
        Selector(path="*.weights", dtype="f32", index={"b": 1}),
        Selector(path="*.layer0.self.scores", dtype="f32", index={"b": 1, "h": 1}),
        Selector(path="encoder.memory", dtype="f32"),
    )
    several = [{"source": ["the", "cat", "sleeps"], "target": ["le"]}, {"source": ["the", "cat"], "target": []}]
    engine, store = opened(requests=several), Reader()
    store.take([engine.keyframe(watch)])
    for _ in range(5):
        store.take(do(engine, Step(), watch))
    whole = Reader()
    whole.take([engine.keyframe(watch)])
    assert store.known.keys() == whole.known.keys() and len(whole.known) == 6
    for key, expected in whole.known.items():
        seen = np.nan_to_num(store.known[key])
        assert seen.shape == expected.shape, key
        np.testing.assert_array_equal(seen, expected)


def test_zero_stays_zero_in_eight_bits() -> None:
    engine = opened(masks=[NO_SOURCE_2])
    for _ in range(3):
        do(engine, Step())
    watch = (Selector(path="*.cross.weights", dtype="u8"), Selector(path="*.cross.scores", dtype="u8"))
    weights, scores = (numbers(p.array) for p in engine.keyframe(watch).pieces)
    assert (weights[..., 2] == 0).all() and weights.max() <= 1
    exact = numbers(engine.keyframe((Selector(path="*.cross.scores", dtype="f32"),)).pieces[0].array)
    np.testing.assert_allclose(scores, exact, atol=np.abs(exact).max() / 127)


def test_what_is_not_watched_is_not_sent_and_can_be_fetched() -> None:
    engine = opened()
    assert not of(do(engine, Step()), Values)
    fetched = of(do(engine, Fetch(selector=Selector(path="decoder.layer0.ffn.*", dtype="f32"))), Values)[0]
    assert fetched.fetched and fetched.pieces and all(p.selector == -1 for p in fetched.pieces)
    parameter = of(do(engine, Fetch(selector=Selector(path="parameter.decoder.embedding.token.weight", dtype="f32"))), Values)[0]
    expected = engine.learner.model.get_parameter("decoder.embedding.token.weight").detach().numpy()
    np.testing.assert_array_equal(numbers(parameter.pieces[0].array), expected)


def test_an_index_that_is_not_there_brings_nothing_and_rows_are_absolute() -> None:
    engine = opened()
    for _ in range(3):
        do(engine, Step())
    path = "decoder.layer0.cross.weights"
    beyond = Selector(path=path, index={"h": 99})
    third, fifth = Selector(path=path, index={"t": 3}, dtype="f32"), Selector(path=path, index={"t": 9})
    whole = numbers(engine.keyframe((Selector(path=path, dtype="f32"),)).pieces[0].array)
    found = engine.keyframe((beyond, third, fifth)).pieces
    assert [p.selector for p in found] == [1] and found[0].start == {"t": 3}
    np.testing.assert_array_equal(numbers(found[0].array)[0, :, 0], whole[0, :, 3])
    delta = of(do(engine, Step(), (Selector(path=path, index={"t": 4}), third)), Values)[0].pieces
    assert [(p.selector, p.start) for p in delta] == [(0, {"t": 4})]


def test_numbers_too_large_for_16_bits_stay_numbers() -> None:
    engine = opened(edits=[{"path": "decoder.layer0.cross.q", "action": "scale", "value": 1e8}])
    do(engine, Step())
    piece = engine.keyframe((Selector(path="decoder.layer0.cross.scores", dtype="f16"),)).pieces[0]
    assert piece.array.dtype == "F32" and np.isfinite(numbers(piece.array)).all()


def test_the_contract_of_every_tap_says_truly_whether_it_has_a_gradient() -> None:
    engine = opened(phase="train", config={**SMALL, "layers": 2})
    do(engine, Step())
    update = engine.standing.update
    assert update is not None
    said = {t.path: t.gradient for t in engine.schema.taps if t.type != "parameter" and t.path in update.tape.records}
    assert said == {path: path in update.tape.gradients for path in said} and len(said) > 50


def test_recording_is_dropped_when_it_grows_and_made_again_on_demand() -> None:
    engine = opened(policy={"limit": 60})
    watch = (Selector(path="*.self.weights", dtype="f32"),)
    for _ in range(10):
        do(engine, Step())
    expected = engine.keyframe(watch)
    engine.standing.calls, engine.standing.whole = engine.standing.calls[-1:], False
    assert engine.keyframe(watch) == expected


def test_gradients_are_recorded_after_the_backward_pass() -> None:
    engine = opened(phase="train")
    watch = (
        Selector(path="*.self.scores", side="gradient", dtype="f32"),
        Selector(path="decoder.layer0.ffn.*", side="gradient", reduce="norm"),
    )
    before = [p for _ in range(3) for v in of(do(engine, Step(unit="stage"), watch), Values) for p in v.pieces]
    after = [p for v in of(do(engine, Step(unit="stage"), watch), Values) for p in v.pieces]
    assert not before and after
    scores = next(p for p in after if p.path == "decoder.layer0.self.scores")
    np.testing.assert_allclose(numbers(scores.array).sum(-1), 0, atol=1e-6)
    assert all(p.axes == ("b", "t") for p in after if ".ffn." in p.path)


@pytest.mark.parametrize(
    ("axes", "owner"),
    [
        ("b t d", "target row"),
        ("b h t s", "target row × source row"),
        ("b h r s", "hop × source row"),
        ("b n", "request"),
        ("n", "none"),
    ],
)
def test_the_axes_say_whose_a_value_is(axes: str, owner: str) -> None:
    assert describing.owner(axes.split()) == owner
