"""A recurrent decoder that reads its source at every row: what Bahdanau and Luong share (source text 000, section 0x04).

Axes: b request, h the one head, s source row, t target row, d token vector, n state, m annotation, a alignment width, v
vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from models import Capabilities, Inputs, Outputs, Relation, Rows, Spec
from models.parts import scores
from models.parts.attention import Readable, read_masks
from models.parts.cells import Recurrence, States, held, kept_states
from models.parts.formulas import Formula, v
from models.parts.scores import Scorer
from models.parts.tap import Tap
from models.parts.visibility import Visibility

SOURCE_ROWS, TARGET_ROWS = 128, 129
CROSS = Relation("cross", "target reads source", "t", "s", Visibility("full"), "decoder.cross")
CELL = r"\text{cell}"  # of an LSTM, beside a context c_t
WEIGHTS = rf"{v('A')} = \operatorname{{softmax}}(e + M)"


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


class Reading(nn.Module):
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


def read_formulas(score: str, latex: str, asks: str, who: str) -> tuple[Formula, ...]:
    """How a read comes about. asks, who: the state that is the query, in the paper's letters and in words."""
    mask = r"M_{ts} = 0 \text{ if row } t \text{ may read row } s \text{, else } -\infty"
    return (
        Formula("decoder.cross.mask", mask, "which row may read which"),
        *scores.formulas("decoder.cross", score, asks),
        Formula("decoder.cross.weights", latex, f"share of each source row; {who} asks"),
        Formula("decoder.cross.context", rf"c_t = \sum_s {v('A')}_{{ts}} {v('h')}_s", "the source as this row reads it"),
    )


def reading_spec(
    id: str, name: str, summary: str, inventory: tuple[str, ...], paper: str, config: type, model: Any, formulas: Any
) -> Spec:
    """A Spec of one of the two; `model` is built of (config, source vocabulary, target vocabulary)."""

    def build(config: Any, source: int | None, target: int) -> nn.Module:
        if source is None:
            raise ValueError("source vocabulary: none given; an encoder-decoder needs one")
        return model(config, source, target)

    return Spec(
        id=id,
        name=name,
        family="Recurrent with attention",
        summary=summary,
        inventory=inventory,
        paper=paper,
        config=config,
        build=build,
        relations=(CROSS,),
        phases=("train", "prefill", "decode"),
        tasks=("translation", "dates", "pronunciation"),
        layers=lambda config: 1,
        capabilities=Capabilities(has_source=True, largest_rows=TARGET_ROWS),
        formulas=formulas,
    )
