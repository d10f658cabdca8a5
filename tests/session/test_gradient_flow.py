"""Gradient flow obeys what a model can read, and its last row is the reach of the choice."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from app.session.commands import Analyse, Enter, Open, Step
from app.session.engine import Engine
from app.session.events import Analysis, Refused
from app.session.scenario import defaults
from models.catalogue import architectures

CPU = torch.device("cpu")
WRITING = sorted(n for n, s in architectures().items() if "decode" in s.phases)
ANSWERING = sorted(architectures().keys() - set(WRITING))


def stepped(name: str, steps: int = 2) -> Engine:
    engine = Engine(CPU)
    list(engine.run(Open(scenario=defaults(name).model_dump(mode="json"))))
    for _ in range(steps):
        list(engine.run(Step()))
    return engine


def asked(engine: Engine, name: str) -> dict[str, Any]:
    said = [e for e in engine.run(Analyse(name=name)) if isinstance(e, Analysis)]
    assert said[-1].result is not None
    return said[-1].result


@pytest.mark.parametrize("name", WRITING)
def test_nothing_flows_from_a_later_row_and_the_last_row_is_the_reach(name: str) -> None:
    engine = stepped(name, 1)
    flow, reach = asked(engine, "gradient_flow"), asked(engine, "choice_reach")
    matrix = flow["norms"]["t"]
    if architectures()[name].capabilities.causal:
        assert all(x == 0 for i, row in enumerate(matrix) for x in row[flow["first"] + i + 1 :])
    assert matrix[-1] == pytest.approx(reach["rows"]["t"], rel=1e-4, abs=1e-12)


def test_a_summary_lets_every_source_word_through_and_a_window_only_its_own() -> None:
    through = asked(stepped("fixed_context"), "gradient_flow")["norms"]["s"]
    assert all(x > 0 for row in through for x in row)
    engine = Engine(CPU)
    relation = architectures()["decoder_only"].relations[0].name
    mask = [{"relation": relation, "program": "causal_sliding", "parameter": 1}]
    scenario = defaults("decoder_only", config={"layers": 1}, masks=mask)
    list(engine.run(Open(scenario=scenario.model_dump(mode="json"))))
    matrix = asked(engine, "gradient_flow")["norms"]["t"]
    assert all((x > 0) == (i - 1 <= j <= i) for i, row in enumerate(matrix) for j, x in enumerate(row))


@pytest.mark.parametrize("name", ANSWERING)
def test_where_nothing_is_written_it_is_of_the_answers(name: str) -> None:
    engine = stepped(name, 1)
    flow, reach = asked(engine, "gradient_flow"), asked(engine, "choice_reach")
    matrix = flow["norms"]["s"]
    assert len(flow["following"]) == len(matrix) and len(matrix[0]) == len(reach["rows"]["s"])
    row = flow["first"] + next(i for i, row in enumerate(matrix) if row == pytest.approx(reach["rows"]["s"], rel=1e-4, abs=1e-12))
    assert flow["following"][row - flow["first"]] == reach["token"]


def test_in_training_it_says_where_it_is_measured() -> None:
    engine = stepped("decoder_only", 0)
    list(engine.run(Enter(phase="train")))
    with pytest.raises(Refused, match="measured in prefill or decode"):
        asked(engine, "gradient_flow")
