"""Attention that knows distances, not places (Dai et al. 2019, Transformer-XL, arXiv 1901.02860, section 3.3).

    score_ij = ((q_i + u) k_j + (q_i + w) r_(i-j)) / sqrt(e)        r_n = W_R sinusoids(n)

u and w, learned for each head, ask for a content and a distance whatever the query. The order of the rows shows in r alone.
Axes: s the frame that reads, s' the one that is read, h head, e head width, d model width.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from models.parts.attention import KeysValues, Readable, SourceSelfAttention
from models.parts.norms import PreNorm
from models.parts.tap import Tap


class RelativeAttention(SourceSelfAttention):
    """Frames read frames; a score has a part for content and one for distance."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__(width, heads, PreNorm)
        self.W_R = nn.Linear(width, width, bias=False)
        self.u, self.w = (nn.Parameter(torch.zeros(heads, width // heads)) for _ in range(2))

    def forward(self, x: Tensor, may_read: Readable, tap: Tap) -> Tensor:
        """The output alone `[b, s, d]`: who adds it to what is for the block to say."""
        rows = self.norm.enter(x, "b s d", tap)
        return self.read(rows, self.project(rows, tap), may_read, tap)

    def read(self, rows: Tensor, read: KeysValues, may_read: Readable, tap: Tap) -> Tensor:
        query = tap("q", self.heads_of(self.W_Q(rows)), "b h s e")
        content = (query + self.u[:, None]) @ read.keys.transpose(-2, -1)
        distance = tap("distance", self._by_distance(query + self.w[:, None]), "b h s s'")
        scores = tap("scores", (content + distance) * self.scale, "b h s s'", "scores")
        tap("mask", may_read.mask, "b s s'", "mask")
        weights = tap("weights", may_read.softmax(scores), "b h s s'", "weights")
        mixed = tap("mixed", weights @ read.values, "b h s e")
        return tap("output", self.W_O(mixed.transpose(1, 2).flatten(2)), "b s d")

    def _by_distance(self, query: Tensor) -> Tensor:
        """How well each query fits the distance to each frame: `[b, h, s, e]` -> `[b, h, s, s']`."""
        rows, width = query.shape[2], self.W_R.in_features
        place = torch.arange(rows, device=query.device)
        distances = torch.arange(rows - 1, -rows, -1, device=query.device, dtype=query.dtype)  # a frame before: positive
        r = self.W_R(sinusoids(distances, width)).unflatten(-1, (self.heads, -1)).transpose(0, 1)  # h 2s-1 e
        all_distances = query @ r.transpose(-2, -1)  # b h s 2s-1
        at = rows - 1 - place[:, None] + place[None, :]  # where distance i - j stands
        return all_distances.gather(-1, at.expand(*query.shape[:2], -1, -1))


def sinusoids(places: Tensor, width: int) -> Tensor:
    """sin and cos of any numbers `[n]`, negative ones too, to `[n, d]` (Vaswani et al. 2017, section 3.5)."""
    rate = torch.exp(torch.arange(0, width, 2, dtype=places.dtype, device=places.device) * (-math.log(10000.0) / width))
    angle = places[:, None] * rate
    return torch.stack((angle.sin(), angle.cos()), -1).flatten(1)
