"""The engine: three phases on one history, exact in both directions."""

from __future__ import annotations

import itertools
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
import torch

from app.session import interventions
from app.session.commands import (
    Analyse,
    Back,
    Change,
    Choose,
    Command,
    Enter,
    Fetch,
    Go,
    Open,
    Redo,
    Reset,
    Selector,
    Share,
    Step,
    Undo,
)
from app.session.engine import Engine
from app.session.events import Analysis, Check, Checked, Curve, Moved, Notice, Opened, Refused, Shared, Values
from app.session.lineage import Snapshots
from app.session.scenario import parse
from app.session.standing import way
from tests.session.driving import SMALL, Reader, do, moved, numbers, of, opened, scenario, tokens

CAUSAL_CELL = {"relation": "target_self", "layer": None, "program": "causal", "parameter": 0}
NO_SOURCE_2 = {
    "relation": "cross",
    "program": "full",
    "cells": [{"query": q, "key": 2, "visible": False} for q in range(40)],
}


def masks(*several: dict[str, Any]) -> Change:
    return Change(fields={"masks": list(several)})


# ---- the phases


def test_decode_begins_with_the_prompt_read_and_writes_one_token_a_step() -> None:
    engine = opened()
    assert [r.token for r in engine.moved(()).requests[0].target] == ["<bos>"]
    for length in range(2, 6):
        event = moved(do(engine, Step()))
        assert len(event.requests[0].target) == length
        assert [r.state for r in event.requests[0].target][-1] == "new"
        assert [s.rows for s in event.stages] == [0, 1]


def test_a_step_takes_the_largest_candidate_when_greedy() -> None:
    engine = opened()
    before = engine.moved(()).requests[0]
    leading = max(before.candidates, key=lambda c: c.probability)
    assert before.choice == leading.id and leading.policy_probability == 1.0
    assert moved(do(engine, Step())).requests[0].target[-1].id == leading.id


def test_probabilities_of_candidates_and_the_rest_are_a_distribution() -> None:
    request = opened().moved(()).requests[0]
    assert sum(c.probability for c in request.candidates) + request.rest == pytest.approx(1.0, abs=1e-9)
    assert [c.probability for c in request.candidates] == sorted((c.probability for c in request.candidates), reverse=True)


def test_decode_ends_at_the_limit_and_then_says_so() -> None:
    engine = opened(policy={"limit": 3})
    events = [moved(do(engine, Step())) for _ in range(3)]
    assert [e.ended for e in events] == [False, False, True]
    assert events[-1].requests[0].finished == "limit"
    with pytest.raises(Refused, match="Every request has ended"):
        do(engine, Step())


def test_choosing_eos_ends_the_request_and_counts_in_its_probability() -> None:
    engine = opened()
    request = engine.moved(()).requests[0]
    end = next(i for i, w in enumerate(of(list(engine.describe()), Opened)[0].vocabulary["target"]) if w == "<eos>")
    logits = engine.standing.reading.logits[0].double()  # type: ignore[union-attr, index]
    event = moved(do(engine, Choose(request=0, token=end)))
    assert event.ended and event.requests[0].finished == "eos" and event.requests[0].choice is None
    torch.testing.assert_close(event.requests[0].log_probability, float(torch.log_softmax(logits, -1)[end]))
    assert request.finished == ""


def test_prefill_encodes_then_reads_then_goes_on_into_decode() -> None:
    engine = opened(phase="prefill")
    assert moved(do(engine, Step(unit="stage"))).stage == "encode"
    event = moved(do(engine, Step(unit="stage")))
    assert (event.phase, event.step, event.stage) == ("prefill", 1, "")
    event = moved(do(engine, Step(unit="stage")))
    assert (event.phase, event.stage) == ("decode", "choose")
    assert event.requests[0].target[-1].state == "unknown"
    assert moved(do(engine, Step(unit="stage"))).requests[0].target[-1].state == "new"


def test_the_last_valid_row_decides_in_a_right_padded_batch() -> None:
    several = [{"target": ["the", "report", "was"]}, {"target": ["the"]}]
    engine = opened("decoder_only", requests=several)
    first, second = engine.moved(()).requests
    assert (first.decision_row, second.decision_row) == (3, 1)
    assert [r.state for r in second.target] == ["new", "new", "padded", "padded"]


@pytest.mark.parametrize("execution", ["cached", "full_prefix"])
def test_a_step_that_only_ends_reads_no_row(execution: str) -> None:
    engine = opened(policy={"limit": 1, "execution": execution})
    assert [s.rows for s in moved(do(engine, Step())).stages] == [0, 0]
    do(engine, Back())
    assert [s.rows for s in moved(do(engine, Go(moment=1))).stages] == [0, 0]


@pytest.mark.parametrize("execution", ["cached", "full_prefix"])
def test_a_request_in_a_batch_decides_as_it_does_alone(execution: str) -> None:
    several = [{"target": ["the", "report", "was", "not"]}, {"target": ["the"]}, {"target": ["the", "black"]}]
    policy = {"limit": 6, "execution": execution}
    together = opened("decoder_only", requests=several, policy=policy)
    for _ in range(6):
        do(together, Step())
    for i, one in enumerate(several):
        alone = opened("decoder_only", requests=[one], policy=policy)
        for _ in range(6):
            do(alone, Step())
        assert tokens(together, i) == tokens(alone)


def test_full_prefix_execution_writes_what_cached_execution_writes() -> None:
    cached, full = (opened(policy={"execution": e, "limit": 8}) for e in ("cached", "full_prefix"))
    for _ in range(8):
        one, other = (moved(do(e, Step())) for e in (cached, full))
        torch.testing.assert_close(
            [c.logit for c in one.requests[0].candidates], [c.logit for c in other.requests[0].candidates], atol=1e-4, rtol=0
        )
    assert tokens(cached) == tokens(full)
    assert moved(do(opened(policy={"execution": "full_prefix"}), Step())).stages[1].rows == 2


def test_training_shows_its_stages_one_by_one() -> None:
    engine = opened(phase="train")
    seen = [moved(do(engine, Step(unit="stage"))) for _ in range(6)]
    assert [e.stage for e in seen] == ["batch", "forward", "loss", "backward", "clip", ""]
    assert [e.train.loss is not None for e in seen] == [False, False, True, True, True, True]  # type: ignore[union-attr]
    assert seen[3].train.parameter_norms and seen[3].train.activation_norms  # type: ignore[union-attr]
    assert (seen[5].step, seen[4].step) == (1, 0)


def test_padded_rows_and_loss_rows_differ_in_the_batch() -> None:
    rows = moved(do(opened(phase="train"), Step())).train.rows  # type: ignore[union-attr]
    flat = list(itertools.chain(*rows))
    assert any(r.key_valid and not r.counts for r in flat), "a row given <eos> is a key but has no label"
    assert any(not r.key_valid for r in flat)
    assert all(r.gradient == 0 for r in flat if not r.counts)


def test_training_lowers_the_loss_and_clips() -> None:
    engine = opened(phase="train", training={"batch": "mine", "clip_norm": 0.5, "learning_rate": 0.01}, **_phrase())
    losses = []
    for _ in range(30):
        view = moved(do(engine, Step())).train
        assert view is not None and view.loss is not None and view.norm is not None
        losses.append(view.loss)
        assert view.clip_factor == pytest.approx(min(1.0, 0.5 / view.norm))
    assert losses[-1] < 0.3 * losses[0]
    assert engine.moved(()).updates == 30


def _phrase() -> dict[str, Any]:
    return {"requests": [{"source": ["the", "black", "cat", "sleeps"], "target": ["le", "chat", "noir", "dort"]}]}


def test_what_was_trained_is_what_decodes() -> None:
    engine = opened(phase="train", training={"batch": "mine", "learning_rate": 0.01}, **_phrase())
    for _ in range(60):
        do(engine, Step())
    do(engine, Enter(phase="decode"))
    do(engine, Change(fields={"requests": [{"source": ["the", "black", "cat", "sleeps"], "target": []}]}))
    for _ in range(5):
        do(engine, Step())
    assert tokens(engine) == ["<bos>", "le", "chat", "noir", "dort", "<eos>"]


def test_the_same_seed_gives_the_same_run_and_another_seed_another() -> None:
    policy = {"kind": "sample", "temperature": 2.0}
    runs = [opened(seed=s, policy=policy) for s in (3, 3, 0, -4)]
    for engine in runs:
        for _ in range(6):
            do(engine, Step())
    assert runs[0].digest() == runs[1].digest()
    assert len({tuple(tokens(e)) for e in runs}) == 3


# ---- history


@pytest.mark.parametrize("architecture", ["encoder_decoder", "decoder_only"])
def test_forward_50_back_50_forward_50_is_exact(architecture: str) -> None:
    engine = opened(architecture)
    engine.snapshots = Snapshots(every=3, most=2)
    way: list[Command] = []
    digests = [engine.digest()]
    plan = _way(architecture)
    for command in plan:
        do(engine, command)
        way.append(command)
        digests.append(engine.digest())
    assert len(plan) == 50 and len(set(digests)) > 40
    for expected in reversed(digests[:-1]):
        do(engine, Back())
        assert engine.digest() == expected
    for command, expected in zip(way, digests[1:], strict=True):
        do(engine, command)
        assert engine.digest() == expected
    assert len(engine.timeline.moments) == 51, "the same commands lead to the same moments"


def _way(architecture: str) -> list[Command]:
    hidden = (
        NO_SOURCE_2 if architecture == "encoder_decoder" else {**CAUSAL_CELL, "cells": [{"query": 3, "key": 1, "visible": False}]}
    )
    way: list[Command] = [Step() for _ in range(6)]
    way += [masks(hidden), Step(), Step(unit="stage"), Step(unit="stage")]
    way += [Enter(phase="train"), *[Step() for _ in range(9)], Step(unit="stage"), Step(unit="stage"), masks(), Step()]
    way += [Change(fields={"training": {"optimizer": "sgd", "learning_rate": 0.1}}), *[Step() for _ in range(8)]]
    way += [Enter(phase="prefill"), Step(unit="stage"), Step(), *[Step() for _ in range(4)]]
    way += [Change(fields={"policy": {"kind": "sample", "temperature": 1.5}}), *[Step() for _ in range(3)]]
    way += [Enter(phase="train"), *[Step() for _ in range(5)]]
    return way


def test_a_different_command_from_an_earlier_moment_is_a_branch_and_loses_nothing() -> None:
    engine = opened()
    do(engine, Step())
    do(engine, Step())
    first, at = tokens(engine), engine.timeline.at
    do(engine, Back())
    other = engine.moved(()).requests[0].candidates[1].id
    do(engine, Choose(request=0, token=other))
    assert tokens(engine)[:2] == first[:2] and tokens(engine)[2] != first[2]
    assert engine.moved(()).requests[0].target[2].origin == "chosen"
    do(engine, Go(moment=at))
    assert tokens(engine) == first


def test_back_at_the_root_and_unknown_moments_are_refused() -> None:
    engine = opened()
    with pytest.raises(Refused, match="where the run begins"):
        do(engine, Back())
    with pytest.raises(Refused, match="moment 99 is not in this run; allowed: 0 to 0"):
        do(engine, Go(moment=99))


def test_reset_begins_again_with_the_scenario_of_the_start() -> None:
    engine = opened()
    start = engine.digest()
    do(engine, masks(NO_SOURCE_2))
    do(engine, Step())
    do(engine, Reset())
    assert engine.digest() == start and len(engine.timeline.moments) == 1


def test_undo_takes_back_edits_one_by_one_and_leaves_time_alone() -> None:
    engine = opened()
    do(engine, Step())
    do(engine, masks(NO_SOURCE_2))
    do(engine, Step())
    do(engine, Change(fields={"policy": {"limit": 5}}))
    written = tokens(engine)
    do(engine, Undo())
    assert engine.scenario.policy.limit == 32 and engine.scenario.masks
    do(engine, Undo())
    assert not engine.scenario.masks and tokens(engine) == written
    with pytest.raises(Refused, match="no change to take back"):
        do(engine, Undo())


def test_what_was_taken_back_can_be_made_again_until_something_else_is_changed() -> None:
    engine = opened()
    do(engine, masks(NO_SOURCE_2))
    do(engine, Change(fields={"policy": {"limit": 5}}))
    changed = engine.digest()
    do(engine, Undo())
    do(engine, Undo())
    do(engine, Redo())
    assert engine.scenario.masks and engine.scenario.policy.limit == 32
    do(engine, Redo())
    assert engine.scenario.policy.limit == 5 and engine.digest() == changed
    do(engine, Undo())
    do(engine, Step())
    do(engine, Change(fields={"policy": {"limit": 7}}))
    with pytest.raises(Refused, match="no change to make again"):
        do(engine, Redo())
    do(engine, Undo())
    do(engine, Undo())
    assert not engine.scenario.masks


def test_how_many_runs_undo_leads_back_to_is_told_when_a_run_is_opened() -> None:
    engine = opened()
    assert [e.left for e in do(engine, Change(fields={"seed": 8})) if isinstance(e, Opened)] == [1]
    assert [e.left for e in do(engine, Undo()) if isinstance(e, Opened)] == [0]


def test_undo_takes_back_a_change_that_built_another_model() -> None:
    engine = opened()
    do(engine, Change(fields={"architecture": "decoder_only"}))
    assert engine.scenario.architecture == "decoder_only" and engine.scenario.requests[0].source is None
    do(engine, Undo())
    assert engine.scenario.architecture == "encoder_decoder"


def test_closing_a_replay_early_leaves_the_run_where_it_stood() -> None:
    engine = opened(phase="train")
    engine.snapshots = Snapshots(every=1000)
    for _ in range(40):
        do(engine, Step())
    before, at = engine.digest(), engine.timeline.at
    replay = engine.run(Go(moment=30))
    assert isinstance(replay, Generator)
    assert next(replay).progress < 1
    replay.close()
    assert engine.timeline.at == at and engine.digest() == before


def test_the_curve_follows_the_path() -> None:
    engine = opened(phase="train")
    points = [of(do(engine, Step()), Curve)[-1] for _ in range(21)]
    assert [p.updates for p in points] == [(i,) for i in range(1, 22)] and not any(p.whole for p in points)
    assert points[19].validation and points[19].validation[0][0] == 20
    whole = of(do(engine, Back()), Curve)[-1]
    assert whole.whole and whole.updates == tuple(range(1, 21)) and whole.loss == tuple(p.loss[0] for p in points[:20])


# ---- masks and other edits


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
    assert str(changed[0].would) in of(events, Notice)[-1].message


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
    check = _measured(engine, "no_future_leak")
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
    check = _measured(engine, "cached_equals_full")
    assert check.status == "pass" and check.measured.startswith("max |Δlogit|")
    do(engine, masks({"relation": "target_self", "program": "full"}))
    assert _measured(engine, "cached_equals_full").status == "does_not_apply"


def test_no_future_leak_is_exactly_zero_under_a_causal_mask_and_found_without() -> None:
    engine = opened()
    for _ in range(4):
        do(engine, Step())
    assert _measured(engine, "no_future_leak").status == "pass"
    do(engine, masks({"relation": "target_self", "program": "full"}))
    assert _measured(engine, "no_future_leak").status == "fail"


def _measured(engine: Engine, name: str) -> Check:
    events = do(engine, Analyse(name=name))
    return next(c for c in of(events, Checked)[-1].checks if c.id == name)


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


# ---- what was hard


def test_an_abandoned_update_with_another_optimizer_leaves_no_trace() -> None:
    engine = opened(phase="train")
    for _ in range(5):
        do(engine, Step())
    do(engine, Enter(phase="decode"))
    there, digest = engine.timeline.at, engine.digest()
    do(engine, Change(fields={"training": {"optimizer": "sgd", "learning_rate": 0.5}}))
    do(engine, Enter(phase="train"))
    do(engine, Step(unit="stage"))
    do(engine, Step(unit="stage"))
    do(engine, Go(moment=there))
    assert engine.digest() == digest
    again = Engine.restore(engine.save(), torch.device("cpu"))
    assert again.digest() == digest


def test_a_full_history_refuses_and_leaves_the_weights_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = opened(phase="train")
    do(engine, Step())
    before = engine.digest()
    monkeypatch.setattr("app.session.timeline.MAX_MOMENTS", 2)
    for command in (Step(), Change(fields={"training": {"learning_rate": 0.5}})):
        with pytest.raises(Refused, match="as many as it can keep"):
            do(engine, command)
        assert engine.digest() == before


def test_held_out_rows_that_a_mask_blinds_cost_no_step() -> None:
    blind = {
        "relation": "target_self",
        "program": "causal",
        "cells": [{"query": 5, "key": k, "visible": False} for k in range(6)],
    }
    engine = opened(phase="train", training={"batch": "mine"}, masks=[blind], **_phrase())
    curves = [of(do(engine, Step()), Curve)[-1] for _ in range(20)]
    assert curves[-1].updates == (20,) and curves[-1].validation == ()


def test_undo_of_another_model_brings_the_run_back_as_it_stood() -> None:
    engine = opened(phase="train")
    do(engine, Step())
    do(engine, Change(fields={"training": {"learning_rate": 0.01}}))
    do(engine, Step())
    before, moments = engine.digest(), len(engine.timeline.moments)
    do(engine, Change(fields={"seed": 99}))
    do(engine, Step())
    do(engine, Undo())
    assert engine.digest() == before and len(engine.timeline.moments) == moments
    do(engine, Undo())
    assert engine.scenario.training.learning_rate == 1e-3


def test_a_run_can_be_restored_at_every_update() -> None:
    engine = opened(phase="train", training={"batch_size": 1})
    for _ in range(40):
        do(engine, Step())
        assert Engine.restore(engine.save(), torch.device("cpu")).digest() == engine.digest()


def test_snapshots_keep_every_replay_short() -> None:
    engine = opened(phase="train", training={"batch_size": 1})
    for _ in range(200):
        do(engine, Step())
    path = list(engine.timeline.path())
    for moment in path[:-1]:
        _, chain = way(engine.snapshots, engine.timeline, moment.before)
        assert len(chain) <= max(16, (200 - moment.place.updates) * 0.8 + 8)


def test_strokes_of_one_mask_are_one_entry_of_a_link() -> None:
    engine = opened()
    do(engine, Step())
    for n in range(1, 40):
        do(engine, masks({**NO_SOURCE_2, "cells": NO_SOURCE_2["cells"][:n]}))
    do(engine, Step())
    shared = of(do(engine, Share()), Shared)[0]
    assert [e["command"]["kind"] for e in shared.file["log"]] == ["step", "change", "step"]
    other = Engine(torch.device("cpu"))
    do(other, Open(scenario=shared.file["scenario"], log=tuple(shared.file["log"])))
    assert other.digest() == engine.digest()


def test_a_run_that_could_not_be_opened_again_has_no_link() -> None:
    engine = opened("decoder_only", requests=[{"target": ["the"] * 100}])
    for n in range(60):
        do(engine, Change(fields={"requests": [{"target": [f"word{n}"] * 120}]}))
        do(engine, Change(fields={"policy": {"limit": n + 1}}))
    assert of(do(engine, Share()), Shared)[0].link == ""


# ---- what goes out


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


# ---- trouble


def test_a_huge_learning_rate_ends_in_a_named_step_and_layer_and_an_offer_to_go_back() -> None:
    engine = opened(phase="train", training={"learning_rate": 1e6})
    notice: Notice | None = None
    for _ in range(10):
        found = [n for n in of(do(engine, Step()), Notice) if n.code == "diverged"]
        if found:
            notice = found[0]
            break
    assert notice is not None and "learning rate is 1e+06" in notice.message and notice.message.startswith("Update ")
    assert "coder." in notice.message and notice.offer is not None
    do(engine, Go(moment=notice.offer["moment"]))
    do(engine, Change(fields={"training": {"learning_rate": 1e-3}}))
    assert not [n for n in of(do(engine, Step()), Notice) if n.code == "diverged"]


OVERFLOW = {"path": "decoder.layer0.ffn.hidden", "action": "scale", "value": 3e38}


@pytest.mark.parametrize("at", ["enter", "finished", "stage"])
def test_a_loss_that_is_no_number_is_not_learned_from(at: str) -> None:
    engine = opened(phase="train")
    for _ in range({"enter": 0, "finished": 2, "stage": 2}[at]):
        do(engine, Step())
    if at == "stage":
        do(engine, Step(unit="stage"))
    before = {n: p.clone() for n, p in engine.learner.model.named_parameters()}
    events = do(engine, Change(fields={"edits": [OVERFLOW, OVERFLOW]}))
    events += do(engine, Step()) if at != "finished" else []
    assert moved(events).ended and moved(events).stage == "loss"
    assert "first tensor that is not finite is decoder.layer0.ffn.hidden" in of(events, Notice)[-1].message
    if at != "finished":
        torch.testing.assert_close(dict(engine.learner.model.named_parameters()), before, rtol=0, atol=0)
    assert all(p.isfinite().all() for p in engine.learner.model.parameters())
    with pytest.raises(Refused, match="not a number"):
        do(engine, Step())


@pytest.mark.parametrize("kind", ["greedy", "sample"])
def test_logits_that_are_no_numbers_leave_nothing_to_choose(kind: str) -> None:
    at_once = opened(policy={"kind": kind}, edits=[OVERFLOW, OVERFLOW])
    assert at_once.moved(()).unreadable == "decoder.layer0.ffn.hidden" and at_once.ended
    engine = opened(policy={"kind": kind})
    do(engine, Step())
    event = moved(do(engine, Change(fields={"edits": [OVERFLOW, OVERFLOW]})))
    assert event.ended and event.requests[0].choice is None and not event.requests[0].candidates
    assert event.unreadable == "decoder.layer0.ffn.hidden"
    with pytest.raises(Refused, match=r"decoder\.layer0\.ffn\.hidden is not finite"):
        do(engine, Step())
    check = _measured(engine, "cached_equals_full")
    assert check.status == "fail" and "NaN" in check.measured
    assert _measured(engine, "no_future_leak").status == "fail"
    do(engine, Undo())
    do(engine, Step())


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (Choose(request=3, token=5), "request 3 does not exist; allowed: 0 to 0"),
        (Choose(request=0, token=99999), "token 99999 is not in the vocabulary"),
        (Analyse(name="magic"), "analysis 'magic' is unknown"),
        (Analyse(name="no_future_leak", arguments={"x": 1}), "no_future_leak has no argument 'x'"),
        (Change(fields={"seed": "seven"}), "seed was given 'seven'"),
        (Change(fields={"phase": "train"}), "send enter"),
        (Change(fields={"colour": 1}), "colour is not a field"),
        (Change(fields={"architecture": "rnn9"}), "architecture 'rnn9' is unknown"),
        (Change(fields={"config": {"heads": 3}}), "config.heads"),
        (
            Change(fields={"edits": [{"path": "decoder.layer0.self.mask", "action": "set", "value": 1.0}]}),
            "cannot be edited at a tap",
        ),
        (
            Change(fields={"edits": [{"path": "decoder.layer0.self.q", "index": [0] * 8, "action": "set", "value": 1.0}]}),
            "too many indices",
        ),
        (
            Change(fields={"edits": [{"path": "decoder.layer0.self.q", "index": [0, 2], "action": "set", "value": 1.0}]}),
            "has 2 places on axis h; 2 was given",
        ),
        (Change(fields={"edits": [{"path": "decoder.nowhere", "action": "set", "value": 1.0}]}), "decoder.nowhere"),
        (Open(scenario={"requests": [{"source": []}]}), "requests.0.source is empty"),
        (Open(scenario=scenario(), log=({"command": {"kind": "back"}},)), "A log holds no back"),
        (Open(scenario=scenario(), log=({"command": {"kind": "step"}, "times": 0},)), "log.0.times was given 0"),
        (
            Open(scenario=scenario(), log=({"command": {"kind": "step"}, "times": 20000}, {"command": {"kind": "step"}})),
            "allowed are 20000",
        ),
    ],
)
def test_a_refused_command_says_why_and_changes_nothing(command: Command, words: str) -> None:
    engine = opened()
    do(engine, Step())
    before = engine.digest()
    with pytest.raises(Refused, match=words):
        do(engine, command)
    assert engine.digest() == before
    do(engine, Step())


# ---- keeping and sharing


@pytest.mark.parametrize("stage", [None, "loss"])
def test_a_saved_run_stands_again_bit_for_bit_and_goes_on_the_same(stage: str | None) -> None:
    engine = opened()
    do(engine, Step())
    do(engine, Enter(phase="train"))
    for _ in range(5):
        do(engine, Step())
    while stage and engine.timeline.here.place.stage != stage:
        do(engine, Step(unit="stage"))
    again = Engine.restore(engine.save(), torch.device("cpu"))
    assert again.digest() == engine.digest() and again.epoch == engine.epoch
    assert [again.timeline.node(m) for m in again.timeline.moments] == [engine.timeline.node(m) for m in engine.timeline.moments]
    for command in (Step(), Back(), Back(), Back(), Enter(phase="decode"), Step()):
        do(engine, command)
        do(again, command)
        assert again.digest() == engine.digest()


def test_what_another_version_saved_is_refused_in_words() -> None:
    data = opened().save().replace(b'"format":1', b'"format":9', 1)
    with pytest.raises(ValueError, match="the saved run has format 9, this version reads format 1"):
        Engine.restore(data, torch.device("cpu"))


def test_opening_a_long_log_tells_its_progress_and_nothing_that_will_not_last() -> None:
    log = ({"command": {"kind": "enter", "phase": "train"}}, {"command": {"kind": "step"}, "times": 40})
    events = do(Engine(torch.device("cpu")), Open(scenario=scenario(), log=log))
    assert [e.progress for e in of(events, Analysis)] == pytest.approx([16 / 41, 32 / 41, 1])
    assert [m.step for m in of(events, Moved)] == [40]


def test_a_link_opens_the_same_run() -> None:
    engine = opened()
    for command in (Step(), masks(NO_SOURCE_2), Step(), Enter(phase="train"), Step(), Step(), Step(unit="stage")):
        do(engine, command)
    shared = of(do(engine, Share(view={"head": 1})), Shared)[0]
    assert shared.link.startswith("#s=") and shared.file["view"] == {"head": 1}
    other = Engine(torch.device("cpu"))
    do(other, Open(scenario=shared.file["scenario"], log=tuple(shared.file["log"])))
    assert other.digest() == engine.digest()


def test_an_edit_inside_a_loop_names_its_step_like_any_row() -> None:
    edit = {"path": "cell", "index": [1, 2], "action": "set", "value": 9.0}
    one = parse({"edits": [edit]})
    editing = interventions.edits(one, [0, 0], {})["cell"]
    at = [editing(torch.zeros(2, 3), ("b", "d"), ("t", t)) for t in range(4)]
    assert [float(v.sum()) for v in at] == [0, 0, 27, 0] and (at[2][1] == 9).all()


def test_another_architecture_keeps_the_text_that_it_can_read_and_says_what_it_leaves() -> None:
    engine = opened()
    mine = [{"source": ["a", "black", "cat"], "target": []}]
    do(engine, Change(fields={"requests": mine, "masks": [NO_SOURCE_2]}))
    do(engine, Step())
    said = [n for n in do(engine, Change(fields={"architecture": "bahdanau"})) if isinstance(n, Notice)]
    assert _source(engine) == ("a", "black", "cat")
    assert [n.message for n in said if n.code == "left_behind"] == [
        "Not carried over to this architecture: your masks, the steps of this run."
    ]
    said = [n for n in do(engine, Change(fields={"architecture": "decoder_only"})) if isinstance(n, Notice)]
    assert _source(engine) is None
    assert [(n.message, n.offer) for n in said if n.code == "left_behind"] == [
        ("Not carried over to this architecture: your text.", {"kind": "undo"})
    ]
    do(engine, Undo())
    assert _source(engine) == ("a", "black", "cat")


def _source(engine: Engine) -> object:
    return engine.scenario.requests[0].source
