"""Reach of a choice: the norm of d log p(choice) / d input vector, for every row that was read. One test for every architecture.

The vector of a row is the first that its model makes of its id (or of its features); a zero is added to it at its tap, and log p
of the chosen token at the decision row is differentiated by that zero. It says how much the choice would move with a small change
of the row, along whatever way there is: reads, states, convolutions. It does not say why (000 0x04J). Edits are in force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from app.session import given
from app.session.analyses import Result, Run, one_request, whole
from app.session.events import Check, Refused
from app.session.reading import listening
from app.session.scenario import Scenario
from models import Outputs, Rows
from models.parts.tap import Tap
from models.parts.tape import SemanticType
from models.tasks.objective import deciding, decision_rows

NAME = "choice_reach"
TITLE = "How much a choice moves with each row that was read"
ARGUMENTS = {"request": "a request, from 0", "token": "the id whose log p is differentiated; left out, the likeliest"}


class Entering:
    """A tap that adds a zero to the first vectors of each owner's rows. found: these zeros by owner, `[1, rows, width]`."""

    def __init__(self, behind: Tap, found: dict[str, Tensor], stepping: bool = False) -> None:
        self._behind, self._found, self._stepping = behind, found, stepping

    def __call__(self, name: str, value: Tensor, axes: str, type: SemanticType = "hidden") -> Tensor:
        value = self._behind(name, value, axes, type)
        letters = axes.split()
        owner = letters[1] if len(letters) == 3 else ""
        if self._stepping or type != "hidden" or letters[0] != "b" or owner not in ("s", "t") or owner in self._found:
            return value
        self._found[owner] = torch.zeros_like(value, requires_grad=True)
        return value + self._found[owner]

    def __truediv__(self, name: str) -> Entering:
        return Entering(self._behind / name, self._found, self._stepping)

    def at(self, axis: str, index: int) -> Entering:
        return Entering(self._behind.at(axis, index), self._found, True)

    def show(self, name: str, make: Callable[[], Tensor], axes: str, type: SemanticType = "hidden") -> None:
        self._behind.show(name, make, axes, type)


def _deciding(scenario: Scenario, out: Outputs, target: Rows, source: Rows | None) -> Tensor:
    """The logits `[v]` that a choice is made from; where nothing is written those of the first row that decides."""
    if out.kind == "next_token" or source is None:
        return out.values[0, int(decision_rows(target.lengths)[0])]
    rows = deciding(out, source, given.hidden_id(scenario))[0]
    if not rows:
        raise Refused.one("request", 0, "a request with a masked word", "No word is masked, so none is chosen. Mask one first.")
    return out.values[0] if rows[0] is None else out.values[0, rows[0]]


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """L2 norms by owner and row, of the request's known rows; `None` for an owner whose rows never enter as vectors."""
    scenario = run.place.scenario
    if run.place.phase == "train":
        allowed = "prefill or decode"
        raise Refused.one("phase", "train", allowed, f"The reach of a choice is measured in {allowed}.")
    model, target, source = one_request(run, arguments, NAME)
    found: dict[str, Tensor] = {}
    request = arguments.get("request", 0)
    with torch.enable_grad():
        heard = Entering(listening(model, scenario, [0], None), found)
        out, _ = model(given.inputs(scenario, target, source, [0], [request]), model.initial_state(1), heard)  # type: ignore[operator]
        logits = _deciding(scenario, out, target, source)
        token = whole(arguments, "token", 0, logits.shape[0] - 1, None)
        token = int(logits.argmax()) if token is None else token
        log_p = torch.log_softmax(logits, -1)[token]
        yield 0.5
        owners = sorted(found)
        grads = torch.autograd.grad(log_p, [found[o] for o in owners], allow_unused=True)
    norms = {o: None if g is None else g[0].double().norm(dim=-1).tolist() for o, g in zip(owners, grads, strict=True)}
    rows = {"s": None, "t": None, **norms}
    yield Result({"request": request, "token": token, "log_p": float(log_p.detach()), "rows": rows, "norm": "L2"})
