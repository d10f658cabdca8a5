"""What a variant would be, before it is built: its count of parameters, its weights, and which values fit each other."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.session import weights
from app.session.scenario import Scenario
from models import Spec
from models.catalogue import architectures, config_schema, read_config

MOST_TRIED = 256  # values of one field


def variant(scenario: Scenario) -> dict[str, Any]:
    """`parameters`: how many numbers the model learns. `weights`: "trained" where a checkpoint fits, else "random".
    `allowed`: for fields whose range depends on the others (heads must divide the width), what fits them now."""
    spec, config = architectures()[scenario.architecture], json.dumps(scenario.config, sort_keys=True)
    return {
        "parameters": sum(map(math.prod, weights.shapes(scenario.architecture, config, scenario.task).values())),
        "weights": "trained" if weights.matching(scenario) else "random",
        "allowed": allowed(spec, scenario.config),
    }


def allowed(spec: Spec, given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By field, `values`: those that `spec.check` accepts beside the other fields of this config, where it does not accept all;
    `words`: what it says of them (empty where it blames another field)."""
    config, _ = read_config(spec, dict(given))
    found = {}
    for name, values in ((f["name"], _values(f)) for f in config_schema(spec.config)):
        wrong = {value: problems for value in values if (problems := spec.check(replace(config, **{name: value})))}
        if wrong:
            words = next((allowed for problems in wrong.values() for field, _, allowed in problems if field == name), "")
            found[name] = {"values": [v for v in values if v not in wrong], "words": words}
    return found


def _values(field: Mapping[str, Any]) -> list[Any]:
    """What a field may hold by itself, where these are few."""
    match field["type"]:
        case "choice":
            return list(field["choices"])
        case "boolean":
            return [False, True]
        case "integer" if field["high"] - field["low"] < MOST_TRIED:
            return list(range(field["low"], field["high"] + 1))
    return []
