"""Where two rows stand, as a read sees it: nothing, a bias on their score, or a rotation of query and key.

    relative bias   score_ij += table[bucket(j - i)]      Raffel et al. 2020 (T5), arXiv 1910.10683, section 2.1
    RoPE            q_i and k_j are turned by i w and j w: their score depends on i - j alone
                                                          Su et al. 2021, arXiv 2104.09864; rates in `rates.py`

Each class has two moments: `turn` gives queries `[b, h, q, e]` and keys `[b, h, k, e]` as they are compared, `bias` what is added
to their scores. Keys are kept as they were made and turned at each read, so that one cache serves every scaling.
Axes: those of `attention.py`; p pair of places.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.parts.formulas import Formula, k, p, q
from models.parts.rates import Plain
from models.parts.tap import Tap


@dataclass(frozen=True)
class Where:
    """Absolute numbers of the query rows `[b, q]`, and how many rows of each request are known `[b]`. Keys count from 0."""

    rows: Tensor
    known: Tensor


class Nowhere(nn.Module):
    """The order of rows is not seen by the read."""

    def turn(self, q: Tensor, keys: Tensor, where: Where, owners: tuple[str, str], tap: Tap) -> tuple[Tensor, Tensor]:
        """owners: letters of the query rows and of the key rows."""
        return q, keys

    def bias(self, keys: int, where: Where, owners: tuple[str, str], tap: Tap) -> Tensor | None:
        return None


def bucket(distance: Tensor, both: bool, buckets: int, largest: int) -> Tensor:
    """T5's number of a distance (key row - query row): one each while near, then wider by a logarithm, the last from
    `largest` on.

    both: later keys have half of the buckets for themselves; else they share that of distance 0.
    """
    half = buckets // 2 if both else buckets
    offset = (distance > 0) * half if both else torch.zeros_like(distance)
    away, near = distance.abs() if both else (-distance).clamp(min=0), half // 2
    far = near + (torch.log(away.clamp(min=1) / near) / math.log(largest / near) * (half - near)).long()
    return offset + torch.where(away < near, away, far.clamp(max=half - 1))


class RelativeBias(Nowhere):
    """One learned number for each head and bucket of distance. T5 owns one table for all layers: give each the same object."""

    def __init__(self, heads: int, both: bool, buckets: int = 16, largest: int = 64) -> None:
        super().__init__()
        least = 4 if both else 2
        if buckets < least or largest <= buckets // least:
            allowed = f"{least} buckets or more, up to a distance above {buckets // least}"
            raise ValueError(f"relative bias was given {buckets} buckets up to distance {largest}; allowed: {allowed}")
        self.table = nn.Embedding(buckets, heads)
        self.both, self.largest = both, largest

    def bias(self, keys: int, where: Where, owners: tuple[str, str], tap: Tap) -> Tensor:
        distance = torch.arange(keys, device=where.rows.device) - where.rows[..., None]
        found = self.table(bucket(distance, self.both, self.table.num_embeddings, self.largest)).permute(0, 3, 1, 2)
        return tap("bias", found, f"b h {owners[0]} {owners[1]}")


class Half:
    """Place i turns with place i + e/2 (Llama, GPT-NeoX)."""

    latex = r"(i, \; i + e/2)"

    @staticmethod
    def split(x: Tensor) -> tuple[Tensor, Tensor]:
        first, second = x.chunk(2, -1)
        return first, second

    @staticmethod
    def join(first: Tensor, second: Tensor) -> Tensor:
        return torch.cat((first, second), -1)


class Interleaved:
    """Place 2i turns with place 2i + 1 (Su et al. 2021; 002)."""

    latex = r"(2i, \; 2i + 1)"

    @staticmethod
    def split(x: Tensor) -> tuple[Tensor, Tensor]:
        return x[..., 0::2], x[..., 1::2]

    @staticmethod
    def join(first: Tensor, second: Tensor) -> Tensor:
        return torch.stack((first, second), -1).flatten(-2)


PAIRS: dict[str, type[Half] | type[Interleaved]] = {"half": Half, "interleaved": Interleaved}


class Rotary(Nowhere):
    """Each pair of a query or key is turned by its row number times the rate of the pair."""

    def __init__(self, rates: Plain, pairs: type[Half] | type[Interleaved] = Half) -> None:
        super().__init__()
        self.rates, self.pairs = rates, pairs

    def turn(self, q: Tensor, keys: Tensor, where: Where, owners: tuple[str, str], tap: Tap) -> tuple[Tensor, Tensor]:
        query, key = owners
        rates = tap("rates", self.rates.rates(where.known), "b p")  # fp64: a row number times a rounding would be seen
        angles = tap("angles", where.rows[..., None] * rates[:, None], f"b {query} p")
        theirs = torch.arange(keys.shape[2], device=q.device)[None, :, None] * rates[:, None]
        turned = tap("q_turned", self.turned(q, angles), f"b h {query} e")
        return turned, tap("keys_turned", self.turned(keys, theirs), f"b h {key} e")

    def turned(self, x: Tensor, angles: Tensor) -> Tensor:
        """Rows `[b, h, n, e]` by angles `[b, n, p]`."""
        first, second = self.pairs.split(x)
        cos, sin = ((f(angles)[:, None] * self.rates.stretch).to(x.dtype) for f in (torch.cos, torch.sin))
        return self.pairs.join(first * cos - second * sin, second * cos + first * sin)


def formulas(at: str, place: Nowhere, i: str = "i", j: str = "j") -> tuple[Formula, ...]:
    """What a place adds to the formulas of a read; i, j: numbers of a query row and of a key row."""
    if isinstance(place, RelativeBias):
        bias = Formula(
            f"{at}.bias", rf"B_{{{i}{j}}} = {p('b')}[\mathrm{{bucket}}({j} - {i})]", "a number for each head and distance"
        )
        table = Formula(f"parameter.{at}.place.table.weight", bias.latex, "one learned number for each bucket and head")
        return bias, table
    if not isinstance(place, Rotary):
        return ()
    of = rf"\text{{pair }} {place.pairs.latex}"
    return (
        Formula(f"{at}.rates", place.rates.latex, "how far a pair turns from one row to the next, in radians"),
        Formula(f"{at}.angles", rf"\theta_{{{i}}} = {i} \, \omega", "how far a row turns each pair of its query, in radians"),
        Formula(f"{at}.q_turned", rf"{q('q')}'_{i} = R_{i} {q('q')}_{i}, \; {of}", "the query as it is compared"),
        Formula(f"{at}.keys_turned", rf"{k('k')}'_{j} = R_{j} {k('k')}_{j}, \; {of}", "the keys as they are compared"),
    )
