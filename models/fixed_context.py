"""Encoder-decoder through one fixed context (source text 000, sections 0x01D to 0x02B).

    c = reduce(h_1 ... h_S)        s_t = cell(y_(t-1) [, c], s_(t-1))        logits_t = readout(s_t [, y_(t-1), c])

Cho et al. 2014, arXiv 1406.1078: gated unit, c = tanh(V h_S), c in the initial state, in every step and in a maxout readout. (Its
decoder's candidate resets U h + C c together, appendix A.1.2; here both sides have the unit of its eqs. 5 to 8.)
Sutskever et al. 2014, arXiv 1409.3215: stacked LSTMs, source reversed, hidden and cell of every layer handed over once.

The decoder is given the summary alone: it has no argument through which an encoder state could reach it.

Axes: b request, s source row, t target row, d token vector, n state, m both directions of the encoder, o maxout piece, v
vocabulary entry.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn

from models import Capabilities, Inputs, Outputs, Rows, Spec
from models.parts import cells
from models.parts.cells import KINDS, RESETS, UPDATES, CellKind, Recurrence, States, kept_states
from models.parts.formulas import Formula, p, v
from models.parts.settings import GRU, setting
from models.parts.tap import Tap

REDUCTIONS = ("final", "projected", "hidden_cell", "endpoints", "mean", "max", "pooled")


@dataclass(frozen=True)
class Config:
    """Everything goes through one vector: how it is made, how it is handed over."""

    cell: str = setting("lstm", "Cell", "what one step does to the state", choices=KINDS)
    update: str = setting(
        "carries", "GRU: z near 1", "carries the old state (Cho) or writes (Bahdanau)", choices=UPDATES, when=GRU
    )
    reset: str = setting("before", "GRU: reset acts", "before or after the product with U", choices=RESETS, when=GRU)
    layers: int = setting(1, "Layers", "in the encoder and in the decoder", low=1, high=4)
    width: int = setting(120, "State width n", "the summary and every state have this width", low=4, high=128)
    d_token: int = setting(32, "Token width d", "length of a token's vector", low=4, high=128)
    reduction: str = setting("final", "Summary", "how all source states become one vector", choices=REDUCTIONS)
    delivery: str = setting("both", "Handed over", "at the start, at every step", choices=("initial", "every_step", "both"))
    reverse: bool = setting(False, "Reverse source", "the encoder reads the last source row first")
    readout: str = setting("state", "Readout", "from the state, or state, last token and summary", choices=("state", "maxout"))


@dataclass(frozen=True)
class ChoConfig(Config):
    """Cho et al. 2014, section 2: what that paper chose, in this page's words."""

    cell: str = setting("gru", "Cell", "the gated unit of the paper, section 2.3", choices=KINDS)
    reset: str = setting(
        "before", "GRU: reset acts", "eq. 8: before; the appendix’s decoder resets U h + C c", choices=RESETS, when=GRU
    )
    width: int = setting(96, "State width n", "1000 in the paper", low=4, high=128)
    reduction: str = setting("projected", "Summary", "c = tanh(V h_S)", choices=REDUCTIONS)
    readout: str = setting("maxout", "Readout", "appendix A.1.2: state, last token, c", choices=("state", "maxout"))


@dataclass(frozen=True)
class SutskeverConfig(Config):
    """Sutskever et al. 2014, sections 2 and 3.3: deep LSTMs, reversed source, states handed over once."""

    layers: int = setting(2, "Layers", "four in the paper", low=1, high=4)
    width: int = setting(64, "State width n", "1000 in the paper", low=4, high=128)
    reduction: str = setting("hidden_cell", "Summary", "hidden and cell of every layer", choices=REDUCTIONS)
    delivery: str = setting("initial", "Handed over", "once, as initial state", choices=("initial", "every_step", "both"))
    reverse: bool = setting(True, "Reverse source", "section 3.3: brings the first words close to the first outputs")


@dataclass(frozen=True)
class Summary:
    """All that the decoder learns of a source: c `[b, n]`, and the initial state that is made of it (None: zeros)."""

    c: Tensor
    initial: tuple[States, ...] | None


@dataclass(frozen=True)
class FixedState:
    """Target rows known `[b]`, the decoder's states, and c `[b, n]` once a source was encoded.

    `uses`: whether steps after the first still read c; else only its trace in the states is kept.
    """

    lengths: Tensor
    layers: tuple[States, ...]
    names: tuple[str, ...]
    c: Tensor | None
    uses: bool

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        summary = {"encoder.summary": (self.c, "b n", False)} if self.uses and self.c is not None else {}
        return summary | kept_states("decoder", self.names, self.layers)


class Encoder(nn.Module):
    """Source rows to one summary. Nothing else leaves it."""

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__()
        self.config, n = config, config.width
        kind = CellKind(config.cell, config.update, config.reset)
        recurrence = partial(Recurrence, kind, config.d_token, n, config.layers, "s")
        self.token, self.forwards = nn.Embedding(vocabulary, config.d_token), recurrence()
        both = config.reduction == "endpoints"
        self.backwards = recurrence() if both else None
        self.V = nn.Linear(2 * n if both else n, n) if both or config.reduction == "projected" else None
        self.pool = nn.Linear(n, 1, bias=False) if config.reduction == "pooled" else None
        handed = config.delivery != "every_step" and config.reduction != "hidden_cell"
        self.initial = nn.ModuleList(nn.Linear(n, n) for _ in range(config.layers if handed else 0))

    def forward(self, source: Rows, tap: Tap) -> Summary:
        x = tap("token", self.token(tap("ids", source.values, "b s", "ids")), "b s d")
        start = self.forwards.initial(len(x), x)
        rows, after = self.forwards(x, source.valid, start, tap, backwards=self.config.reverse)
        if self.backwards is not None:
            _, other = self.backwards(x, source.valid, start, tap / "backwards", backwards=not self.config.reverse)
            ends = tap("ends", torch.cat((after[-1][0], other[-1][0]), -1), "b m")
            return self.summary(ends, after, tap)
        return self.summary(self.reduce(rows, source.valid, after[-1][0], tap), after, tap)

    def reduce(self, rows: Tensor, valid: Tensor, last: Tensor, tap: Tap) -> Tensor:
        """Rows `[b, s, n]` to one vector `[b, n]`."""
        match self.config.reduction:
            case "mean":
                return (rows * valid[..., None]).sum(1) / valid.sum(1, keepdim=True).clamp(min=1)
            case "max":
                seen = rows.masked_fill(~valid[..., None], -torch.inf).amax(1)
                return torch.where(valid.any(1, keepdim=True), seen, 0.0)
            case "pooled":
                assert self.pool is not None
                scores = tap("pool.scores", self.pool(rows)[..., 0], "b s", "scores")
                hidden = scores.masked_fill(~valid & valid.any(1, keepdim=True), -torch.inf)
                weights = tap("pool.weights", hidden.softmax(-1), "b s", "weights")
                return torch.einsum("bs,bsn->bn", weights, rows)
            case _:
                return last

    def summary(self, c: Tensor, after: tuple[States, ...], tap: Tap) -> Summary:
        if self.V is not None:
            c = torch.tanh(self.V(c))
        c = tap("summary", c, "b n", "state")
        if self.config.delivery == "every_step":
            return Summary(c, None)
        if self.config.reduction == "hidden_cell":
            return Summary(c, self.handed_over(c, after, tap))
        made = [tap(f"initial{i}", torch.tanh(to(c)), "b n", "state") for i, to in enumerate(self.initial)]
        return Summary(c, tuple((h, *(torch.zeros_like(h) for _ in self.forwards.names[1:])) for h in made))

    def handed_over(self, c: Tensor, after: tuple[States, ...], tap: Tap) -> tuple[States, ...]:
        """The encoder's own last states, layer by layer. The hidden one of the top layer is the summary itself."""
        last = len(after) - 1
        return tuple(
            tuple(
                c if (i, name) == (last, "hidden") else tap(f"initial{i}.{name}", value, "b n", "state")
                for name, value in zip(self.forwards.names, states, strict=True)
            )
            for i, states in enumerate(after)
        )


class Decoder(nn.Module):
    """Target rows from a state and, where it is delivered at every step, the summary."""

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__()
        self.every_step, n, d = config.delivery != "initial", config.width, config.d_token
        kind = CellKind(config.cell, config.update, config.reset)
        self.token = nn.Embedding(vocabulary, d)
        self.recurrence = Recurrence(kind, d + n if self.every_step else d, n, config.layers, "t")
        self.deep = nn.Linear(2 * n + d, 2 * n) if config.readout == "maxout" else None
        self.head = nn.Linear(n, vocabulary)

    def forward(self, target: Rows, states: tuple[States, ...], c: Tensor, tap: Tap) -> tuple[Tensor, tuple[States, ...]]:
        """Logits `[b, t, v]` and the states after the last row."""
        y = tap("token", self.token(tap("ids", target.values, "b t", "ids")), "b t d")
        c = tap("summary", c, "b n", "state") if self.every_step or self.deep is not None else c
        each = c[:, None].expand(-1, y.shape[1], -1)
        rows, states = self.recurrence(torch.cat((y, each), -1) if self.every_step else y, target.valid, states, tap)
        if self.deep is not None:  # maxout over pairs
            pieces = self.deep(torch.cat((rows, y, each), -1))
            rows = (tap / "readout")("maxout", pieces.unflatten(-1, (-1, 2)).amax(-1), "b t n")
        return self.head(rows), states


class FixedContext(nn.Module):
    """An encoder, a summary, a decoder."""

    def __init__(self, config: Config, source_vocabulary: int, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        self.encoder, self.decoder = Encoder(config, source_vocabulary), Decoder(config, vocabulary)

    def initial_state(self, batch: int) -> FixedState:
        like, recurrence = self.decoder.token.weight, self.decoder.recurrence
        lengths = torch.zeros(batch, dtype=torch.int64, device=like.device)
        uses = self.decoder.every_step or self.decoder.deep is not None
        return FixedState(lengths, recurrence.initial(batch, like), recurrence.names, None, uses)

    def forward(self, inputs: Inputs, state: FixedState, tap: Tap) -> tuple[Outputs, FixedState]:
        layers, c = state.layers, state.c
        if inputs.source is not None:
            summary = self.encoder(inputs.source, tap / "encoder")
            c, layers = summary.c, layers if summary.initial is None else summary.initial
        if c is None:
            raise ValueError("source: none given and none encoded before; the first call needs one")
        logits, layers = self.decoder(inputs.target, layers, c, tap / "decoder")
        outputs = Outputs("next_token", tap("logits", logits, "b t v", "logits"))
        return outputs, replace(state, lengths=state.lengths + inputs.target.lengths, layers=layers, c=c)


REDUCED = {
    "final": "c = h_S",
    "projected": rf"c = \tanh(h_S {p('V')}^{{\top}} + {p('b')})",
    "hidden_cell": "c = h_S",
    "endpoints": rf"c = \tanh([\overrightarrow{{h}}_S; \overleftarrow{{h}}_0] {p('V')}^{{\top}} + {p('b')})",
    "mean": r"c = \frac{1}{S} \sum_s h_s",
    "max": r"c = \max_s h_s",
    "pooled": rf"c = \sum_s {v('A')}_s h_s",
}


def _formulas(config: Config) -> tuple[Formula, ...]:
    kind = CellKind(config.cell, config.update, config.reset)
    pooled = config.reduction == "pooled"
    every = config.delivery != "initial" or config.readout == "maxout"
    shown = "m_t" if config.readout == "maxout" else "s_t"
    pieces = rf"[s_t; y_t; c] {p('W')}^{{\top}} + {p('b')}"
    return (
        Formula("encoder.token", rf"x_s = {p('E')}[id_s]", "the source token’s learned vector"),
        *cells.formulas("encoder.layer*", kind, "s", "x_s", "s+1" if config.reverse else ""),
        *((Formula("encoder.pool.scores", rf"e_s = h_s {p('w')}", "how much a source state counts"),) if pooled else ()),
        *(
            (Formula("encoder.pool.weights", rf"{v('A')} = \operatorname{{softmax}}(e)", "share of each source state"),)
            if pooled
            else ()
        ),
        Formula("encoder.summary", REDUCED[config.reduction], "all that the decoder learns of the source"),
        Formula("decoder.token", rf"y_t = {p('E')}[id_t]", "the target token’s learned vector"),
        *((Formula("decoder.summary", "c", "the source in one vector, as this call reads it"),) if every else ()),
        *cells.formulas("decoder.layer*", kind, "t", "[y_t; c]" if config.delivery != "initial" else "y_t", state="s"),
        *(
            (Formula("decoder.readout.maxout", rf"m_t = \max(\text{{pairs of }} {pieces})", "maxout of state, token, c"),)
            if shown == "m_t"
            else ()
        ),
        Formula("logits", rf"\ell_t = {shown} {p('W')}^{{\top}} + {p('b')}", "one score for each word that may come next"),
    )


def _build(config: Config, source: int | None, target: int) -> nn.Module:
    if source is None:
        raise ValueError("source vocabulary: none given; an encoder-decoder needs one")
    return FixedContext(config, source, target)


def _spec(id: str, name: str, summary: str, inventory: str, paper: str, config: type[Config], changed: str = "") -> Spec:
    return Spec(
        id=id,
        name=name,
        family="Recurrent",
        summary=summary,
        inventory=(inventory,),
        paper=paper,
        config=config,
        build=_build,
        relations=(),
        phases=("train", "prefill", "decode"),
        tasks=("translation", "dates", "pronunciation"),
        layers=lambda config: config.layers,
        capabilities=Capabilities(has_source=True, largest_rows=129),
        formulas=_formulas,
        changed=changed,
    )


SPECS = (
    _spec("fixed_context", "Fixed context", "The whole source becomes one vector; the decoder sees nothing else of it.", "A1",
          "Cho et al. 2014, arXiv 1406.1078; Sutskever et al. 2014, arXiv 1409.3215", Config),
    _spec("cho_2014", "Cho et al. 2014", "Gated units; one vector c, given at the start, at every step and in the readout.", "A2",
          "Cho et al. 2014, Learning Phrase Representations using RNN Encoder-Decoder, arXiv 1406.1078", ChoConfig,
          "It changed the unit: gates in place of tanh. One summary c enters the first state, every step and the readout."),
    _spec("sutskever_2014", "Sutskever et al. 2014", "Deep LSTMs; the source is read backwards and its last states handed over.",
          "A3", "Sutskever et al. 2014, Sequence to Sequence Learning with Neural Networks, arXiv 1409.3215", SutskeverConfig,
          "It changed three things: deep LSTMs, a source read backwards, and last states handed over once, without c later."),
)  # fmt: skip
