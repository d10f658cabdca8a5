"""What the numbers of a mask may be on the rows that there are: a window of one row, a prefix beyond the text are refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from app.session.events import Problem
from models import Spec
from models.catalogue import tasks

if TYPE_CHECKING:
    from app.session.scenario import Mask, Scenario

WINDOWS = ("sliding", "causal_sliding")


def rows(scenario: Scenario, spec: Spec, config: Any) -> dict[str, int]:
    """By row owner, how many rows the longest request has, with what may yet be written. In training: as many as can be held."""
    can, train = spec.capabilities, scenario.phase == "train"
    further = scenario.policy.limit if scenario.phase == "decode" else 0
    task = tasks()[scenario.task]
    writes, opening = task.objective == "next_token", int(task.opening is not None)
    target = max(len(r.target) for r in scenario.requests) + 1 + further if writes else 0
    source = max(len(r.features or r.source or ()) for r in scenario.requests) + opening
    own = {"s": can.largest_source, "t": can.largest_rows} if train else {"s": source, "t": min(target, can.largest_rows)}
    return {**own, **spec.rows_of(config)}


def problems(scenario: Scenario, spec: Spec, config: Any) -> Iterator[Problem]:
    """All that is wrong with the numbers of the scenario's masks."""
    for i, mask in enumerate(scenario.masks):
        found = _within(mask, scenario, spec, config)
        if found is None:
            continue
        longest, farthest = found
        if mask.program in WINDOWS and not mask.parameter:
            yield _problem(i, "parameter", "radius r", 0, "a whole number from 1 on; a window of 0 would be the row alone")
        if mask.program == "prefix" and mask.parameter > longest:
            allowed = f"a whole number from 0 to {longest}, the rows that the text may have"
            yield _problem(i, "parameter", "prefix P", mask.parameter, allowed)
        if mask.every > farthest:
            allowed = f"a whole number from 1 to {farthest}: the rows that the text may have lie at most so far apart"
            yield _problem(i, "every", "dilation every", mask.every, allowed)


def fitted(masks: tuple[Mask, ...], scenario: Scenario, spec: Spec, config: Any) -> tuple[Mask, ...]:
    """The masks on a text that may have become shorter: a prefix ends at its end, a distance at its largest."""
    return tuple(_fitted(mask, _within(mask, scenario, spec, config)) for mask in masks)


def _fitted(mask: Mask, within: tuple[int, int] | None) -> Mask:
    if within is None:
        return mask
    parameter = min(mask.parameter, within[0]) if mask.program == "prefix" else mask.parameter
    return mask.model_copy(update={"parameter": parameter, "every": min(mask.every, within[1])})


def _within(mask: Mask, scenario: Scenario, spec: Spec, config: Any) -> tuple[int, int] | None:
    """How many keys there are, and how far apart a row and a key may lie; None where the relation is unknown."""
    relation = next((r for r in spec.relations if r.name == mask.relation), None)
    if relation is None:
        return None
    known = rows(scenario, spec, config)
    return known[relation.key], max(1, known[relation.query] - 1, known[relation.key] - 1)


def _problem(i: int, name: str, what: str, given: int, allowed: str) -> Problem:
    field = f"masks.{i}.{name}"
    return Problem(field, given, allowed, f"{what} ({field}) was given {given}; allowed: {allowed}")
