"""What a BatchNorm's rows do to each other, measured on this run's own rows: by the call's statistics, and by running ones.

The same rows run with padding behind them, each request without the others, and one row alone as two different tokens; and all
rows by running statistics in place of the batch's (Ioffe and Szegedy 2015, arXiv 1502.03167, section 3.1). Edits are left aside.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from app.session import given
from app.session.analyses import Result, Run
from app.session.checks import small
from app.session.checks_parts import NEIGHBOURS, NEIGHBOURS_CLAIM, broken
from app.session.events import Check, Refused, Status
from app.session.scenario import Scenario
from models import Inputs, Rows
from models.parts import norms
from models.parts.tap import OFF
from models.tasks.objective import pad

NAME = NEIGHBOURS
TITLE = "What the rows of a BatchNorm do to each other"
ARGUMENTS: dict[str, str] = {}
PADDING = 4  # rows behind the longest request
TOLERANCE = 1e-4


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """Largest difference of a logit of any real row, by kind of statistics: padding, alone (None: one request), one; running."""
    scenario = run.place.scenario
    if not norms.batch_norms(run.model):
        raise Refused.one("name", NAME, "a model with BatchNorm", "No norm here is over rows: set Norm kind to BatchNorm.")
    if run.place.phase == "train":
        raise Refused.one(
            "phase", "train", "prefill or decode", "This is measured on the rows of requests: enter prefill or decode."
        )
    target, source = _rows(run)
    kinds = {"batch": _reading(run.model, now=True), "running": _reading(run.model, now=False)}
    found: dict[str, dict[str, float | None]] = {}
    for done, (kind, model) in enumerate(kinds.items(), 1):
        found[kind] = _disturbed(model, scenario, target, source)
        yield done / 3
    by_batch, by_running = (_logits(m, scenario, target, source) for m in kinds.values())
    uses = "batch" if broken(scenario, "padding") else "running"
    worst = max(v for name in ("padding", "alone") if (v := found[uses][name]) is not None)
    status: Status = "pass" if worst <= TOLERANCE else "fail"
    yield Check(NAME, NEIGHBOURS_CLAIM, status, f"max |Δlogit| {small(worst)}", "measured", broken(scenario, "padding"))
    told = [{"name": n, **_apart(*pair)} for n, pair in _moments(run.model, scenario, target, source).items()]
    rows = target if target.values.shape[1] or source is None else source
    yield Result(
        {
            **found,
            "between": max(
                (float((a - b).abs().max()) for a, b in zip(by_batch, by_running, strict=True) if a.numel()), default=0.0
            ),
            "norms": told,
            "rows": rows.values.shape[0] * rows.values.shape[1],
            "real": int(rows.lengths.sum()),
            "padding": PADDING,
            "uses": uses,
        }
    )


def _rows(run: Run) -> tuple[Rows, Rows | None]:
    scenario, prompts = run.place.scenario, given.prompts(run.place.scenario)
    written = [w.read(run.place.decided) for w in run.place.written] or [()] * len(prompts)
    source = given.source_rows(scenario)
    target = pad([[*p, *w] for p, w in zip(prompts, written, strict=True)]).to(run.device)
    return target, None if source is None else source.to(run.device)


def _reading(model: nn.Module, now: bool) -> nn.Module:
    """The same weights and running statistics, every BatchNorm by the rows of the call or by the running statistics."""
    other = copy.deepcopy(model)
    for norm in norms.batch_norms(other).values():
        norm.now = now
    return other


def _logits(model: nn.Module, scenario: Scenario, target: Rows, source: Rows | None) -> list[Tensor]:
    """Of each request what is said of its real rows."""
    with torch.no_grad():
        inputs = Inputs(target, source, given.visibility(scenario))
        out, _ = model(inputs, model.initial_state(len(target.lengths)), OFF)  # type: ignore[operator]
    if out.kind == "class":
        return list(out.values)
    lengths = target.lengths if out.kind == "next_token" else source.lengths if source is not None else target.lengths
    return [row[:n] for row, n in zip(out.values, lengths.tolist(), strict=True)]


def _disturbed(model: nn.Module, scenario: Scenario, target: Rows, source: Rows | None) -> dict[str, float | None]:
    plain, count = _logits(model, scenario, target, source), len(target.lengths)
    wide = _logits(model, scenario, _padded(target), None if source is None else _padded(source))
    alone = [_logits(model, scenario, _only(target, b), None if source is None else _only(source, b))[0] for b in range(count)]
    return {
        "padding": _largest(plain, wide),
        "alone": _largest(plain, alone) if count > 1 else None,
        "one": _one_row(model, scenario, target, source),
    }


def _one_row(model: nn.Module, scenario: Scenario, target: Rows, source: Rows | None) -> float | None:
    """A call of one row: how far its logits move when its token is another. None: the model reads a source as well."""
    if source is not None and target.values.shape[1]:
        return None
    rows = target if source is None else source
    if rows.values.ndim > 2 or not rows.values.shape[1]:
        return None
    one = Rows(rows.values[:1, -1:], torch.ones_like(rows.lengths[:1]))
    other = Rows(torch.where(one.values == 5, 6, 5), one.lengths)
    empty = Rows(target.values[:1, :0], torch.zeros_like(target.lengths[:1]))
    said = [_logits(model, scenario, x if source is None else empty, None if source is None else x) for x in (one, other)]
    return _largest(*said)


def _largest(some: list[Tensor], others: list[Tensor]) -> float:
    return max((float((a - b).abs().max()) for a, b in zip(some, others, strict=True) if a.numel()), default=0.0)


def _padded(rows: Rows) -> Rows:
    if not rows.values.shape[1]:
        return rows
    return Rows(torch.cat((rows.values, rows.values[:, :1].repeat_interleave(PADDING, 1)), 1), rows.lengths)


def _only(rows: Rows, b: int) -> Rows:
    return Rows(rows.values[b : b + 1, : int(rows.lengths[b])], rows.lengths[b : b + 1])


def _moments(
    model: nn.Module, scenario: Scenario, target: Rows, source: Rows | None
) -> dict[str, tuple[norms.BatchNorm, norms.Seen]]:
    """By name: a norm with its running statistics, and what it measures of these rows."""
    other = copy.deepcopy(model)
    with norms.teaching(other) as seen:
        _logits(other, scenario, target, source)
    first: dict[int, norms.Seen] = {}
    for one in seen:
        first.setdefault(id(one.norm), one)
    return {name: (norm, first[id(norm)]) for name, norm in norms.batch_norms(other).items() if id(norm) in first}


def _apart(norm: norms.BatchNorm, seen: norms.Seen) -> dict[str, float]:
    """Mean over the places: |running mean - mean of these rows|, and both deviations."""
    return {
        "off": float((norm.running_mean - seen.mean).abs().mean()),
        "deviation": float(seen.variance.sqrt().mean()),
        "running": float(norm.running_variance.sqrt().mean()),
    }
