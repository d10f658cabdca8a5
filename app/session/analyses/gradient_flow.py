"""Gradient flow: for every row that predicts, how much its prediction moves with the vector of every row that was read.

norm of d log p(the next token) / d x_j, for the token that follows each row (for the newest row, the likeliest); where nothing is
written, of the likeliest answer: of each row or frame, or the one class. One matrix for any architecture, by autograd on the
running model: what a read, a state, a convolution or a residual path lets through, all together (000 0x03B, 0x06C).
`choice_reach` is one row of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from app.session import given
from app.session.analyses import Result, Run, one_request
from app.session.analyses.choice_reach import Entering
from app.session.events import Check, Refused
from app.session.reading import listening

NAME = "gradient_flow"
TITLE = "How much every row's prediction moves with every row that was read"
ARGUMENTS = {"request": "a request, from 0"}
MOST = 64  # rows that predict; a further one costs a further backward pass


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """norms: by owner of the rows that were read, `[rows that predict][rows]`; first: the number of the first that predicts."""
    scenario = run.place.scenario
    if run.place.phase == "train":
        allowed = "prefill or decode"
        raise Refused.one("phase", run.place.phase, allowed, f"Gradient flow is measured in {allowed}.")
    model, target, source = one_request(run, arguments, NAME)
    request, found = arguments.get("request", 0), dict[str, torch.Tensor]()
    with torch.enable_grad():
        heard = Entering(listening(model, scenario, [0], None), found)
        out, _ = model(given.inputs(scenario, target, source, [0], [request]), model.initial_state(1), heard)  # type: ignore[operator]
        log_p = torch.log_softmax(out.values[0], -1).reshape(-1, out.values.shape[-1])  # a class has no rows: it is one
        n, likeliest = len(log_p), log_p.argmax(-1).tolist()
        following = [*target.values[0, 1:].tolist(), likeliest[-1]] if given.writes(scenario) else likeliest
        first, owners = max(0, n - MOST), sorted(found)
        norms: dict[str, list[list[float]]] = {owner: [] for owner in owners}
        for row in range(first, n):
            one = log_p[row, following[row]]
            grads = torch.autograd.grad(one, [found[o] for o in owners], retain_graph=True, allow_unused=True)
            for owner, grad in zip(owners, grads, strict=True):
                size = found[owner].shape[1]
                norms[owner].append([0.0] * size if grad is None else grad[0].double().norm(dim=-1).tolist())
            yield (row - first + 1) / (n - first)
    yield Result({"request": request, "first": first, "norms": norms, "following": following[first:]})
