"""Residual depth: the same stack of blocks with and without shortcuts, as deep as one likes (000, 0x06).

    branch     F(x)_t = W_2 relu(W_1 u_t)     u_t: row t and the k - 1 rows before it
    plain      y = relu(F(x))
    residual   y = relu(P x + a F(x))         He et al. 2016, arXiv 1512.03385, eqs. 1 and 2; a scales the branch (theirs: 1)

P is the identity where the width stays. Where it doubles (half-way through the stack, if asked for) it pads with zeros (their
option A), or is a learned map there alone (B); or it is learned in every block (C). A projection maps each row alone; only the
branch moves anything between rows. Weights begin as in He et al. 2015, arXiv 1502.01852. There is no normalisation between
blocks, so that what the shortcut does is seen by itself; one before the scores keeps depth from scaling them.

Axes: b request, t target row, k place in the window (the last is the newest), d row, c row after the width doubled, v vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import Capabilities, Inputs, Outputs, Spec
from models.parts.formulas import Formula, p
from models.parts.settings import setting
from models.parts.tap import Tap
from models.parts.windows import newest, windows

ROWS = 513
SHORTCUTS = ("identity", "projection", "projections", "none")


@dataclass(frozen=True)
class Config:
    """Twelve blocks: deep enough for a plain stack to suffer; of 24 it hardly learns at all."""

    blocks: int = setting(12, "Blocks", "two maps each; compare the training loss of 2, 6, 12, 24", low=1, high=32)
    shortcut: str = setting(
        "identity", "Shortcut", "A, B (learned where the width changes), C (everywhere), or a plain stack", choices=SHORTCUTS
    )
    scale: float = setting(1.0, "Branch scale a", "what F(x) is multiplied by before it is added", low=0.0, high=2.0)
    doubles: bool = setting(False, "Width doubles", "half-way: an identity then pads with zeros; the others map")
    kernel: int = setting(2, "Kernel k", "rows that one block reads, its own among them", low=1, high=8)
    width: int = setting(32, "Width d", "of a row in the first block", low=4, high=64)


@dataclass(frozen=True)
class StackState:
    """Rows known `[b]`, and the newest k - 1 inputs of each block `[b, k - 1, d]` (zeros before the first row)."""

    lengths: Tensor
    buffers: tuple[Tensor, ...]

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        narrow = self.buffers[0].shape[2] if self.buffers else 0
        return {
            f"block{i}.inputs": (buffer, "b k d" if buffer.shape[2] == narrow else "b k c", False)
            for i, buffer in enumerate(self.buffers)
        }


class NoShortcut(nn.Module):
    """A plain block: what is not in the branch is gone."""

    def forward(self, x: Tensor, branch: Tensor) -> Tensor:
        return branch


class Identity(nn.Module):
    """The row itself, with zeros where the block is wider than the row (option A): nothing is learned."""

    def __init__(self, more: int, scale: float) -> None:
        super().__init__()
        self.more, self.scale = more, scale

    def forward(self, x: Tensor, branch: Tensor) -> Tensor:
        return F.pad(x, (0, self.more)) + self.scale * branch


class Projection(nn.Module):
    """A learned map of each row alone."""

    def __init__(self, inputs: int, width: int, scale: float) -> None:
        super().__init__()
        self.P, self.scale = nn.Linear(inputs, width, bias=False), scale

    def forward(self, x: Tensor, branch: Tensor) -> Tensor:
        return self.P(x) + self.scale * branch


def make_shortcut(config: Config, inputs: int, width: int) -> nn.Module:
    """That of one block, from rows of `inputs` numbers to rows of `width`."""
    learned = config.shortcut == "projections" or (config.shortcut == "projection" and inputs != width)
    if config.shortcut == "none":
        return NoShortcut()
    return Projection(inputs, width, config.scale) if learned else Identity(width - inputs, config.scale)


class Block(nn.Module):
    """A branch of two maps over a causal window, a shortcut, and a rectifier behind both."""

    def __init__(self, config: Config, inputs: int, width: int) -> None:
        super().__init__()
        self.kernel = config.kernel
        self.W_1, self.W_2 = nn.Linear(config.kernel * inputs, width), nn.Linear(width, width)
        self.shortcut = make_shortcut(config, inputs, width)
        before, after = ("d" if n == config.width else "c" for n in (inputs, width))
        self.window_axes, self.row_axes = f"b t k {before}", f"b t {after}"

    def forward(self, x: Tensor, before: Tensor, lengths: Tensor, tap: Tap) -> tuple[Tensor, Tensor]:
        """Rows and the inputs kept before them -> rows, and the inputs to keep after them."""
        both = torch.cat((before, x), 1)
        window = tap("window", windows(both, x.shape[1], self.kernel), self.window_axes)
        inner = tap("inner", F.relu(self.W_1(window.flatten(2))), self.row_axes)
        branch = tap("branch", self.W_2(inner), self.row_axes)
        x = tap("output", F.relu(self.shortcut(window[:, :, -1], branch)), self.row_axes)
        return x, newest(both, lengths, before.shape[1])


def widths(config: Config) -> tuple[int, ...]:
    """Of the rows that enter each block, and of those that leave the last."""
    half = config.blocks // 2
    return tuple(config.width * (2 if config.doubles and i > half else 1) for i in range(config.blocks + 1))


class ResidualStack(nn.Module):
    """Token vectors, blocks, one norm, scores."""

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__()
        self.config, w = config, widths(config)
        self.token = nn.Embedding(vocabulary, config.width)
        self.blocks = nn.ModuleList(Block(config, w[i], w[i + 1]) for i in range(config.blocks))
        self.norm, self.head = nn.LayerNorm(w[-1]), nn.Linear(w[-1], vocabulary)
        for block in self.blocks:
            for module in block.modules():
                if isinstance(module, nn.Linear):
                    nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
                    if module.bias is not None:
                        nn.init.zeros_(module.bias)

    def initial_state(self, batch: int) -> StackState:
        like, kept = self.token.weight, self.config.kernel - 1
        lengths = torch.zeros(batch, dtype=torch.int64, device=like.device)
        return StackState(lengths, tuple(like.new_zeros(batch, kept, n) for n in widths(self.config)[:-1]))

    def forward(self, inputs: Inputs, state: StackState, tap: Tap) -> tuple[Outputs, StackState]:
        target = inputs.target
        x = tap("token", self.token(tap("ids", target.values, "b t", "ids")), "b t d")
        buffers = []
        for i, (block, before) in enumerate(zip(self.blocks, state.buffers, strict=True)):
            x, after = block(x, before, target.lengths, tap / f"block{i}")
            buffers.append(after)
        rows = tap("normed", self.norm(x), self.blocks[-1].row_axes)  # type: ignore[arg-type]
        logits = tap("logits", self.head(rows), "b t v", "logits")
        return Outputs("next_token", logits), StackState(state.lengths + target.lengths, tuple(buffers))


def _formulas(config: Config) -> tuple[Formula, ...]:
    b, w1, w2 = p("b"), p("W_1"), p("W_2")
    short = {"identity": "x_t", "projection": "P x_t", "projections": rf"x_t {p('P')}^{{\top}}", "none": ""}[config.shortcut]
    branch = "F(x)_t" if config.scale == 1 else rf"{config.scale:g} \, F(x)_t"
    total = rf"{short} + {branch}" if short else "F(x)_t"
    return (
        Formula("token", rf"x_t = {p('E')}[id_t]", "the token’s learned vector"),
        Formula("block*.window", rf"u_t = [x_{{t-{config.kernel - 1}}}; \ldots; x_t]", "a row and those before it, side by side"),
        Formula("block*.inner", rf"n_t = \operatorname{{relu}}(u_t {w1}^{{\top}} + {b})", "the first map of the branch"),
        Formula("block*.branch", rf"F(x)_t = n_t {w2}^{{\top}} + {b}", "what the block adds to the row, or makes of it"),
        Formula("block*.output", rf"y_t = \operatorname{{relu}}({total})", "the row after the block"),
        Formula("normed", r"\operatorname{LayerNorm}(y_t)", "the row after the last block, at one scale whatever the depth"),
        Formula(
            "logits",
            rf"\ell_t = \operatorname{{LayerNorm}}(y_t) {p('W')}^{{\top}} + {b}",
            "one score for each token that may come next",
        ),
    )


SPEC = Spec(
    id="residual",
    name="Residual stack",
    family="Convolution",
    summary="The same blocks with and without shortcuts: watch the loss and the gradient that reaches each block as depth grows.",
    inventory=("A10",),
    paper="He et al. 2016, Deep Residual Learning for Image Recognition, arXiv 1512.03385",
    config=Config,
    build=lambda config, source, target: ResidualStack(config, target),
    relations=(),
    phases=("train", "prefill", "decode"),
    tasks=("characters", "language_model"),
    layers=lambda config: config.blocks,
    capabilities=Capabilities(largest_rows=ROWS),
    formulas=_formulas,
)
