"""Invariants that a recording must satisfy. Each check measures what it claims on the values that were recorded.

What needs further model calls (cached = full prefix, no future leak) is an analysis; until it ran it stands here as pending,
or as 'does not apply' with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import torch
from torch import Tensor

from app.session import given
from app.session.events import Check, Status
from app.session.leak import causal, labels_in_sight
from app.session.policy import finite
from app.session.reading import Call
from app.session.scenario import Scenario
from app.session.updating import Update
from models.parts.tape import Tape

SHARES = "Σ of what is left = state"
TOLERANCE = 1e-5
NO_LEAK = "no future leak"
BAND = "as a band = as a masked matrix"
ALONE = "batch = each request alone"
SLOPES = "∇ = finite difference"
NOISE = "the baseline calms the gradient"
ASKED = frozenset({"finite_difference", "draw_noise"})  # measured only where a person asks for it: it takes dozens of model calls


def of_calls(calls: Sequence[Call]) -> list[Check]:
    """What the reads of prefill and decode must satisfy."""
    return [_rows_sum(calls), _hidden_weigh_nothing(calls), _finite([c.tape for c in calls])]


def small(value: float) -> str:
    """A difference, as short as can be: "6e-8", "0"."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞"
    return "0" if value == 0 else f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e+")


def worse(one: Check, other: Check) -> Check:
    """Of the same check on two calls, the one that says more: a failure before all, then one that applies."""
    order = ("fail", "pass", "pending", "does_not_apply")
    return min(one, other, key=lambda c: order.index(c.status))


def of_update(update: Update) -> list[Check]:
    """Checks on an update, as far as its stages are done."""
    found = []
    if update.outputs is not None:
        count = len(update.examples)
        call = Call("forward", update.tape, (0,) * count, _lengths(update), 0.0, True, tuple(range(count)))
        found += [_rows_sum([call]), _hidden_weigh_nothing([call]), _finite([update.tape])]
        found += [_labels_hidden(update)] if given.writes(update.scenario) else []
    if update.norms is not None:
        found += [_uncounted_rows(update), _score_gradients(update.tape)]
        drawn = update.outputs is not None and update.outputs.drawn is not None
        estimated = "a gradient through a draw is an estimate" if drawn else ""
        found += [Check("finite_difference", SLOPES, "does_not_apply" if drawn else "pending", "", "measured", estimated)]
        found += [Check("draw_noise", NOISE, "pending", "", "measured")] if drawn else []
    return found


def on_demand(scenario: Scenario) -> Iterator[Check]:
    """The checks that an analysis measures: pending, or not applicable with the reason."""
    yield from _band(scenario)
    if not given.writes(scenario):
        reason = "one call reads all of it"
        yield Check("cached_equals_full", "cached = full prefix", "does_not_apply", "", "measured", reason)
        yield Check("no_future_leak", NO_LEAK, "does_not_apply", "", "measured", reason)
        yield from _alone(scenario)
        return
    later = relations_that_see_later(scenario)
    reason = f"a row may read a later one in “{', '.join(later)}”, which a cache cannot hold yet" if later else ""
    status: Status = "does_not_apply" if later else "pending"
    yield Check("cached_equals_full", "cached = full prefix", status, "", "measured", reason)
    yield Check("no_future_leak", NO_LEAK, "pending", "", "measured")
    yield from _alone(scenario)


def _band(scenario: Scenario) -> Iterator[Check]:
    """Of a model whose reads are windows: that a band computes the same."""
    windows = [r for r in given.spec_of(scenario).relations if r.default.program == "sliding"]
    seen = [v for r in windows for v in given.visibility(scenario)[r.name]]
    if any(v.program != "sliding" or v.cells for v in seen):
        reason = "a mask of yours is no window, or has cells of its own, which a band has no place for"
        yield Check("banded", BAND, "does_not_apply", "", "measured", reason)
    elif windows:
        yield Check("banded", BAND, "pending", "", "measured")


def _alone(scenario: Scenario) -> Iterator[Check]:
    if given.spec_of(scenario).carries(given.config_of(scenario)):
        yield Check("state_shares", SHARES, "pending", "", "measured")
    if "schedule" in scenario.config:
        yield Check("schedules", "both schedules agree", "pending", "", "measured")
    if len(scenario.requests) > 1:
        yield Check("batch_equals_alone", ALONE, "pending", "", "measured")


def relations_that_see_later(scenario: Scenario) -> list[str]:
    """Titles of the reads of target rows by target rows in which some row of some layer may read a later one."""
    spec, seen = given.spec_of(scenario), given.visibility(scenario)
    own = [r for r in spec.relations if r.query == "t" and r.key == "t"]
    return [r.title for r in own if not all(causal(v, spec.capabilities.largest_rows) for v in dict.fromkeys(seen[r.name]))]


def _lengths(update: Update) -> tuple[int, ...]:
    assert update.lesson is not None
    return tuple(update.lesson.inputs.lengths.tolist())


def _weights(call: Call) -> Iterator[tuple[str, Tensor, Tensor | None]]:
    """Every map of weights with its mask, its padded queries left out: `[b, h, q, k]`, mask `[b, q, k]`."""
    for path, record in call.tape.records.items():
        if record.type != "weights" or not record.value.numel():
            continue
        scope = path.rpartition(".")[0]
        masks = [r.value for name in ("mask", "window") if (r := call.tape.records.get(f"{scope}.{name}")) is not None]
        yield path, record.value, reduce(torch.logical_and, masks) if masks else None


def _rows_sum(calls: Sequence[Call]) -> Check:
    """Each row of weights that may read anything sums to 1."""
    worst, place, seen, edited = 0.0, dict[str, Any](), False, False
    for call in calls:
        for path, weights, mask in _weights(call):
            off = (weights.sum(-1) - 1).abs()
            if mask is not None:
                off = torch.where(mask.any(-1)[:, None], off, 0.0)
            largest, seen = float(off.max()), True
            if largest > worst or math.isnan(largest):
                worst, place, edited = largest, _cell(call, path, off), call.tape.records[path].unedited is not None
    if not seen:
        loose = any(r.type == "coefficients" and p.endswith(".weights") for c in calls for p, r in c.tape.records.items())
        reason = "coefficients need not sum to 1" if loose else "no weights were read"
        return Check("rows_sum", "rows sum to 1", "does_not_apply", "", "measured", reason)
    status: Status = "pass" if worst <= TOLERANCE else "fail"
    reason = "an edit sets weights there" if edited and status == "fail" else ""
    return Check("rows_sum", "rows sum to 1", status, f"max |Σ−1| {small(worst)}", "measured", reason, place)


def _cell(call: Call, path: str, off: Tensor) -> dict[str, Any]:
    """Where the largest of `[b, h, q]` or `[b, h, q, k]` lies, in absolute rows; of `[b]` (no row asked): whose."""
    largest = int(torch.where(off.isnan(), torch.inf, off).argmax())
    at, *cell = (int(i) for i in torch.unravel_index(torch.tensor(largest), off.shape))
    if not cell:
        return {"path": path, "request": call.requests[at]}
    head, row, *key = cell
    start = call.starts[at] if "t" in call.tape.records[path].axes else 0
    return {"path": path, "request": call.requests[at], "head": head, "row": row + start, **({"key": key[0]} if key else {})}


def _hidden_weigh_nothing(calls: Sequence[Call]) -> Check:
    """Every hidden cell weighs exactly 0."""
    hidden, wrong, place = 0, 0, dict[str, Any]()
    for call in calls:
        for path, weights, mask in _weights(call):
            if mask is None:
                continue
            open_ = int(mask.count_nonzero())
            if open_ == mask.numel():
                continue
            seen = weights.masked_fill(mask[:, None], 0.0)
            bad = int(seen.count_nonzero())
            hidden += (mask.numel() - open_) * (weights.numel() // mask.numel())
            wrong, place = wrong + bad, _cell(call, path, seen.abs()) if bad else place
    if not hidden:
        return Check("hidden_zero", "hidden cells weigh 0", "does_not_apply", "", "exact", "none in this step")
    status: Status = "fail" if wrong else "pass"
    return Check("hidden_zero", "hidden cells weigh 0", status, f"{hidden - wrong} of {hidden}", "exact", "", place)


def first_not_finite(tape: Tape) -> str | None:
    """The first recorded floating-point value, in forward order, that holds NaN or infinity."""
    numbers = {p: r.value for p, r in tape.records.items() if r.value.is_floating_point()}
    if not numbers or finite(torch.cat([v.reshape(-1) for v in numbers.values()])):
        return None
    return next(p for p, v in numbers.items() if not bool(torch.isfinite(v).all()))


def first_gradient_not_finite(tape: Tape) -> str | None:
    """The recorded value whose gradient, as the first that the backward pass reached, holds NaN or infinity."""
    return next((p for p, g in tape.gradients.items() if not bool(torch.isfinite(g).all())), None)


def _labels_hidden(update: Update) -> Check:
    """No counted row may see its own label, as far as the masks go."""
    assert update.lesson is not None
    found, count = labels_in_sight(update.scenario, update.lesson), int(update.lesson.loss_rows.sum())
    claim = "no row sees its own label"
    if not found:
        return Check("labels_hidden", claim, "pass", f"{count} of {count} rows", "exact")
    reason = f"the mask lets row {found[0][1]} of sequence {found[0][0]} see the token that it must predict"
    place = {"request": found[0][0], "row": found[0][1]}
    return Check("labels_hidden", claim, "fail", f"{len(found)} of {count} rows do", "exact", reason, place)


def largest(tape: Tape) -> str:
    """The recorded floating-point value with the largest number in it, said in words."""
    sizes = {p: float(r.value.abs().max()) for p, r in tape.records.items() if r.value.is_floating_point() and r.value.numel()}
    path = max(sizes, key=sizes.__getitem__)
    return f"the largest number is {sizes[path]:.3g} in {path}"


def _finite(tapes: Sequence[Tape]) -> Check:
    for tape in tapes:
        path = first_not_finite(tape)
        if path:
            return Check("finite", "all finite", "fail", path, "measured", "", {"path": path})
    count = sum(len(t.records) for t in tapes)
    return Check("finite", "all finite", "pass", f"{count} of {count} tensors", "measured")


def _uncounted_rows(update: Update) -> Check:
    """Rows that do not count in the loss send no gradient: d loss / d logits is exactly 0 there."""
    assert update.lesson is not None
    path = logits_path(update.tape)
    gradient = update.tape.gradients.get(path or "")
    out = ~update.lesson.loss_rows
    claim = "rows outside the loss send 0"
    if gradient is None or not bool(out.any()):
        reason = "every row counts" if gradient is not None else "the logits were not recorded"
        return Check("uncounted_rows", claim, "does_not_apply", "", "exact", reason)
    silent = int((gradient[out] == 0).all(-1).sum())
    total = int(out.sum())
    return Check("uncounted_rows", claim, "pass" if silent == total else "fail", f"{silent} of {total}", "exact")


def _score_gradients(tape: Tape) -> Check:
    """A softmax does not change when all scores of a row move together, so that their gradients sum to 0."""
    claim, worst, place = "Σ ∂L/∂score of a row = 0", -1.0, ""
    for path, record in tape.records.items():
        if record.type == "scores" and path in tape.gradients:
            gradient = tape.gradients[path]
            off = float(gradient.sum(-1).abs().max() / gradient.abs().max().clamp(min=1))
            if off > worst or math.isnan(off):
                worst, place = off, path
    if worst < 0:
        return Check("score_gradients", claim, "does_not_apply", "", "measured", "no scores")
    status: Status = "pass" if worst <= TOLERANCE else "fail"
    return Check("score_gradients", claim, status, f"max |Σ| {small(worst)}", "measured", "", {"path": place})


def logits_path(tape: Tape) -> str | None:
    """The path of the last recorded logits."""
    return next((p for p, r in reversed(tape.records.items()) if r.type == "logits"), None)
