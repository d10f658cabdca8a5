"""Every choice of every field of the recurrent families, one at a time, runs through the engine with its checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from app.session.commands import Enter, Step
from app.session.events import Checked
from models import Spec
from models.catalogue import architectures, config_schema, read_config
from tests.session.driving import do, of, opened


def variants() -> Iterator[tuple[str, str, Any]]:
    for spec in (s for s in architectures().values() if s.family.startswith("Recurrent")):
        for field in config_schema(spec.config):
            values = {"choice": field.get("choices", ()), "boolean": (True, False)}.get(field["type"], ())
            yield from (
                (spec.id, field["name"], v) for v in values if v != field["default"] and allowed(spec, {field["name"]: v})
            )


def allowed(spec: Spec, config: dict[str, Any]) -> bool:
    return not read_config(spec, config)[1]


@pytest.mark.parametrize(("architecture", "field", "value"), [*variants()])
def test_a_choice_is_read_and_written_with_all_checks(architecture: str, field: str, value: Any) -> None:
    first = architectures()[architecture].tasks[0]
    engine = opened(architecture, task=first, config={field: value}, weights="random", phase="prefill")
    events = do(engine, Step())
    events += do(engine, Enter(phase="train")) + do(engine, Step())
    found = [c for e in of(events, Checked) for c in e.checks]
    assert found and not [c for c in found if c.status == "fail"]


@pytest.mark.parametrize(
    ("renormalise", "status", "reason"), [(False, "does_not_apply", "coefficients need not sum to 1"), (True, "pass", "")]
)
def test_an_envelope_leaves_coefficients_that_need_not_sum_to_1(renormalise: bool, status: str, reason: str) -> None:
    engine = opened("luong", config={"alignment": "local_p", "renormalise": renormalise}, phase="prefill")
    (found,) = [c for e in of(do(engine, Step()), Checked) for c in e.checks if c.id == "rows_sum"]
    assert (found.status, found.reason) == (status, reason)
