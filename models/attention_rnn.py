"""Recurrent decoders that read the source at every step: Bahdanau, and Luong global and local (source text 000, 0x04).

Bahdanau et al. 2015, arXiv 1409.0473: the state before the step asks, the context enters the step.
    e = v tanh(W s_(t-1) + U h)   a = softmax(e)   c_t = a h   s_t = cell([y_(t-1); c_t], s_(t-1))
Luong et al. 2015, arXiv 1508.04025: the state after the step asks, the context enters the output.
    h_t = cell(y_(t-1) [; h~_(t-1)], h_(t-1))   a = softmax(score(h_t, h))   c_t = a h   h~_t = tanh(W [c_t; h_t])
Local (section 3.2): only source rows in [p - D, p + D], p = t (local-m) or S sigmoid(v tanh(W h_t)) (local-p); local-p
    multiplies the weights by exp(-(s - p)^2 / (2 (D/2)^2)) and does not normalise again, so they need not sum to 1.

"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from models import Capabilities, Inputs, Outputs, Relation, Rows, Spec
from models.parts.attention import Readable, read_masks, readable
from models.parts.cells import KINDS, RESETS, UPDATES, CellKind, Recurrence, States, held, kept_states
from models.parts.scores import LUONG_SCORES, Additive, Scorer, make_scorer
from models.parts.tap import Tap
from models.parts.visibility import Visibility
from models.recurrent import setting

SOURCE_ROWS, TARGET_ROWS = 128, 129
CROSS = Relation("cross", "target reads source", "t", "s", Visibility("full"), "decoder.cross")

ALIGNMENTS = ("global", "local_m", "local_p")


@dataclass(frozen=True)
class BahdanauConfig:
    """RNNsearch in a size that trains in a minute."""

    cell: str = setting("gru", "Cell", "the paper's gated unit", choices=KINDS)
    update: str = setting("writes", "GRU: z near 1", "carries the old state (Cho) or writes (Bahdanau)", choices=UPDATES)
    reset: str = setting("before", "GRU: reset acts", "before or after the product with U", choices=RESETS)
    width: int = setting(64, "State width n", "of each direction and of the decoder", low=4, high=128)
    d_token: int = setting(32, "Token width d", "length of a token's vector", low=4, high=128)
    alignment: int = setting(32, "Alignment width a", "of the hidden layer that scores", low=4, high=128)
    readout: str = setting("new", "Readout state", "s_t (section 3.1), s_(t-1) (appendix A.2.2)", choices=("new", "previous"))


@dataclass(frozen=True)
class LuongConfig:
    """The stacked LSTM of the paper, small; every score and window of its section 3."""

    score: str = setting("general", "Score", "how a state fits a source state", choices=LUONG_SCORES)
    alignment: str = setting("global", "Window", "all rows, around row t, around a predicted place", choices=ALIGNMENTS)
    D: int = setting(2, "Half window D", "rows to either side of the centre; sigma is D/2", low=1, high=20)
    renormalise: bool = setting(False, "Renormalise local-p", "a variant: the paper does not normalise after the envelope")
    input_feeding: bool = setting(True, "Input feeding", "the last attentional state enters the next step")
    cell: str = setting("lstm", "Cell", "the paper's are LSTMs", choices=KINDS)
    layers: int = setting(1, "Layers", "in the encoder and in the decoder; four in the paper", low=1, high=4)
    width: int = setting(64, "State width n", "of encoder and decoder states", low=4, high=128)
    d_token: int = setting(32, "Token width d", "length of a token's vector", low=4, high=128)


@dataclass(frozen=True)
class Memory:
    """A source, encoded once: annotations `[b, s, m]`, what a score compares them by, key validity `[b, s]`."""

    rows: Tensor
    keys: Tensor
    valid: Tensor


@dataclass(frozen=True)
class ReadingState:
    """Target rows known `[b]`, decoder states, the last attentional state `[b, n]` where it is fed in, and the source."""

    lengths: Tensor
    layers: tuple[States, ...]
    names: tuple[str, ...]
    fed: Tensor | None
    memory: Memory | None
    key_axes: str | None

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        kept = kept_states("decoder", self.names, self.layers)
        if self.fed is not None:
            kept["decoder.fed"] = (self.fed, "b n", False)
        if self.memory is not None:
            kept["encoder.annotations"] = (self.memory.rows, "b s m", False)
            if self.key_axes is not None:
                kept["encoder.keys"] = (self.memory.keys, self.key_axes, False)
        return kept


class Read(nn.Module):
    """One query reads the source: scores, weights, context. What is kept of the source is tapped once a call."""

    def __init__(self, scorer: nn.Module) -> None:
        super().__init__()
        self.scorer: Scorer = scorer  # type: ignore[assignment]

    def remember(self, rows: Tensor, source: Rows) -> Memory:
        return Memory(rows, self.scorer.keys(rows), source.valid)

    def kept(self, memory: Memory, mask: Tensor, tap: Tap) -> Memory:
        """What is kept, as this call reads it, and the read mask `[b, t, s]`."""
        tap("mask", mask, "b t s", "mask")
        rows = tap("annotations", memory.rows, "b s m", "state")
        if self.scorer.key_axes is None:
            return replace(memory, rows=rows, keys=rows)
        return replace(memory, rows=rows, keys=tap("keys", memory.keys, self.scorer.key_axes, "state"))

    def scores(self, query: Tensor, memory: Memory, tap: Tap) -> Tensor:
        """`[b, n]` -> `[b, 1, s]`."""
        return tap("scores", self.scorer(query, memory.keys, tap)[:, None], "b h s", "scores")

    def forward(self, query: Tensor, memory: Memory, may_read: Readable, tap: Tap) -> Tensor:
        """The context `[b, m]` of a query `[b, n]`."""
        weights = tap("weights", step_softmax(may_read, self.scores(query, memory, tap)), "b h s", "weights")
        return tap("context", (weights @ memory.rows)[:, 0], "b m")


def step_softmax(may_read: Readable, scores: Tensor) -> Tensor:
    """Scores of one step `[b, 1, s]`, with the masks of that step alone."""
    return may_read.softmax(scores[:, :, None])[:, :, 0]


class LocalRead(Read):
    """A window around a centre, and for local-p an envelope over it."""

    def __init__(self, scorer: nn.Module, config: LuongConfig) -> None:
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


class _Reading(nn.Module):
    """What both models share: an encoder that is read once, and a loop over target rows that reads its memory."""

    config: Any
    target: nn.Embedding
    read: Any  # a Read or a LocalRead
    decoder: Recurrence
    head: nn.Linear
    feeds: bool

    def initial_state(self, batch: int) -> ReadingState:
        like = self.target.weight
        lengths = torch.zeros(batch, dtype=torch.int64, device=like.device)
        fed = like.new_zeros(batch, self.config.width) if self.feeds else None
        layers, names = self.decoder.initial(batch, like), self.decoder.names
        return ReadingState(lengths, layers, names, fed, None, self.read.scorer.key_axes)

    def forward(self, inputs: Inputs, state: ReadingState, tap: Tap) -> tuple[Outputs, ReadingState]:
        if inputs.source is not None:
            state = self.encode(inputs.source, state, tap / "encoder")
        if state.memory is None:
            raise ValueError("source: none given and none encoded before; the first call needs one")
        target, here = inputs.target, tap / "decoder"
        y = here("token", self.target(here("ids", target.values, "b t", "ids")), "b t d")
        rows = state.lengths[:, None] + torch.arange(y.shape[1], device=y.device)
        mask = read_masks(inputs, CROSS, 1, rows, target.valid, state.memory.valid, y.dtype)[0]
        memory = self.read.kept(state.memory, mask.mask, here / "cross")
        layers, fed, found = state.layers, state.fed, []
        for t in range(y.shape[1]):
            at, real = here.at("t", t), target.valid[:, t]
            output, new, attended = self.row(y[:, t], rows[:, t], layers, fed, memory, mask.at(t), at)
            layers = tuple(held(real, n, o) for n, o in zip(new, layers, strict=True))
            fed = None if fed is None else held(real, (attended,), (fed,))[0]
            found.append(output)
        hidden = torch.stack(found, 1) if found else y.new_zeros(len(y), 0, self.config.width)
        logits = tap("logits", self.head(hidden), "b t v", "logits")
        return Outputs("next_token", logits), replace(state, lengths=state.lengths + target.lengths, layers=layers, fed=fed)

    def encode(self, source: Rows, state: ReadingState, tap: Tap) -> ReadingState:
        raise NotImplementedError

    def row(
        self, y: Tensor, row: Tensor, layers: tuple[States, ...], fed: Tensor | None, memory: Memory, mask: Readable, tap: Tap
    ) -> tuple[Tensor, tuple[States, ...], Tensor]:
        """One target row: what the head reads `[b, n]`, the new states, and what is fed into the next row `[b, n]`."""
        raise NotImplementedError


class Bahdanau(_Reading):
    """RNNsearch: s_(t-1) asks, c_t is made, then s_t; the output is made from (y_(t-1), s, c_t) by maxout (appendix A.2.2)."""

    feeds = False

    def __init__(self, config: BahdanauConfig, source_vocabulary: int, vocabulary: int) -> None:
        super().__init__()
        self.config, n, d = config, config.width, config.d_token
        kind = CellKind(config.cell, config.update, config.reset)
        self.source, self.target = nn.Embedding(source_vocabulary, d), nn.Embedding(vocabulary, d)
        self.forwards, self.backwards = Recurrence(kind, d, n, 1, "s"), Recurrence(kind, d, n, 1, "s")
        self.initial = nn.Linear(n, n)
        self.read = Read(Additive(n, 2 * n, config.alignment))
        self.decoder = Recurrence(kind, d + 2 * n, n, 1, "t")
        self.deep = nn.Linear(n + d + 2 * n, 2 * n)
        self.head = nn.Linear(n, vocabulary)

    def encode(self, source: Rows, state: ReadingState, tap: Tap) -> ReadingState:
        x = tap("token", self.source(tap("ids", source.values, "b s", "ids")), "b s d")
        start = self.forwards.initial(len(x), x)
        right, _ = self.forwards(x, source.valid, start, tap / "forwards")
        left, after = self.backwards(x, source.valid, start, tap / "backwards", backwards=True)
        rows = tap("annotations", torch.cat((right, left), -1), "b s m")
        first = tap("initial", torch.tanh(self.initial(after[0][0])), "b n", "state")  # from the leftmost state, A.2.2
        rest = tuple(torch.zeros_like(first) for _ in self.decoder.names[1:])
        return replace(state, layers=((first, *rest),), memory=self.read.remember(rows, source))

    def row(
        self, y: Tensor, row: Tensor, layers: tuple[States, ...], fed: Tensor | None, memory: Memory, mask: Readable, tap: Tap
    ) -> tuple[Tensor, tuple[States, ...], Tensor]:
        before = layers[0][0]
        context = self.read(before, memory, mask, tap / "cross")
        state, layers = self.decoder.step(torch.cat((y, context), -1), layers, tap)
        asked = state if self.config.readout == "new" else before
        pieces = self.deep(torch.cat((asked, y, context), -1)).unflatten(-1, (-1, 2))
        return tap("maxout", pieces.amax(-1), "b n"), layers, state


class Luong(_Reading):
    """h_t first, then the read, then the attentional state; local windows and input feeding by Config."""

    def __init__(self, config: LuongConfig, source_vocabulary: int, vocabulary: int) -> None:
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
        attended = tap("attended", torch.tanh(self.W_c(torch.cat((context, state), -1))), "b n")
        return attended, layers, attended


def _build(model: type[Bahdanau] | type[Luong], config: Any, source: int | None, target: int) -> nn.Module:
    if source is None:
        raise ValueError("source vocabulary: none given; an encoder-decoder needs one")
    return model(config, source, target)


def _spec(id: str, name: str, summary: str, inventory: tuple[str, ...], paper: str, config: type, model: Any) -> Spec:
    return Spec(
        id=id,
        name=name,
        family="Recurrent with attention",
        summary=summary,
        inventory=inventory,
        paper=paper,
        config=config,
        build=lambda config, source, target: _build(model, config, source, target),
        relations=(CROSS,),
        phases=("train", "prefill", "decode"),
        tasks=("translation", "dates", "pronunciation"),
        layers=lambda config: 1,
        capabilities=Capabilities(has_source=True, largest_rows=TARGET_ROWS),
    )


SPECS = (
    _spec("bahdanau", "Bahdanau", "The decoder's last state asks; the context of its read enters the next state.", ("A5",),
          "Bahdanau, Cho and Bengio 2015, Neural Machine Translation by Jointly Learning to Align and Translate, arXiv 1409.0473",
          BahdanauConfig, Bahdanau),
    _spec("luong", "Luong", "The decoder's new state asks; the context of its read enters the output.", ("A6", "A7"),
          "Luong, Pham and Manning 2015, Effective Approaches to Attention-based Neural Machine Translation, arXiv 1508.04025",
          LuongConfig, Luong),
)  # fmt: skip
