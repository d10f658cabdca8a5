"""How a decision is made from a distribution: greedy, or sampling with temperature, top-k and top-p.

Source: 000 0x01A-0x01B; top-p is nucleus sampling (Holtzman et al. 2020, section 3.1).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from app.session.keyed import generator
from app.session.methods import Policy


def tempered(logits: Tensor, policy: Policy) -> Tensor:
    """Probabilities under the temperature, before any cut: `[v]` -> `[v]`."""
    return torch.softmax(logits.double() / policy.temperature, -1)


def cut(probabilities: Tensor, policy: Policy) -> Tensor:
    """After top-k and top-p, renormalised; what is cut off is exactly 0. `[v]` -> `[v]`.

    Greedy keeps the largest alone, and so does a beam for each hypothesis (what it really keeps: `beam.py`). top-p keeps the
    smallest set of largest tokens whose sum reaches p.
    """
    order = torch.argsort(probabilities, descending=True, stable=True)
    if policy.kind != "sample":
        keep = order[:1]
    else:
        ordered = probabilities[order]
        before = ordered.cumsum(0) - ordered
        inside = (before < policy.top_p) | (policy.top_p == 1.0)
        inside[0] = True
        keep = order[inside][: policy.top_k]
    out = torch.zeros_like(probabilities)
    out[keep] = probabilities[keep]
    return out / out.sum()


def divergence(logits: Tensor, other: Tensor, policy: Policy) -> float:
    """KL divergence of the first from the second, sum p log(p / q) in nats, both under the temperature and before any cut."""
    log_p, log_q = (torch.log_softmax(row.double() / policy.temperature, -1) for row in (logits, other))
    return max(0.0, float((log_p.exp() * (log_p - log_q)).sum()))


def readable(logits: Tensor) -> bool:
    """Whether there is a distribution at all: every logit is a number."""
    return finite(logits)


def finite(values: Tensor) -> bool:
    """Whether every number is finite. The sum says so at once, unless it is too large itself."""
    return math.isfinite(float(values.sum())) or bool(torch.isfinite(values).all())


def choose(logits: Tensor, policy: Policy, seed: int, step: int, request: int) -> int:
    """The id that the policy takes at this step for this request. `logits`: `[v]`. The draw is keyed, so it can be made again."""
    probabilities = cut(tempered(logits, policy), policy)
    if policy.kind != "sample":
        return int(probabilities.argmax())
    return int(torch.multinomial(probabilities.cpu(), 1, generator=generator(seed, "sample", step, request)))
