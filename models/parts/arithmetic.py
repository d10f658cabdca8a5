"""How a mask enters a softmax: what makes weights of scores.

    additive      softmax(S + M), M = 0 or -inf: a hidden key has no part in the sum
    multiply      softmax(S) R, R = 1 or 0: hidden keys stay in the normaliser; what is left need not sum to 1
    renormalise   the same, divided by what is left: as the first, as long as anything is left

Source: 000 0x04B, 0x09 (a mask is composed before softmax). Each class makes the weights of scores `[b, h, q, k]` under a
`Readable` and asks the tap for each moment of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from models.parts.formulas import Formula
from models.parts.tap import Tap

if TYPE_CHECKING:
    from models.parts.attention import Readable


class Additive:
    """The way of every published model."""

    latex = r"\operatorname{softmax}(S + M)"
    leaks = False

    def weights(self, scores: Tensor, may_read: Readable, axes: str, tap: Tap) -> Tensor:
        return tap("weights", may_read.softmax(scores), axes, "weights")

    def formulas(self, at: str) -> tuple[Formula, ...]:
        return ()


class Multiply:
    """Scores of keys that may not be read, of later rows and of padding too, still take their share of the sum."""

    latex = r"\operatorname{softmax}(S) \odot R"
    leaks = True

    def weights(self, scores: Tensor, may_read: Readable, axes: str, tap: Tap) -> Tensor:
        spread = tap("spread", torch.softmax(scores, -1), axes, "probabilities")
        return tap("weights", torch.where(may_read.mask[:, None], spread, 0.0), axes, "coefficients")

    def formulas(self, at: str) -> tuple[Formula, ...]:
        return (Formula(f"{at}.spread", r"P = \operatorname{softmax}(S)", "shares of all keys, hidden ones too"),)


class Renormalise:
    """What hidden keys took is given back. Where the softmax left visible keys nothing (it underflows), a row reads nothing."""

    latex = r"\frac{P \odot R}{\textstyle\sum_j P \odot R}"
    leaks = False

    def weights(self, scores: Tensor, may_read: Readable, axes: str, tap: Tap) -> Tensor:
        spread = tap("spread", torch.softmax(scores, -1), axes, "probabilities")
        left = tap("coefficients", torch.where(may_read.mask[:, None], spread, 0.0), axes, "coefficients")
        return tap("weights", left / left.sum(-1, keepdim=True).clamp(min=torch.finfo(left.dtype).tiny), axes, "weights")

    def formulas(self, at: str) -> tuple[Formula, ...]:
        left = Formula(f"{at}.coefficients", r"C = P \odot R", "shares of the keys that may be read: they need not sum to 1")
        return (*Multiply().formulas(at), left)


ARITHMETIC: dict[str, type[Additive] | type[Multiply] | type[Renormalise]] = {
    "additive": Additive,
    "multiply": Multiply,
    "renormalise": Renormalise,
}
