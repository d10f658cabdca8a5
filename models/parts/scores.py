"""How well a query fits each key: the score functions of the recurrent papers, each under its own name.

    additive      v tanh(W q + U h_i)          Bahdanau et al. 2015, arXiv 1409.0473, appendix A.1.2
    dot           q h_i                        Luong et al. 2015, arXiv 1508.04025, eq. 8
    general       q W h_i                      the same
    concat_row    W [q; h_i], a learned row    the same, as eq. 8 is printed in the proceedings read by source text 000, 0x04G
    concat_tanh   v tanh(W [q; h_i])           the form that later versions and summaries print
    location      (W q)_i                      Luong eq. 9: the query alone; source row i is an output place, none is compared

Axes: b request, s source row, n query, m annotation, a alignment width.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn

from models.parts.formulas import Formula, k, p, q
from models.parts.tap import Tap

LUONG_SCORES = ("dot", "general", "concat_row", "concat_tanh", "location")


class Scorer(Protocol):
    """An `nn.Module`. `keys(rows)` runs once a source; `scorer(query, keys, tap)` at every step gives `[b, s]`.

    key_axes: of what `keys` makes, or None where the annotations themselves are compared.
    """

    key_axes: str | None

    def keys(self, rows: Tensor) -> Tensor: ...

    def __call__(self, query: Tensor, keys: Tensor, tap: Tap) -> Tensor: ...


class Additive(nn.Module):
    """One hidden layer over query and key; U h is made once. Also `concat_tanh`: W [q; h] is W_q q + W_h h."""

    key_axes: str | None = "b s a"

    def __init__(self, query: int, rows: int, width: int) -> None:
        super().__init__()
        self.W, self.U = nn.Linear(query, width, bias=False), nn.Linear(rows, width, bias=False)
        self.v = nn.Linear(width, 1, bias=False)

    def keys(self, rows: Tensor) -> Tensor:
        return self.U(rows)

    def forward(self, query: Tensor, keys: Tensor, tap: Tap) -> Tensor:
        joint = tap("joint", torch.tanh(self.W(query)[:, None] + keys), "b s a")
        return self.v(joint)[..., 0]


class Dot(nn.Module):
    """Query and key have one width and are compared as they are."""

    key_axes: str | None = None

    def keys(self, rows: Tensor) -> Tensor:
        return rows

    def forward(self, query: Tensor, keys: Tensor, tap: Tap) -> Tensor:
        return torch.einsum("bn,bsn->bs", query, keys)


class General(Dot):
    """A learned bilinear map: W h is made once, then it is a dot product."""

    key_axes: str | None = "b s n"

    def __init__(self, query: int, rows: int) -> None:
        super().__init__()
        self.W = nn.Linear(rows, query, bias=False)

    def keys(self, rows: Tensor) -> Tensor:
        return self.W(rows)


class ConcatRow(nn.Module):
    """One learned row over [q; h]: the query adds the same number to every key, so a softmax takes it out again."""

    key_axes: str | None = "b s one"

    def __init__(self, query: int, rows: int) -> None:
        super().__init__()
        self.W_query, self.W_rows = nn.Linear(query, 1, bias=False), nn.Linear(rows, 1, bias=False)

    def keys(self, rows: Tensor) -> Tensor:
        return self.W_rows(rows)

    def forward(self, query: Tensor, keys: Tensor, tap: Tap) -> Tensor:
        return self.W_query(query) + keys[..., 0]


class Location(nn.Module):
    """The query gives a score to each place of a source of at most `places` rows."""

    key_axes: str | None = None

    def __init__(self, query: int, places: int) -> None:
        super().__init__()
        self.W, self.places = nn.Linear(query, places, bias=False), places

    def keys(self, rows: Tensor) -> Tensor:
        if rows.shape[1] > self.places:
            raise ValueError(f"source rows: {rows.shape[1]} given, at most {self.places} have a place in a location score")
        return rows

    def forward(self, query: Tensor, keys: Tensor, tap: Tap) -> Tensor:
        return self.W(query)[:, : keys.shape[1]]  # nothing is compared: only how many rows there are counts


def formulas(at: str, score: str, asks: str) -> tuple[Formula, ...]:
    """How the scores of a read come about; asks: the state that is the query, in the paper's letters."""
    query, key = q(asks), rf"{k('h')}_s"
    joint = rf"\tanh({query} {p('W')}^{{\top}} + {key} {p('U')}^{{\top}})"
    latex = {
        "additive": rf"{p('v')}^{{\top}} {joint}",
        "concat_tanh": rf"{p('v')}^{{\top}} {joint}",
        "dot": rf"{query} \cdot {key}",
        "general": rf"{query} \cdot ({key} {p('W')}^{{\top}})",
        "concat_row": rf"[{query}; {key}] {p('W')}^{{\top}}",
        "location": rf"({query} {p('W')}^{{\top}})_s",
    }[score]
    hidden = (Formula(f"{at}.joint", joint, "query and key in one hidden layer"),) if score in ("additive", "concat_tanh") else ()
    return (*hidden, Formula(f"{at}.scores", rf"e_{{ts}} = {latex}", "how well the asking state fits a source row"))


def make_scorer(score: str, query: int, rows: int, width: int, places: int) -> nn.Module:
    """query, rows: their widths; width: of the alignment layer; places: the longest source of a location score."""
    match score:
        case "additive" | "concat_tanh":
            return Additive(query, rows, width)
        case "dot":
            return Dot()
        case "general":
            return General(query, rows)
        case "concat_row":
            return ConcatRow(query, rows)
        case "location":
            return Location(query, places)
    raise ValueError(f"score was given {score!r}; allowed: additive, {', '.join(LUONG_SCORES)}")
