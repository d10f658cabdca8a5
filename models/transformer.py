"""The Transformer: decoder-only (GPT) and encoder-decoder (2017).

    Vaswani et al. 2017, "Attention Is All You Need", arXiv 1706.03762: the encoder-decoder, post-norm, section 3.
    Radford et al. 2018/2019, GPT and GPT-2: the decoder alone, pre-norm, GELU, one next token for each row.
    Xiong et al. 2020, arXiv 2002.04745: what pre-norm and post-norm are.

One block is a chain of residual sub-layers: a read (`parts/attention.py`) and a feed-forward network on each row alone,

    ffn(x) = W_2 activation(W_1 x + b_1) + b_2.

Axes: b request, s source row, t target row of this call, t' target row that is known, h head, e head width, d model width,
f feed-forward width, v vocabulary entry. Taps and parameters share their scopes: "decoder.layer0.self.W_Q.weight" makes
"decoder.layer0.self.q".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import Capabilities, Inputs, Outputs, Relation, Rows, Spec
from models.parts import blocks, stack
from models.parts.attention import CrossAttention, KeysValues, Readable, SourceSelfAttention, TargetSelfAttention, read_masks
from models.parts.blocks import BlockConfig
from models.parts.formulas import Formula
from models.parts.places import Nowhere
from models.parts.rows import Joining, joining
from models.parts.settings import default
from models.parts.stack import Embedding, FeedForward, Stack, initialise, layered
from models.parts.tap import Tap
from models.parts.visibility import Visibility

SOURCE_ROWS = 128
TARGET_ROWS = 129  # of the encoder-decoder: 128 tokens and the <bos> before them
ALONE_ROWS = 513  # of a decoder alone: 512 and the <bos>

SOURCE_SELF = Relation("source_self", "source reads source", "s", "s", Visibility("full"), "encoder.layer{layer}.self")
TARGET_SELF = Relation("target_self", "target reads target", "t", "t", Visibility("causal"), "decoder.layer{layer}.self")
CROSS = Relation("cross", "target reads source", "t", "s", Visibility("full"), "decoder.layer{layer}.cross")


@dataclass(frozen=True)
class DecoderOnlyConfig(BlockConfig):
    """A GPT that fits a page: learned positions and pre-norm, until a part is exchanged."""


@dataclass(frozen=True)
class EncoderDecoderConfig(BlockConfig):
    """The 2017 model in a size that trains in a minute: `layers` in the encoder and so many in the decoder."""

    norm: str = default(BlockConfig, "norm", "post")
    position: str = default(BlockConfig, "position", "sinusoidal")


Config = DecoderOnlyConfig | EncoderDecoderConfig


@dataclass(frozen=True)
class Memory:
    """A source, encoded once and never appended to: rows `[b, s, d]`, lengths `[b]`, keys and values for each layer."""

    rows: Tensor
    lengths: Tensor
    layers: tuple[KeysValues, ...]


@dataclass(frozen=True)
class DecoderState:
    """Rows known per request `[b]`, keys and values `[b, h, t', e]` for each layer, and the source where there is one."""

    lengths: Tensor
    layers: tuple[KeysValues, ...]
    memory: Memory | None = None

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        kept: dict[str, tuple[Tensor, str, bool]] = {}
        if self.memory is not None:
            kept["encoder.memory"] = (self.memory.rows, "b s d", False)
        for i, layer in enumerate(self.layers):
            kept[f"decoder.layer{i}.self.keys"] = (layer.keys, "b h t' e", True)
            kept[f"decoder.layer{i}.self.values"] = (layer.values, "b h t' e", True)
        for i, layer in enumerate(() if self.memory is None else self.memory.layers):
            kept[f"decoder.layer{i}.cross.keys"] = (layer.keys, "b h s e", False)
            kept[f"decoder.layer{i}.cross.values"] = (layer.values, "b h s e", False)
        return kept


class GPTBlock(nn.Module):
    """Target rows read target rows, then feed-forward; pre-norm and the tanh form of GELU as in GPT-2."""

    def __init__(self, config: DecoderOnlyConfig, place: Nowhere) -> None:
        super().__init__()
        norm = blocks.norm(config)
        self.self = TargetSelfAttention(config.d_model, config.heads, norm, blocks.wiring(config, place))
        self.ffn = FeedForward(config.d_model, config.d_ff, norm, "t", partial(F.gelu, approximate="tanh"))

    def forward(self, x: Tensor, kept: KeysValues, join: Joining, mask: Readable, tap: Tap) -> tuple[Tensor, KeysValues]:
        x, kept = self.self(x, kept, join, mask, tap / "self")
        return self.ffn(x, tap / "ffn"), kept


class EncoderBlock(nn.Module):
    """Source rows read source rows, then feed-forward."""

    def __init__(self, config: EncoderDecoderConfig, place: Nowhere) -> None:
        super().__init__()
        norm = blocks.norm(config)
        self.self = SourceSelfAttention(config.d_model, config.heads, norm, blocks.wiring(config, place))
        self.ffn = FeedForward(config.d_model, config.d_ff, norm, "s", F.relu)

    def forward(self, x: Tensor, mask: Readable, tap: Tap) -> Tensor:
        return self.ffn(self.self(x, mask, tap / "self"), tap / "ffn")


class DecoderBlock(nn.Module):
    """Target rows read target rows, then source memory, then feed-forward."""

    def __init__(self, config: EncoderDecoderConfig, place: Nowhere) -> None:
        super().__init__()
        norm = blocks.norm(config)
        self.self = TargetSelfAttention(config.d_model, config.heads, norm, blocks.wiring(config, place))
        self.cross = CrossAttention(config.d_model, config.heads, norm, blocks.wiring(config))
        self.ffn = FeedForward(config.d_model, config.d_ff, norm, "t", F.relu)

    def forward(
        self, x: Tensor, kept: KeysValues, join: Joining, mask: Readable, memory: KeysValues, memory_mask: Readable, tap: Tap
    ) -> tuple[Tensor, KeysValues]:
        x, kept = self.self(x, kept, join, mask, tap / "self")
        x = self.cross(x, memory, memory_mask, tap / "cross")
        return self.ffn(x, tap / "ffn"), kept


class _Decoding(nn.Module):
    """What both models share: a target stack, an output head, and a state that begins empty."""

    decoder: Stack
    head: nn.Linear | None
    config: Config

    @property
    def ties(self) -> dict[str, str]:
        """Parameters that are applied under a further name: a tied head is the embedding."""
        return {"head.weight": "decoder.embedding.token.weight"} if self.head is None else {}

    def initial_state(self, batch: int) -> DecoderState:
        config, like = self.config, self.decoder.embedding.token.weight
        empty = like.new_zeros(batch, config.heads, 0, config.d_model // config.heads)
        lengths = torch.zeros(batch, dtype=torch.int64, device=like.device)
        return DecoderState(lengths, (KeysValues(empty, empty),) * config.layers)

    def logits(self, x: Tensor, tap: Tap) -> Outputs:
        """Rows `[b, t, d]` to one score for each vocabulary entry; a tied head is the embedding read backwards."""
        matrix = self.decoder.embedding.token.weight if self.head is None else self.head.weight
        x = (tap / "decoder")("final", self.decoder.final(x), "b t d")
        return Outputs("next_token", tap("logits", F.linear(x, matrix), "b t v", "logits"))


class DecoderOnly(_Decoding):
    """Every row predicts the next token from itself and what it may read."""

    def __init__(self, config: DecoderOnlyConfig, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        embedding = Embedding(vocabulary, config.d_model, blocks.vectors(config, ALONE_ROWS), "t", 1.0)
        place = blocks.place(config, both=False)
        layers = layered(config.layers, config.sharing, lambda: GPTBlock(config, place))
        self.decoder = Stack(embedding, layers, blocks.final(config, config.d_model))
        self.head = None if config.tied else nn.Linear(config.d_model, vocabulary, bias=False)
        initialise(self, config.d_model)

    def forward(self, inputs: Inputs, state: DecoderState, tap: Tap) -> tuple[Outputs, DecoderState]:
        here = tap / "decoder"
        join = joining(state.lengths, state.layers[0].keys.shape[2], inputs.target, ALONE_ROWS)
        x = self.decoder.embedding(inputs.target.values, join.rows, here / "embedding")
        masks = read_masks(inputs, TARGET_SELF, self.config.layers, join.rows, join.valid, join.known, x.dtype)
        layers = []
        for (name, block), kept, mask in zip(self.decoder.blocks(), state.layers, masks, strict=True):
            x, kept = block(x, kept, join, mask, here / name)
            layers.append(kept)
        return self.logits(x, tap), DecoderState(join.lengths, tuple(layers))


class EncoderDecoder(_Decoding):
    """The source is encoded once; every target row reads it."""

    def __init__(self, config: EncoderDecoderConfig, source_vocabulary: int, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        width, root, count, sharing = config.d_model, math.sqrt(config.d_model), config.layers, config.sharing
        source = Embedding(source_vocabulary, width, blocks.vectors(config, SOURCE_ROWS), "s", root)
        target = Embedding(vocabulary, width, blocks.vectors(config, TARGET_ROWS), "t", root)
        both, past = blocks.place(config, both=True), blocks.place(config, both=False)
        self.encoder = Stack(
            source, layered(count, sharing, lambda: EncoderBlock(config, both)), blocks.final(config, config.d_model)
        )
        self.decoder = Stack(
            target, layered(count, sharing, lambda: DecoderBlock(config, past)), blocks.final(config, config.d_model)
        )
        self.head = None if config.tied else nn.Linear(width, vocabulary, bias=False)
        initialise(self, width)

    def encode(self, inputs: Inputs, source: Rows, tap: Tap) -> Memory:
        """Source rows to memory, and memory to the keys and values of every decoder layer."""
        here = tap / "encoder"
        b, s = source.values.shape
        if s > SOURCE_ROWS:
            raise ValueError(f"source rows: {s} given, at most {SOURCE_ROWS} allowed; use a shorter text")
        rows, valid = torch.arange(s, device=source.values.device).expand(b, s), source.valid
        x = self.encoder.embedding(source.values, rows, here / "embedding")
        masks = read_masks(inputs, SOURCE_SELF, self.config.layers, rows, valid, valid, x.dtype)
        for (name, block), mask in zip(self.encoder.blocks(), masks, strict=True):
            x = block(x, mask, here / name)
        memory = here("memory", self.encoder.final(x), "b s d")
        there = tap / "decoder"
        layers = (block.cross.project(memory, there / name / "cross") for name, block in self.decoder.blocks())
        return Memory(memory, source.lengths, tuple(layers))

    def forward(self, inputs: Inputs, state: DecoderState, tap: Tap) -> tuple[Outputs, DecoderState]:
        memory = state.memory if inputs.source is None else self.encode(inputs, inputs.source, tap)
        if memory is None:
            raise ValueError("source: none given and none kept; give the source rows in the first call")
        state = replace(state, memory=memory)
        if inputs.target.values.shape[1] == 0:
            empty = memory.rows.new_zeros(inputs.target.values.shape[0], 0, self.decoder.embedding.token.num_embeddings)
            return Outputs("next_token", empty), state
        return self.decode(inputs, state, memory, tap)

    def decode(self, inputs: Inputs, state: DecoderState, memory: Memory, tap: Tap) -> tuple[Outputs, DecoderState]:
        """New target rows read known target rows and memory."""
        here, count = tap / "decoder", self.config.layers
        join = joining(state.lengths, state.layers[0].keys.shape[2], inputs.target, TARGET_ROWS)
        x = self.decoder.embedding(inputs.target.values, join.rows, here / "embedding")
        source_valid = torch.arange(memory.rows.shape[1], device=x.device) < memory.lengths[:, None]
        masks = read_masks(inputs, TARGET_SELF, count, join.rows, join.valid, join.known, x.dtype)
        cross_masks = read_masks(inputs, CROSS, count, join.rows, join.valid, source_valid, x.dtype)
        layers = []
        for i, (name, block) in enumerate(self.decoder.blocks()):
            x, kept = block(x, state.layers[i], join, masks[i], memory.layers[i], cross_masks[i], here / name)
            layers.append(kept)
        return self.logits(x, tap), replace(state, lengths=join.lengths, layers=tuple(layers))


def _build_encoder_decoder(config: EncoderDecoderConfig, source: int | None, target: int) -> nn.Module:
    if source is None:
        raise ValueError("source vocabulary: none given; an encoder-decoder needs one")
    return EncoderDecoder(config, source, target)


def _formulas(config: Config) -> tuple[Formula, ...]:
    if isinstance(config, DecoderOnlyConfig):
        found = stack.formulas("decoder", (TARGET_SELF,), _style(config, "GELU", "", False), "decoder.final")
    else:
        source, target = (_style(config, "ReLU", rf"\sqrt{{{config.d_model}}}", both) for both in (True, False))
        found = stack.formulas("encoder", (SOURCE_SELF,), source, "encoder.memory")
        found += stack.formulas("decoder", (TARGET_SELF, CROSS), target, "decoder.final")
    if config.sharing == "aliased":  # the maps of this read are those of the self-read, and are named there
        found = tuple(f for f in found if not f.path.startswith("parameter.decoder.layer*.cross.W"))
    return (*found, *stack.head_formulas(config.tied))


def _style(config: Config, activation: str, scale: str, both: bool) -> stack.Style:
    wiring = blocks.wiring(config, blocks.place(config, both))
    return stack.Style(config.d_model // config.heads, blocks.norm(config), activation, scale, config.position, wiring)


ENCODER_DECODER = Spec(
    id="encoder_decoder",
    name="Encoder–decoder",
    family="Attention",
    summary="The 2017 Transformer: a source is encoded once; every target row reads earlier target rows and the whole source.",
    inventory=("A11",),
    paper="Vaswani et al. 2017, Attention Is All You Need, arXiv 1706.03762",
    config=EncoderDecoderConfig,
    build=_build_encoder_decoder,
    relations=(SOURCE_SELF, TARGET_SELF, CROSS),
    phases=("train", "prefill", "decode"),
    tasks=("translation",),
    layers=lambda config: config.layers,
    check=blocks.check,
    gives_up=blocks.gives_up,
    capabilities=Capabilities(has_source=True, largest_rows=TARGET_ROWS, largest_source=SOURCE_ROWS),
    formulas=_formulas,
)
DECODER_ONLY = Spec(
    id="decoder_only",
    name="Decoder-only",
    family="Attention",
    summary="GPT: one stack in which every row reads itself and the rows before it, and predicts the next token.",
    inventory=("A13",),
    paper="Radford et al. 2019, Language Models are Unsupervised Multitask Learners (GPT-2)",
    config=DecoderOnlyConfig,
    build=lambda config, source, target: DecoderOnly(config, target),
    relations=(TARGET_SELF,),
    phases=("train", "prefill", "decode"),
    tasks=("language_model", "characters", "bytes", "subwords", "words", "repeats"),
    layers=lambda config: config.layers,
    check=blocks.check,
    gives_up=blocks.gives_up,
    capabilities=Capabilities(largest_rows=ALONE_ROWS),
    formulas=_formulas,
)
SPECS = (DECODER_ONLY, ENCODER_DECODER)
