"""What a request may hold: words or features that its architecture can read, labels that its task has."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from app.session.events import Problem
from app.session.problems import shorten
from models import Spec
from models.tasks import Features, Preset, Special, Task, Token, Vocabulary, words_of
from models.tasks.objective import frames_needed

if TYPE_CHECKING:
    from app.session.scenario import Donor, Request, Scenario


def example(spec: Spec, preset: Preset) -> dict[str, Any]:
    """A preset as a request, in plain data."""
    if not spec.capabilities.has_source:
        return {"target": list(preset.target)}
    source = None if preset.source is None else plain(preset.source)
    features = None if preset.features is None else [list(line) for line in preset.features]
    return {"source": source, "target": list(preset.target), **({} if features is None else {"features": features})}


def plain(tokens: Iterable[Token]) -> list[str | dict[str, str]]:
    """Tokens as plain data: a special one says so."""
    return [{"special": t.name} if isinstance(t, Special) else t for t in tokens]


def problems(where: str, request: Request | Donor, spec: Spec, task: Task) -> Iterator[Problem]:
    """All that is wrong with one request, or a donor."""
    if isinstance(task.source, Features) and spec.capabilities.has_source:
        yield from _features(where, request, task.source, spec)
    else:
        yield from _words(where, request, spec, task)
    if task.objective == "next_token":
        if len(request.target) + 1 > spec.capabilities.largest_rows:
            allowed = f"at most {spec.capabilities.largest_rows - 1} tokens after <bos>"
            yield _too_many(f"{where}.target", len(request.target), allowed)
    else:
        yield from _labels(f"{where}.target", request, task)
    for name, vocabulary in (("source", words_of(task)), ("target", task.target)):
        yield from _specials(f"{where}.{name}", getattr(request, name) or (), vocabulary)


def draw_problems(scenario: Scenario, spec: Spec, config: Any) -> Iterator[Problem]:
    """Draws that a person set: of requests and places that there are, one for each row."""
    for i, draw in enumerate(scenario.draws):
        field, requests = f"draws.{i}", len(scenario.requests)
        if not spec.capabilities.draws:
            yield Problem(field, draw.place, "null", f"{spec.name} draws nothing; leave {field} out")
        elif draw.request >= requests:
            message = f"{field}.request was given {draw.request}; allowed: 0 to {requests - 1}"
            yield Problem(f"{field}.request", draw.request, f"0 to {requests - 1}", message)
        else:
            given = scenario.requests[draw.request]
            rows = given.features or given.source or ()
            places = math.prod(spec.source_shape(config, len(rows), len(given.features[0]) if given.features else 0))
            if draw.place >= places:
                allowed = f"0 to {places - 1}"
                yield Problem(f"{field}.place", draw.place, allowed, f"{field}.place was given {draw.place}; allowed: {allowed}")
        if any((d.request, d.row) == (draw.request, draw.row) for d in scenario.draws[:i]):
            message = f"draws sets row {draw.row} of request {draw.request} twice; keep one of the two"
            yield Problem(field, draw.row, "one draw a row", message)


def _words(where: str, request: Request | Donor, spec: Spec, task: Task) -> Iterator[Problem]:
    can, field = spec.capabilities, f"{where}.source"
    most = can.largest_source - (task.opening is not None)
    if request.features is not None:
        message = f"{task.name} reads words, no features; leave {where}.features out"
        yield Problem(f"{where}.features", f"{len(request.features)} rows", "null", message)
    if not can.has_source and request.source is not None:
        yield Problem(field, shorten(request.source), "null", f"{spec.name} reads no source; leave {field} out")
    if can.has_source and not request.source:
        yield Problem(field, request.source, f"1 to {most} tokens", f"{field} is empty; type a source sentence")
    elif can.has_source and len(request.source or ()) > most:
        yield _too_many(field, len(request.source or ()), f"at most {most} tokens")


def _features(where: str, request: Request | Donor, kind: Features, spec: Spec) -> Iterator[Problem]:
    """Rows of equal width within 0 to 1 (the range is checked with every number); blank is allowed, and so is a single number."""
    field, rows = f"{where}.features", request.features
    most = min(kind.most, spec.capabilities.largest_source)
    allowed = f"1 to {most} rows of {_count(kind.width)}, each from 0 to 1"
    if request.source is not None:
        yield Problem(f"{where}.source", shorten(request.source), "null", f"This task reads {allowed}, no words; give {field}")
    if not rows:
        yield Problem(field, rows, allowed, f"{field} is empty; allowed: {allowed}")
        return
    if len(rows) > most:
        yield Problem(field, f"{len(rows)} rows", allowed, f"{field} has {len(rows)} rows; allowed: {allowed}")
    ragged = next((i for i, line in enumerate(rows) if len(line) != kind.width), None)
    if ragged is not None:
        given = _count(len(rows[ragged]))
        message = f"Row {ragged} of {field} has {given}; allowed: {allowed}"
        yield Problem(f"{field}.{ragged}", given, _count(kind.width), message)


def _count(numbers: int) -> str:
    return f"{numbers} number" if numbers == 1 else f"{numbers} numbers"


def _labels(field: str, request: Request | Donor, task: Task) -> Iterator[Problem]:
    """Labels of the task's own: none for masked tokens, at most one class, as many for CTC as the frames can say."""
    target, known = request.target, task.target.ids
    allowed = {"masked": "nothing", "class": "one class, or nothing"}.get(task.objective, "labels")
    if (task.objective == "masked" and target) or (task.objective == "class" and len(target) > 1):
        given = f"{len(target)} tokens"
        yield Problem(field, given, allowed, f"{field} was given {given}; allowed: {allowed}")
        return
    wrong = [t for t in target if not isinstance(t, str) or t not in known]
    if wrong:
        names = ", ".join(known)
        given = shorten(wrong[0])
        yield Problem(field, given, f"one of {names}", f"{field} was given {given!r}, which is no label; allowed: {names}")
    elif task.objective == "ctc" and request.features:
        needed, rows = frames_needed(task.target.encode([t for t in target if isinstance(t, str)])), len(request.features)
        if needed > rows:
            message = f"{field} needs {needed} frames, its source has {rows}. Use a shorter target or a longer source."
            yield Problem(field, len(target), f"what {rows} frames can say", message)


def _specials(field: str, tokens: Sequence[Any], vocabulary: Vocabulary | None) -> Iterator[Problem]:
    """Special tokens that the task does not have."""
    has = () if vocabulary is None else vocabulary.specials
    wrong = next((t.special for t in tokens if hasattr(t, "special") and t.special not in has), None)
    if wrong is not None:
        names = ", ".join(has) or "none"
        yield Problem(field, wrong, names, f"{field} holds {wrong}, which this task does not have; allowed: {names}")


def _too_many(field: str, given: int, allowed: str) -> Problem:
    return Problem(field, given, allowed, f"{field} has {given} tokens; allowed: {allowed}. Use a shorter text.")
