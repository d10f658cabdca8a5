"""Both schedules of a linear recurrence on the running weights; a kernel is shown like a parameter."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

from app.session import weights
from app.session.commands import Analyse, Change, Selector, Step
from app.session.events import Analysis, Check, Checked, Refused
from app.session.scenario import defaults
from models.parts.linear_system import System
from tests.session.driving import do, numbers, of, opened, scenario


def check(events: list[Checked]) -> Check:
    return next(c for c in events[-1].checks if c.id == "schedules")


@pytest.mark.parametrize("architecture", ["s4", "mamba", "s4_classifier"])
def test_both_schedules_agree_on_all_known_rows(architecture: str) -> None:
    engine = opened(architecture)
    for _ in range(1 if architecture == "s4_classifier" else 3):
        events = do(engine, Step())
    assert check(of(events, Checked)).status == "pending"
    events = do(engine, Analyse(name="schedules"))
    found = check(of(events, Checked))
    assert found.status == "pass" and found.measured.startswith("max |Δlogit| ")
    result = of(events, Analysis)[-1].result
    assert result is not None and 0 <= result["largest"] < 1e-4 and len(result["schedules"]) == 2


def test_a_wrong_kernel_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = System.weighed
    monkeypatch.setattr(System, "weighed", lambda self, by, faded: right(self, by, faded).roll(1, -1))
    engine = opened("s4")
    do(engine, Step())
    assert check(of(do(engine, Analyse(name="schedules")), Checked)).status == "fail"


def test_a_model_that_runs_in_one_way_has_no_such_check() -> None:
    engine = opened("recurrent")
    assert "schedules" not in [c.id for c in of(do(engine, Step()), Checked)[-1].checks]
    with pytest.raises(Refused, match="one way only"):
        do(engine, Analyse(name="schedules"))


def test_a_kernel_is_watched_like_a_parameter() -> None:
    engine = opened("s4")
    do(engine, Step())
    tap = next(t for t in engine.schema.taps if t.path == "parameter.kernel.layer0")
    assert (tap.axes, tap.shape, tap.editable, tap.gradient) == (("d", "l"), (16, 128), False, False)
    (piece,) = engine.keyframe((Selector(path=tap.path, index={"d": 3}, dtype="f32"),)).pieces
    expected = engine.learner.model.kernels(128)["layer0"][0][3]  # type: ignore[operator]
    assert_close(torch.from_numpy(numbers(piece.array).copy())[0], expected.detach())


def test_only_a_fixed_selection_has_a_kernel() -> None:
    for selection, has in (("selective", False), ("fixed", True)):
        engine = opened("mamba", config={"selection": selection})
        assert any(t.axes[-1:] == ("l",) for t in engine.schema.taps) == has


def test_weights_fit_whatever_only_says_how_they_run() -> None:
    shipped = defaults("mamba", "selective_copy")
    assert weights.matching(shipped) is not None
    looped = {**shipped.config, "schedule": "loop"}
    same = weights.matching(defaults("mamba", "selective_copy", config=looped))
    assert same is not None and same["exchanged"] == {}, "another schedule is no other part"
    assert weights.matching(defaults("mamba", "selective_copy", config={**shipped.config, "state": 4})) is None


def test_a_step_size_of_nothing_is_refused_with_its_range_and_changes_nothing() -> None:
    engine = opened("s4")
    before = engine.scenario
    for name, value in (("speed", 0), ("step_low", -0.5), ("state", 0)):
        given = scenario("s4")["config"] | {name: value}
        with pytest.raises(Refused, match=f"{name}.*allowed"):
            do(engine, Change(fields={"config": given}))
    assert engine.scenario == before
