"""Longformer: an encoder whose rows read a window, and a few global rows that read and are read by all.

    Beltagy et al. 2020, Longformer: The Long-Document Transformer, arXiv 2004.05150, section 3.1.

Window radius, dilation and global rows are the read mask's program (`sliding`), so that they are moved on the map. What a global
row reads goes through projections of its own (W_Q_global, W_K_global, W_V_global), as published, or through the ordinary ones; a
local row that reads a global key always uses the ordinary ones. Here the read is one masked matrix, so that every weight can be
seen; `parts/band.py` computes the same in n (2r + 1 + 2g) steps, and an analysis measures that the two agree.

The sliding window alone is the same model without global rows: what lies further than the reach of its layers does not exist.

Axes: b request, s source row that asks, s' source row that is read, h head, e head width, d model width, f feed-forward width,
v class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import Capabilities, Inputs, Outputs, Relation, Spec
from models.parts import bert, blocks
from models.parts.arithmetic import ADDITIVE
from models.parts.attention import KeysValues, Readable, SourceSelfAttention, read_masks
from models.parts.blocks import Norms, Sizes
from models.parts.formulas import Formula, k, linear, q, v
from models.parts.norms import FINE, NOW, Norm
from models.parts.positions import Learned
from models.parts.settings import default, heads_share, setting
from models.parts.stack import FeedForward, initialise
from models.parts.tap import Tap
from models.parts.visibility import Visibility

ROWS = 513  # <cls> and 512 tokens
RADIUS = 8
GLOBAL = Relation(
    "source_self", "source reads source", "s", "s", Visibility("sliding", RADIUS, global_rows=(0,)), "encoder.layer{layer}.self"
)
ALONE = Relation("source_self", "source reads source", "s", "s", Visibility("sliding", RADIUS), "encoder.layer{layer}.self")


@dataclass(frozen=True)
class WindowConfig(Norms, Sizes):
    """A small encoder; window and dilation are set on the map."""

    layers: int = setting(2, "Layers", "each adds the window's radius to what a row can know of", low=1, high=6)
    d_ff: int = setting(128, "Feed-forward f", "usually twice to four times d", choices=(32, 64, 128, 256, 512))
    norm: str = default(Norms, "norm", "post")


@dataclass(frozen=True)
class Config(WindowConfig):
    """As published, what a global row reads has projections of its own."""

    projections: str = setting(
        "separate",
        "Global projections",
        "of what global rows read: their own as published, or everybody's",
        choices=("separate", "shared"),
    )


class Shared(SourceSelfAttention):
    """Global rows read as all rows do."""

    def look(self, x: Tensor, may_read: Readable, everywhere: Tensor, tap: Tap) -> Tensor:
        return self.forward(x, may_read, tap)


class Separate(SourceSelfAttention):
    """What a global row reads goes through projections of its own."""

    def __init__(self, width: int, heads: int, norm: Norm) -> None:
        super().__init__(width, heads, norm)
        self.W_Q_global, self.W_K_global, self.W_V_global = (nn.Linear(width, width) for _ in range(3))

    def look(self, x: Tensor, may_read: Readable, everywhere: Tensor, tap: Tap) -> Tensor:
        """everywhere: `[s]` bool, the global rows."""
        rows = self.norm.enter(x, self.row_axes, tap)
        own, wide, here = self.project(rows, tap), self.wide(rows, tap), everywhere[:, None]
        query = tap("q", self.heads_of(self.W_Q(rows)), self.query_axes)
        query_global = tap("q_global", self.heads_of(self.W_Q_global(rows)), self.query_axes)
        near, far = (a @ b.transpose(-2, -1) * self.scale for a, b in ((query, own.keys), (query_global, wide.keys)))
        scores = tap("scores", torch.where(here, far, near), self.read_axes, "scores")
        tap("mask", may_read.mask, self.mask_axes, "mask")
        weights = ADDITIVE.weights(scores, may_read, self.read_axes, tap)
        mixed = tap("mixed", torch.where(here, weights @ wide.values, weights @ own.values), self.query_axes)
        output = tap("output", self.W_O(mixed.transpose(1, 2).flatten(2)), self.row_axes)
        return self.norm.leave(x, output, self.row_axes, tap)

    def wide(self, rows: Tensor, tap: Tap) -> KeysValues:
        """Keys and values as global rows see them."""
        return KeysValues(
            tap("k_global", self.heads_of(self.W_K_global(rows)), self.new_axes),
            tap("v_global", self.heads_of(self.W_V_global(rows)), self.new_axes),
        )


class Block(nn.Module):
    """Source rows read source rows, then feed-forward."""

    def __init__(self, config: WindowConfig) -> None:
        super().__init__()
        kind = Separate if getattr(config, "projections", "shared") == "separate" else Shared
        norm = bert.norm(config)
        self.self = kind(config.d_model, config.heads, norm)
        self.ffn = FeedForward(config.d_model, config.d_ff, norm, "s", F.gelu)

    def forward(self, x: Tensor, mask: Readable, everywhere: Tensor, tap: Tap) -> Tensor:
        return self.ffn(self.self.look(x, mask, everywhere, tap / "self"), tap / "ffn")


class Longformer(nn.Module):
    """words: those that may be read; classes: what the whole may be."""

    def __init__(self, config: WindowConfig, relation: Relation, words: int, classes: int) -> None:
        super().__init__()
        self.config, self.relation = config, relation
        embedding = bert.Embedding(words, Learned(ROWS, config.d_model), config.d_model, "s")
        last = blocks.final(config, config.d_model, FINE)
        self.encoder = bert.Encoder(embedding, ROWS, (Block(config) for _ in range(config.layers)), last)
        self.head = bert.Pooler(config.d_model, classes)
        initialise(self, config.d_model)

    def initial_state(self, batch: int) -> bert.Nothing:
        return bert.nothing(batch, self.encoder.embedding.token.weight)

    def encode(self, inputs: Inputs, tap: Tap) -> Tensor:
        """Source rows after the last layer `[b, s, d]`."""
        here = tap / "encoder"
        x, rows = self.encoder.begin(inputs.source, here)
        assert inputs.source is not None
        valid, numbers = inputs.source.valid, rows[0]
        masks = read_masks(inputs, self.relation, self.config.layers, rows, valid, valid, x.dtype)
        for layer, (name, mask) in enumerate(zip(self.encoder.names, masks, strict=True)):
            chosen = inputs.may_read(self.relation, layer).global_rows
            everywhere = torch.isin(numbers, torch.tensor(chosen, dtype=numbers.dtype, device=numbers.device))
            x = self.encoder.get_submodule(name)(x, mask, everywhere, here / name)
        return bert.end(self.encoder.final, x, "b s d", here)

    def forward(self, inputs: Inputs, state: bert.Nothing, tap: Tap) -> tuple[Outputs, bert.Nothing]:
        return Outputs("class", self.head(self.encode(inputs, tap), tap)), state


def _build(config: WindowConfig, relation: Relation, source: Any, target: int) -> nn.Module:
    if not isinstance(source, int):
        raise ValueError(f"source was given {source}; a Longformer reads words")
    return Longformer(config, relation, source, target)


def _formulas(config: WindowConfig) -> tuple[Formula, ...]:
    own = bert.block_formulas(GLOBAL, config.d_model // config.heads, False, config)
    if getattr(config, "projections", "shared") == "separate":
        at, root = GLOBAL.path.format(layer="*"), rf"\sqrt{{{config.d_model // config.heads}}}"
        own = (*_global_formulas(at, root), *(f for f in own if f.path not in (f"{at}.scores", f"{at}.mixed")))
    return (*bert.embedding_formulas("encoder.embedding"), *own, *bert.pooler_formulas())


def _global_formulas(at: str, root: str) -> tuple[Formula, ...]:
    local, wide = (rf"{q(f'Q{g}')} {k(f'K{g}')}^{{\top}} / {root}" for g in ("", "^g"))
    a, by = v("A"), r"\text{ for a global row } i: \;"
    made = {
        "Q": (q("q"), "queries of global rows"),
        "K": (k("k"), "keys as global rows see them"),
        "V": (v("v"), "values as global rows see them"),
    }
    maps = [
        linear(f"parameter.{at}.W_{n}_global", f"{y}^g_i", "x_i", f"W^g_{n}", f"b^g_{n}", of, "i") for n, (y, of) in made.items()
    ]
    taps = [Formula(f"{at}.{n.lower()}_global", both[0].latex, made[n][1]) for n, both in zip("QKV", maps, strict=True)]
    return (
        Formula(f"{at}.scores", rf"S_i = {local}, {by} S_i = {wide}", "how well a query fits a key, before the mask"),
        Formula(
            f"{at}.mixed",
            rf"{v('Z')}_i = {a}_i {v('V')}, {by} {a}_i {v('V^g')}",
            "the values that were read, mixed by their weights",
        ),
        *taps,
        *(f for both in maps for f in both),
    )


def _gives_up(config: Config) -> Mapping[str, str]:
    """The class is read from the global row alone, and in the last layer no other row comes to it."""
    reason = "in the last layer only what the global row reads counts, which has projections of its own"
    alone = config.projections == "separate" and blocks.kind(config) != NOW  # a norm over rows lets the others count
    return {**blocks.gives_up(config), **({"live": reason} if alone else {})}


SPEC = Spec(
    id="longformer",
    name="Longformer",
    family="Attention",
    summary="Rows read a window, and a global row that reads and is read by all: cost grows with length, not its square.",
    inventory=("A16",),
    paper="Beltagy et al. 2020, Longformer: The Long-Document Transformer, arXiv 2004.05150",
    config=Config,
    build=lambda config, source, target: _build(config, GLOBAL, source, target),
    relations=(GLOBAL,),
    phases=("train", "prefill"),
    tasks=("needle",),
    layers=lambda config: config.layers,
    check=heads_share,
    gives_up=_gives_up,
    capabilities=Capabilities(has_source=True, causal=False, streams=False, largest_source=ROWS - 1),
    formulas=_formulas,
)
WINDOW = replace(
    SPEC,
    id="sliding_window",
    name="Sliding window alone",
    summary="The same encoder without a global row: what lies further than its layers reach does not exist for it.",
    config=WindowConfig,
    build=lambda config, source, target: _build(config, ALONE, source, target),
    relations=(ALONE,),
    gives_up=blocks.gives_up,
)
SPECS = (SPEC, WINDOW)
