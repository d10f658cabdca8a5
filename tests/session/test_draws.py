"""A model that draws, in the engine: the same draw whichever way a moment is reached, a baseline that goes back, its noise."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from app.session.commands import Analyse, Back, Change, Enter, Selector, Step, Undo
from app.session.engine import Engine
from app.session.events import Analysis, Check, Checked, Refused
from tests.session.driving import do, numbers, of, opened

HARD = {"attention": "hard", "width": 8, "channels": 8, "d_token": 8, "alignment": 8}


def drawn(**fields: Any) -> Engine:
    return opened("show_attend_tell", config=HARD, **fields)


def places(engine: Engine, request: int = 0) -> list[int]:
    """Where each row of a request looked."""
    wanted = Selector(path="decoder.cross.location", index={"b": request}, dtype="f32")
    pieces = sorted(engine.keyframe((wanted,)).pieces, key=lambda p: p.start.get("t", 0))
    shown = torch.cat([torch.tensor(numbers(p.array)) for p in pieces], 2)  # b h t s
    assert bool((shown.sum(-1) == 1).all()), "one place a row"
    return shown[-1, 0].argmax(-1).tolist()


def test_a_row_draws_the_same_again_beside_others_and_without_a_cache() -> None:
    engine = drawn()
    for _ in range(4):
        do(engine, Step())
    first, digest = places(engine), engine.digest()
    do(engine, Back())
    do(engine, Step())
    assert places(engine) == first and engine.digest() == digest
    for name in ("cached_equals_full", "no_future_leak"):
        found = [c for c in of(do(engine, Analyse(name=name)), Checked)[-1].checks if c.id == name]
        assert [c.status for c in found] == ["pass"], name
    request = engine.scenario.requests[0].model_dump(mode="json")
    beside = drawn(requests=[request, request])
    for _ in range(4):
        do(beside, Step())
    assert places(beside, 0) == places(beside, 1) == first
    assert places(drawn_after(4, seed=8)) != first, "another seed draws other places"


def test_a_place_that_a_person_sets_is_read_in_place_of_the_draw() -> None:
    """Row 2 reads place 5: earlier rows stay, the change goes back and into a link, and another input leaves it behind."""
    engine = drawn_after(3)
    before, digest = places(engine), engine.digest()
    other = (before[2] + 7) % 36
    do(engine, Change(fields={"draws": [{"row": 2, "place": other}]}))
    assert places(engine)[:3] == [*before[:2], other] and engine.timeline.node(engine.timeline.here).changed == "draws"
    opened_again = drawn(draws=[{"row": 2, "place": other}])
    for _ in range(3):
        do(opened_again, Step())
    assert places(opened_again)[:3] == places(engine)[:3]
    found = [c for c in of(do(engine, Analyse(name="cached_equals_full")), Checked)[-1].checks if c.id == "cached_equals_full"]
    assert found[0].status == "pass"
    do(engine, Undo())
    assert places(engine) == before and engine.digest() == digest
    do(engine, Change(fields={"draws": [{"row": 2, "place": other}]}))
    do(engine, Change(fields={"requests": [{"features": [[0.5] * 24] * 4}]}))
    assert engine.scenario.draws == ()


@pytest.mark.parametrize(
    ("draws", "says"),
    [
        ([{"row": 1, "place": 36}], "draws.0.place was given 36; allowed: 0 to 35"),
        ([{"request": 1, "row": 1, "place": 3}], "draws.0.request was given 1; allowed: 0 to 0"),
        ([{"row": 1, "place": 3}, {"row": 1, "place": 4}], "draws sets row 1 of request 0 twice"),
        ([{"row": -1, "place": 3}], "draws.0.row"),
    ],
)
def test_places_that_are_none_are_refused(draws: list[dict[str, int]], says: str) -> None:
    engine = drawn_after(1)
    before = engine.digest()
    with pytest.raises(Refused, match=says):
        do(engine, Change(fields={"draws": draws}))
    assert engine.digest() == before
    with pytest.raises(Refused, match="draws nothing"):
        opened("bahdanau", draws=[{"row": 0, "place": 0}])


def drawn_after(steps: int, **fields: Any) -> Engine:
    engine = drawn(**fields)
    for _ in range(steps):
        do(engine, Step())
    return engine


def baseline(engine: Engine) -> float:
    return float(dict(engine.learner.model.named_parameters())["baseline"])


def test_the_baseline_follows_the_rewards_and_goes_back_with_the_run() -> None:
    engine = drawn(phase="train")
    assert baseline(engine) == 0
    do(engine, Step())
    one = baseline(engine)
    update = engine.standing.update
    assert update is not None and update.losses is not None and update.lesson is not None
    reward = -torch.where(update.lesson.loss_rows, update.losses, 0.0).sum(-1).mean()
    assert one == pytest.approx(0.1 * float(reward), rel=1e-6)
    assert update.loss is not None and float(update.loss) < 10, "what is shown is the loss, without the surrogate"
    do(engine, Step())
    assert baseline(engine) < one
    do(engine, Back())
    assert baseline(engine) == one
    do(engine, Back())
    assert baseline(engine) == 0


def test_the_noise_of_the_gradient_is_measured_with_and_without_the_baseline() -> None:
    engine = drawn(phase="train")
    for _ in range(12):
        do(engine, Step())
    pending = {c.id: c.status for c in engine.checked().checks}
    assert pending["draw_noise"] == "pending" and pending["finite_difference"] == "does_not_apply"
    events = do(engine, Analyse(name="draw_noise", arguments={"draws": 6}))
    result = of(events, Analysis)[-1].result
    assert result is not None and 0 < result["with_baseline"] < result["without"] and result["draws"] == 6
    (check,) = [c for c in of(events, Checked)[-1].checks if c.id == "draw_noise"]
    assert isinstance(check, Check) and check.status == "pass" and check.measured.startswith("variance ")


def test_what_does_not_draw_has_no_such_noise() -> None:
    engine = opened("show_attend_tell", config=HARD | {"attention": "soft"}, phase="train")
    do(engine, Step())
    assert "draw_noise" not in [c.id for c in engine.checked().checks]
    with pytest.raises(Refused, match="Train hard attention"):
        do(engine, Analyse(name="draw_noise"))
    with pytest.raises(Refused, match="2 to 200"):
        do(engine, Analyse(name="draw_noise", arguments={"draws": 1}))


@pytest.mark.parametrize("ink", [0.0, 1.0])
def test_an_empty_or_a_black_picture_is_read_in_every_phase(ink: float) -> None:
    engine = drawn(requests=[{"features": [[ink] * 24] * 24, "target": ["nothing"]}], training={"batch": "mine"})
    do(engine, Step())
    for phase in ("prefill", "train"):
        do(engine, Enter(phase=phase))
        do(engine, Step())
    assert all(c.status != "fail" for c in engine.checked().checks)


def test_pictures_that_are_none_are_refused_and_nothing_is_lost() -> None:
    engine = drawn()
    do(engine, Step())
    before = engine.digest()
    for features, says in (([[0.5]], "1 number"), ([], "empty"), ([[2.0] * 24] * 24, "at least 0 and at most 1")):
        with pytest.raises(Refused, match=says):
            do(engine, Change(fields={"requests": [{"features": features}]}))
    assert engine.digest() == before
