"""What is found once for a kind of model is what each such model would show."""

from __future__ import annotations

import itertools

import pytest
import torch

from app.session import weights
from app.session.probe import _found, probe
from app.session.scenario import parse
from models.catalogue import architectures

CPU = torch.device("cpu")


@pytest.mark.parametrize("architecture", architectures())
def test_what_is_kept_is_what_another_model_of_this_kind_would_show(architecture: str) -> None:
    first, other = (parse({"architecture": architecture, "weights": "random", "seed": seed}) for seed in (3, 4))
    kept = probe(weights.build(first, CPU)[0], first, CPU)
    model, _ = weights.build(other, CPU)
    assert probe(model, other, CPU) is kept
    assert kept == _found(model, other, CPU)


def test_another_config_or_task_is_another_kind() -> None:
    kinds = [
        parse({"architecture": "decoder_only", "weights": "random", **more})
        for more in ({}, {"config": {"layers": 1}}, {"config": {"position": "rope"}}, {"task": "repeats"})
    ]
    found = [probe(weights.build(scenario, CPU)[0], scenario, CPU)[0] for scenario in kinds]
    assert all(a != b for a, b in itertools.combinations(found, 2))
