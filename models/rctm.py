"""RCTM I: a convolutional source model conditions a recurrent target language model (source text 000, section 0x0E.2).

    source   E_1 = rows        E_i = σ(K_i * E_(i-1)),  K_i one kernel of width i for each of the d places, i = 2, 3, ...
             ends with as many columns as there are left, m, in one more kernel L_m: e = σ(L_m * E)
    target   h_t = σ(R h_(t-1) + I y_(t-1) + S e)        logits_t = O h_t

Kalchbrenner and Blunsom 2013, "Recurrent Continuous Translation Models", EMNLP, sections 3.1 and 3.2. The source is not read by a
recurrence and no state is handed over: one vector e joins every target update. (The paper's target vocabulary is split in
classes; here it is small and has one softmax.) σ is a setting: a sigmoid passes on a quarter of a change at most, so that little
of a word is left after the three or four foldings of a short sentence; tanh passes on what it is given.

Axes: b request, s source row (of a column: its first row), t target row, d token vector and column, n target state, v vocabulary
entry.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from models import Capabilities, Inputs, Outputs, Rows, Spec
from models.parts.formulas import Formula, p
from models.parts.settings import setting
from models.parts.tap import Tap

SOURCE_ROWS, TARGET_ROWS = 128, 129
WIDEST = math.ceil(math.sqrt(2 * SOURCE_ROWS))  # kernels of width 2 to this shrink the longest source to one kernel's width

Squash = Callable[[Tensor], Tensor]
SQUASH: dict[str, Squash] = {"tanh": torch.tanh, "sigmoid": torch.sigmoid}


@dataclass(frozen=True)
class Config:
    """One width for token vectors and columns, as in the paper."""

    squash: str = setting("tanh", "Nonlinearity σ", "a sigmoid passes on a quarter of a change at most", choices=tuple(SQUASH))
    d_token: int = setting(128, "Column width d", "of token vectors, and of every column of the source model", low=4, high=128)
    width: int = setting(128, "State width n", "of the target language model", low=4, high=128)


@dataclass(frozen=True)
class ConditionedState:
    """Target rows known `[b]`, the target state `[b, n]`, and e `[b, d]` once a source was encoded."""

    lengths: Tensor
    hidden: Tensor
    summary: Tensor | None

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        source = {} if self.summary is None else {"encoder.summary": (self.summary, "b d", False)}
        return {**source, "decoder.hidden": (self.hidden, "b n", False)}


class SourceModel(nn.Module):
    """Convolutions of width 2, 3, 4, ... over the source until one column is left."""

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__()
        d, self.squash = config.d_token, SQUASH[config.squash]
        self.token = nn.Embedding(vocabulary, d)
        widths = range(2, WIDEST + 1)
        self.K = nn.ParameterList(nn.Parameter(torch.randn(d, i) / math.sqrt(i)) for i in widths)
        self.L = nn.ParameterList(nn.Parameter(torch.randn(d, i) / math.sqrt(i)) for i in widths)

    def forward(self, source: Rows, tap: Tap) -> Tensor:
        """Source rows to one vector `[b, d]`; a source of one row is its own column, an empty one gives zeros."""
        x = tap("token", self.token(tap("ids", source.values, "b s", "ids")), "b s d")
        x = x if x.shape[1] else nn.functional.pad(x, (0, 0, 0, 1))  # nothing to fold: one column of zeros
        left = source.lengths
        for i, kernel in enumerate(self.K, 2):
            goes_on = left > i  # at least two columns stay: the last kernel ends the rest
            if goes_on.any():
                x, left = (
                    torch.where(goes_on[:, None, None], self.squash(convolve(x, kernel)), x),
                    torch.where(goes_on, left - i + 1, left),
                )
            x = tap(f"columns{i}", x, "b s d")
        ends = [x[:, 0], *(self.squash(convolve(x[:, :m], self.L[m - 2])[:, 0]) for m in range(2, int(left.max()) + 1))]
        last = (left - 1).clamp(min=0)
        found = torch.stack(ends, 1)[torch.arange(len(x)), last]
        return tap("summary", torch.where(source.lengths[:, None] > 0, found, 0.0), "b d", "state")


def convolve(x: Tensor, kernel: Tensor) -> Tensor:
    """`[b, s, d]` with one kernel `[d, i]` for each place: column a from columns a to a + i - 1 (past the end: 0)."""
    count = x.shape[1]
    padded = nn.functional.pad(x, (0, 0, 0, kernel.shape[1] - 1))
    total = torch.zeros_like(x)
    for j in range(kernel.shape[1]):  # a kernel is narrow, and a window unfolded would be as many times the memory
        total = total + padded[:, j : j + count] * kernel[:, j]
    return total


class RCTM(nn.Module):
    """The source model's vector in every update of the target's recurrent language model."""

    def __init__(self, config: Config, source_vocabulary: int, vocabulary: int) -> None:
        super().__init__()
        self.config, d, n = config, config.d_token, config.width
        self.squash = SQUASH[config.squash]
        self.encoder, self.target = SourceModel(config, source_vocabulary), nn.Embedding(vocabulary, d)
        self.R, self.I, self.S = nn.Linear(n, n, bias=False), nn.Linear(d, n), nn.Linear(d, n, bias=False)
        self.O = nn.Linear(n, vocabulary)

    def initial_state(self, batch: int) -> ConditionedState:
        like = self.target.weight
        lengths = torch.zeros(batch, dtype=torch.int64, device=like.device)
        return ConditionedState(lengths, like.new_zeros(batch, self.config.width), None)

    def forward(self, inputs: Inputs, state: ConditionedState, tap: Tap) -> tuple[Outputs, ConditionedState]:
        e = state.summary if inputs.source is None else self.encoder(inputs.source, tap / "encoder")
        if e is None:
            raise ValueError("source: none given and none encoded before; the first call needs one")
        target, here = inputs.target, tap / "decoder"
        y = here("token", self.target(here("ids", target.values, "b t", "ids")), "b t d")
        conditioned = here("condition", self.S(here("summary", e, "b d", "state")), "b n")
        given, h, rows = self.I(y) + conditioned[:, None], state.hidden, []
        for t in range(y.shape[1]):
            new = here.at("t", t)("hidden", self.squash(self.R(h) + given[:, t]), "b n", "state")
            h = torch.where(target.valid[:, t, None], new, h)
            rows.append(h)
        hidden = torch.stack(rows, 1) if rows else y.new_zeros(len(y), 0, self.config.width)
        logits = tap("logits", self.O(hidden), "b t v", "logits")
        return Outputs("next_token", logits), replace(state, lengths=state.lengths + target.lengths, hidden=h, summary=e)


def _formulas(config: Config) -> tuple[Formula, ...]:
    squash = {"tanh": r"\tanh", "sigmoid": r"\sigma"}[config.squash]
    fold = rf"E_i = {squash}(\textstyle\sum_j {p('K')}_{{i,j}} \odot E_{{i-1,\,s+j}})"
    given = rf"h_{{t-1}} {p('R')}^{{\top}} + y_t {p('I')}^{{\top}} + e\,{p('S')}^{{\top}}"
    return (
        Formula("encoder.token", rf"x_s = {p('E')}[id_s]", "the source token’s learned vector"),
        Formula("encoder.columns*", fold, "columns that are left after a kernel one wider than the last"),
        Formula(
            "encoder.summary", rf"e = {squash}(\textstyle\sum_s {p('L')}_{{m,s}} \odot E_s)", "the source, folded to one column"
        ),
        Formula("decoder.token", rf"y_t = {p('E')}[id_t]", "the target token’s learned vector"),
        Formula("decoder.condition", rf"e\,{p('S')}^{{\top}}", "what the source adds to every update"),
        Formula("decoder.hidden", rf"h_t = {squash}({given})", "the state of the target language model"),
        Formula("logits", rf"\ell_t = h_t {p('O')}^{{\top}} + {p('b')}", "one score for each word that may come next"),
    )


def _build(config: Config, source: int | None, target: int) -> nn.Module:
    if source is None:
        raise ValueError("source vocabulary: none given; a translation model needs one")
    return RCTM(config, source, target)


def _limits(config: Config) -> str:
    return (
        "One vector must hold the sentence, and each of its numbers is folded from the same number of the words alone. Sentences "
        "of another length take other kernels, which learn from that length only."
    )


SPEC = Spec(
    id="rctm",
    name="RCTM I",
    family="Recurrent",
    summary="Convolutions fold the source to one vector, which joins every update of a recurrent language model.",
    inventory=("A24",),
    paper="Kalchbrenner and Blunsom 2013, Recurrent Continuous Translation Models, EMNLP",
    config=Config,
    build=_build,
    relations=(),
    phases=("train", "prefill", "decode"),
    tasks=("translation",),
    layers=lambda config: 1,
    capabilities=Capabilities(has_source=True, largest_rows=TARGET_ROWS),
    formulas=_formulas,
    limits=_limits,
)
