"""How a recurrent state passes a change on: the norm of d state_t / d state_(t-1), and of their product from one row on.

A state is all that one scope carries in a loop: h, or h and c together. The spectral norm is the largest factor by which one step
can stretch a small change of the state before it; above 1 a change may grow, far below 1 it is forgotten. It is what the gradient
through time is multiplied by (000 0x03B; Pascanu et al. 2013, arXiv 1211.5063).

By autograd, on the running model, at the states of this moment: a zero is added to every state at its tap, and the states of the
step after are differentiated by it. Within a step one state may be made of another (h of c), so that nudging c moves h too; what
the nudges do to the states of their own step is measured as well and taken out again. Edits at taps are in force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from app.session import given
from app.session.analyses import Result, Run, one_request, whole
from app.session.events import Check
from app.session.reading import listening
from models import Inputs
from models.parts.tap import Step, Tap
from models.parts.tape import SemanticType

NAME = "state_jacobian"
TITLE = "How much a state passes on from row to row"
ARGUMENTS = {
    "request": "a request, in training a sequence of the batch, from 0",
    "since": "a row, from 0: products from there on",
}


class Nudged(NamedTuple):
    """One state of one step `[1, n]` with the zero that was added to it."""

    name: str
    value: Tensor
    zero: Tensor


Steps = dict[int, list[Nudged]]  # by row, in the order in which the loop went


class Nudging:
    """A tap that adds a zero to every state of a loop, and keeps both. found: by scope."""

    def __init__(self, behind: Tap, found: dict[tuple[str, str], Steps], prefix: str = "", step: Step | None = None) -> None:
        self._behind, self._found, self._prefix, self._step = behind, found, prefix, step

    def __call__(self, name: str, value: Tensor, axes: str, type: SemanticType = "hidden") -> Tensor:
        value = self._behind(name, value, axes, type)
        if self._step is None or type != "state" or value.ndim != 2:
            return value
        zero = torch.zeros_like(value, requires_grad=True)
        value = value + zero
        owner, row = self._step
        steps = self._found.setdefault((self._prefix.rstrip("."), owner), {})
        steps.setdefault(row, []).append(Nudged(name, value, zero))
        return value

    def __truediv__(self, name: str) -> Nudging:
        return Nudging(self._behind / name, self._found, f"{self._prefix}{name}.", self._step)

    def at(self, axis: str, index: int) -> Nudging:
        return Nudging(self._behind.at(axis, index), self._found, self._prefix, (axis, index))

    def show(self, name: str, make: Callable[[], Tensor], axes: str, type: SemanticType = "hidden") -> None:
        self._behind.show(name, make, axes, type)


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """For each scope that carries a state: spectral norms by row (None: nothing before it), and of the product since a row."""
    model, target, source = one_request(run, arguments, NAME)
    longest = max(target.values.shape[1], 0 if source is None else source.values.shape[1])
    since = whole(arguments, "since", 0, longest - 1, None)
    found: dict[tuple[str, str], Steps] = {}
    with torch.enable_grad():
        heard = Nudging(listening(model, run.place.scenario, [0], None), found)
        model(Inputs(target, source, given.visibility(run.place.scenario)), model.initial_state(1), heard)  # type: ignore[operator]
    count, done, scopes = sum(map(len, found.values())), 0, list[dict[str, Any]]()
    for (scope, owner), steps in found.items():
        norms, products = dict[int, float | None](), dict[int, float | None]()
        for row, norm, product in _norms(steps, since):
            norms[row], products[row], done = norm, product, done + 1
            yield done / count
        names = [n.name for n in next(iter(steps.values()))]
        order = "forward" if list(steps) == sorted(steps) else "backward"
        told = {"scope": scope, "owner": owner, "states": names, "order": order}
        by_row = [[values[row] for row in sorted(values)] for values in (norms, products)]
        scopes.append(told | {"norms": by_row[0], "products": by_row[1]})
    ids = {"t": target.values[0].tolist(), "s": None if source is None else source.values[0].tolist()}
    yield Result({"norm": "spectral", "request": arguments.get("request", 0), "since": since, "ids": ids, "scopes": scopes})


def _norms(steps: Steps, since: int | None) -> Iterator[tuple[int, float | None, float | None]]:
    """Row by row as the loop went: the norm of its step, and of the product of all steps after row `since`."""
    before: list[Nudged] | None = None
    product: Tensor | None = None
    began = False
    for row, states in steps.items():
        step = None if before is None else jacobian(states, before)
        if began:
            product = step if product is None or step is None else step @ product
        yield row, spectral(step), spectral(product) if began else None
        before, began = states, began or row == since


def jacobian(states: Sequence[Nudged], before: Sequence[Nudged]) -> Tensor | None:
    """d states / d states before `[n, n]` (fp64); None where the graph between them was cut, so that no gradient goes there."""
    there = by_nudges(states, before)
    own = by_nudges(before, before)
    if there is None or own is None:
        return None
    return torch.linalg.solve(own.T, there.T).T


def by_nudges(of: Sequence[Nudged], by: Sequence[Nudged]) -> Tensor | None:
    """d of / d the zeros that were added to `by` `[n, n]`."""
    with torch.enable_grad():
        whole = torch.cat([n.value[0] for n in of])
    rows = torch.eye(len(whole), dtype=whole.dtype, device=whole.device)
    zeros = [n.zero for n in by]
    parts = torch.autograd.grad(whole, zeros, rows, retain_graph=True, allow_unused=True, is_grads_batched=True)
    if all(p is None for p in parts):
        return None
    columns = [whole.new_zeros(len(whole), z.shape[-1]) if p is None else p[:, 0] for p, z in zip(parts, zeros, strict=True)]
    return torch.cat(columns, -1).double()


def spectral(matrix: Tensor | None) -> float | None:
    """The spectral norm; None where no gradient goes."""
    return None if matrix is None else float(torch.linalg.matrix_norm(matrix, 2))
