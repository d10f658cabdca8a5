"""Scaled dot-product attention in several heads (Vaswani et al. 2017, section 3.2), with its residual sub-layer.

    scores = Q K^T / sqrt(e)    weights = softmax(scores, hidden places at -inf)    mixed = weights V    output = mixed W_O

Axes: the query side is `t` or `s`; the key side is `t'`, `s'` (its own rows) or `s` (source memory); `h` heads of width `e`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models import Inputs, Relation
from models.parts import places
from models.parts.arithmetic import ADDITIVE, Additive, Tiles, Whole
from models.parts.formulas import Formula, d, k, linear, q, v
from models.parts.norms import Norm
from models.parts.places import Nowhere, Where
from models.parts.rows import Joining
from models.parts.tap import Tap
from models.parts.tiles import Score
from models.parts.visibility import Visibility, read_mask


@dataclass(frozen=True)
class KeysValues:
    """What a read looks at: keys and values `[b, h, k, e]`."""

    keys: Tensor
    values: Tensor


@dataclass(frozen=True)
class Readable:
    """A read mask in the forms that a read needs.

    mask: `[b, q, k]` bool, True = may read; bias: `[b, 1, q, k]`, 0 or -inf, added to the scores; blind: `[b, 1, q, 1]`,
    padded query rows that may read nothing (their weights are 0, not NaN), or None when there are none; where: their numbers,
    for a read that sees how far two rows are apart.
    """

    mask: Tensor
    bias: Tensor
    blind: Tensor | None
    where: Where

    def softmax(self, scores: Tensor) -> Tensor:
        """`[b, h, q, k]` -> weights: rows sum to 1, hidden places are exactly 0."""
        weights = torch.softmax(scores + self.bias, -1)
        return weights if self.blind is None else weights.masked_fill(self.blind, 0.0)

    def at(self, row: int) -> Readable:
        """The masks of one query row of this call, for a loop that reads row by row."""
        here = slice(row, row + 1)
        where = Where(self.where.rows[:, here], self.where.known)
        return Readable(self.mask[:, here], self.bias[:, :, here], None if self.blind is None else self.blind[:, :, here], where)


def readable(mask: Tensor, dtype: torch.dtype, where: Where | None = None) -> Readable:
    """From a read mask `[b, q, k]`. where: queries that count from 0 and all keys, if it is not given."""
    if where is None:
        b, queries, keys = mask.shape
        where = Where(torch.arange(queries, device=mask.device).expand(b, queries), torch.full((b,), keys, device=mask.device))
    bias = torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -math.inf)
    blind = ~mask.any(-1, keepdim=True)
    if not bool(blind.any()):
        return Readable(mask, bias[:, None], None, where)
    # A softmax over nothing is 0/0, in the backward pass too: let such a row see all keys, then set its weights to 0.
    return Readable(mask, bias.masked_fill(blind, 0.0)[:, None], blind[:, None], where)


def read_masks(
    inputs: Inputs,
    relation: Relation,
    layers: int,
    rows: Tensor,
    valid: Tensor,
    known: Tensor,
    dtype: torch.dtype,
    limit: Tensor | None = None,
    border: Tensor | None = None,
) -> list[Readable]:
    """One for each layer, each distinct mask made once: rows, valid `[b, q]` of the queries, known `[b, k]` of the keys.

    limit: `[b, q, k]`, False where this architecture cannot read whatever a mask says (a state that is not written yet);
    border: `[b]`, the first row after each request's source, in a stream that holds both.
    """
    made: dict[Visibility, Readable] = {}
    where = Where(rows, known.sum(-1))
    wanted = [inputs.may_read(relation, layer) for layer in range(layers)]
    for visibility in wanted:
        if visibility not in made:
            made[visibility] = readable(read_mask(relation.name, visibility, rows, valid, known, limit, border), dtype, where)
    return [made[visibility] for visibility in wanted]


# Which of W_Q, W_K, W_V are one matrix: the letters of those that make queries, keys and values (002, why Q, K and V are three).
PROJECTIONS = {"separate": "QKV", "one_matrix": "QQQ", "shared_qk": "QQV", "k_as_v": "QKK"}


@dataclass(frozen=True)
class Wiring:
    """How a read is put together; the default is that of 2017.

    projections: a key of `PROJECTIONS`; scaled: scores are divided by sqrt(e); bias: the four maps have shifts; arithmetic: from
    scores and mask to mixed values; place: how it sees where rows stand.
    """

    projections: str = "separate"
    scaled: bool = True
    bias: bool = True
    arithmetic: Whole | Tiles = ADDITIVE
    place: Nowhere | None = None


PLAIN = Wiring()


class Attention(nn.Module):
    """What the three relations share: four projections, a read, and the norm of the residual sub-layer."""

    query, key, new = "t", "t'", "t"  # owner letters: query rows, key side of a read, rows that become keys

    def __init__(self, width: int, heads: int, norm: Norm, wiring: Wiring = PLAIN) -> None:
        super().__init__()
        self.heads = heads
        self.scale = 1.0 / math.sqrt(width // heads) if wiring.scaled else 1.0
        self.norm = norm(width)
        letters = PROJECTIONS[wiring.projections]
        made = {letter: nn.Linear(width, width, wiring.bias) for letter in "QKV" if letter in letters}
        self.W_Q, self.W_K, self.W_V = (made[letter] for letter in letters)
        self.W_O = nn.Linear(width, width, wiring.bias)
        self.arithmetic = wiring.arithmetic
        self.place = wiring.place or Nowhere()
        # Axes once, not at every call: a silent tap costs less than making its axes string.
        self.row_axes, self.query_axes, self.new_axes = f"b {self.query} d", f"b h {self.query} e", f"b h {self.new} e"
        self.kept_axes = f"b h {self.key} e"
        self.read_axes, self.mask_axes = f"b h {self.query} {self.key}", f"b {self.query} {self.key}"

    def heads_of(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # b n d -> b h n e

    def project(self, rows: Tensor, tap: Tap) -> KeysValues:
        """Keys and values of rows `[b, n, d]`."""
        return KeysValues(
            tap("k", self.heads_of(self.W_K(rows)), self.new_axes), tap("v", self.heads_of(self.W_V(rows)), self.new_axes)
        )

    def kept(self, kept: KeysValues, tap: Tap) -> KeysValues:
        """What is kept, as this call reads it. An edit here changes this call's read and not what is kept: it is applied
        once, however many calls follow, and cached execution stays equal to the full prefix."""
        return KeysValues(tap("keys", kept.keys, self.kept_axes, "state"), tap("values", kept.values, self.kept_axes, "state"))

    def read(self, rows: Tensor, read: KeysValues, may_read: Readable, tap: Tap) -> Tensor:
        """Query rows `[b, q, d]` read keys and values: `[b, q, d]`."""
        q = tap("q", self.heads_of(self.W_Q(rows)), self.query_axes)
        mixed = tap("mixed", self.arithmetic.read(self, q, read, may_read, tap), self.query_axes)
        return tap("output", self.W_O(mixed.transpose(1, 2).flatten(2)), self.row_axes)

    def scores(self, q: Tensor, keys: Tensor, where: Where, tap: Tap) -> Tensor:
        """How well queries fit keys, where they stand included: `[b, h, q, k]`."""
        q, keys, bias = self.placed(q, keys, where, tap)
        scores = q @ keys.transpose(-2, -1) * self.scale
        return scores if bias is None else scores + bias

    def score(self, q: Tensor, keys: Tensor, where: Where, tap: Tap) -> Score:
        """The same for some of the queries and some of the keys."""
        q, keys, bias = self.placed(q, keys, where, tap)

        def some(rows: slice, of: slice) -> Tensor:
            scores = q[..., rows, :] @ keys[..., of, :].transpose(-2, -1) * self.scale
            return scores if bias is None else scores + bias[..., rows, of]

        return some

    def placed(self, q: Tensor, keys: Tensor, where: Where, tap: Tap) -> tuple[Tensor, Tensor, Tensor | None]:
        """Queries and keys as they are compared, and what is added to their scores."""
        q, keys = self.place.turn(q, keys, where, (self.query, self.key), tap)
        return q, keys, self.place.bias(keys.shape[2], where, (self.query, self.key), tap)


class SourceSelfAttention(Attention):
    """Source rows read source rows, all in one call."""

    query, key, new = "s", "s'", "s"

    def forward(self, x: Tensor, may_read: Readable, tap: Tap) -> Tensor:
        rows = self.norm.enter(x, self.row_axes, tap)
        output = self.read(rows, self.project(rows, tap), may_read, tap)
        return self.norm.leave(x, output, self.row_axes, tap)


class TargetSelfAttention(Attention):
    """Target rows read target rows: those of this call and those that are kept from earlier calls."""

    def forward(self, x: Tensor, kept: KeysValues, joining: Joining, may_read: Readable, tap: Tap) -> tuple[Tensor, KeysValues]:
        rows = self.norm.enter(x, self.row_axes, tap)
        new = self.project(rows, tap)
        kept = KeysValues(joining.join(kept.keys, new.keys), joining.join(kept.values, new.values))
        output = self.read(rows, self.kept(kept, tap), may_read, tap)
        return self.norm.leave(x, output, self.row_axes, tap), kept


class CrossAttention(Attention):
    """Target rows read source memory. `project` runs once, when the source is encoded."""

    query, key, new = "t", "s", "s"

    def forward(self, x: Tensor, memory: KeysValues, may_read: Readable, tap: Tap) -> Tensor:
        rows = self.norm.enter(x, self.row_axes, tap)
        output = self.read(rows, self.kept(memory, tap), may_read, tap)
        return self.norm.leave(x, output, self.row_axes, tap)


def formulas(relation: Relation, width: int, kept: bool, wiring: Wiring = PLAIN) -> tuple[Formula, ...]:
    """How one relation's read comes about, in every layer. width: of a head; kept: its keys and values are a state."""
    at, own = relation.path.format(layer="*"), relation.query == relation.key
    i, j = ("i", "j") if own else ("t", "s")  # numbers of a query row and of a key row
    x, m = f"x_{i}", f"x_{j}" if own else f"m_{j}"
    query, key, value, output = f"{q('q')}_{i}", f"{k('k')}_{j}", f"{v('v')}_{j}", f"o_{i}"
    letters = PROJECTIONS[wiring.projections]
    made = ((query, x, "queries", i), (key, m, "keys", j), (value, m, "values", j))
    maps = {own: _map(at, letter, *of) for own, letter, of in zip("QKV", letters, made, strict=True)}
    maps["O"] = _map(at, "O", output, f"{v('Z')}_{i}", "the read’s output", i)
    parameters = [f for own, both in maps.items() if own in (*letters, "O") for f in both if wiring.bias or "bias" not in f.path]
    states = (
        Formula(f"{at}.keys", rf"{k('K')} = [{k('k')}_0; {k('k')}_1; \ldots]", "keys of the known rows, as this read sees them"),
        Formula(
            f"{at}.values", rf"{v('V')} = [{v('v')}_0; {v('v')}_1; \ldots]", "values of the known rows, as this read sees them"
        ),
    )
    latex = {own: both[0].latex for own, both in maps.items()}
    return (
        Formula(f"{at}.q", latex["Q"], "what a row looks for"),
        Formula(f"{at}.k", latex["K"], "what a row offers to be found by"),
        Formula(f"{at}.v", latex["V"], "what a row gives when it is read"),
        *(states if kept else ()),
        *(places.formulas(at, wiring.place, i, j) if wiring.place else ()),
        *_read_formulas(at, i, j, width, wiring),
        Formula(f"{at}.output", latex["O"], "what the read adds to the row, all heads together"),
        *parameters,
    )


def _map(at: str, letter: str, y: str, x: str, of: str, row: str) -> tuple[Formula, ...]:
    """Of the matrix W_letter, or of the one that stands for it."""
    return linear(f"parameter.{at}.W_{letter}", y, x, f"W_{letter}", f"b_{letter}", of, row)


def _read_formulas(at: str, i: str, j: str, width: int, wiring: Wiring) -> tuple[Formula, ...]:
    """From scores to the mixed values, with the gradients that the softmax makes."""
    a, z, turned = v("A"), v("Z"), "'" if isinstance(wiring.place, places.Rotary) else ""
    scores = rf"{q('Q')}{turned} {k('K')}{turned}^{{\top}}" + (rf" / \sqrt{{{width}}}" if wiring.scaled else "")
    scores += " + B" if isinstance(wiring.place, places.RelativeBias) else ""
    arithmetic = wiring.arithmetic
    mask = rf"M_{{{i}{j}}} = 0 \text{{ if row }} {i} \text{{ may read row }} {j} \text{{, else }} -\infty"
    back = rf"{d('S')} = {a} \odot ({d(a)} - \textstyle\sum_{j} {a} {d(a)})" if not arithmetic.leaks else ""
    mixing = rf"{z} = o / l" if isinstance(arithmetic, Tiles) else rf"{z} = {a} {v('V')}"
    return (
        Formula(f"{at}.scores", f"S = {scores}", "how well a query fits a key, before the mask", back),
        Formula(f"{at}.mask", mask, "which row may read which"),
        *arithmetic.formulas(at),
        Formula(
            f"{at}.weights",
            rf"{a} = {arithmetic.latex}"
            if not isinstance(arithmetic, Additive)
            else rf"{a} = \operatorname{{softmax}}({scores} + M)",
            "share of each row’s value in a query row",
            rf"{d(a)} = {d(z)} {v('V')}^{{\top}}",
        ),
        Formula(f"{at}.mixed", mixing, "the values that were read, mixed by their weights"),
    )
