"""Masks and other changes during a run: what runs again, what is refused, what leaks."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from app.session.commands import (
    Change,
    Enter,
    Selector,
    Step,
)
from app.session.events import Checked, Notice, Refused, Values
from tests.session.driving import (
    CAUSAL_CELL,
    NO_SOURCE_2,
    SMALL,
    Reader,
    do,
    masks,
    measured,
    moved,
    numbers,
    of,
    opened,
    tokens,
)


@pytest.mark.parametrize("phase", ["train", "prefill", "decode"])
def test_a_mask_edit_runs_the_current_step_again_at_once(phase: str) -> None:
    engine = opened(phase=phase)
    do(engine, Step())
    step = engine.moved(()).step
    watch = (Selector(path="*.cross.weights", dtype="f32"),)
    events = do(engine, masks(NO_SOURCE_2), watch)
    pieces = of(events, Values)[-1].pieces
    assert pieces and all((numbers(p.array)[..., 2] == 0).all() for p in pieces)
    assert moved(events).step == step
    checks = {c.id: c for c in of(events, Checked)[-1].checks}
    assert checks["hidden_zero"].status == "pass" and checks["rows_sum"].status == "pass"


def test_an_edit_during_decode_keeps_what_was_written_and_marks_changed_choices() -> None:
    engine = opened(weights="trained", config={})
    while not engine.ended:
        do(engine, Step())
    written = tokens(engine)
    events = do(engine, masks(NO_SOURCE_2))
    assert tokens(engine) == written
    changed = [r for r in moved(events).requests[0].target if r.would]
    assert changed and of(events, Notice)[-1].code == "changed_choice"
    said = f"“{changed[0].token}” in row {written.index(changed[0].token)} would be “{changed[0].would}”"
    assert said in of(events, Notice)[-1].message


def test_a_column_hidden_for_rows_to_come_stays_hidden_cached_or_not() -> None:
    column = {"relation": "cross", "program": "full", "cells": [{"query": 0, "key": 2, "visible": False, "queries": 513}]}
    watch, read = (Selector(path="decoder.layer0.cross.weights", dtype="f32"),), list[np.ndarray]()
    for execution in ("cached", "full_prefix"):
        engine, reader = opened(policy={"execution": execution}), Reader()
        do(engine, Step())
        reader.take(do(engine, masks(column), watch))
        for _ in range(2):
            reader.take(do(engine, Step(), watch))
        (shares,) = reader.known.values()
        assert shares.shape[-2] > 3 and (shares[..., 2] == 0).all() and (shares[..., 1] > 0).all()
        read.append(shares)
    np.testing.assert_allclose(read[0], read[1], atol=1e-6)


@pytest.mark.parametrize("phase", ["train", "prefill", "decode"])
def test_a_row_without_keys_is_refused_by_name_and_nothing_changes(phase: str) -> None:
    engine = opened(phase=phase)
    do(engine, Step())
    before = engine.digest()
    blind = {"relation": "cross", "program": "full", "cells": [{"query": 0, "key": k, "visible": False} for k in range(40)]}
    with pytest.raises(Refused, match="row 0 of request 0 may read no key in relation 'cross'") as refusal:
        do(engine, masks(blind))
    assert refusal.value.problems[0].field == "masks"
    assert engine.digest() == before and not engine.scenario.masks
    do(engine, Step())


def test_an_edit_that_leaks_fails_the_leak_check() -> None:
    leak = {"path": "decoder.layer0.self.weights", "index": [None, None, 1, 3], "action": "set", "value": 0.5}
    engine = opened(edits=[leak])
    for _ in range(5):
        do(engine, Step())
    check = measured(engine, "no_future_leak")
    assert check.status == "fail" and check.place == {"path": "decoder.layer0.self", "request": 0, "row": 1, "key": 3}


def test_a_fault_of_the_encoding_stays_in_sight_while_decoding() -> None:
    fault = {"path": "encoder.layer0.self.weights", "action": "set", "value": 0.5}
    engine = opened(edits=[fault])
    for _ in range(3):
        checks = {c.id: c for c in of(do(engine, Step()), Checked)[-1].checks}
        assert checks["rows_sum"].status == "fail"
        assert checks["rows_sum"].place == {"path": "encoder.layer0.self.weights", "request": 0, "head": 0, "row": 0}


@pytest.mark.parametrize(
    ("layers", "cells", "layer", "row"),
    [
        (2, [(0, 100)], None, None),  # no such row
        (1, [(0, 3)], None, None),  # row 0 must predict what row 1 is given
        (1, [(0, 1)], None, 0),
        (2, [(0, 3)], None, 0),  # through row 3, which read row 1 in the layer below
        (2, [(0, 2)], 0, 1),  # row 1 reads row 0, which read row 2 in the layer below
    ],
)
def test_a_label_is_in_sight_only_where_a_way_of_reads_leads_to_it(
    layers: int, cells: list[tuple[int, int]], layer: int | None, row: int | None
) -> None:
    mask = {**CAUSAL_CELL, "layer": layer, "cells": [{"query": q, "key": k, "visible": True} for q, k in cells]}
    engine = opened(phase="train", config={**SMALL, "layers": layers}, training={"batch_size": 1}, masks=[mask])
    check = next(c for c in of(do(engine, Step()), Checked)[-1].checks if c.id == "labels_hidden")
    assert check.status == ("pass" if row is None else "fail")
    assert check.place == ({} if row is None else {"request": 0, "row": row})


def test_a_label_in_sight_is_allowed_and_said() -> None:
    engine = opened(phase="train")
    do(engine, Step())
    open_ = {"relation": "target_self", "program": "full"}
    said = of(do(engine, masks(open_)), Notice)
    assert [n.code for n in said] == ["label_visible"] and "see their own labels" in said[0].message
    assert not of(do(engine, masks()), Notice)


def test_cached_equals_full_is_measured_or_does_not_apply() -> None:
    engine = opened()
    for _ in range(4):
        do(engine, Step())
    check = measured(engine, "cached_equals_full")
    assert check.status == "pass" and check.measured.startswith("max |Δlogit|")
    do(engine, masks({"relation": "target_self", "program": "full"}))
    assert measured(engine, "cached_equals_full").status == "does_not_apply"


def test_no_future_leak_is_exactly_zero_under_a_causal_mask_and_found_without() -> None:
    engine = opened()
    for _ in range(4):
        do(engine, Step())
    assert measured(engine, "no_future_leak").status == "pass"
    do(engine, masks({"relation": "target_self", "program": "full"}))
    assert measured(engine, "no_future_leak").status == "fail"


def test_an_edit_at_a_tap_is_carried_out_recorded_and_can_be_switched_off() -> None:
    zeroed = {"path": "decoder.layer0.cross.weights", "index": [None, 1, 2], "action": "set", "value": 0.0}
    engine = opened(edits=[zeroed])
    plain = opened()
    for e in (engine, plain):
        for _ in range(3):
            do(e, Step())
    watch = (
        Selector(path="decoder.layer0.cross.weights", dtype="f32"),
        Selector(path="decoder.layer0.cross.weights", side="unedited", dtype="f32"),
    )
    edited, before = (numbers(p.array) for p in engine.keyframe(watch).pieces)
    assert (edited[0, 1, 2] == 0).all() and before[0, 1, 2].sum() == pytest.approx(1, abs=1e-6)
    np.testing.assert_array_equal(edited[0, 0], before[0, 0])
    assert engine.digest() != plain.digest()
    do(engine, Change(fields={"edits": [{**zeroed, "enabled": False}]}))
    torch.testing.assert_close(engine.standing.reading.logits, plain.standing.reading.logits)  # type: ignore[union-attr]


def test_a_prefix_and_a_distance_follow_a_text_that_becomes_shorter() -> None:
    text, one = {"target": ["the", "cat", "sees", "a", "dog"]}, {"target": ["the"]}
    engine = opened("decoder_only", requests=[text], phase="prefill")
    do(engine, masks({"relation": "target_self", "program": "prefix", "parameter": 6, "every": 5}))
    with pytest.raises(Refused, match=r"prefix P \(masks.0.parameter\) was given 7; allowed: a whole number from 0 to 6"):
        do(engine, masks({"relation": "target_self", "program": "prefix", "parameter": 7}))
    do(engine, Change(fields={"requests": [one]}))
    assert (engine.scenario.masks[0].parameter, engine.scenario.masks[0].every) == (2, 1)
    do(engine, Enter(phase="decode"))
    do(engine, masks({"relation": "target_self", "program": "prefix", "parameter": 20}))
    do(engine, Enter(phase="prefill"))
    assert engine.scenario.masks[0].parameter == 2, "nothing is written there"
