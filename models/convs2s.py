"""ConvS2S: convolutions instead of recurrence, and a read of the source in every decoder layer (000, 0x05E and 0x05F).

    rows      x = token + learned absolute position, then one map to the width of the layers
    layer     [A; B] = W u + b (u: a window of k rows)    v = A * sigmoid(B)    x <- (x + v) sqrt(.5)
    read      q_t = (W_q v_t + e_t) sqrt(.5)    a_t = softmax(q_t z)    c_t = sqrt(S) sum a_ts (z_s + e_s) sqrt(.5)
              v_t <- (W_o c_t + v_t) sqrt(.5), before the residual sum of a decoder layer

Gehring et al. 2017, "Convolutional Sequence to Sequence Learning", arXiv 1705.03122: section 3 (equations 1 and 2), its scalings
(3.4: sqrt(.5) for each sum of two, S sqrt(1/S) for a context of S rows, encoder gradients divided by twice the number of reads)
and weight normalisation (3.5). e: token plus position of a source or target row; z: what the encoder gives. Source windows are
centred, target windows end at their own row. Padding is zeros in every layer.

Axes: b request, s source row, t target row, h the one head, k place in a window, d row, v vocabulary entry.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import Capabilities, Inputs, Outputs, Relation, Rows, Spec
from models.parts.attention import Readable, read_masks
from models.parts.formulas import Formula, k, p, q, v
from models.parts.positions import Learned
from models.parts.settings import setting
from models.parts.tap import Tap
from models.parts.visibility import Visibility
from models.parts.windows import newest, windows

SOURCE_ROWS, TARGET_ROWS = 128, 129
CROSS = Relation("cross", "target reads source", "t", "s", Visibility("full"), "decoder.layer{layer}.cross")
HALF = math.sqrt(0.5)  # two independent summands: their sum keeps the variance of one


@dataclass(frozen=True)
class Config:
    """Three layers on either side; the paper has fifteen."""

    layers: int = setting(3, "Layers", "so many in the encoder and so many in the decoder, each with its read", low=1, high=6)
    kernel: int = setting(3, "Kernel k", "rows that one layer sees at once", low=1, high=7)
    width: int = setting(64, "Width d", "of every row", low=4, high=128)


@dataclass(frozen=True)
class Memory:
    """A source, encoded once: keys z and values (z + e) sqrt(.5) `[b, s, d]`, and lengths `[b]`."""

    keys: Tensor
    values: Tensor
    lengths: Tensor


@dataclass(frozen=True)
class ConvolutionalState:
    """Target rows known `[b]`, the newest k - 1 inputs of each decoder layer `[b, k - 1, d]`, and the source once encoded."""

    lengths: Tensor
    buffers: tuple[Tensor, ...]
    memory: Memory | None = None

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        kept: dict[str, tuple[Tensor, str, bool]] = {}
        if self.memory is not None:
            kept["encoder.keys"] = (self.memory.keys, "b s d", False)
            kept["encoder.values"] = (self.memory.values, "b s d", False)
        return kept | {f"decoder.layer{i}.inputs": (buffer, "b k d", False) for i, buffer in enumerate(self.buffers)}


class Normalised(nn.Module):
    """A linear map whose rows have a direction V and a length g of their own (Salimans and Kingma 2016, arXiv 1602.07868)."""

    def __init__(self, inputs: int, outputs: int, gain: float = 1.0) -> None:
        super().__init__()
        self.V = nn.Parameter(torch.randn(outputs, inputs) * math.sqrt(gain / inputs))
        self.g = nn.Parameter(self.V.detach().norm(dim=1))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.V * (self.g / self.V.norm(dim=1))[:, None], self.bias)


class Embedding(nn.Module):
    """Token plus absolute position; both begin small (section 3.5)."""

    def __init__(self, vocabulary: int, rows: int, width: int, owner: str) -> None:
        super().__init__()
        self.token, self.position, self.owner = nn.Embedding(vocabulary, width), Learned(rows, width), owner
        nn.init.normal_(self.token.weight, std=0.1)
        nn.init.normal_(self.position.weight, std=0.1)

    def forward(self, ids: Tensor, rows: Tensor, tap: Tap) -> Tensor:
        axes = f"b {self.owner} d"
        token = tap("token", self.token(tap("ids", ids, f"b {self.owner}", "ids")), axes)
        return tap("sum", token + tap("position", self.position(rows), axes), axes)


class GatedConvolution(nn.Module):
    """A window of k rows to one row, through a gated linear unit (Dauphin et al. 2017)."""

    def __init__(self, kernel: int, width: int, owner: str) -> None:
        super().__init__()
        self.kernel, self.owner = kernel, owner
        self.W = Normalised(kernel * width, 2 * width, gain=4.0)  # section 3.5: a gate halves what passes

    def forward(self, rows: Tensor, count: int, tap: Tap) -> Tensor:
        """Rows `[b, count + k - 1, d]` -> `[b, count, d]`."""
        axes = f"b {self.owner} d"
        window = tap("window", windows(rows, count, self.kernel), f"b {self.owner} k d")
        offered, gate = self.W(window.flatten(2)).chunk(2, -1)
        gate = tap("gate", torch.sigmoid(gate), axes)
        return tap("units", tap("offered", offered, axes) * gate, axes)


class Read(nn.Module):
    """One decoder layer reads the source: dot products without a scale, a context that grows with the source."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.W_Q, self.W_O = Normalised(width, width), Normalised(width, width)

    def forward(self, x: Tensor, embedded: Tensor, memory: Memory, may_read: Readable, tap: Tap) -> Tensor:
        query = tap("q", (self.W_Q(x) + embedded) * HALF, "b t d")
        scores = tap("scores", (query @ memory.keys.transpose(1, 2))[:, None], "b h t s", "scores")
        tap("mask", may_read.mask, "b t s", "mask")
        weights = tap("weights", may_read.softmax(scores), "b h t s", "weights")
        grown = memory.lengths.clamp(min=1).to(x.dtype).sqrt()[:, None, None]
        context = tap("context", (weights[:, 0] @ memory.values) * grown, "b t d")
        return tap("output", (self.W_O(context) + x) * HALF, "b t d")


class Encoder(nn.Module):
    """Source rows to keys and values."""

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__()
        d, self.kernel = config.width, config.kernel
        self.embedding = Embedding(vocabulary, SOURCE_ROWS, d, "s")
        self.enter, self.leave = Normalised(d, d), Normalised(d, d)
        self.layers = nn.ModuleList(GatedConvolution(config.kernel, d, "s") for _ in range(config.layers))
        self.slow = 1.0 / (2 * config.layers)  # section 3.4: the gradients of all reads meet here

    def forward(self, source: Rows, tap: Tap) -> Memory:
        b, s = source.values.shape
        if s > SOURCE_ROWS:
            raise ValueError(f"source rows: {s} given, at most {SOURCE_ROWS} allowed; use a shorter text")
        real = source.valid[..., None]
        embedded = self.embedding(source.values, torch.arange(s, device=real.device).expand(b, s), tap / "embedding")
        embedded, before = embedded * real, (self.kernel - 1) // 2
        x = tap("enter", self.enter(embedded), "b s d")
        for i, layer in enumerate(self.layers):
            rows = F.pad(x * real, (0, 0, before, self.kernel - 1 - before))
            x = (x + layer(rows, s, tap / f"layer{i}")) * HALF
        z = self.leave(x)
        if z.requires_grad:
            z.register_hook(lambda gradient: gradient * self.slow)
        return Memory(tap("keys", z, "b s d"), tap("values", (z + embedded) * HALF, "b s d"), source.lengths)


class ConvS2S(nn.Module):
    """An encoder that is read in every decoder layer."""

    def __init__(self, config: Config, source_vocabulary: int, vocabulary: int) -> None:
        super().__init__()
        self.config, d = config, config.width
        self.encoder, self.embedding = Encoder(config, source_vocabulary), Embedding(vocabulary, TARGET_ROWS, d, "t")
        self.enter, self.leave, self.head = Normalised(d, d), Normalised(d, d), Normalised(d, vocabulary)
        self.layers = nn.ModuleList(GatedConvolution(config.kernel, d, "t") for _ in range(config.layers))
        self.reads = nn.ModuleList(Read(d) for _ in range(config.layers))

    def initial_state(self, batch: int) -> ConvolutionalState:
        like, config = self.embedding.token.weight, self.config
        lengths = torch.zeros(batch, dtype=torch.int64, device=like.device)
        return ConvolutionalState(lengths, (like.new_zeros(batch, config.kernel - 1, config.width),) * config.layers)

    def forward(self, inputs: Inputs, state: ConvolutionalState, tap: Tap) -> tuple[Outputs, ConvolutionalState]:
        memory = state.memory if inputs.source is None else self.encoder(inputs.source, tap / "encoder")
        if memory is None:
            raise ValueError("source: none given and none encoded before; the first call needs one")
        target, here = inputs.target, tap / "decoder"
        after, t = state.lengths + target.lengths, target.values.shape[1]
        if int(after.max()) > TARGET_ROWS:
            raise ValueError(f"target rows: {int(after.max())} given, at most {TARGET_ROWS} allowed; use a shorter text")
        rows = state.lengths[:, None] + torch.arange(t, device=after.device)
        embedded = self.embedding(target.values, rows.clamp(max=TARGET_ROWS - 1), here / "embedding")
        x, buffers = here("enter", self.enter(embedded), "b t d"), []
        known = torch.arange(memory.keys.shape[1], device=after.device) < memory.lengths[:, None]
        masks = read_masks(inputs, CROSS, self.config.layers, rows, target.valid, known, x.dtype)
        read = self.as_read(memory, here)
        for i, (layer, buffer) in enumerate(zip(self.layers, state.buffers, strict=True)):
            both, at = torch.cat((buffer, x), 1), here / f"layer{i}"
            seen = self.reads[i](layer(both, t, at), embedded, read, masks[i], at / "cross")
            x = at("sum", (x + seen) * HALF, "b t d")
            buffers.append(newest(both, target.lengths, buffer.shape[1]))
        logits = tap("logits", self.head(here("leave", self.leave(x), "b t d")), "b t v", "logits")
        return Outputs("next_token", logits), ConvolutionalState(after, tuple(buffers), memory)

    def as_read(self, memory: Memory, tap: Tap) -> Memory:
        """What is kept of the source, as this call reads it: an edit here is in force once."""
        keys, values = tap("keys", memory.keys, "b s d", "state"), tap("values", memory.values, "b s d", "state")
        return replace(memory, keys=keys, values=values)


HALF_LATEX = r"\sqrt{\tfrac12}"


def _formulas(config: Config) -> tuple[Formula, ...]:
    w, b = p("W"), p("b")
    return (
        *(Formula(f"{side}.embedding.token", rf"{p('E')}[id_{row}]", "the token’s learned vector") for side, row in SIDES),
        *(Formula(f"{side}.embedding.position", rf"{p('P')}[{row}]", "learned for each row number") for side, row in SIDES),
        *(
            Formula(f"{side}.embedding.sum", rf"e_{row} = {p('E')}[id] + {p('P')}[{row}]", "token and place")
            for side, row in SIDES
        ),
        *(
            Formula(f"{side}.enter", rf"x_{row} = e_{row} {w}^{{\top}} + {b}", "what the first layer takes")
            for side, row in SIDES
        ),
        Formula("encoder.layer*.window", _window("s", config.kernel, centred=True), "rows on both sides of a row, side by side"),
        Formula("decoder.layer*.window", _window("t", config.kernel, centred=False), "a row and those before it, side by side"),
        Formula("*.offered", rf"A = u {w}_A^{{\top}} + {b}", "what the unit offers"),
        Formula("*.gate", rf"\sigma(B), \; B = u {w}_B^{{\top}} + {b}", "how much of it passes"),
        Formula("*.units", r"v = A \odot \sigma(B)", "the gated linear unit of a row"),
        *_read_formulas(),
        Formula("decoder.layer*.sum", rf"x_t \leftarrow (x_t + v_t) {HALF_LATEX}", "the row with what the layer adds to it"),
        Formula("decoder.leave", rf"x_t {w}^{{\top}} + {b}", "each row after the last layer"),
        Formula("logits", rf"\ell_t = x_t {w}^{{\top}} + {b}", "one score for each word that may come next"),
    )


def _read_formulas() -> tuple[Formula, ...]:
    w, b = p("W"), p("b")
    mask = r"M_{ts} = 0 \text{ if row } t \text{ may read row } s \text{, else } -\infty"
    scores = rf"{q('q')}_t \cdot {k('z')}_s"
    context = rf"c_t = \sqrt{{S}} \sum_s {v('A')}_{{ts}} {v('v')}_s"
    return (
        Formula("encoder.keys", rf"{k('z')}_s = x_s {w}^{{\top}} + {b}", "what the encoder gives for a row"),
        Formula("encoder.values", rf"{v('v')}_s = ({k('z')}_s + e_s) {HALF_LATEX}", "the same with its token and place"),
        Formula("decoder.keys", rf"{k('z')}_s", "keys of the source, as this call reads them"),
        Formula("decoder.values", rf"{v('v')}_s", "values of the source, as this call reads them"),
        Formula("*.cross.q", rf"{q('q')}_t = (v_t {p('W_Q')}^{{\top}} + {b} + e_t) {HALF_LATEX}", "what a row looks for"),
        Formula("*.cross.scores", scores, "how well a source row fits, without a scale"),
        Formula("*.cross.mask", mask, "which row may read which"),
        Formula("*.cross.weights", rf"{v('A')} = \operatorname{{softmax}}({scores} + M)", "share of each source row"),
        Formula("*.cross.context", context, "the source as this row reads it; S source rows"),
        Formula(
            "*.cross.output", rf"v_t \leftarrow (c_t {p('W_O')}^{{\top}} + {b} + v_t) {HALF_LATEX}", "the unit with what was read"
        ),
    )


SIDES = (("encoder", "s"), ("decoder", "t"))


def _window(row: str, kernel: int, *, centred: bool) -> str:
    before = (kernel - 1) // 2 if centred else kernel - 1
    return rf"u_{row} = [x_{{{row}-{before}}}; \ldots; x_{{{row}+{kernel - 1 - before}}}]"


def _build(config: Config, source: int | None, target: int) -> nn.Module:
    if source is None:
        raise ValueError("source vocabulary: none given; an encoder-decoder needs one")
    return ConvS2S(config, source, target)


SPEC = Spec(
    id="convs2s",
    name="ConvS2S",
    family="Convolution",
    summary="Gated convolutions over source and target; every decoder layer reads the source with a read of its own.",
    inventory=("A9",),
    paper="Gehring et al. 2017, Convolutional Sequence to Sequence Learning, arXiv 1705.03122",
    config=Config,
    build=_build,
    relations=(CROSS,),
    phases=("train", "prefill", "decode"),
    tasks=("translation", "dates", "pronunciation"),
    layers=lambda config: config.layers,
    capabilities=Capabilities(has_source=True, largest_rows=TARGET_ROWS, largest_source=SOURCE_ROWS),
    formulas=_formulas,
)
