"""All that a person can set, as one validated value. It is also the file, the preset, the test fixture, and (with the
commands and the view) the share link.

`parse(data)` gives a normalised Scenario or raises `Refused` with one `Problem` per wrong field (of a list, the first): what was
given, what is allowed, what to do. Nothing else in the product validates a scenario; what only its architecture or its task rules
out is found in `conflicts.py`.
"""

from __future__ import annotations

import dataclasses
import json
import unicodedata
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError

from app.session import conflicts, inputs
from app.session.events import Refused
from app.session.methods import MAX_TOKENS, Policy, Training, Value
from app.session.problems import refused
from models import Phase
from models.catalogue import architectures, read_config, tasks
from models.tasks import phases

VERSION: Literal[1] = 1
MAX_REQUESTS = 8
MAX_CELLS = 4096
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
    problems = [*conflicts.unknown_names(scenario)] or [*conflicts.problems(scenario)]
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


def _normalise(scenario: Scenario) -> Scenario:
    """All config fields written out, a mask that says nothing left out: two scenarios that mean the same are equal."""
    config, _ = read_config(architectures()[scenario.architecture], scenario.config)
    return scenario.model_copy(update={"config": dataclasses.asdict(config)})


def defaults(architecture: str = "encoder_decoder", task: str | None = None, **fields: Any) -> Scenario:
    """A scenario to begin with: the task's first preset as the one request."""
    return parse({"architecture": architecture, **({} if task is None else {"task": task}), **fields})
