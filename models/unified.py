"""Prefix LM and UniLM: one stack over one stream of source, separator and target; its mask alone says what it is.

    Dong et al. 2019, UniLM, arXiv 1905.03197: BERT's stack; the mask makes it bidirectional, left-to-right, or
    sequence-to-sequence (section 2.2, figure 1). Liu et al. 2018, arXiv 1801.10198 and Raffel et al. 2020, arXiv 1910.10683,
    section 3.2.1: a decoder whose prefix is read in both directions. Source text 000, 0x09D.

The rows are those of `parts/bert.py`, the read masks:

    full           every row reads every row                          (BERT; generation fails, because rows saw their labels)
    causal         row i reads rows j <= i                            (GPT)
    prefix P       ... and every row j < P
    source-target  ... and every row up to its own request's separator: the prefix that fits each sentence

The border is found in the ids: the row after the first separator. A row before it carries segment 0, later ones segment 1. Source
rows are rows of the stream: they are numbered, cached and read like all others; what sets them apart is that the first call must
hold all of them (each reads the later ones) and that they do not count in the loss.

Axes: b request, t target row of this call, t' target row that is known, h head, e head width, d model width,
f feed-forward width, v vocabulary entry.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models import Capabilities, Inputs, Outputs, Relation, Spec
from models.parts import bert, blocks
from models.parts.attention import KeysValues, read_masks
from models.parts.formulas import Formula
from models.parts.norms import FINE
from models.parts.rows import Joining, joining
from models.parts.stack import initialise, layered
from models.parts.tap import Tap
from models.parts.visibility import Visibility
from models.tasks.one_stream import SEPARATOR

ROWS = 257  # <bos> and 256 tokens of source and target together
STREAM = Relation("target_self", "the stream reads itself", "t", "t", Visibility("source_target"), "decoder.layer{layer}.self")


@dataclass(frozen=True)
class StreamState:
    """Rows known per request `[b]`, where the source ended `[b]` (0: not yet), and keys and values `[b, h, t', e]` a layer."""

    lengths: Tensor
    border: Tensor
    layers: tuple[KeysValues, ...]

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        kept: dict[str, tuple[Tensor, str, bool]] = {"decoder.border": (self.border, "b", False)}
        for i, layer in enumerate(self.layers):
            kept[f"decoder.layer{i}.self.keys"] = (layer.keys, "b h t' e", True)
            kept[f"decoder.layer{i}.self.values"] = (layer.values, "b h t' e", True)
        return kept


def border(ids: Tensor, join: Joining, before: Tensor) -> Tensor:
    """The row after each request's first separator `[b]`, 0 where there is none: `before` where it was known, else from ids."""
    ends = (ids == SEPARATOR) & join.valid
    first = torch.where(ends, join.rows, ROWS).amin(1) + 1
    return torch.where(before > 0, before, torch.where(ends.any(1), first, 0))


class Decoder(nn.Module):
    """An embedding, blocks layer0, layer1, ... and in pre-norm a last norm."""

    def __init__(self, config: bert.BertConfig, vocabulary: int) -> None:
        super().__init__()
        self.embedding = bert.Embedding(vocabulary, blocks.vectors(config, ROWS), config.d_model)
        place = blocks.place(config, both=True)
        for i, block in enumerate(layered(config.layers, config.sharing, lambda: bert.Block(config, place))):
            self.add_module(f"layer{i}", block)
        self.final = blocks.final(config, config.d_model, FINE)


class Unified(nn.Module):
    """Every row predicts the next token from itself and what it may read."""

    def __init__(self, config: bert.BertConfig, vocabulary: int) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        self.decoder, self.head = Decoder(config, vocabulary), bert.Head(config.d_model, vocabulary)
        initialise(self, config.d_model)

    def initial_state(self, batch: int) -> StreamState:
        config, like = self.config, self.decoder.embedding.token.weight
        empty = like.new_zeros(batch, config.heads, 0, config.d_model // config.heads)
        none = torch.zeros(batch, dtype=torch.int64, device=like.device)
        return StreamState(none, none, (KeysValues(empty, empty),) * config.layers)

    def forward(self, inputs: Inputs, state: StreamState, tap: Tap) -> tuple[Outputs, StreamState]:
        here, ids = tap / "decoder", inputs.target.values
        join = joining(state.lengths, state.layers[0].keys.shape[2], inputs.target, ROWS)
        ends = border(ids, join, state.border)
        segments = ((join.rows >= ends[:, None]) & (ends[:, None] > 0)).long()  # b t
        x = self.decoder.embedding(ids, join.rows, segments, here / "embedding")
        masks = read_masks(inputs, STREAM, self.config.layers, join.rows, join.valid, join.known, x.dtype, border=ends)
        layers = []
        for i, (kept, mask) in enumerate(zip(state.layers, masks, strict=True)):
            x, kept = self.decoder.get_submodule(f"layer{i}")(x, kept, join, mask, here / f"layer{i}")
            layers.append(kept)
        x = bert.end(self.decoder.final, x, "b t d", here)
        logits = self.head(x, self.decoder.embedding.token.weight, tap)
        return Outputs("next_token", logits), StreamState(join.lengths, ends, tuple(layers))


def _formulas(config: bert.BertConfig) -> tuple[Formula, ...]:
    return (
        *bert.embedding_formulas("decoder.embedding", config.position),
        *bert.block_formulas(
            STREAM, config.d_model // config.heads, True, config, blocks.wiring(config, blocks.place(config, True))
        ),
        *bert.head_formulas(),
    )


SPEC = Spec(
    id="unified",
    name="Prefix LM and UniLM",
    family="Attention",
    summary="One stack over one stream of source and target: the mask alone makes it BERT, GPT, a prefix LM or a translator.",
    inventory=("A14",),
    paper="Dong et al. 2019, Unified Language Model Pre-training (UniLM), arXiv 1905.03197",
    config=bert.BertConfig,
    build=lambda config, source, target: Unified(config, target),
    relations=(STREAM,),
    phases=("train", "prefill", "decode"),
    tasks=("one_stream",),
    layers=lambda config: config.layers,
    check=blocks.check,
    gives_up=blocks.gives_up,
    capabilities=Capabilities(causal=False, largest_rows=ROWS),
    formulas=_formulas,
)
