"""The gradient's way back through a time loop: what each link does to it, and how much of it arrives at each state.

For a state s (all that one scope carries: h, or h and c together) of one training sequence:

    link       ||d s_t / d s_(t-1)||                                spectral norm of one step's Jacobian
    product    ||d s_r / d s_t|| = ||J_r ... J_(t+1)||              from a row r back, measured as a whole
    bound      ||J_r|| ... ||J_(t+1)||                              what the product can be at most
    gradient   ||d L / d s_t||                                      of the batch's loss, this sequence's part, from all rows
    signal     ||d L_r / d s_t||                                    of the loss of row r alone

000 0x03B; Pascanu et al. 2013, arXiv 1211.5063. Where truncation cuts the loop, a link is None, and nothing passes it. By
autograd, with the parameters that the update began with; `state_jacobian.py` says how a state is nudged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from app.session import given
from app.session.analyses import Result, Run, one_request, whole
from app.session.analyses.state_jacobian import Nudged, Nudging, Steps, by_nudges, jacobian, spectral
from app.session.events import Check, Refused
from app.session.reading import listening
from models import Inputs
from models.tasks.objective import row_losses

NAME = "gradient_through_time"
TITLE = "How the gradient goes back through the time loop"
ARGUMENTS = {"request": "a sequence of the batch, from 0", "row": "whose loss is followed; left out, the last that counts"}


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """By scope and row; and the loss of each row (None: it does not count)."""
    if run.place.phase != "train" or run.update is None or run.update.lesson is None:
        raise Refused.one("name", NAME, "an update with its batch", "A gradient goes back in training. Step to a batch there.")
    if given.task_of(run.place.scenario).objective != "next_token":
        raise Refused.one("name", NAME, "a task that writes a target", "Here no target rows follow each other in time.")
    model, target, source = one_request(run, arguments, NAME)
    request, lesson, count = arguments.get("request") or 0, run.update.lesson, target.values.shape[1]
    chosen, found = whole(arguments, "row", 0, count - 1, None), dict[tuple[str, str], Steps]()
    with torch.enable_grad():
        heard = Nudging(listening(model, run.place.scenario, [0], None), found)
        inputs = Inputs(target, source, given.visibility(run.place.scenario))
        outputs, _ = model(inputs, model.initial_state(1), heard)  # type: ignore[operator]
        counts = lesson.loss_rows[request, :count]
        losses = torch.where(counts, row_losses(outputs.values, lesson.labels[request : request + 1, :count])[0], 0.0)
        losses = losses / lesson.loss_rows.sum()
    row = int(counts.nonzero().max()) if chosen is None else chosen
    loops = {scope: steps for (scope, owner), steps in found.items() if owner == "t" and list(steps) == list(range(count))}
    told = list[dict[str, Any]]()
    for scope, steps in loops.items():
        columns = list[dict[str, float | None]]()
        for column in _backwards(steps, losses, row):
            columns.append(column)
            yield (len(columns) / count + len(told)) / len(loops)
        names = [n.name for n in steps[0]]
        told.append({"scope": scope, "states": names} | {key: [c[key] for c in columns[::-1]] for key in columns[0]})
    unscaled = (losses.detach() * lesson.loss_rows.sum()).tolist()
    shown = [x if c else None for x, c in zip(unscaled, counts.tolist(), strict=True)]
    ids = target.values[0].tolist()
    yield Result({"request": request, "row": row, "losses": shown, "ids": ids, "scopes": told, "truncate": _truncation(run)})


def _truncation(run: Run) -> int:
    """After how many rows the loop is cut; 0: never, or the model has no such setting."""
    return int(run.place.scenario.config.get("truncate", 0))


def _backwards(steps: Steps, losses: Tensor, row: int) -> Iterator[dict[str, float | None]]:
    """From the last row to the first."""
    product: Tensor | None = None
    bound: float | None = None
    after: list[Nudged] | None = None
    for t in reversed(steps):
        own = by_nudges(steps[t], steps[t])
        step = None if after is None else jacobian(after, steps[t])  # from this row to the one after it
        if t == row:
            product, bound = torch.eye(0), 1.0
        elif t < row and product is not None:
            product = None if step is None else step if not product.numel() else product @ step
            bound = None if step is None or bound is None else bound * (spectral(step) or 0.0)
        yield {
            "links": spectral(step),
            "products": 1.0 if t == row else spectral(product) if t < row else None,
            "bounds": bound if t <= row else None,
            "gradients": _reaches(losses.sum(), steps[t], own),
            "signals": _reaches(losses[row], steps[t], own) if t <= row else None,
        }
        after = steps[t]


def _reaches(loss: Tensor, states: list[Nudged], own: Tensor | None) -> float:
    """||d loss / d states||: the gradient of the nudges, what they do to their own step taken out again."""
    zeros = [n.zero for n in states]
    parts = torch.autograd.grad(loss, zeros, retain_graph=True, allow_unused=True)
    gradient = torch.cat([torch.zeros_like(z[0]) if p is None else p[0] for p, z in zip(parts, zeros, strict=True)]).double()
    return float((gradient if own is None else torch.linalg.solve(own.T, gradient)).norm())
