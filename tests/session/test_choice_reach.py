"""The reach of a choice against differences of log p by hand, and against what an architecture cannot read."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from app.session import given
from app.session.analyses import choice_reach, registry
from app.session.commands import Analyse, Enter, Open, Step
from app.session.engine import Engine
from app.session.events import Analysis, Refused
from app.session.scenario import defaults
from models import Inputs
from models.catalogue import architectures
from models.parts.tap import OFF
from models.parts.tape import SemanticType
from models.tasks.objective import pad

CPU = torch.device("cpu")
WRITING = sorted(n for n, s in architectures().items() if "decode" in s.phases)


def opened(name: str, **fields: Any) -> Engine:
    engine = Engine(CPU)
    scenario = defaults(name, **fields).model_dump(mode="json")
    list(engine.run(Open(scenario=scenario)))
    return engine


def reach(engine: Engine, **arguments: Any) -> dict[str, Any]:
    said = [e for e in engine.run(Analyse(name="choice_reach", arguments=arguments)) if isinstance(e, Analysis)]
    assert said[-1].result is not None
    return said[-1].result


@pytest.mark.parametrize("name", WRITING)
def test_every_writing_architecture_has_a_reach(name: str) -> None:
    engine = opened(name)
    list(engine.run(Step()))
    found = reach(engine)
    target = found["rows"]["t"]
    assert target is not None and len(target) >= 1 and any(x > 0 for x in target)
    if architectures()[name].capabilities.has_source:
        assert found["rows"]["s"] is not None and any(x > 0 for x in found["rows"]["s"])


class Pushed(choice_reach.Entering):
    """Adds a vector to one source row where the reach is measured."""

    push = torch.zeros(0)

    def __call__(self, name: str, value: torch.Tensor, axes: str, type: SemanticType = "hidden") -> torch.Tensor:
        value = self._behind(name, value, axes, type)
        if type == "hidden" and axes.split()[:2] == ["b", "s"] and "s" not in self._found:
            self._found["s"] = value = value + self.push
        return value

    def __truediv__(self, name: str) -> Pushed:
        return Pushed(self._behind / name, self._found)


def test_it_is_what_small_changes_of_the_vector_do() -> None:
    """Central differences of log p along every place of one row's vector, in fp64."""
    engine = opened("encoder_decoder", weights="random")
    model: Any = engine.learner.model.double()
    scenario = engine.scenario
    found, row, size = reach(engine), 2, 1e-5
    source, target = given.source_rows(scenario), pad(given.prompts(scenario))
    assert source is not None
    width = model.config.d_model
    gradient = torch.zeros(width, dtype=torch.float64)
    for i in range(width):
        ends = []
        for sign in (1, -1):
            Pushed.push = torch.zeros(1, source.values.shape[1], width, dtype=torch.float64)
            Pushed.push[0, row, i] = sign * size
            out, _ = model(Inputs(target, source, given.visibility(scenario)), model.initial_state(1), Pushed(OFF, {}))
            ends.append(float(torch.log_softmax(out.values[0, -1].detach(), -1)[found["token"]]))
        gradient[i] = (ends[0] - ends[1]) / (2 * size)
    assert_close(float(gradient.norm()), found["rows"]["s"][row], rtol=1e-6, atol=0)


def test_a_masked_row_reaches_nothing() -> None:
    mask = {"relation": "cross", "program": "full", "cells": [{"query": 0, "key": 1, "visible": False, "queries": 129}]}
    name = next(r.name for r in architectures()["encoder_decoder"].relations if r.query == "t" and r.key == "s")
    inner = next(r.name for r in architectures()["encoder_decoder"].relations if r.query == "s")
    alone = {"relation": inner, "program": "block", "parameter": 1}  # each source row reads itself
    engine = opened("encoder_decoder", masks=[{**mask, "relation": name}, alone])
    rows = reach(engine)["rows"]["s"]
    assert rows[1] == 0 and rows[0] > 0


def test_in_training_it_says_why_not() -> None:
    engine = opened("decoder_only")
    list(engine.run(Enter(phase="train")))
    with pytest.raises(Refused, match="measured in prefill or decode"):
        reach(engine)
    assert "choice_reach" in registry()
