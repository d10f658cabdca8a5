"""A request decides the same beside others and alone; what couples requests is found."""

from __future__ import annotations

import torch

from app.session.analyses import Run, batch_equals_alone
from app.session.commands import Analyse, Step
from app.session.events import Check, Checked
from models import Inputs, Outputs, State
from models.parts.tap import Tap
from tests.session.driving import do, of, opened

BOTH = [{"source": ["the", "black", "cat"], "target": []}, {"source": ["the"], "target": ["le", "chat"]}]


def check(events: list[Checked]) -> Check:
    return next(c for c in events[-1].checks if c.id == "batch_equals_alone")


def test_it_holds_in_prefill_and_after_some_steps() -> None:
    engine = opened(requests=BOTH)
    for steps in (0, 3):
        for _ in range(steps):
            pending = check(of(do(engine, Step()), Checked))
            assert pending.status == "pending"
        found = check(of(do(engine, Analyse(name="batch_equals_alone")), Checked))
        assert found.status == "pass" and found.measured.startswith("max |Δlogit| ")


def test_one_request_has_no_such_check() -> None:
    engine = opened()
    assert "batch_equals_alone" not in [c.id for c in engine.checked().checks]
    done = [c for c in of(do(engine, Analyse(name="batch_equals_alone")), Checked)[-1].checks if c.id == "batch_equals_alone"]
    assert done == [], "it does not apply, so that it is not listed"


class Coupled(torch.nn.Module):
    """A fault: every request's scores have the mean over the batch in them."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model
        self.initial_state = model.initial_state

    def forward(self, inputs: Inputs, state: State, tap: Tap) -> tuple[Outputs, State]:
        outputs, state = self.model(inputs, state, tap)
        return Outputs("next_token", outputs.values + outputs.values.mean(0, keepdim=True)), state


def test_a_model_that_couples_requests_is_found() -> None:
    engine = opened(requests=BOTH)
    run = Run(Coupled(engine.learner.model), engine.timeline.here.place, engine.device)
    found = next(c for c in batch_equals_alone.run(run, {}) if isinstance(c, Check))
    assert found.status == "fail" and found.place["request"] in (0, 1)
