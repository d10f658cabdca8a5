"""What is left of each row adds up to the state, on the running model; two schedules tell their numbers."""

from __future__ import annotations

import pytest

from app.session.commands import Analyse, Step
from app.session.events import Analysis, Checked, Refused
from tests.session.driving import do, of, opened


@pytest.mark.parametrize(("architecture", "scopes"), [("mamba", 2), ("s4", 2), ("recurrent", 2)])
def test_the_shares_of_all_rows_are_the_state_after_a_prompt_and_two_decisions(architecture: str, scopes: int) -> None:
    engine = opened(architecture, config={"layers": 2})
    for _ in range(3):
        events = do(engine, Step())
    assert next(c for c in of(events, Checked)[-1].checks if c.id == "state_shares").status == "pending"
    assert next(t for t in engine.schema.carries).state in ("state", "cell", "hidden")
    events = do(engine, Analyse(name="state_shares"))
    assert next(c for c in of(events, Checked)[-1].checks if c.id == "state_shares").status == "pass"
    result = of(events, Analysis)[-1].result
    assert result is not None and len({s["scope"] for s in result["scopes"]}) == scopes
    rows = {len(s["left"]) for s in result["scopes"] if s["request"] == 0}
    assert len(rows) == 1 and min(rows) >= 3 and result["largest"] < 1e-4


def test_a_model_that_reads_has_no_such_check() -> None:
    engine = opened("decoder_only")
    assert "state_shares" not in [c.id for c in of(do(engine, Step()), Checked)[-1].checks]
    with pytest.raises(Refused, match="cannot be told apart"):
        do(engine, Analyse(name="state_shares"))


@pytest.mark.parametrize(("architecture", "first"), [("s4", ("recurrence", "convolution")), ("mamba", ("scan", "loop"))])
def test_both_ways_tell_their_steps_and_the_same_numbers(architecture: str, first: tuple[str, str]) -> None:
    engine = opened(architecture, config={"layers": 2})
    for _ in range(2):
        do(engine, Step())
    arguments = {"request": 0, "path": "layer1.read", "channel": 3}
    result = of(do(engine, Analyse(name="schedules", arguments=arguments)), Analysis)[-1].result
    assert result is not None
    ways = {w["schedule"]: w for w in result["ways"]}
    one, other = (ways[name] for name in first)
    assert one["values"] == pytest.approx(other["values"], abs=1e-4) and any(v != 0 for v in one["values"])
    loop = one if "recurrence" in ways else other
    assert loop["steps"] == len(loop["values"]) + 1 and min(one["steps"], other["steps"]) == 2, "two layers"
    with pytest.raises(Refused, match="nowhere"):
        do(engine, Analyse(name="schedules", arguments={"path": "nowhere"}))
    with pytest.raises(Refused, match="channel was given 1000"):
        do(engine, Analyse(name="schedules", arguments={**arguments, "channel": 1000}))
