"""T5: the encoder-decoder with other parts, trained from text to text.

    Raffel et al. 2020, Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer, arXiv 1910.10683,
    section 2.1; Shazeer 2020, GLU Variants Improve Transformer, arXiv 2002.05202 (the gated feed-forward of T5 1.1).

What differs from 2017 (`transformer.py`, whose way from source to logits it takes):

    x + F(RMSNorm(x))                          scale alone, before each sub-layer
    scores = Q K^T + bias[bucket(j - i)]       no 1/sqrt(e); one table a stack, learned, for all its layers; none between stacks
    no shifts in any linear map; source and target share one embedding; a tied head scores x / sqrt(d)
    ffn(x) = W_2 relu(W_1 x)                   or W_2 (gelu(W_1 x) * W_3 x)

The encoder's buckets tell earlier from later rows; the decoder's need earlier ones alone.

Axes: b request, s source row, t target row of this call, t' target row that is known, h head, e head width, d model width,
f feed-forward width, v vocabulary entry.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import Capabilities, Outputs, Spec
from models.parts import attention, blocks, norms
from models.parts import stack as stack_parts
from models.parts.attention import CrossAttention, KeysValues, Readable, SourceSelfAttention, TargetSelfAttention, Wiring
from models.parts.blocks import Norms, Reads, Sizes
from models.parts.formulas import Formula, p
from models.parts.norms import Norm
from models.parts.places import RelativeBias
from models.parts.rows import Joining
from models.parts.settings import default, heads_share, setting
from models.parts.stack import Embedding, Stack, initialise, layered
from models.parts.tap import Tap
from models.transformer import CROSS, SOURCE_ROWS, SOURCE_SELF, TARGET_ROWS, TARGET_SELF, EncoderDecoder

STACKS = ("encoder", "decoder")
GELU = partial(F.gelu, approximate="tanh")


@dataclass(frozen=True)
class Config(Reads, Norms, Sizes):
    """T5 in a size that trains in a minute."""

    layers: int = setting(2, "Layers", "so many in the encoder and so many in the decoder", low=1, high=6)
    d_ff: int = setting(128, "Feed-forward f", "usually twice to four times d", choices=(32, 64, 128, 256, 512))
    norm_kind: str = default(Norms, "norm_kind", "rms")
    scaled: bool = default(Reads, "scaled", False)
    feed_forward: str = setting("relu", "Feed-forward", "T5, or the gated one of T5 1.1", choices=("relu", "gated_gelu"))
    buckets: int = setting(16, "Buckets", "numbers that a head learns for distances", choices=(8, 16, 32))
    tied: bool = setting(True, "Tied head", "one matrix reads tokens in and scores them on the way out")


class Tokens(Embedding):
    """Token vectors alone, of a table that both stacks share: where a row stands is seen by the reads."""

    def __init__(self, table: nn.Embedding, owner: str) -> None:
        nn.Module.__init__(self)
        self.token = table
        self.id_axes, self.row_axes = f"b {owner}", f"b {owner} d"

    def forward(self, ids: Tensor, rows: Tensor, tap: Tap) -> Tensor:
        return tap("token", self.token(tap("ids", ids, self.id_axes, "ids")), self.row_axes)


class FeedForward(nn.Module):
    """Two linear maps without shifts, ReLU between."""

    def __init__(self, width: int, hidden: int, norm: Norm, owner: str) -> None:
        super().__init__()
        self.norm = norm(width)
        self.W_1, self.W_2 = nn.Linear(width, hidden, bias=False), nn.Linear(hidden, width, bias=False)
        self.row_axes, self.hidden_axes = f"b {owner} d", f"b {owner} f"

    def forward(self, x: Tensor, tap: Tap) -> Tensor:
        hidden = tap("hidden", self.hidden(self.norm.enter(x, self.row_axes, tap), tap), self.hidden_axes)
        return self.norm.leave(x, tap("output", self.W_2(hidden), self.row_axes), self.row_axes, tap)

    def hidden(self, x: Tensor, tap: Tap) -> Tensor:
        return F.relu(tap("before_activation", self.W_1(x), self.hidden_axes))


class GatedFeedForward(FeedForward):
    """A second map, without activation, times the first with it."""

    def __init__(self, width: int, hidden: int, norm: Norm, owner: str) -> None:
        super().__init__(width, hidden, norm, owner)
        self.W_3 = nn.Linear(width, hidden, bias=False)

    def hidden(self, x: Tensor, tap: Tap) -> Tensor:
        gate = tap("gate", GELU(tap("before_activation", self.W_1(x), self.hidden_axes)), self.hidden_axes)
        return gate * tap("linear", self.W_3(x), self.hidden_axes)


FEED_FORWARD = {"relu": FeedForward, "gated_gelu": GatedFeedForward}


def wiring(config: Config, place: RelativeBias | None = None) -> Wiring:
    """How a read of this model is wired: no biases in its projections; `place` where rows of one owner read each other."""
    return blocks.wiring(config, place, bias=False)


class EncoderBlock(nn.Module):
    """Source rows read source rows, then feed-forward."""

    def __init__(self, config: Config, place: RelativeBias) -> None:
        super().__init__()
        norm = blocks.norm(config)
        self.self = SourceSelfAttention(config.d_model, config.heads, norm, wiring(config, place))
        self.ffn = FEED_FORWARD[config.feed_forward](config.d_model, config.d_ff, norm, "s")

    def forward(self, x: Tensor, mask: Readable, tap: Tap) -> Tensor:
        return self.ffn(self.self(x, mask, tap / "self"), tap / "ffn")


class DecoderBlock(nn.Module):
    """Target rows read target rows, then source memory (where distance says nothing), then feed-forward."""

    def __init__(self, config: Config, place: RelativeBias) -> None:
        super().__init__()
        norm = blocks.norm(config)
        self.self = TargetSelfAttention(config.d_model, config.heads, norm, wiring(config, place))
        self.cross = CrossAttention(config.d_model, config.heads, norm, wiring(config))
        self.ffn = FEED_FORWARD[config.feed_forward](config.d_model, config.d_ff, norm, "t")

    def forward(
        self, x: Tensor, kept: KeysValues, join: Joining, mask: Readable, memory: KeysValues, memory_mask: Readable, tap: Tap
    ) -> tuple[Tensor, KeysValues]:
        x, kept = self.self(x, kept, join, mask, tap / "self")
        x = self.cross(x, memory, memory_mask, tap / "cross")
        return self.ffn(x, tap / "ffn"), kept


class T5(EncoderDecoder):
    """Other parts, the encoder-decoder's own way through them."""

    config: Config  # type: ignore[assignment]

    def __init__(self, config: Config, vocabulary: int) -> None:
        super(EncoderDecoder, self).__init__()
        self.config = config
        width, table = config.d_model, nn.Embedding(vocabulary, config.d_model)
        both, past = (RelativeBias(config.heads, later, config.buckets) for later in (True, False))
        count, sharing = config.layers, config.sharing
        reading, writing = (
            layered(count, sharing, lambda: EncoderBlock(config, both)),
            layered(count, sharing, lambda: DecoderBlock(config, past)),
        )
        self.encoder = Stack(Tokens(table, "s"), reading, blocks.final(config, width))
        self.decoder = Stack(Tokens(table, "t"), writing, blocks.final(config, width))
        self.head = None if config.tied else nn.Linear(width, vocabulary, bias=False)
        initialise(self, width)
        self._begin(table)

    def _begin(self, table: nn.Embedding) -> None:
        """As published: what scores are not divided by is in W_Q's first weights; a tied table begins at length sqrt(d)."""
        with torch.no_grad():
            for weight in {id(read.W_Q): read.W_Q.weight for read in self._reads()}.values():
                weight.mul_(math.sqrt(self.config.heads / self.config.d_model))
        if self.config.tied:
            nn.init.normal_(table.weight)

    def _reads(self) -> Iterator[Any]:
        return (m for m in self.modules() if isinstance(m, SourceSelfAttention | TargetSelfAttention | CrossAttention))

    def logits(self, x: Tensor, tap: Tap) -> Outputs:
        """A tied head scores rows that are divided by sqrt(d)."""
        x = (tap / "decoder")("final", self.decoder.final(x), "b t d")
        if self.head is not None:
            return Outputs("next_token", tap("logits", self.head(x), "b t v", "logits"))
        scores = F.linear(x / math.sqrt(self.config.d_model), self.decoder.embedding.token.weight)
        return Outputs("next_token", tap("logits", scores, "b t v", "logits"))


def _formulas(config: Config) -> tuple[Formula, ...]:
    width, used = config.d_model // config.heads, blocks.norm(config)
    norm, before = partial(norms.formulas, norm=used), config.norm == "pre"
    token = rf"x_t = {p('E')}[\mathrm{{id}}_t]"
    reads = ((SOURCE_SELF, True), (TARGET_SELF, False), (CROSS, None))
    found = [Formula(f"{stack}.embedding.token", token, "the token’s own vector; no place is added") for stack in STACKS]
    found += [Formula("parameter.encoder.embedding.token.weight", token, "one learned vector for each vocabulary entry")]
    for relation, both in reads:
        place = None if both is None else RelativeBias(config.heads, both, config.buckets)
        at = relation.path.format(layer="*")
        found += [*attention.formulas(relation, width, relation is not SOURCE_SELF, wiring(config, place)), *norm(at)]
    for stack, output in zip(STACKS, ("encoder.memory", "decoder.final"), strict=True):
        found += [
            *_feed_forward_formulas(f"{stack}.layer*.ffn", config.feed_forward, "n_t" if before else "x_t"),
            *norm(f"{stack}.layer*.ffn"),
        ]
        last = norms.normalised(used, "x_t") if before else "x_t"
        found += [Formula(output, f"m_t = {last}", "each row after the last layer")]
        found += norms.parameters(f"parameter.{stack}.final", used, "m_t", "x_t") if before else ()
    if config.sharing == "aliased":  # the maps of this read are those of the self-read, and are named there
        found = [f for f in found if not f.path.startswith("parameter.decoder.layer*.cross.W")]
    return (*found, *_head_formulas(config.tied))


def _feed_forward_formulas(at: str, kind: str, x: str) -> tuple[Formula, ...]:
    before, linear = rf"u_t = {x} {p('W_1')}^{{\top}}", rf"l_t = {x} {p('W_3')}^{{\top}}"
    output = rf"o_t = h_t {p('W_2')}^{{\top}}"
    gated = (
        Formula(f"{at}.gate", r"g_t = \operatorname{GELU}(u_t)", "how far each hidden unit is let through"),
        Formula(f"{at}.linear", linear, "what each hidden unit would give"),
        Formula(f"{at}.hidden", r"h_t = g_t \odot l_t", "the hidden units of a row, gated"),
        Formula(f"parameter.{at}.W_3.weight", linear, "learned matrix that makes what is gated"),
    )
    plain = (Formula(f"{at}.hidden", r"h_t = \operatorname{ReLU}(u_t)", "the hidden units of a row"),)
    return (
        Formula(f"{at}.before_activation", before, "what each hidden unit adds up, before its activation"),
        *(gated if kind == "gated_gelu" else plain),
        Formula(f"{at}.output", output, "what the network adds to the row"),
        Formula(f"parameter.{at}.W_1.weight", before, "learned matrix that makes hidden units"),
        Formula(f"parameter.{at}.W_2.weight", output, "learned matrix that makes the network’s output"),
    )


def _head_formulas(tied: bool) -> tuple[Formula, ...]:
    if not tied:
        return stack_parts.head_formulas(False)
    scores = rf"z_t = (m_t / \sqrt{{d}}) {p('E')}^{{\top}}"
    return (Formula("logits", scores, "one score for each vocabulary entry"),)


def _build(config: Config, source: Any, target: int) -> nn.Module:
    if not isinstance(source, int) or source > target:
        raise ValueError(f"source was given {source} words, target {target}; T5 has one vocabulary, and it is the target's")
    return T5(config, target)


SPEC = Spec(
    id="t5",
    name="T5",
    family="Attention",
    summary="The encoder–decoder with RMSNorm and a learned bias for each distance, trained to answer text with text.",
    inventory=("A15",),
    paper="Raffel et al. 2020, Exploring the Limits of Transfer Learning (T5), arXiv 1910.10683",
    config=Config,
    build=_build,
    relations=(SOURCE_SELF, TARGET_SELF, CROSS),
    phases=("train", "prefill", "decode"),
    tasks=("text_to_text",),
    layers=lambda config: config.layers,
    check=heads_share,
    gives_up=blocks.gives_up,
    capabilities=Capabilities(has_source=True, largest_rows=TARGET_ROWS, largest_source=SOURCE_ROWS),
    formulas=_formulas,
)
