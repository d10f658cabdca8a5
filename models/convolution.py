"""Causal convolutions over rows: contiguous or dilated stacks with gated units (source text 000, sections 0x05A to 0x05D).

    window   u_t = [x_(t-(k-1)r) ... x_(t-r); x_t]                 k rows, r (the dilation) apart; before the first row: zeros
    gated    z_t = tanh(W u_t) * sigmoid(V u_t)                    van den Oord et al. 2016 (WaveNet), arXiv 1609.03499, eq. 2
    plain    z_t = relu(W u_t)
    layer    x_t <- x_t + R z_t          skip_t = S z_t
    logits   from relu(sum of all skips), or from relu(x) of the last layer, by relu(H .) and one more map (WaveNet, section 2.4)

Layer l has dilation growth^(l mod cycle): growth 1 is contiguous, growth 2 doubles, a larger one leaves holes when the kernel
is small. A row sees at most 1 + sum (k-1) r rows, itself among them; no older row can matter, and all that decoding keeps are
the newest (k-1) r inputs of every layer.

Axes: b request, t target row, k place in the window (the last is the newest), d row, v vocabulary entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import Capabilities, Inputs, Outputs, Spec
from models.parts.formulas import Formula, p
from models.parts.settings import setting
from models.parts.tap import Tap
from models.parts.windows import newest, windows

ROWS = 513  # as many as it holds; what a wider field would add could never be seen


@dataclass(frozen=True)
class Config:
    """A WaveNet for characters, small: one cycle of doubling dilations."""

    layers: int = setting(6, "Layers", "each lets information come from further back", low=1, high=12)
    kernel: int = setting(2, "Kernel k", "rows that one layer reads; 1 reads only its own row", low=1, high=8)
    growth: int = setting(2, "Dilation grows by", "1: contiguous; 2: doubling; 3 and 4 may leave holes", low=1, high=4)
    cycle: int = setting(6, "Layers a cycle", "after so many layers the dilation begins again at 1", low=1, high=12)
    width: int = setting(64, "Width d", "of a row, and of the units of every layer", low=4, high=128)
    unit: str = setting("gated", "Unit", "tanh behind a sigmoid gate (WaveNet), or relu", choices=("gated", "plain"))
    output: str = setting("skips", "Output", "from the skips of all layers, or from the last layer", choices=("skips", "last"))


def dilations(config: Config) -> tuple[int, ...]:
    """How far apart the rows of a window stand, for each layer."""
    return tuple(config.growth ** (layer % config.cycle) for layer in range(config.layers))


def span(config: Config) -> int:
    """The receptive field from its oldest row to the row itself: 1 + sum of (k - 1) dilation (000 0x05B)."""
    return 1 + sum((config.kernel - 1) * r for r in dilations(config))


def reach(config: Config) -> tuple[int, ...]:
    """How many rows back a row can see, each that it can: sums of one place of every layer's window. Holes are left out."""
    seen = {0}
    for r in dilations(config):
        seen = {back + place * r for back in seen for place in range(config.kernel)}
    return tuple(sorted(seen))


def _check(config: Config) -> list[tuple[str, Any, str]]:
    if span(config) <= ROWS:
        return []
    allowed = f"a field of at most {ROWS} rows, here it spans {span(config)}; take fewer layers a cycle or a smaller kernel"
    return [("growth", config.growth, allowed)]


@dataclass(frozen=True)
class ConvolutionState:
    """Rows known `[b]`, and the newest (k-1) r inputs of each layer `[b, (k-1) r, d]`; zeros before the first row."""

    lengths: Tensor
    buffers: tuple[Tensor, ...]

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        return {f"layer{i}.inputs": (buffer, "b k d", False) for i, buffer in enumerate(self.buffers)}


class GatedUnit(nn.Module):
    """What is offered, behind a gate of its own."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.W, self.V = nn.Linear(inputs, width), nn.Linear(inputs, width)

    def forward(self, u: Tensor, tap: Tap) -> Tensor:
        offered = tap("filter", torch.tanh(self.W(u)), "b t d")
        return tap("units", offered * tap("gate", torch.sigmoid(self.V(u)), "b t d"), "b t d")


class PlainUnit(nn.Module):
    """One map and a rectifier."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.W = nn.Linear(inputs, width)

    def forward(self, u: Tensor, tap: Tap) -> Tensor:
        return tap("units", F.relu(self.W(u)), "b t d")


class Layer(nn.Module):
    """One causal convolution. dilation: rows from one place of its window to the next; last: nothing comes after it."""

    def __init__(self, config: Config, dilation: int, last: bool) -> None:
        super().__init__()
        self.kernel, self.dilation, d = config.kernel, dilation, config.width
        unit = GatedUnit if config.unit == "gated" else PlainUnit
        self.unit = unit(config.kernel * d, d)
        skips = config.output == "skips"
        self.S = nn.Linear(d, d) if skips else None
        self.R = None if skips and last else nn.Linear(d, d)  # the rows of the last layer are read by nobody but its skip

    def forward(self, x: Tensor, before: Tensor, lengths: Tensor, tap: Tap) -> tuple[Tensor, Tensor | None, Tensor]:
        """Rows `[b, t, d]`, the inputs kept before them -> rows, skip (or None), and the inputs to keep after them."""
        both = torch.cat((before, x), 1)
        window = tap("window", windows(both, x.shape[1], self.kernel, self.dilation), "b t k d")
        z = self.unit(window.flatten(2), tap)
        skip = None if self.S is None else tap("skip", self.S(z), "b t d")
        if self.R is not None:
            x = tap("output", x + self.R(z), "b t d")
        return x, skip, newest(both, lengths, before.shape[1])


class Convolution(nn.Module):
    """Layers of causal convolutions over token vectors, and two maps on each row alone."""

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__()
        self.config, d = config, config.width
        self.token = nn.Embedding(vocabulary, d)
        steps = dilations(config)
        self.layers = nn.ModuleList(Layer(config, r, i == len(steps) - 1) for i, r in enumerate(steps))
        self.H, self.head = nn.Linear(d, d), nn.Linear(d, vocabulary)

    def initial_state(self, batch: int) -> ConvolutionState:
        like = self.token.weight
        lengths = torch.zeros(batch, dtype=torch.int64, device=like.device)
        sizes = [(self.config.kernel - 1) * r for r in dilations(self.config)]
        return ConvolutionState(lengths, tuple(like.new_zeros(batch, size, self.config.width) for size in sizes))

    def forward(self, inputs: Inputs, state: ConvolutionState, tap: Tap) -> tuple[Outputs, ConvolutionState]:
        target = inputs.target
        x = tap("token", self.token(tap("ids", target.values, "b t", "ids")), "b t d")
        kept, skips = [], []
        for i, (layer, before) in enumerate(zip(self.layers, state.buffers, strict=True)):
            x, skip, after = layer(x, before, target.lengths, tap / f"layer{i}")
            kept.append(after)
            skips += [] if skip is None else [skip]
        found = tap("sum", torch.stack(skips).sum(0) if skips else x, "b t d")
        hidden = tap("hidden", F.relu(self.H(F.relu(found))), "b t d")
        logits = tap("logits", self.head(hidden), "b t v", "logits")
        return Outputs("next_token", logits), ConvolutionState(state.lengths + target.lengths, tuple(kept))


def _formulas(config: Config) -> tuple[Formula, ...]:
    gated, skips = config.unit == "gated", config.output == "skips"
    w, b, k = p("W"), p("b"), config.kernel
    offered = rf"\tanh(u_t {w}^{{\top}} + {b})"
    gate = rf"\sigma(u_t {p('V')}^{{\top}} + {p('c')})"
    unit = rf"z_t = {offered} \odot {gate}" if gated else rf"z_t = \operatorname{{relu}}(u_t {w}^{{\top}} + {b})"
    windows = (
        Formula(f"layer{i}.window", rf"u_t = [x_{{t-{(k - 1) * r}}}; \ldots; x_t]", f"{k} rows, {r} apart, side by side")
        for i, r in enumerate(dilations(config))
    )
    total = r"y_t = \textstyle\sum_l z^{(l)}_t S_l^{\top}" if skips else "y_t = x_t"
    return (
        Formula("token", rf"x_t = {p('E')}[id_t]", "the token’s learned vector"),
        *windows,
        *((Formula("layer*.filter", offered, "what a unit offers"),) if gated else ()),
        *((Formula("layer*.gate", gate, "how much of it passes"),) if gated else ()),
        Formula("layer*.units", unit, "the units of a row"),
        *((Formula("layer*.skip", rf"z_t {p('S')}^{{\top}} + {b}", "what the layer gives to the output"),) if skips else ()),
        Formula("layer*.output", rf"x_t \leftarrow x_t + z_t {p('R')}^{{\top}} + {b}", "the row with what the layer adds to it"),
        Formula("sum", total, "what the output is made of"),
        Formula("hidden", rf"n_t = \operatorname{{relu}}(\operatorname{{relu}}(y_t) {p('H')}^{{\top}} + {b})", "one map more"),
        Formula("logits", rf"\ell_t = n_t {w}^{{\top}} + {b}", "one score for each token that may come next"),
    )


SPEC = Spec(
    id="convolution",
    name="Causal convolution",
    family="Convolution",
    summary="Windows over earlier rows, layer on layer: how far a row sees is built in, and nothing older exists.",
    inventory=("A8",),
    paper="van den Oord et al. 2016, WaveNet: A Generative Model for Raw Audio, arXiv 1609.03499",
    config=Config,
    build=lambda config, source, target: Convolution(config, target),
    relations=(),
    phases=("train", "prefill", "decode"),
    tasks=("characters", "language_model"),
    layers=lambda config: config.layers,
    check=_check,
    capabilities=Capabilities(largest_rows=ROWS),
    formulas=_formulas,
)
