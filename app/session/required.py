"""What a checkpoint must reach to be shipped: bounds on its metrics, kept beside what it reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.session.events import Refused

Required = dict[str, dict[str, float]]  # {"exact": {"at_least": 0.97}}; a dot goes into a metric that has parts


def read(at_least: Sequence[str], at_most: Sequence[str]) -> Required:
    """From texts such as "exact=0.97" or "exact_by_clauses.3=0.5". Refuses what is no number."""
    found: Required = {}
    for side, texts in (("at_least", at_least), ("at_most", at_most)):
        for text in texts:
            name, _, number = text.partition("=")
            try:
                found.setdefault(name, {})[side] = float(number)
            except ValueError:
                allowed = "METRIC=NUMBER, for example exact=0.97"
                raise Refused.one(side, text, allowed, f"{side} was given {text!r}; allowed: {allowed}") from None
    return found


def reached(metrics: Mapping[str, Any], name: str) -> float:
    """One number of the metrics by its dotted name."""
    found: Any = metrics
    for part in name.split("."):
        parts = {str(key): value for key, value in found.items()} if isinstance(found, Mapping) else {}
        if part not in parts:
            allowed = ", ".join(map(str, found)) if isinstance(found, Mapping) else "a number, which has no parts"
            raise Refused.one("metric", name, allowed, f"there is no metric {name!r}; allowed: {allowed}")
        found = parts[part]
    return float(found)


def missed(metrics: Mapping[str, Any], required: Required) -> list[str]:
    """What was not reached, each as one sentence."""
    found = []
    for name, bounds in required.items():
        value = reached(metrics, name)
        if value < bounds.get("at_least", value):
            found.append(f"{name} is {value:.4g}, at least {bounds['at_least']:g} is required")
        if value > bounds.get("at_most", value):
            found.append(f"{name} is {value:.4g}, at most {bounds['at_most']:g} is allowed")
    return found
