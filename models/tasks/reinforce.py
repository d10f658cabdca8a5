"""How a model learns what to draw: the gradient of a lower bound, estimated from draws (source text 000, section 0x0C.7).

    log p(y | a)  >=  sum_s p(s | a) log p(y | s, a)  =  L_s                          Xu et al. 2015, arXiv 1502.03044, eq. 10
    grad L_s  ~  grad log p(y | s, a) + (log p(y | s, a) - b) grad log p(s | a)      eqs. 11, 12, with one draw s
    b  <-  0.9 b + 0.1 log p(y | s, a)                                               the baseline, from update to update

The first part is the ordinary gradient of the losses. The second is that of `surrogate`, whose value means nothing. What is
climbed is the bound L_s, not the marginal likelihood log p(y | a) itself.
"""

from __future__ import annotations

import torch
from torch import Tensor

from models import Drawn

FOLLOWS = 0.1  # share of the newest reward in the baseline


def rewards(losses: Tensor, loss_rows: Tensor) -> Tensor:
    """log p(y | s, a) of each request: losses in nats and which count, both `[b, t]` -> `[b]`, without a graph."""
    return -torch.where(loss_rows, losses, 0.0).sum(-1).detach()


def surrogate(losses: Tensor, loss_rows: Tensor, drawn: Drawn) -> Tensor:
    """A scalar whose gradient is minus the REINFORCE part, per row that counts, as the mean loss is."""
    better = rewards(losses, loss_rows) - drawn.baseline.detach()
    return -drawn.weight * (better * drawn.log_p.sum(-1)).sum() / loss_rows.sum().clamp(min=1)


def settle(losses: Tensor, loss_rows: Tensor, drawn: Drawn) -> None:
    """Let the baseline follow the mean reward of a batch, when its update is done."""
    drawn.baseline.data = (1 - FOLLOWS) * drawn.baseline.data + FOLLOWS * rewards(losses, loss_rows).mean()
