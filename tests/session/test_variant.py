"""What a variant would be, told before it is built: the count of its parameters, its weights, the values that fit each other."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import pytest
import torch
from torch import nn

from app.session import weights
from app.session.scenario import defaults
from app.session.variant import allowed, variant
from models import Spec
from models.catalogue import architectures, config_schema, tasks


def _variations(spec: Spec) -> list[dict[str, object]]:
    """The defaults, and for each field its first and last value, beside the defaults of the others."""
    found: list[dict[str, object]] = [{}]
    for f in config_schema(spec.config):
        ends = f.get("choices") or ([False, True] if f["type"] == "boolean" else [f["low"], f["high"]])
        found += [{f["name"]: value} for value in (ends[0], ends[-1])]
    return [g for g in found if not spec.check(spec.config(**g))]


@pytest.mark.parametrize("name", architectures())
def test_the_count_is_that_of_the_model_that_is_built(name: str) -> None:
    for given in _variations(architectures()[name]):
        scenario = defaults(name, config=given, weights="random")
        model, _ = weights.build(scenario, "cpu")
        assert variant(scenario)["parameters"] == sum(p.numel() for p in model.parameters()), given


def test_counting_leaves_the_random_numbers_of_others_alone() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    variant(defaults("decoder_only", config={"d_ff": 512, "layers": 5}))
    assert torch.equal(torch.get_rng_state(), before)


def test_weights_are_trained_only_where_a_checkpoint_fits() -> None:
    assert variant(defaults("encoder_decoder"))["weights"] == "trained"
    assert variant(defaults("encoder_decoder", config={"layers": 3}))["weights"] == "random"


def test_values_that_depend_on_each_other_are_told() -> None:
    spec = architectures()["encoder_decoder"]
    words = "a divisor of the model width 64, which the heads share evenly"
    assert allowed(spec, {"d_model": 64}) == {"heads": {"values": [1, 2, 4, 8], "words": words}}
    both = allowed(spec, {"d_model": 96, "heads": 3})
    assert {name: found["values"] for name, found in both.items()} == {"heads": [1, 2, 3, 4, 6, 8], "d_model": [48, 96]}
    assert both["d_model"]["words"] == "", "the check blames the heads"


@dataclass(frozen=True)
class _Config:
    """Fields of every kind that hang together, one of them with more values than are tried."""

    units: int = field(default=4, metadata={"title": "Units", "low": 1, "high": 100_000})
    residual: bool = field(default=False, metadata={"title": "Residual"})
    rate: float = field(default=0.5, metadata={"title": "Rate", "low": 0.0, "high": 1.0})


def _check(config: _Config) -> list[tuple[str, object, str]]:
    return [("residual", True, "false with odd units")] if config.residual and config.units % 2 else []


def test_a_switch_that_depends_on_a_number_is_told_and_long_ranges_are_left_to_the_check() -> None:
    spec = dataclasses.replace(architectures()["decoder_only"], config=_Config, check=_check)
    assert allowed(spec, {"units": 3}) == {"residual": {"values": [False], "words": "false with odd units"}}
    assert allowed(spec, {"units": 4, "residual": True}) == {}


def test_a_model_that_needs_memory_is_counted_in_earnest(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(config: object, source: int | None, target: int) -> nn.Module:
        torch.empty(2).fill_(1.0).tolist()  # a value is read, which the meta device does not have
        return nn.Linear(3, target)

    spec = dataclasses.replace(architectures()["decoder_only"], build=build)
    monkeypatch.setitem(architectures(), "decoder_only", spec)
    scenario = defaults("decoder_only", config={"layers": 6, "d_ff": 32})
    assert variant(scenario)["parameters"] == 4 * len(tasks()["language_model"].target)
