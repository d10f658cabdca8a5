"""The band against the reads of a run: equal under every window, and said not to apply where a mask is none."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from app.session.commands import Analyse, Open, Step
from app.session.engine import Engine
from app.session.events import Analysis, Check

WORDS = ["red", "gold", "green"] * 13


def measured(
    architecture: str, masks: list[dict[str, Any]], sources: tuple[list[str], ...] = (WORDS, WORDS[:20])
) -> tuple[Check, dict[str, Any]]:
    scenario = {"architecture": architecture, "task": "needle", "phase": "prefill", "weights": "random", "masks": masks}
    scenario["requests"] = [{"source": words, "target": ["gold"]} for words in sources]
    engine = Engine(torch.device("cpu"))
    for command in (Open(scenario=scenario), Step()):
        list(engine.run(command))
    told = list(engine.run(Analyse(name="banded")))
    checks = [e for e in told if isinstance(e, Check)] + [c for e in told for c in getattr(e, "checks", ()) if c.id == "banded"]
    result = next(e.result for e in told if isinstance(e, Analysis) and e.result is not None)
    return checks[-1], dict(result)


@pytest.mark.parametrize("architecture", ["longformer", "sliding_window"])
@pytest.mark.parametrize(
    "mask", [{}, {"parameter": 1}, {"parameter": 3, "every": 4, "global_rows": [0, 30]}, {"parameter": 2, "every": 39}]
)
def test_the_band_is_what_the_run_computed(architecture: str, mask: dict[str, Any]) -> None:
    masks = [{"relation": "source_self", "program": "sliding", **mask}] if mask else []
    check, result = measured(architecture, masks)
    assert check.status == "pass" and result["largest"] <= 1e-6
    for layer in result["layers"]:
        assert layer["edges"] <= layer["bound"] and layer["dense"] == 1600


def test_one_token_and_every_row_global() -> None:
    check, result = measured("longformer", [], (["gold"],))
    assert check.status == "pass" and result["layers"][0]["edges"] == 4
    mask = {"relation": "source_self", "program": "sliding", "parameter": 1, "global_rows": list(range(21))}
    check, result = measured("longformer", [mask], (WORDS[:20],))
    assert check.status == "pass" and result["layers"][0]["edges"] == 21 * 21


def test_another_mask_has_no_band() -> None:
    check, result = measured("longformer", [{"relation": "source_self", "program": "full"}])
    assert check.status == "does_not_apply" and "no window" in result["reason"]
