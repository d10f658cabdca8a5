"""All that a person can set, as one validated value. It is also the file, the preset, the test fixture, and (with the
commands and the view) the share link.

`parse(data)` gives a normalised Scenario or raises `Refused` with one `Problem` per wrong field (of a list, the first): what was
given, what is allowed, what to do. Nothing else in the product validates a scenario.
"""

from __future__ import annotations

import dataclasses
import json
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError

from app.session import inputs, mask_sizes
from app.session.events import Problem, Refused
from app.session.methods import MAX_TOKENS, Policy, Training, Value
from app.session.problems import refused, shorten
from models import Phase, Spec
from models.catalogue import architectures, read_config, tasks
from models.tasks import Task, phases

VERSION: Literal[1] = 1
MAX_REQUESTS = 8
MAX_CELLS = 4096
MAX_READS = 16_000_000  # cells of all maps of one run together: what a run records stays below some 150 MB
MAX_WORD = 500
MAX_WIDTH = 256  # numbers of one row of features


class SpecialToken(Value):
    """A special token chosen as a token. The same characters typed as text are a word."""

    special: Literal["<pad>", "<bos>", "<eos>", "<unk>", "<mask>", "<cls>"]


def _printable(word: str) -> str:
    """No character that has no form of its own, or turns the direction of the text around it."""
    bad = next((c for c in word if unicodedata.category(c) in ("Cc", "Cs") or c in _DIRECTION), None)
    if bad is not None:
        raise ValueError(f"text without control characters (it holds U+{ord(bad):04X}; remove it)")
    return word


_DIRECTION = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
Word = Annotated[str, Field(min_length=1, max_length=MAX_WORD), AfterValidator(_printable)]
Tokens = Annotated[tuple[Word | SpecialToken, ...], Field(max_length=MAX_TOKENS, fail_fast=True)]


Line = Annotated[tuple[Annotated[float, Field(ge=0, le=1)], ...], Field(max_length=MAX_WIDTH, fail_fast=True)]
Lines = Annotated[tuple[Line, ...], Field(max_length=MAX_TOKENS, fail_fast=True)]


class Request(Value):
    """One request: what is read from (`source`, only for architectures that have one) and the known target rows after <bos>.

    features: in place of source words rows of numbers, where the task reads those. target: where nothing is written (a class,
    CTC), the label to learn.
    """

    source: Tokens | None = None
    target: Tokens = ()
    features: Lines | None = None


RowNumber = Annotated[int, Field(ge=0, le=MAX_TOKENS)]
RowCount = Annotated[int, Field(ge=1, le=MAX_TOKENS + 1)]


class CellOverride(Value):
    """One cell, or a rectangle of `queries` x `keys` cells that begins there. A later one overrules an earlier one."""

    query: RowNumber
    key: RowNumber
    visible: bool
    queries: RowCount = 1
    keys: RowCount = 1


class Mask(Value):
    """Visibility of one relation (`models/parts/visibility.py`), in one layer or (None) in all without a mask of their own."""

    relation: str
    layer: Annotated[int, Field(ge=0)] | None = None
    program: Literal["full", "causal", "past", "prefix", "source_target", "sliding", "causal_sliding", "block", "causal_block"]
    parameter: Annotated[int, Field(ge=0, le=MAX_TOKENS + 1)] = 0
    cells: Annotated[tuple[CellOverride, ...], Field(max_length=MAX_CELLS, fail_fast=True)] = ()
    every: RowCount = 1
    global_rows: Annotated[tuple[RowNumber, ...], Field(max_length=32, fail_fast=True)] = ()


class Donor(Value):
    """Where a patch takes its numbers: these tokens, read in one pass by the weights in force and without any edit.

    masks: of that pass; left out, the architecture's own. row: which of its rows; null is the row that the edit names, or, where
    it names all, each row the one with its own number.
    """

    source: Tokens | None = None
    target: Tokens = ()
    masks: Annotated[tuple[Mask, ...], Field(max_length=64, fail_fast=True)] = ()
    row: Annotated[int, Field(ge=0)] | None = None
    features: Lines | None = None


class TapEdit(Value):
    """An intervention at a tap, at `index` (one number, or null for all, an axis): put `value` there, multiply by it, or put
    there what the same tap holds at another read (`donor`)."""

    path: Annotated[str, Field(min_length=1, max_length=200)]
    index: Annotated[tuple[Annotated[int, Field(ge=0)] | None, ...], Field(max_length=8, fail_fast=True)] = ()
    action: Literal["set", "scale", "patch"]
    value: Annotated[float, Field(ge=-3.4e38, le=3.4e38)] | None = None  # what a 32-bit float holds
    donor: Donor | None = None
    enabled: bool = True


class Draw(Value):
    """Of a model that draws one thing at each target row: at this row of this request it takes this place of the source."""

    request: Annotated[int, Field(ge=0, lt=MAX_REQUESTS)] = 0
    row: RowNumber
    place: RowNumber


class Scenario(Value):
    """See the module. `config` holds the architecture's own Config fields; those left out take their defaults."""

    version: Literal[1] = VERSION
    architecture: str = "encoder_decoder"
    config: dict[str, Any] = Field(default_factory=dict)
    task: str = "translation"
    weights: Literal["trained", "random"] = "trained"
    seed: Annotated[int, Field(ge=-(2**31), lt=2**31)] = 7
    phase: Phase = "decode"
    requests: Annotated[tuple[Request, ...], Field(min_length=1, max_length=MAX_REQUESTS, fail_fast=True)] = (Request(),)
    masks: Annotated[tuple[Mask, ...], Field(max_length=64, fail_fast=True)] = ()
    edits: Annotated[tuple[TapEdit, ...], Field(max_length=64, fail_fast=True)] = ()
    draws: Annotated[tuple[Draw, ...], Field(max_length=64, fail_fast=True)] = ()
    training: Training = Training()
    policy: Policy = Policy()


def parse(data: Any) -> Scenario:
    """A normalised scenario from plain data (JSON). Raises `Refused` with every problem found."""
    try:
        scenario = Scenario.model_validate_json(json.dumps(_filled(data)))
    except (ValidationError, ValueError, RecursionError) as error:
        raise refused(error, model=Scenario) from None
    problems = [*_unknown_names(scenario)] or [*_conflicts(scenario)]
    if problems:
        raise Refused(*problems)
    return _normalise(scenario)


def _filled(data: Any) -> Any:
    """A scenario without a task takes its architecture's first; one without requests reads its task's first example, one without
    a phase the last that its task has."""
    if not isinstance(data, dict) or {"task", "requests", "phase"} <= data.keys():
        return data
    name = data.get("architecture", Scenario.model_fields["architecture"].default)
    spec = architectures().get(name) if isinstance(name, str) else None
    if spec is None:
        return data
    data = {"task": spec.tasks[0], **data}
    task = tasks().get(data["task"]) if isinstance(data["task"], str) else None
    if task is None:
        return data
    return {"requests": [inputs.example(spec, task.presets[0])], "phase": phases(spec.phases, task.objective)[-1], **data}


def _one_of(field: str, given: Any, allowed: Iterable[str], wrong: str) -> Problem:
    names = ", ".join(allowed)
    return Problem(field, shorten(given), f"one of {names}", f"{wrong}; allowed: {names}")


def _unknown_names(scenario: Scenario) -> Iterator[Problem]:
    if scenario.architecture not in architectures():
        given = scenario.architecture
        yield _one_of("architecture", given, architectures(), f"architecture {shorten(given)!r} is unknown")
    if scenario.task not in tasks():
        yield _one_of("task", scenario.task, tasks(), f"task {shorten(scenario.task)!r} is unknown")


def _conflicts(scenario: Scenario) -> Iterator[Problem]:
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


def _normalise(scenario: Scenario) -> Scenario:
    """All config fields written out, a mask that says nothing left out: two scenarios that mean the same are equal."""
    config, _ = read_config(architectures()[scenario.architecture], scenario.config)
    return scenario.model_copy(update={"config": dataclasses.asdict(config)})


def defaults(architecture: str = "encoder_decoder", task: str | None = None, **fields: Any) -> Scenario:
    """A scenario to begin with: the task's first preset as the one request."""
    return parse({"architecture": architecture, **({} if task is None else {"task": task}), **fields})
