"""What of a scenario its architecture and its task do not allow, though each field alone is well formed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from app.session import inputs, mask_sizes
from app.session.events import Problem
from app.session.problems import shorten
from models import Spec
from models.catalogue import architectures, read_config, tasks
from models.tasks import Task, phases

if TYPE_CHECKING:
    from app.session.methods import Training
    from app.session.scenario import Mask, Scenario, TapEdit

MAX_READS = 16_000_000  # cells of all maps of one run together: what a run records stays below some 150 MB


def _one_of(field: str, given: Any, allowed: Iterable[str], wrong: str) -> Problem:
    names = ", ".join(allowed)
    return Problem(field, shorten(given), f"one of {names}", f"{wrong}; allowed: {names}")


def unknown_names(scenario: Scenario) -> Iterator[Problem]:
    """An architecture or a task that is none: without them nothing else can be asked."""
    if scenario.architecture not in architectures():
        given = scenario.architecture
        yield _one_of("architecture", given, architectures(), f"architecture {shorten(given)!r} is unknown")
    if scenario.task not in tasks():
        yield _one_of("task", scenario.task, tasks(), f"task {shorten(scenario.task)!r} is unknown")


def problems(scenario: Scenario) -> Iterator[Problem]:
    """All that is wrong with a scenario whose architecture and task are known."""
    spec = architectures()[scenario.architecture]
    config, wrong = read_config(spec, scenario.config)
    for name, given, allowed in wrong:
        given = shorten(given)
        yield Problem(f"config.{name}", given, allowed, f"config.{name} was given {given!r}; allowed: {allowed}")
    if scenario.task not in spec.tasks:
        yield _one_of("task", scenario.task, spec.tasks, f"{spec.name} has no task {scenario.task!r}")
        return  # its requests belong to another task
    task = tasks()[scenario.task]
    may = phases(spec.phases, task.objective)
    if scenario.phase not in may:
        yield _one_of("phase", scenario.phase, may, f"{spec.name} has no phase {scenario.phase!r} on this task")
    if config is not None:
        yield from size_problems(scenario, spec, config)
        yield from inputs.draw_problems(scenario, spec, config)
        yield from mask_sizes.problems(scenario, spec, config)
    yield from _beam_problems(scenario)
    yield from _feeding_problems(scenario)
    layers = None if config is None else spec.layers(config)
    yield from _mask_problems("masks", scenario.masks, spec, layers)
    for i, request in enumerate(scenario.requests):
        yield from inputs.problems(f"requests.{i}", request, spec, task)
    yield from _share_problems(scenario.training)
    for i, edit in enumerate(scenario.edits):
        yield from _edit_problems(f"edits.{i}", edit, spec, task, layers)


def _share_problems(training: Training) -> Iterator[Problem]:
    both = training.mask_hidden + training.mask_replaced
    if both > 1 + 1e-9:
        message = f"training.mask_hidden and training.mask_replaced make {both:g} together; allowed: up to 1."
        yield Problem("training.mask_replaced", training.mask_replaced, f"at most {1 - training.mask_hidden:g}", message)


def _beam_problems(scenario: Scenario) -> Iterator[Problem]:
    """A beam follows one request, and begins with as many words as it is wide."""
    policy, words = scenario.policy, len(tasks()[scenario.task].target)
    if policy.kind != "beam":
        return
    if len(scenario.requests) > 1:
        message = (
            f"Beam search follows one request; {len(scenario.requests)} were given. Remove the others, or take greedy or sample."
        )
        yield Problem("policy.kind", "beam", "greedy or sample, or one request", message)
    if policy.width > words:
        message = f"policy.width was given {policy.width}; the vocabulary has {words} words. Take at most {words}."
        yield Problem("policy.width", policy.width, f"1 to {words}", message)


def _feeding_problems(scenario: Scenario) -> Iterator[Problem]:
    """Only a model that writes can be given what it wrote."""
    if scenario.training.feeding != "teacher" and tasks()[scenario.task].objective != "next_token":
        given = scenario.training.feeding
        message = f"training.feeding was given {given!r}; {tasks()[scenario.task].name} writes no target: take teacher."
        yield Problem("training.feeding", given, "teacher", message)


def _mask_problems(field: str, masks: tuple[Mask, ...], spec: Spec, layers: int | None) -> Iterator[Problem]:
    relations = {r.name: r for r in spec.relations}
    for i, mask in enumerate(masks):
        if mask.program in ("block", "causal_block") and not mask.parameter:
            message = f"{field}.{i}.parameter was given 0; a block has 1 or more rows"
            yield Problem(f"{field}.{i}.parameter", 0, "1 or more", message)
        if mask.relation not in relations:
            yield _one_of(f"{field}.{i}.relation", mask.relation, relations, f"relation {shorten(mask.relation)!r} is unknown")
        elif layers is not None and mask.layer is not None and mask.layer >= layers:
            allowed = f"0 to {layers - 1}, or null for all layers"
            message = f"{field}.{i}.layer was given {mask.layer}; allowed: {allowed}"
            yield Problem(f"{field}.{i}.layer", mask.layer, allowed, message)
    places = [(m.relation, m.layer) for m in masks]
    for place in sorted({p for p in places if places.count(p) > 1}, key=str):
        yield Problem(field, list(place), "one mask a relation and layer", f"{field} names {place} twice; keep one of the two")


def _edit_problems(field: str, edit: TapEdit, spec: Spec, task: Task, layers: int | None) -> Iterator[Problem]:
    """An edit has what its action needs, and nothing that it would not use."""
    if edit.action == "patch":
        if edit.donor is None:
            yield Problem(f"{field}.donor", None, "the tokens of another read", f"{field} patches from nothing; give its donor")
        else:
            yield from inputs.problems(f"{field}.donor", edit.donor, spec, task)
            yield from _mask_problems(f"{field}.donor.masks", edit.donor.masks, spec, layers)
        if edit.value is not None:
            yield Problem(f"{field}.value", edit.value, "null", f"{field} patches, so it has no value; leave {field}.value out")
        return
    if edit.value is None:
        yield Problem(f"{field}.value", None, "a finite number", f"{field} has no value; give the number to {edit.action}")
    if edit.donor is not None:
        yield Problem(f"{field}.donor", "a donor", "null", f"{field} does not patch, so it has no donor; leave {field}.donor out")


def reads(scenario: Scenario, spec: Spec, config: Any) -> int:
    """How many cells the maps of this run may come to have: layers x heads x requests x queries x keys of every relation."""
    target = max(len(r.target) for r in scenario.requests) + 1
    if scenario.phase != "train":
        target = min(target + scenario.policy.limit, spec.capabilities.largest_rows)
    rows = {"s": max(len(r.features or r.source or ()) for r in scenario.requests), "t": target, **spec.rows_of(config)}
    maps = spec.layers(config) * getattr(config, "heads", 1) * len(scenario.requests)
    return maps * sum(rows[r.query] * rows[r.key] for r in spec.relations)


def size_problems(scenario: Scenario, spec: Spec, config: Any) -> Iterator[Problem]:
    """A run that would record more than the server can keep beside others."""
    given = reads(scenario, spec, config)
    if given > MAX_READS:
        allowed = f"at most {MAX_READS:,} cells in all maps together"
        message = (
            f"{len(scenario.requests)} requests of this length make {given:,} cells in all layers and heads; allowed: {allowed}. "
            "Use fewer requests, a shorter text or limit, fewer layers or fewer heads."
        )
        yield Problem("requests", f"{given:,} cells", allowed, message)
