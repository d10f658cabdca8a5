"""Edits at taps: which can be carried out, what they do to a value, where a patch takes its numbers, and what is unedited."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from app.session import given
from app.session.events import Problem, Refused, TapInfo
from app.session.problems import shorten
from app.session.scenario import Donor, Request, Scenario, TapEdit
from app.session.timeline import Moment, Timeline
from models import Inputs
from models.parts.tap import Edit, Recorder, Step
from models.parts.tape import Record, Tape, loop_position
from models.parts.visibility import NoVisibleKey
from models.tasks import SPECIALS
from models.tasks.objective import pad

ROWS = ("t", "s", "t'", "s'")


def unedited(scenario: Scenario) -> Scenario | None:
    """The same scenario without edits at taps and under the architecture's own masks; None where it computes the same."""
    plain = scenario.model_copy(update={"edits": (), "masks": ()})
    return plain if left_away(scenario) else None


def left_away(scenario: Scenario) -> tuple[Literal["edits", "masks"], ...]:
    """What of a scenario its unedited form leaves away: "edits", "masks"."""
    own = scenario.model_copy(update={"masks": ()})
    found: dict[Literal["edits", "masks"], bool] = {
        "edits": any(e.enabled for e in scenario.edits),
        "masks": given.visibility(scenario) != given.visibility(own),
    }
    return tuple(name for name, there in found.items() if there)


# ---- what an edit does


def edits(
    scenario: Scenario, starts: Sequence[int], donors: Mapping[TapEdit, Record], requests: Sequence[int] | None = None
) -> dict[str, Edit]:
    """The enabled edits, by path, for a call whose first target row is `starts[b]` in the request at place b of its batch.
    requests: which request is at each place, where not each is at the place of its number."""
    by_path: dict[str, list[TapEdit]] = {}
    for edit in scenario.edits:
        if edit.enabled:
            by_path.setdefault(edit.path, []).append(edit)
    whose = range(len(starts)) if requests is None else requests
    return {path: _editing(several, starts, donors, whose) for path, several in by_path.items()}


def _editing(several: list[TapEdit], starts: Sequence[int], donors: Mapping[TapEdit, Record], whose: Sequence[int]) -> Edit:
    def edit(value: Tensor, axes: tuple[str, ...], step: Step | None) -> Tensor:
        out = value.clone()
        for one in several:
            for target in _targets(one, axes, out.shape, starts, step, whose):
                out = _written(out, target, axes, one, donors.get(one))
        return out

    return edit


class Target(NamedTuple):
    """Where an edit writes in one request: a range an axis, and for row axes (absolute) the number of the range's first row."""

    ranges: dict[str, range]
    first: dict[str, int]
    loop: str | None


def _targets(
    edit: TapEdit, axes: tuple[str, ...], shape: torch.Size, starts: Sequence[int], step: Step | None, whose: Sequence[int]
) -> Iterator[Target]:
    """One for each request that the edit reaches in this call. Rows are absolute: target row 5 is row 5 - start of a call that
    begins there. In a loop the edit's indices are those of the stacked tape, its axis included; only the step that they name is
    edited.
    """
    letters, sizes = list(axes), dict(zip(axes, shape, strict=True))
    if step is not None:
        letters.insert(loop_position(axes), step[0])
    wanted = {a: i for a, i in zip(letters, edit.index, strict=False) if i is not None}
    for b in range(sizes["b"]) if "b" in sizes else [0]:
        start = {"t": starts[b]}
        ranges = {a: range(n) if a not in wanted or a == "b" else _one(wanted[a] - start.get(a, 0), n) for a, n in sizes.items()}
        if "b" in sizes:
            ranges["b"] = _one(b, sizes["b"]) if wanted.get("b", whose[b]) == whose[b] else range(0)
        first = {a: r.start + start.get(a, 0) for a, r in ranges.items()}
        if step is not None:
            first[step[0]] = step[1] + start.get(step[0], 0)
            if wanted.get(step[0], first[step[0]]) != first[step[0]]:
                continue
        if all(ranges.values()):
            yield Target(ranges, first, None if step is None else step[0])


def _one(at: int, size: int) -> range:
    return range(at, at + 1) if 0 <= at < size else range(0)


def _written(value: Tensor, target: Target, axes: tuple[str, ...], edit: TapEdit, donor: Record | None) -> Tensor:
    """The value with this edit. Nothing that a gradient goes through is written in place: a batch of gradients (a Jacobian) could
    not go back through that."""
    at = tuple(slice(r.start, r.stop) for r in (target.ranges[a] for a in axes))
    if edit.action == "scale":
        factor = torch.ones_like(value, requires_grad=False)
        factor[at] = edit.value or 0.0
        return value * factor
    new, here = value.detach().clone(), torch.zeros_like(value, dtype=torch.bool)
    if edit.action == "set":
        new[at], here[at] = edit.value or 0.0, True
    else:
        assert donor is not None and edit.donor is not None
        _patch(new[at], here[at], target, axes, donor, edit.donor.row)
    return torch.where(here, new, value)


def _patch(place: Tensor, here: Tensor, target: Target, axes: tuple[str, ...], donor: Record, row: int | None) -> None:
    """Put in what the donor holds there: as far as both have places. A key that the donor does not have is read with weight 0.
    here: becomes true where something was put in."""
    value, rows = donor.value, row_axis(donor.axes)
    for at, axis in reversed(list(enumerate(donor.axes))):
        first = 0 if axis == "b" else row if axis == rows and row is not None else target.first.get(axis, 0)
        size = 1 if axis == target.loop else place.shape[axes.index(axis)]
        value = value.narrow(at, min(first, value.shape[at]), max(0, min(size, value.shape[at] - first)))
        if axis == target.loop:
            if not value.shape[at]:
                return
            value = value.select(at, 0)
    if donor.type in ("weights", "coefficients") and value.numel():
        place.zero_()
        here.fill_(True)
    for at, size in enumerate(value.shape):
        place, here = place.narrow(at, 0, size), here.narrow(at, 0, size)
    place.copy_(value)
    here.fill_(True)


def row_axis(axes: Sequence[str]) -> str | None:
    """The axis whose places are this tensor's rows: of a read its queries."""
    return next((a for a in axes if a in ROWS), None)


# ---- donors


def donors(model: nn.Module, scenario: Scenario) -> dict[TapEdit, Record]:
    """For each enabled patch what its tap holds when the donor is read: one pass a donor, by the weights as they are now."""
    tapes: dict[Donor, Tape] = {}
    found = {}
    for i, edit in enumerate(scenario.edits):
        if edit.enabled and edit.donor is not None:
            whose = edit.donor.model_copy(update={"row": None})
            if whose not in tapes:
                tapes[whose] = _read(model, scenario, whose, f"edits.{i}.donor.masks")
            found[edit] = tapes[whose].records[edit.path]
    return found


def _read(model: nn.Module, scenario: Scenario, donor: Donor, field: str) -> Tape:
    device, request = next(model.parameters()).device, Request(source=donor.source, target=donor.target, features=donor.features)
    alone = scenario.model_copy(update={"requests": (request,), "masks": donor.masks, "edits": ()})
    source, recorder = given.source_rows(alone), Recorder()
    rows = pad(given.prompts(alone)).to(device)
    chances = given.chances(alone, [0], rows.values.shape[1])
    inputs = Inputs(rows, source and source.to(device), given.visibility(alone), chances)
    try:
        with torch.no_grad():
            model(inputs, model.initial_state(1), recorder)  # type: ignore[operator]
    except NoVisibleKey as error:
        raise Refused.one(
            field, f"row {error.row}", "at least one visible key a row", f"The donor cannot be read: {error}."
        ) from None
    return recorder.tape.finish()


def named_donors(fields: dict[str, Any], timeline: Timeline) -> dict[str, Any]:
    """A change's fields, where a donor that names a moment of this history ({"moment", "request", "row"}) is replaced by what was
    read there, so that the edit means the same in a link."""
    edits = fields.get("edits")
    if not isinstance(edits, list | tuple):
        return fields
    return {**fields, "edits": [_named(f"fields.edits.{i}", e, timeline) for i, e in enumerate(edits)]}


def _named(field: str, edit: Any, timeline: Timeline) -> Any:
    donor = edit.get("donor") if isinstance(edit, dict) else None
    if not isinstance(donor, dict) or "moment" not in donor:
        return edit
    at, b = donor["moment"], donor.get("request", 0)
    for name, value in (("moment", at), ("request", b)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            given_ = shorten(value)
            message = f"{field}.donor.{name} was given {given_!r}; allowed: a whole number from 0"
            raise Refused.one(f"{field}.donor.{name}", given_, "a whole number from 0", message)
    return {**edit, "donor": {**_tokens_read(f"{field}.donor", timeline.find(at), b, timeline), "row": donor.get("row")}}


def _tokens_read(field: str, moment: Moment, b: int, timeline: Timeline) -> dict[str, Any]:
    place, here = moment.place, timeline.here
    scenario, now = place.everyone, here.place.scenario
    message = ""
    if place.phase == "train" or (place.phase == "prefill" and not place.step):
        message = f"At moment {moment.id} no request was read; name a moment of prefill or decode, or give the donor's tokens."
    elif (scenario.architecture, scenario.task) != (now.architecture, now.task) or moment.weights != here.weights:
        message = f"Moment {moment.id} was read by other weights than are in force here; give the donor's tokens instead."
    elif b >= len(scenario.requests):
        message = f"Moment {moment.id} has {len(scenario.requests)} requests; there is no request {b}."
    if message:
        raise Refused.one(field, moment.id, "a moment of prefill or decode, with the weights of here", message)
    words = given.task_of(scenario).target.words
    decided = place.decided - (place.stage == "choose")
    written = place.written[b].read(decided) if place.written else ()
    request = scenario.requests[b].model_dump(mode="json")
    wrote = [{"special": words[i]} if words[i] in SPECIALS else words[i] for i in written]
    masks = [m.model_dump(mode="json") for m in scenario.masks]
    tokens = {"source": request["source"], "target": [*request["target"], *wrote], "features": request["features"]}
    return {**tokens, "masks": masks}


# ---- refusals


def refuse_edits(scenario: Scenario, taps: Sequence[TapInfo], widths: Mapping[str, int]) -> None:
    """Raise `Refused` for an edit that names no tap, one that has its own command, an index that its axes do not have, or a row
    that its donor does not have.

    `widths`: the size of every axis that is not a row's; an edit may name a row that is not known yet, or not any more.
    """
    by_path = {t.path: t for t in taps if t.type != "parameter"}
    sizes = {**widths, "b": max(len(scenario.requests), scenario.training.batch_size)}
    can = given.spec_of(scenario).capabilities
    sizes |= {"t": can.largest_rows, "t'": can.largest_rows, "s": can.largest_source, "s'": can.largest_source}
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
        if edit.donor is not None:
            yield from _donor_problems(field, edit, edit.donor, tap)


def _donor_problems(field: str, edit: TapEdit, donor: Donor, tap: TapInfo) -> Iterator[Problem]:
    axis = row_axis(tap.axes)
    named = dict(zip(tap.axes, edit.index, strict=False)).get(axis or "")
    if donor.row is not None and named is None:
        message = f"{field} names row {donor.row} of its donor but no row to put it into; name one, or leave it out."
        yield Problem(f"{field}.donor.row", donor.row, "null, where the edit names no row", message)
        return
    row = named if donor.row is None else donor.row
    rows = len(donor.features or donor.source or ()) if (axis or "")[:1] == "s" else len(donor.target) + 1
    if row is not None and row >= rows:
        what = "source" if (axis or "")[:1] == "s" else "target"
        message = f"The donor of {edit.path} is too short: it has {rows} {what} rows, row {row} is not among them."
        yield Problem(f"{field}.donor.row", row, f"0 to {rows - 1}", f"{message} Name another row or a longer donor.")
