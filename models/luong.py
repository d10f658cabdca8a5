"""Luong attention, global and local: the decoder's new state asks, what it reads enters the output (000, 0x04F to 0x04H).

    h_t = cell(y_(t-1) [; h~_(t-1)], h_(t-1))   a_t = softmax(score(h_t, h))   c_t = sum a_ts h_s   h~_t = tanh(W [c_t; h_t])

Luong, Pham and Manning 2015, arXiv 1508.04025. Local (section 3.2): only source rows in [p - D, p + D], p = t (local-m) or
S sigmoid(v tanh(W h_t)) (local-p); local-p multiplies the weights by exp(-(s - p)^2 / (2 (D/2)^2)) and does not normalise
again, so they need not sum to 1. Input feeding (section 3.3) hands h~ to the next step.

Axes: b request, h the one head, s source row, t target row, d token vector, n state, m annotation, a alignment width, v
vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from models import Rows
from models.parts import cells
from models.parts.attention import Readable, readable
from models.parts.cells import KINDS, CellKind, Recurrence, States
from models.parts.formulas import Formula, p, v
from models.parts.reading import (
    CELL,
    SOURCE_ROWS,
    WEIGHTS,
    Memory,
    Read,
    Reading,
    ReadingState,
    read_formulas,
    reading_spec,
    step_softmax,
)
from models.parts.scores import LUONG_SCORES, make_scorer
from models.parts.settings import setting
from models.parts.tap import Tap

ALIGNMENTS = ("global", "local_m", "local_p")
LOCAL = {"alignment": ALIGNMENTS[1:]}


@dataclass(frozen=True)
class Config:
    """The stacked LSTM of the paper, small; every score and window of its section 3."""

    score: str = setting(
        "general",
        "Score",
        "location compares no pair; concat_row weighs a source row alike for every query",
        choices=LUONG_SCORES,
    )
    alignment: str = setting(
        "global", "Window", "all rows; around row t, whatever stands there; around a predicted place", choices=ALIGNMENTS
    )
    D: int = setting(
        5,
        "Half window D",
        "rows to either side of the centre; sigma is D/2; 10 in the paper",
        low=1,
        high=20,
        when=LOCAL,
        same_weights=True,
    )
    renormalise: bool = setting(
        False,
        "Renormalise local-p",
        "a variant: the paper does not normalise after the envelope",
        when={"alignment": "local_p"},
        same_weights=True,
    )
    input_feeding: bool = setting(True, "Input feeding", "the last attentional state enters the next step")
    cell: str = setting("lstm", "Cell", "the paper's are LSTMs", choices=KINDS)
    layers: int = setting(1, "Layers", "in the encoder and in the decoder; four in the paper", low=1, high=4)
    width: int = setting(64, "State width n", "of encoder and decoder states", low=4, high=128)
    d_token: int = setting(32, "Token width d", "length of a token's vector", low=4, high=128)


class LocalRead(Read):
    """A window around a centre, and for local-p an envelope over it."""

    def __init__(self, scorer: nn.Module, config: Config) -> None:
        super().__init__(scorer)
        self.config, n = config, config.width
        predicted = config.alignment == "local_p"
        self.W_p = nn.Linear(n, n, bias=False) if predicted else None
        self.v_p = nn.Linear(n, 1, bias=False) if predicted else None

    def centre(self, query: Tensor, row: Tensor, lengths: Tensor, tap: Tap) -> Tensor:
        """p `[b]` (float): row t of the target, kept inside the source, or predicted from the query."""
        if self.W_p is None or self.v_p is None:
            return torch.minimum(row, (lengths - 1).clamp(min=0)).to(query.dtype)
        share = torch.sigmoid(self.v_p(torch.tanh(self.W_p(query))))[:, 0]
        return tap("centre", share * lengths, "b")

    def local(self, query: Tensor, row: Tensor, memory: Memory, may_read: Readable, tap: Tap) -> Tensor:
        """The context `[b, m]`. row `[b]`: absolute number of the target row that asks."""
        centre, D = self.centre(query, row, memory.valid.sum(1), tap), self.config.D
        away = torch.arange(memory.rows.shape[1], device=row.device) - centre[:, None]
        window = tap("window", away.abs() <= D, "b s", "mask")
        weights = step_softmax(readable(may_read.mask & window[:, None], query.dtype), self.scores(query, memory, tap))
        if self.W_p is not None:
            weights = weights * tap("envelope", torch.exp(-(away**2) / (2 * (D / 2) ** 2)), "b s")[:, None]
            if self.config.renormalise:
                weights = weights / weights.sum(-1, keepdim=True).clamp(min=torch.finfo(weights.dtype).tiny)
        loose = self.W_p is not None and not self.config.renormalise
        weights = tap("weights", weights, "b h s", "coefficients" if loose else "weights")
        return tap("context", (weights @ memory.rows)[:, 0], "b m")


class Luong(Reading):
    """h_t first, then the read, then the attentional state; local windows and input feeding by Config."""

    def __init__(self, config: Config, source_vocabulary: int, vocabulary: int) -> None:
        super().__init__()
        self.config, n, d = config, config.width, config.d_token
        self.feeds = config.input_feeding
        kind = CellKind(config.cell)
        self.source, self.target = nn.Embedding(source_vocabulary, d), nn.Embedding(vocabulary, d)
        self.encoder = Recurrence(kind, d, n, config.layers, "s")
        scorer = make_scorer(config.score, n, n, n, SOURCE_ROWS)
        self.read = Read(scorer) if config.alignment == "global" else LocalRead(scorer, config)
        self.decoder = Recurrence(kind, d + n if self.feeds else d, n, config.layers, "t")
        self.W_c = nn.Linear(2 * n, n, bias=False)
        self.head = nn.Linear(n, vocabulary)

    def encode(self, source: Rows, state: ReadingState, tap: Tap) -> ReadingState:
        x = tap("token", self.source(tap("ids", source.values, "b s", "ids")), "b s d")
        rows, layers = self.encoder(x, source.valid, self.encoder.initial(len(x), x), tap)
        rows = tap("annotations", rows, "b s m")
        return replace(state, layers=layers, memory=self.read.remember(rows, source))

    def row(
        self, y: Tensor, row: Tensor, layers: tuple[States, ...], fed: Tensor | None, memory: Memory, mask: Readable, tap: Tap
    ) -> tuple[Tensor, tuple[States, ...], Tensor]:
        given = y if fed is None else torch.cat((y, tap("fed", fed, "b n", "state")), -1)
        state, layers = self.decoder.step(given, layers, tap)
        local = isinstance(self.read, LocalRead)
        context = (
            self.read.local(state, row, memory, mask, tap / "cross") if local else self.read(state, memory, mask, tap / "cross")
        )
        attended = (tap / "readout")("attended", torch.tanh(self.W_c(torch.cat((context, state), -1))), "b n")
        return attended, layers, attended


def _formulas(config: Config) -> tuple[Formula, ...]:
    kind, local = CellKind(config.cell), config.alignment != "global"
    predicted = config.alignment == "local_p"
    centre = rf"p_t = S \, \sigma(\tanh(h_t {p('W')}^{{\top}}) {p('v')})"
    envelope = rf"\exp(-\frac{{(s - p_t)^2}}{{2 \sigma^2}}), \sigma = {config.D / 2:g}"
    weights = rf"{v('A')} = \operatorname{{softmax}}(e + M) \odot \text{{envelope}}" if predicted else WEIGHTS
    return (
        Formula("encoder.token", rf"x_s = {p('E')}[id_s]", "the source token’s learned vector"),
        *cells.formulas("encoder.layer*", kind, "s", "x_s"),
        Formula("decoder.token", rf"y_t = {p('E')}[id_t]", "the target token’s learned vector"),
        *cells.formulas("decoder.layer*", kind, "t", r"[y_t; \tilde h_{t-1}]" if config.input_feeding else "y_t", cell=CELL),
        *((Formula("decoder.cross.centre", centre, "where this row looks"),) if predicted else ()),
        *(
            (Formula("decoder.cross.window", rf"|s - p_t| \le {config.D}", "source rows that are scored at all"),)
            if local
            else ()
        ),
        *((Formula("decoder.cross.envelope", envelope, "less for rows away from the centre"),) if predicted else ()),
        *read_formulas(config.score, weights, "h_t", "this row’s new state"),
        Formula("decoder.readout.attended", rf"\tilde h_t = \tanh([c_t; h_t] {p('W')}^{{\top}})", "the state with what was read"),
        Formula("logits", rf"\ell_t = \tilde h_t {p('W')}^{{\top}} + {p('b')}", "one score for each word that may come next"),
    )


def _limits(config: Config) -> str:
    if config.score == "location":
        return (
            "Location compares no words: scores depend on the row that asks and on the places alone. What stands at a place is "
            "other in each sentence, and they do not see it."
        )
    if config.alignment == "local_m":
        return (
            f"Target row t looks around source row t, whatever stands there: what moved by more than {config.D} rows is out of "
            "its sight. Each negation moves the rest of a sentence by a word."
        )
    if config.alignment == "local_p":
        return (
            "Where to look is predicted from the state alone, before any word is compared. Where that misses, the right word "
            "weighs little, and less the further away it stands."
        )
    return ""


SPEC = replace(
    reading_spec(
        "luong",
        "Luong",
        "The decoder's new state asks; the context of its read enters the output.",
        ("A6", "A7"),
        "Luong, Pham and Manning 2015, Effective Approaches to Attention-based Neural Machine Translation, arXiv 1508.04025",
        Config,
        Luong,
        _formulas,
    ),
    limits=_limits,
)
