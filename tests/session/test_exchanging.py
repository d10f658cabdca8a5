"""A part is exchanged on a run that goes on: the new model stands where the old one stood, and what was there is kept."""

from __future__ import annotations

import pytest
import torch

from app.session.commands import COMMANDS, Back, Change, Choose, Command, Enter, Join, Leave, Open, Redo, Share, Step, Undo
from app.session.engine import Engine
from app.session.events import Notice, Opened, Refused, Shared
from app.session.saving import restore, save
from tests.session.driving import NO_SOURCE_2, do, masks, moved, of, opened, tokens

RMS = {"norm_kind": "rms"}
OTHER = {"target": ["the", "cat"]}


def exchange(engine: Engine, **parts: object) -> list:
    return do(engine, Change(fields={"config": {**engine.scenario.config, **(parts or RMS)}}))


def logits(engine: Engine) -> torch.Tensor:
    assert engine.standing.reading is not None and engine.standing.reading.logits is not None
    return engine.standing.reading.logits


def after(engine: Engine, *commands: Command) -> Engine:
    for command in commands:
        do(engine, command)
    return engine


def test_what_was_written_is_read_by_the_new_part_at_the_same_place() -> None:
    engine = after(opened(config={}, weights="trained"), *[Step()] * 5)
    written, before, place = tokens(engine), logits(engine), engine.timeline.here.place
    said = exchange(engine, norm_kind="none")
    here = engine.timeline.here.place
    assert tokens(engine) == written and (here.step, here.stage, here.written) == (place.step, "", place.written)
    assert not torch.equal(logits(engine), before), "the other part reads them, not a copy of the old numbers"
    assert any(row.would for row in moved(said).requests[0].target), "where it would have decided otherwise is marked"
    assert "changed_choice" in [n.code for n in of(said, Notice)]


def test_back_goes_token_by_token_and_undo_brings_the_run_back_bit_for_bit() -> None:
    engine = after(opened(), *[Step()] * 4)
    before = engine.digest()
    exchange(engine)
    seen = [engine.digest()]
    while engine.timeline.here.parent is not None:
        do(engine, Back())
        seen.append(engine.digest())
    assert len(seen) == 5 and len(set(seen)) == 5
    path = [m.command for m in engine.timeline.moments[1:]]
    for text, digest in zip(path, seen[-2::-1], strict=True):
        do(engine, COMMANDS.validate_json(text))
        assert engine.digest() == digest
    do(engine, Undo())
    assert engine.digest() == before


def test_a_step_after_back_is_the_new_part_s_own_decision() -> None:
    engine = after(opened(config={}, weights="trained"), *[Step()] * 5)
    exchange(engine, norm_kind="none")
    forced = engine.timeline.here.place.written[0].ids
    while engine.timeline.here.place.step:
        do(engine, Back())
    own = after(opened(config={**engine.scenario.config}, weights="trained"), *[Step()] * 5)
    after(engine, *[Step()] * 5)
    assert engine.timeline.here.place.written == own.timeline.here.place.written
    assert engine.timeline.here.place.written[0].ids != forced


def test_several_requests_their_turns_and_a_chosen_token_are_kept() -> None:
    engine = opened("decoder_only", requests=[OTHER, {"target": ["a", "dog", "sees"]}])
    after(
        engine,
        Step(),
        Choose(request=1, token=9),
        Join(request={"target": ["the"]}),
        Step(),
        Leave(request=0),
        Step(unit="stage"),
    )
    place = engine.timeline.here.place
    exchange(engine)
    here = engine.timeline.here.place
    assert (here.written, here.turns, here.joined, here.stage) == (place.written, place.turns, place.joined, "choose")
    again = Engine.restore(engine.save(), engine.device)
    assert again.digest() == engine.digest()


def test_a_mask_that_was_changed_on_the_way_holds_from_the_start() -> None:
    engine = after(opened(phase="prefill"), Step(), Step())
    do(engine, masks({"relation": "target_self", "program": "causal_sliding", "parameter": 1}))
    after(engine, Step())
    written, kept = tokens(engine), engine.scenario.masks
    exchange(engine)
    assert tokens(engine) == written and engine.scenario.masks == kept and engine.timeline.here.place.step == 2
    while engine.timeline.here.parent is not None:
        do(engine, Back())
    assert engine.timeline.here.place.phase == "prefill" and not engine.timeline.here.place.step


def test_a_link_leads_to_the_same_place() -> None:
    engine = after(opened(), *[Step()] * 3)
    exchange(engine)
    after(engine, Step())
    [shared] = of(do(engine, Share()), Shared)
    other = Engine(torch.device("cpu"))
    do(other, Open(scenario=shared.file["scenario"], log=tuple(shared.file["log"])))
    assert other.digest() == engine.digest()


def test_few_updates_are_trained_again_on_the_same_batches_and_many_are_left() -> None:
    engine = after(opened(phase="train", training={"batch_size": 2}), Step(), Step(), *[Step(unit="stage")] * 2)
    said = exchange(engine)
    own = after(
        opened(phase="train", training={"batch_size": 2}, config=engine.scenario.config),
        Step(),
        Step(),
        *[Step(unit="stage")] * 2,
    )
    assert engine.digest() == own.digest() and engine.timeline.here.place.stage == "forward"
    assert [n.message.split(".")[0] for n in of(said, Notice)] == ["Trained anew from its start, on the same batches: 2 updates"]
    said = do(engine, Change(fields={"weights": "trained", "seed": 9}))
    assert engine.timeline.here.place.updates == 0
    assert [n.offer for n in of(said, Notice) if n.code == "left_behind"] == [{"kind": "undo"}]


def test_what_was_trained_here_goes_with_the_place_in_decode() -> None:
    engine = after(opened(phase="train", training={"batch_size": 2}), Step(), Enter(phase="decode"), Step(), Step())
    written = tokens(engine)
    exchange(engine)
    assert tokens(engine) == written and engine.timeline.here.place.updates == 1
    assert engine.learner.weights != -1


def test_a_part_that_the_run_cannot_be_read_with_changes_nothing() -> None:
    """With so many heads and layers those who joined would make too many cells."""
    small = {"layers": 1, "heads": 1, "d_model": 16, "d_ff": 32}
    engine = after(
        opened("decoder_only", config=small, requests=[OTHER]), Step(), Join(request={"target": ["the"] * 400}), Step()
    )
    before = engine.digest()
    with pytest.raises(Refused, match="allowed: at most 16,000,000 cells"):
        exchange(engine, layers=6, heads=8)
    assert engine.digest() == before and engine.scenario.config["heads"] == 1
    assert moved(do(engine, Step())).step == 3


@pytest.mark.parametrize("command", [Step(written=(4000,)), Choose(request=0, token=5, written=(4000,))])
def test_a_written_token_that_is_none_is_refused(command: Command) -> None:
    engine = after(opened(), Step())
    with pytest.raises(Refused, match="token 4000 is not in the vocabulary"):
        do(engine, command)


def test_redo_exchanges_the_part_again_where_the_run_stands_and_a_change_forgets_it() -> None:
    engine = after(opened(), *[Step()] * 3)
    exchange(engine, norm_kind="none")
    exchanged = engine.digest()
    assert [e.again for e in do(engine, Undo()) if isinstance(e, Opened)] == [1]
    again = restore(Engine(torch.device("cpu")), save(engine))
    for one in (engine, again):
        assert [e.again for e in do(one, Redo()) if isinstance(e, Opened)] == [0]
        assert one.scenario.config["norm_kind"] == "none" and one.digest() == exchanged
    do(engine, Undo())
    do(engine, Step())
    do(engine, Redo())
    assert engine.scenario.config["norm_kind"] == "none" and engine.timeline.here.place.step == again.timeline.here.place.step + 1
    do(engine, Undo())
    exchange(engine, residual=False)
    do(engine, Undo())
    do(engine, Redo())
    assert engine.scenario.config["norm_kind"] == "layer" and not engine.scenario.config["residual"]
    with pytest.raises(Refused, match="no change to make again"):
        do(engine, Redo())


def test_edits_are_made_again_before_and_after_a_part_in_the_order_in_which_they_were_made() -> None:
    engine = after(opened(), Step(), masks(NO_SOURCE_2))
    exchange(engine, norm_kind="none")
    do(engine, Change(fields={"policy": {"limit": 5}}))
    for _ in range(3):
        do(engine, Undo())
    seen = []
    for _ in range(3):
        do(engine, Redo())
        scenario = engine.scenario
        seen.append((bool(scenario.masks), scenario.config["norm_kind"], scenario.policy.limit))
    assert seen == [(True, "layer", 32), (True, "none", 32), (True, "none", 5)]
    do(engine, Undo())
    assert engine.scenario.policy.limit == 32 and engine.scenario.config["norm_kind"] == "none"
    do(engine, Redo())
    assert engine.scenario.policy.limit == 5


def test_where_no_trained_weights_fit_it_is_said_at_once() -> None:
    engine = opened("decoder_only", config={}, weights="trained")
    said = [n.message for n in of(exchange(engine, norm="post"), Notice)]
    assert said[-1] == "No trained weights fit this variant: it runs on random ones, drawn from seed 7."
    assert not any("No trained" in n.message for n in of(exchange(engine, layers=1), Notice)), "they were random before"
    assert not of(exchange(opened("decoder_only", config={}, weights="trained")), Notice), "a part that keeps them"
