"""Long inputs: what is watched stays small and exact, and a longer text than any trained on is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from app.server.wire import encode
from app.session.commands import Change, Open, Selector, Step
from app.session.engine import Engine
from app.session.events import Event, Notice, Values
from app.session.outbox import merge
from app.session.standing import TAPE_BUDGET
from app.session.trace import binned
from tests.session.driving import Reader, do, numbers, of, opened

PATH = "decoder.layer0.self.weights"
WATCH = (
    Selector(path=PATH, index={"b": 0, "h": 0}, dtype="f32"),
    Selector(path="decoder.layer0.self.scores", index={"b": 0, "h": 0}, span={"t": (448, 512)}, dtype="f32"),
    Selector(path="decoder.layer*.self.weights", index={"b": 0}, dtype="u8", bin=8),
)


def long(words: int = 500, **fields: Any) -> Engine:
    text = ("the black cat sleeps . " * 110).split()[:words]
    return opened("decoder_only", requests=[{"target": text}], config={"d_model": 32, "d_ff": 32}, **fields)


def size(event: Event) -> int:
    return len(encode(event, "s" * 32, 1, 1))


@pytest.mark.parametrize(("rows", "size", "start"), [(7, 3, 0), (8, 4, 5), (1, 4, 3), (1, 8, 8), (9, 256, 0)])
def test_a_square_holds_its_largest_value(rows: int, size: int, start: int) -> None:
    value = torch.randn(2, rows, 11, generator=torch.Generator().manual_seed(rows))
    found, begins = binned(value, ("b", "t", "s"), {"t": start} if start else {}, size)
    assert begins.get("t", 0) == start // size
    expected = torch.full(found.shape, -torch.inf)
    for row in range(rows):
        for key in range(11):
            at = (slice(None), (start + row) // size - start // size, key // size)
            expected[at] = torch.maximum(expected[at], value[:, row, key])
    assert torch.equal(found, expected)


def test_a_number_that_is_none_stays_in_sight() -> None:
    value = torch.zeros(1, 6, 6)
    value[0, 4, 1] = torch.nan
    found, _ = binned(value, ("b", "t", "t'"), {}, 4)
    assert found[0].isnan().tolist() == [[False, False], [True, False]]


def test_squares_and_spans_follow_a_run_row_by_row() -> None:
    engine, store = long(60), Reader()
    watch = (
        Selector(path=PATH, dtype="f32"),
        Selector(path=PATH, dtype="f32", bin=8),
        Selector(path=PATH, dtype="f32", span={"t": (58, 64), "t'": (4, 9)}),
    )
    store.take([engine.keyframe(watch)])
    for _ in range(6):
        store.take(do(engine, Step(), watch))
    whole, squares, part = (store.known[n, PATH] for n in range(3))
    assert whole.shape[2:] == (67, 67) and squares.shape[2:] == (9, 9)
    filled = np.zeros((1, 4, 72, 72))
    filled[:, :, :67, :67] = np.nan_to_num(whole)  # a read of an earlier step had fewer keys
    assert_close(np.nan_to_num(squares), filled.reshape(1, 4, 9, 8, 9, 8).max((3, 5)), rtol=0, atol=0)
    assert_close(part[..., 58:, 4:], whole[..., 58:64, 4:9], rtol=0, atol=0)
    assert np.isnan(part[..., :58, :]).all()


def test_rows_that_come_to_one_square_while_a_page_is_slow_are_all_counted() -> None:
    engine = long(60)
    watch = (Selector(path=PATH, dtype="f32", bin=64),)
    steps = [of(do(engine, Step(), watch), Values)[0] for _ in range(2)]
    merged = merge(*steps)
    assert merged is not None and len(merged.pieces) == 2
    one, both = Reader(), Reader()
    one.take(list(steps))
    both.take([merged])
    assert_close(one.known[0, PATH], both.known[0, PATH], rtol=0, atol=0)


def test_five_hundred_rows_are_exact_and_small() -> None:
    engine = long(policy={"limit": 16})
    frames = [of(do(engine, Step(), WATCH), Values)[0] for _ in range(4)]
    assert max(map(size, frames)) < 10_000
    assert size(engine.moved(())) < 60_000
    keyframe = engine.keyframe(WATCH)
    assert size(keyframe) < 1_300_000
    assert sum(c.bytes for c in engine.standing.calls) < 2 * TAPE_BUDGET, "a run that stands keeps no map of all its rows"
    whole = opened("decoder_only", **{**_fields(engine), "policy": {"limit": 16, "execution": "full_prefix"}})
    for _ in range(4):
        do(whole, Step())
    other = whole.keyframe(WATCH)
    for mine, theirs in zip(keyframe.pieces, other.pieces, strict=True):
        assert (mine.path, mine.start, mine.array.shape) == (theirs.path, theirs.start, theirs.array.shape)
        ours, other_numbers = (torch.tensor(numbers(p.array).astype(np.float64)) for p in (mine, theirs))
        if mine.path.endswith("scores"):  # a cached read has none for keys that came later
            ours, other_numbers = (x.tril(448) for x in (ours, other_numbers))
        step = 1 / 255 if mine.array.dtype == "U8" else 1e-6
        assert_close(ours, other_numbers, rtol=1e-4, atol=step)


def _fields(engine: Engine) -> dict[str, Any]:
    kept = engine.scenario.model_dump(mode="json")
    return {name: kept[name] for name in ("requests", "config")}


def test_a_pattern_hides_what_it_says_in_five_hundred_rows() -> None:
    engine = long()
    mask = {"relation": "target_self", "program": "causal_sliding", "parameter": 16, "global_rows": [0, 97]}
    do(engine, Change(fields={"masks": [mask]}))
    weights = numbers(engine.keyframe(WATCH).pieces[0].array)[0, 0]
    row = weights[400]
    assert set(np.flatnonzero(row)) == {0, 97, *range(384, 401)}
    assert np.array_equal(np.flatnonzero(weights[97]), np.arange(98)), "a global row reads all that came before it"


@pytest.mark.parametrize(("words", "named"), [(31, False), (32, True)])
def test_a_text_longer_than_any_trained_on_is_named(words: int, named: bool) -> None:
    engine = Engine(torch.device("cpu"))
    scenario = {"architecture": "decoder_only", "task": "language_model", "requests": [{"target": ["the"] * words}]}
    notices = [n.message for n in of(do(engine, Open(scenario=scenario)), Notice)]
    assert any("32 target tokens are longer than it was trained on: these weights saw at most 31" in n for n in notices) == named
