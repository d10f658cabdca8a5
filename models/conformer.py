"""Conformer: frames read each other by attention and their neighbours by convolution (source text 000, section 0x0C.5).

    x~ = x + 1/2 FFN(x)    x' = x~ + MHSA(x~)    x'' = x' + Conv(x')    y = LayerNorm(x'' + 1/2 FFN(x''))

Gulati et al. 2020, arXiv 2005.08100, section 2. The same two paths in other orders: reversed (convolution first), parallel (both
read x~, their outputs are added; section 3.4 weighs these), interleaved (a layer of attention, then one of convolution).
Attention knows distances, not places (Dai et al. 2019, arXiv 1901.02860, section 3.3): s_ij = (q_i + u) k_j + (q_i + w) r_(i-j).
The paper normalises inside the convolution by batch; here by row, or by a learned scale and shift, which is what a batch norm is
when its statistics are fixed: a request never depends on its neighbours. CTC reads the output (Graves et al. 2006).

Axes: b request, c band of a frame, s frame that reads, s' frame that is read, h head, e head width, d model width, f feed-forward
width, v label (0 is blank).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import Capabilities, Inputs, Outputs, Relation, Spec
from models.parts import attention
from models.parts.attention import Readable, read_masks
from models.parts.formulas import Formula, d, k, layer_norm, linear, p
from models.parts.norms import PreNorm
from models.parts.relative import RelativeAttention
from models.parts.settings import heads_share, setting
from models.parts.stack import FeedForward, initialise
from models.parts.tap import Tap
from models.parts.visibility import Visibility

FRAMES = 128
SOURCE_SELF = Relation("source_self", "frame reads frame", "s", "s", Visibility("full"), "encoder.layer{layer}.self")
ORDERS = ("serial", "reversed", "parallel", "interleaved")


@dataclass(frozen=True)
class Config:
    """In a size that learns strips of digits in a minute."""

    order: str = setting("serial", "Order", "how attention and convolution follow each other", choices=ORDERS)
    layers: int = setting(2, "Layers", "blocks, one upon the other; interleaved: pairs", low=1, high=4)
    heads: int = setting(4, "Heads", "each reads with its own weights; they share the width", low=1, high=8)
    d_model: int = setting(48, "Width d", "length of every frame's vector", choices=(16, 32, 48, 64, 96))
    d_ff: int = setting(96, "Feed-forward f", "hidden units of each half step", choices=(32, 64, 96, 128, 192))
    kernel: int = setting(7, "Kernel", "frames that the convolution sees, half on each side", choices=(1, 3, 5, 7, 9, 15, 31))
    norm: str = setting(
        "layer", "Norm in the convolution", "by row, or a learned scale (batch norm at rest)", choices=("layer", "scale")
    )


@dataclass(frozen=True)
class State:
    """Nothing is kept: all frames are read at once. No target rows `[b]`."""

    lengths: Tensor

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        return {}


class HalfStep(FeedForward):
    """x + 1/2 FFN(norm(x)), with swish."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__(width, hidden, PreNorm, "s", F.silu)

    def forward(self, x: Tensor, tap: Tap) -> Tensor:
        before = tap("before_activation", self.W_1(self.norm.enter(x, "b s d", tap)), "b s f")
        output = tap("output", self.W_2(tap("hidden", self.activation(before), "b s f")), "b s d")
        return tap("residual", x + 0.5 * output, "b s d")


class Scale(nn.Module):
    """Each channel times a number plus a number: a batch norm whose mean and variance are fixed."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight + self.bias


class Convolution(nn.Module):
    """norm, a gated linear unit, a depthwise convolution over frames, norm, swish, a linear map (section 2.2)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        width = config.d_model
        self.norm = PreNorm(width)
        self.W_in, self.W_out = nn.Linear(width, 2 * width, bias=False), nn.Linear(width, width, bias=False)
        self.kernel = nn.Parameter(torch.empty(width, config.kernel))
        nn.init.uniform_(self.kernel, -(config.kernel**-0.5), config.kernel**-0.5)
        self.inner = nn.LayerNorm(width) if config.norm == "layer" else Scale(width)

    def forward(self, x: Tensor, valid: Tensor, tap: Tap) -> Tensor:
        """The output alone `[b, s, d]`; valid `[b, s]`: padding is silence, so it gives its neighbours nothing."""
        gated = tap("gated", F.glu(self.W_in(self.norm.enter(x, "b s d", tap)), -1) * valid[..., None], "b s d")
        width, reach = self.kernel.shape
        kernel = tap("kernel", self.kernel, "d k")
        seen = F.conv1d(gated.transpose(1, 2), kernel[:, None], padding=reach // 2, groups=width).transpose(1, 2)
        seen = tap("depthwise", seen, "b s d")
        return tap("output", self.W_out(tap("hidden", F.silu(self.inner(seen)), "b s d")), "b s d")


class Block(nn.Module):
    """One layer: half a step, attention and convolution in their order, half a step, a norm."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        width = config.d_model
        self.before, self.after = HalfStep(width, config.d_ff), HalfStep(width, config.d_ff)
        self.self, self.conv, self.norm = RelativeAttention(width, config.heads), Convolution(config), nn.LayerNorm(width)

    def forward(self, x: Tensor, mask: Readable, valid: Tensor, tap: Tap) -> Tensor:
        x = self.paths(self.before(x, tap / "before"), mask, valid, tap)
        return tap("norm", self.norm(self.after(x, tap / "after")), "b s d")

    def paths(self, x: Tensor, mask: Readable, valid: Tensor, tap: Tap) -> Tensor:
        """Serial: the convolution reads what attention made."""
        return self.convolve(self.attend(x, mask, tap), valid, tap)

    def attend(self, x: Tensor, mask: Readable, tap: Tap) -> Tensor:
        here = tap / "self"
        return here("residual", x + self.self(x, mask, here), "b s d")

    def convolve(self, x: Tensor, valid: Tensor, tap: Tap) -> Tensor:
        here = tap / "conv"
        return here("residual", x + self.conv(x, valid, here), "b s d")


class Reversed(Block):
    """Attention reads what the convolution made."""

    def paths(self, x: Tensor, mask: Readable, valid: Tensor, tap: Tap) -> Tensor:
        return self.attend(self.convolve(x, valid, tap), mask, tap)


class Parallel(Block):
    """Both read the same rows, and both outputs are added."""

    def paths(self, x: Tensor, mask: Readable, valid: Tensor, tap: Tap) -> Tensor:
        return tap("residual", x + self.self(x, mask, tap / "self") + self.conv(x, valid, tap / "conv"), "b s d")


class Interleaved(Block):
    """A pair: a layer whose only path is attention, and one whose only path is the convolution, each with its own half steps."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        width = config.d_model
        self.conv_before, self.conv_after = HalfStep(width, config.d_ff), HalfStep(width, config.d_ff)
        self.conv_norm = nn.LayerNorm(width)

    def forward(self, x: Tensor, mask: Readable, valid: Tensor, tap: Tap) -> Tensor:
        x = self.attend(self.before(x, tap / "before"), mask, tap)
        x = tap("norm", self.norm(self.after(x, tap / "after")), "b s d")
        x = self.convolve(self.conv_before(x, tap / "conv_before"), valid, tap)
        return tap("conv_norm", self.conv_norm(self.conv_after(x, tap / "conv_after")), "b s d")


BLOCKS: dict[str, type[Block]] = dict(zip(ORDERS, (Block, Reversed, Parallel, Interleaved), strict=True))


class Conformer(nn.Module):
    """Frames `[b, s, c]` to logits `[b, s, v]` of the labels and blank."""

    def __init__(self, config: Config, bands: int, labels: int) -> None:
        super().__init__()
        self.config = config
        self.enter = nn.Linear(bands, config.d_model)
        self.encoder = nn.ModuleDict({f"layer{i}": BLOCKS[config.order](config) for i in range(config.layers)})
        self.head = nn.Linear(config.d_model, labels)
        initialise(self, config.d_model)

    def initial_state(self, batch: int) -> State:
        return State(torch.zeros(batch, dtype=torch.int64, device=self.head.weight.device))

    def forward(self, inputs: Inputs, state: State, tap: Tap) -> tuple[Outputs, State]:
        if inputs.source is None:
            raise ValueError("source: no frames given; all frames are read in one call")
        here, source = tap / "encoder", inputs.source
        frames = here("frames", source.values.to(self.head.weight.dtype), "b s c")
        x = here("entered", self.enter(frames), "b s d")
        valid = source.valid
        rows = torch.arange(x.shape[1], device=x.device).expand(x.shape[:2])
        masks = read_masks(inputs, SOURCE_SELF, self.config.layers, rows, valid, valid, x.dtype)
        for (name, block), mask in zip(self.encoder.items(), masks, strict=True):
            x = block(x, mask, valid, here / name)
        return Outputs("frames", tap("logits", self.head(x), "b s v", "logits")), state


def _formulas(config: Config) -> tuple[Formula, ...]:
    at, width, root = "encoder.layer*", config.d_model // config.heads, rf"\sqrt{{{config.d_model // config.heads}}}"
    scores = rf"S_{{ij}} = ((q_i + {p('u')}) {k('k')}_j^{{\top}} + (q_i + {p('w')}) r_{{i-j}}^{{\top}}) / {root}"
    read = [
        f for f in attention.formulas(SOURCE_SELF, width, kept=False) if f.path not in (f"{at}.self.scores", f"{at}.self.weights")
    ]
    halves = ("before", "after", *(("conv_before", "conv_after") if config.order == "interleaved" else ()))
    return (
        Formula("encoder.frames", r"x_s \in [0, 1]^c", "one frame: how loud each band is"),
        Formula("encoder.entered", rf"x_s {p('W')}^{{\top}} + {p('b')}", "the frame as the first layer takes it"),
        Formula(f"{at}.self.norm", r"n_s = \operatorname{LayerNorm}(x_s)", "the frame, normalised"),
        Formula(f"{at}.self.distance", rf"(q_i + {p('w')}) r_{{i-j}}^{{\top}}", "how well the distance to a frame fits"),
        Formula(f"{at}.self.scores", scores, "content and distance together, before the mask"),
        Formula(
            f"{at}.self.weights",
            r"A = \operatorname{softmax}(S + M)",
            "share of each frame’s value",
            rf"{d('A')} = {d('Z')} V^{{\top}}",
        ),
        *read,
        *_convolution_formulas(f"{at}.conv", config),
        *(f for half in halves for f in _half_formulas(f"{at}.{half}")),
        *_after_paths(at, config.order),
        Formula(f"{at}.norm", r"y_s = \operatorname{LayerNorm}(x_s)", "the layer’s last word"),
        Formula("logits", rf"z_s = y_s {p('W')}^{{\top}} + {p('b')}", "one score for each label, and for blank"),
        *linear("parameter.head", "z_s", "y_s", of="scores"),
        *layer_norm(f"parameter.{at}.norm", "y_s", "x_s"),
    )


def _after_paths(at: str, order: str) -> tuple[Formula, ...]:
    """Where attention and convolution meet the row again."""
    if order == "parallel":
        both = r"y_s = x_s + \operatorname{MHSA}(x)_s + \operatorname{Conv}(x)_s"
        return (Formula(f"{at}.residual", both, "both paths read the same frame"),)
    last = Formula(f"{at}.conv_norm", r"y_s = \operatorname{LayerNorm}(x_s)", "the layer’s last word")
    return (
        Formula(f"{at}.self.residual", r"y_s = x_s + o_s", "the frame with what it read"),
        Formula(f"{at}.conv.residual", r"y_s = x_s + o_s", "the frame with its neighbourhood"),
        *((last,) if order == "interleaved" else ()),
    )


def _convolution_formulas(at: str, config: Config) -> tuple[Formula, ...]:
    inner = r"\operatorname{LayerNorm}(u_s)" if config.norm == "layer" else rf"{p('g')} \odot u_s + {p('b')}"
    return (
        Formula(f"{at}.norm", r"n_s = \operatorname{LayerNorm}(x_s)", "the frame, normalised"),
        Formula(f"{at}.gated", rf"g_s = (n_s {p('W_a')}^{{\top}}) \odot \sigma(n_s {p('W_b')}^{{\top}})", "a gated linear unit"),
        Formula(f"{at}.kernel", rf"{p('K')}", "one learned filter over frames for each channel"),
        Formula(
            f"{at}.depthwise",
            rf"u_s = \sum_{{k=0}}^{{{config.kernel - 1}}} {p('K')}_k \odot g_{{s+k-{config.kernel // 2}}}",
            "each channel sees its own neighbours in time",
        ),
        Formula(f"{at}.hidden", rf"\operatorname{{swish}}({inner})", "normalised and bent"),
        Formula(f"{at}.output", rf"o_s = h_s {p('W')}^{{\top}}", "what the convolution adds"),
    )


def _half_formulas(at: str) -> tuple[Formula, ...]:
    return (
        Formula(f"{at}.norm", r"n_s = \operatorname{LayerNorm}(x_s)", "the frame, normalised"),
        Formula(f"{at}.before_activation", rf"u_s = n_s {p('W_1')}^{{\top}} + {p('b_1')}", "before the activation"),
        Formula(f"{at}.hidden", r"h_s = \operatorname{swish}(u_s)", "hidden units of this frame"),
        Formula(f"{at}.output", rf"o_s = h_s {p('W_2')}^{{\top}} + {p('b_2')}", "what the network says"),
        Formula(f"{at}.residual", r"y_s = x_s + \tfrac12 o_s", "half of it is added"),
    )


def _build(config: Any, source: Any, target: int) -> nn.Module:
    return Conformer(config, source.width, target)


SPEC = Spec(
    id="conformer",
    name="Conformer",
    family="Speech and vision",
    summary="Frames read all frames by attention and their neighbours by convolution; CTC reads the labels off.",
    inventory=("A19",),
    paper="Gulati et al. 2020, Conformer: Convolution-augmented Transformer for Speech Recognition, arXiv 2005.08100",
    config=Config,
    build=_build,
    relations=(SOURCE_SELF,),
    phases=("train", "prefill"),
    tasks=("strips",),
    layers=lambda config: config.layers,
    check=heads_share,
    capabilities=Capabilities(has_source=True, causal=False, streams=False, largest_source=FRAMES),
    formulas=_formulas,
)
