"""How scores and a mask become what a row reads: where the mask enters the softmax, and whether its rows are ever whole.

    additive      softmax(S + M), M = 0 or -inf: a hidden key has no part in the sum
    multiply      softmax(S) R, R = 1 or 0: hidden keys stay in the normaliser; what is left need not sum to 1
    renormalise   the same, divided by what is left: as the first, as long as anything is left
    tiles         as the first, tile by tile of keys, without the whole matrix of scores (`tiles.py`)

Source: 000 0x04B, 0x09 (a mask is composed before softmax). The first three make weights of scores `[b, h, q, k]` under a
`Readable` and mix values by them. Each asks the tap for each moment of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from models.parts.formulas import Formula, v
from models.parts.tap import Tap
from models.parts.tiles import tiled

if TYPE_CHECKING:
    from models.parts.attention import Attention, KeysValues, Readable


class Whole:
    """All scores of a read at once."""

    latex = ""
    leaks = False

    def read(self, of: Attention, q: Tensor, known: KeysValues, may_read: Readable, tap: Tap) -> Tensor:
        """Queries `[b, h, q, e]` read known keys and values: mixed values `[b, h, q, e]`."""
        scores = tap("scores", of.scores(q, known.keys, may_read.where, tap), of.read_axes, "scores")
        tap("mask", may_read.mask, of.mask_axes, "mask")
        return self.weights(scores, may_read, of.read_axes, tap) @ known.values

    def weights(self, scores: Tensor, may_read: Readable, axes: str, tap: Tap) -> Tensor:
        raise NotImplementedError

    def formulas(self, at: str) -> tuple[Formula, ...]:
        return ()


class Additive(Whole):
    """The way of every published model."""

    latex = r"\operatorname{softmax}(S + M)"

    def weights(self, scores: Tensor, may_read: Readable, axes: str, tap: Tap) -> Tensor:
        return tap("weights", may_read.softmax(scores), axes, "weights")


ADDITIVE = Additive()


class Multiply(Whole):
    """Scores of keys that may not be read, of later rows and of padding too, still take their share of the sum."""

    latex = r"\operatorname{softmax}(S) \odot R"
    leaks = True

    def weights(self, scores: Tensor, may_read: Readable, axes: str, tap: Tap) -> Tensor:
        spread = tap("spread", torch.softmax(scores, -1), axes, "probabilities")
        return tap("weights", torch.where(may_read.mask[:, None], spread, 0.0), axes, "coefficients")

    def formulas(self, at: str) -> tuple[Formula, ...]:
        return (Formula(f"{at}.spread", r"P = \operatorname{softmax}(S)", "shares of all keys, hidden ones too"),)


class Renormalise(Whole):
    """What hidden keys took is given back. Where the softmax left visible keys nothing (it underflows), a row reads nothing."""

    latex = r"(P \odot R) / \textstyle\sum_j (P \odot R)"

    def weights(self, scores: Tensor, may_read: Readable, axes: str, tap: Tap) -> Tensor:
        spread = tap("spread", torch.softmax(scores, -1), axes, "probabilities")
        left = tap("coefficients", torch.where(may_read.mask[:, None], spread, 0.0), axes, "coefficients")
        return tap("weights", left / left.sum(-1, keepdim=True).clamp(min=torch.finfo(left.dtype).tiny), axes, "weights")

    def formulas(self, at: str) -> tuple[Formula, ...]:
        left = Formula(f"{at}.coefficients", r"C = P \odot R", "shares of the keys that may be read: they need not sum to 1")
        return (*Multiply().formulas(at), left)


class Tiles:
    """Tile by tile of keys: what is kept of a row is a maximum, a sum and an output. tile: rows and keys of one.

    Scores and weights are shown to who looks, made again at the end; the read itself never holds them.
    """

    latex = r"e^{S + M - m} / l"
    leaks = False

    def __init__(self, tile: int) -> None:
        self.tile = tile

    def read(self, of: Attention, q: Tensor, known: KeysValues, may_read: Readable, tap: Tap) -> Tensor:
        """As that of `Whole`."""
        tap("mask", may_read.mask, of.mask_axes, "mask")
        score = of.score(q, known.keys, may_read.where, tap)
        found = tiled(score, known.values, may_read.mask, self.tile, tap / "tile", of.query, of.key[0])
        every = slice(None)
        tap.show("scores", lambda: score(every, every), of.read_axes, "scores")
        hidden = ~may_read.mask[:, None]
        tap.show("weights", lambda: found.weights(score(every, every).masked_fill(hidden, -math.inf)), of.read_axes, "weights")
        return found.mixed

    def formulas(self, at: str) -> tuple[Formula, ...]:
        new = r"m' = \max(m, \max_j S_{ij})"
        total = r"l' = l \, e^{m - m'} + \textstyle\sum_j e^{S_{ij} - m'}"
        running = rf"o' = o \, e^{{m - m'}} + \textstyle\sum_j e^{{S_{{ij}} - m'}} {v('v')}_j, \; j \text{{ in this tile}}"
        return (
            Formula(f"{at}.tile.maximum", new, "the largest score of a row, up to this tile of keys"),
            Formula(f"{at}.tile.sum", total, "the sum of a row’s softmax, up to this tile"),
            Formula(f"{at}.tile.running", running, "the values mixed so far, not divided by the sum yet"),
        )


ARITHMETIC: dict[str, type[Whole] | type[Tiles]] = {
    "additive": Additive,
    "multiply": Multiply,
    "renormalise": Renormalise,
    "tiles": Tiles,
}
