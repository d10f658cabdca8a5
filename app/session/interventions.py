"""Edits at taps: which of them can be carried out on the model that stands."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence

from app.session.events import Problem, Refused, TapInfo
from app.session.scenario import Scenario, TapEdit


def refuse_edits(scenario: Scenario, taps: Sequence[TapInfo], widths: Mapping[str, int]) -> None:
    """Raise `Refused` for an edit that names no tap, one that has its own command, or an index that its axes do not have.

    `widths`: the size of every axis that is not a row's; an edit may name a row that is not known yet.
    """
    by_path = {t.path: t for t in taps if t.type != "parameter"}
    sizes = {**widths, "b": max(len(scenario.requests), scenario.training.batch_size)}
    problems = [p for i, edit in enumerate(scenario.edits) for p in _problems(f"edits.{i}", edit, by_path, sizes)]
    if problems:
        raise Refused(*problems)


def _problems(field: str, edit: TapEdit, taps: Mapping[str, TapInfo], sizes: Mapping[str, int]) -> Iterator[Problem]:
    tap = taps.get(edit.path)
    if tap is None:
        near = ", ".join(difflib.get_close_matches(edit.path, taps, 3, 0.3)) or "one of the taps of /api/catalogue"
        yield Problem(f"{field}.path", edit.path, near, f"There is no tap {edit.path!r}; near it: {near}")
    elif not tap.editable:
        message = f"{edit.path} holds {tap.type}, which cannot be edited at a tap: it follows from what you set elsewhere."
        yield Problem(f"{field}.path", edit.path, "a tap that may be edited", message)
    elif len(edit.index) > len(tap.axes):
        allowed = f"up to {len(tap.axes)} numbers, for {' '.join(tap.axes)}"
        message = f"The edit of {edit.path} has too many indices ({len(edit.index)}); allowed: {allowed}"
        yield Problem(f"{field}.index", list(edit.index), allowed, message)
    else:
        for n, (axis, at) in enumerate(zip(tap.axes, edit.index, strict=False)):
            if at is not None and axis in sizes and at >= sizes[axis]:
                message = f"{edit.path} has {sizes[axis]} places on axis {axis}; {at} was given"
                yield Problem(f"{field}.index.{n}", at, f"0 to {sizes[axis] - 1}", message)
