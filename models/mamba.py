"""Mamba: a state whose writing, reading and step size depend on what is read (source text 000, section 0x0C.4).

    S_t = exp(Δ_t A) * S_(t-1) + Δ_t x_t B_t        y_t = S_t C_t + D * x_t

Gu and Dao 2023, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces", arXiv 2312.00752, section 3 and algorithm 2.
Each of the f channels carries n numbers. Δ_t (one a channel), B_t and C_t are made of the row x_t itself: a large Δ forgets and
writes, a Δ near 0 keeps all and writes nothing. A is learned, the same for every row. It is discretised as in the published
code: A by zero-order hold, exp(Δ A), B by Euler, Δ B; `s4.py` has the bilinear rule for both. No row is read again: what is
past lives in S and in the last k - 1 inputs of a short convolution, of one size for ever.

With `selection` fixed, Δ, B and C are parameters: the same at every row. Then there is one kernel again, K_l = C exp(Δ A)^l Δ B,
that weighs rows by their distance alone. Known rows run in one parallel scan or row after row, `parts/scan.py`.

Axes: b request, t target row, d model, f channel, n state, k place in a window, l lag, v vocabulary entry.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import Capabilities, Inputs, Outputs, Rows, Spec
from models.parts.carrying import Carry, Factor
from models.parts.formulas import Formula, k, linear, p, q, v
from models.parts.scan import loop, scan
from models.parts.settings import setting
from models.parts.tap import Tap

KERNEL = "what a row l rows back adds, whatever it holds (A by zero-order hold, B by Euler: not the rule of S4)"
STEPS = (1e-3, 1e-1)  # Δ begins between these (section 3.6)

MADE = (Factor("step"), Factor("content"), Factor("write_at"))
CARRY = Carry("layer*", "state", Factor("kept"), (Factor("written"),), MADE, read="read")


@dataclass(frozen=True)
class Config:
    """Two small blocks. `schedule` changes how known rows run, never what is computed."""

    selection: str = setting(
        "selective", "Δ, B and C", "made of each row, or the same for all rows", choices=("selective", "fixed")
    )
    schedule: str = setting(
        "scan", "Known rows run", "in one scan, or row after row", choices=("scan", "loop"), same_weights=True
    )
    layers: int = setting(2, "Layers", "each reads the rows of the one below", low=1, high=6)
    d_model: int = setting(32, "Model width d", "length of a row between blocks", low=4, high=128)
    expand: int = setting(2, "Expansion f / d", "channels of a block for each place of a row", low=1, high=4)
    state: int = setting(8, "State width n", "numbers that each channel carries", low=1, high=32)
    kernel: int = setting(4, "Convolution k", "newest rows that are mixed before the state", low=1, high=8)
    rank: int = setting(2, "Rank of Δ", "Δ is made of the row through so few numbers", low=1, high=16)


@dataclass(frozen=True)
class MambaState:
    """Target rows known `[b]`; for each layer the last inputs of its convolution `[b, k-1, f]` and its state `[b, f, n]`."""

    lengths: Tensor
    windows: tuple[Tensor, ...]
    states: tuple[Tensor, ...]

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        windows = {f"layer{i}.window": (w, "b k f", False) for i, w in enumerate(self.windows)}
        return windows | {f"layer{i}.state": (s, "b f n", False) for i, s in enumerate(self.states)}


class Window(nn.Module):
    """A causal convolution of width k, each channel for itself, and SiLU."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.W = nn.Parameter(torch.empty(channels, width).uniform_(-1, 1) / math.sqrt(width))
        self.b = nn.Parameter(torch.empty(channels).uniform_(-1, 1) / math.sqrt(width))

    def forward(self, x: Tensor, rows: Rows, before: Tensor, tap: Tap) -> tuple[Tensor, Tensor]:
        """x `[b, t, f]` and the last real inputs before it `[b, k-1, f]` -> mixed rows, and the last real inputs after it."""
        both = torch.cat((before, x), 1)
        mixed = (both.unfold(1, self.W.shape[1], 1) * self.W).sum(-1) + self.b
        last = rows.lengths[:, None] + torch.arange(before.shape[1], device=x.device)
        return tap("content", F.silu(mixed), "b t f"), both.gather(1, last[:, :, None].expand(-1, -1, x.shape[2]))


class Selective(nn.Module):
    """Δ_t, B_t and C_t of the row itself."""

    def __init__(self, channels: int, state: int, rank: int) -> None:
        super().__init__()
        self.W, self.step = nn.Linear(channels, rank + 2 * state, bias=False), nn.Linear(rank, channels)
        self.sizes = [rank, state, state]
        with torch.no_grad():
            self.step.weight.uniform_(-1, 1).mul_(rank**-0.5)
            self.step.bias.copy_(first_steps(channels))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Rows `[b, t, f]` -> Δ before softplus `[b, t, f]`, B and C `[b, t, n]`."""
        low, B, C = self.W(x).split(self.sizes, -1)
        return self.step(low), B, C


class Fixed(nn.Module):
    """Δ, B and C that no row can change."""

    def __init__(self, channels: int, state: int) -> None:
        super().__init__()
        self.step, self.B = nn.Parameter(first_steps(channels)), nn.Parameter(torch.ones(state))
        self.C = nn.Parameter(torch.randn(state))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The same three for every row."""
        b, t, _ = x.shape
        return self.step.expand(b, t, -1), self.B.expand(b, t, -1), self.C.expand(b, t, -1)


def first_steps(channels: int) -> Tensor:
    """What softplus turns into steps between `STEPS`, evenly in their logarithm."""
    low, high = map(math.log, STEPS)
    step = torch.exp(torch.rand(channels) * (high - low) + low)
    return step + torch.log(-torch.expm1(-step))


class Block(nn.Module):
    """x + W_out(y * silu(z)), where y comes from the state and z from the row alone (figure 3 of the paper)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        channels = config.expand * config.d_model
        self.schedule = scan if config.schedule == "scan" else loop
        self.norm = nn.RMSNorm(config.d_model, 1e-5)
        self.enter = nn.Linear(config.d_model, 2 * channels, bias=False)
        self.window = Window(channels, config.kernel)
        selective = config.selection == "selective"
        self.choose = Selective(channels, config.state, config.rank) if selective else Fixed(channels, config.state)
        self.A_log = nn.Parameter(torch.arange(1.0, config.state + 1).log().repeat(channels, 1))
        self.D = nn.Parameter(torch.ones(channels))
        self.leave = nn.Linear(channels, config.d_model, bias=False)

    def forward(self, x: Tensor, rows: Rows, window: Tensor, state: Tensor, tap: Tap) -> tuple[Tensor, Tensor, Tensor]:
        """Rows `[b, t, d]` -> rows `[b, t, d]`, the convolution's window `[b, k-1, f]` and the state `[b, f, n]` after them."""
        content, z = self.enter(tap("norm", self.norm(x), "b t d")).chunk(2, -1)
        content, window = self.window(content, rows, window, tap)
        kept, written, C = self._transition(content, tap)
        real = rows.valid[:, :, None, None]
        states = self.schedule(torch.where(real, kept, 1.0), torch.where(real, written, 0.0), state, tap, "b t f n")
        y = tap("read", (states * C[:, :, None]).sum(-1) + self.D * content, "b t f")
        gate = tap("gate", F.silu(z), "b t f")
        x = tap("residual", x + tap("output", self.leave(y * gate), "b t d"), "b t d")
        return x, window, states[:, -1] if states.shape[1] else state

    def _transition(self, content: Tensor, tap: Tap) -> tuple[Tensor, Tensor, Tensor]:
        """How much of the state each row keeps, what it adds `[b, t, f, n]`, and where it reads, C `[b, t, n]`."""
        step, B, C = self.choose(content)
        step = tap("step", F.softplus(step), "b t f")
        B, C = tap("write_at", B, "b t n"), tap("read_at", C, "b t n")
        kept = tap("kept", torch.exp(step[..., None] * -self.A_log.exp()), "b t f n", "coefficients")
        written = tap("written", (step * content)[..., None] * B[:, :, None], "b t f n")
        return kept, written, C

    def kernel(self, lags: int) -> Tensor | None:
        """What a row of distance l adds to the read, `[f, l]`: none where every row chooses its own."""
        if not isinstance(self.choose, Fixed):
            return None
        step = F.softplus(self.choose.step)[:, None]
        powers = torch.exp(step * -self.A_log.exp() * torch.arange(lags, device=step.device)[:, None, None])
        return torch.einsum("lfn,fn,n->fl", powers, step * self.choose.B, self.choose.C)


class Mamba(nn.Module):
    """Token vectors, blocks, a last norm, one linear map to the vocabulary."""

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__()
        self.config, d = config, config.d_model
        self.token = nn.Embedding(vocabulary, d)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm, self.head = nn.RMSNorm(d, 1e-5), nn.Linear(d, vocabulary, bias=False)

    def initial_state(self, batch: int) -> MambaState:
        like, c = self.token.weight, self.config
        channels = c.expand * c.d_model
        lengths = torch.zeros(batch, dtype=torch.int64, device=like.device)
        windows = tuple(like.new_zeros(batch, c.kernel - 1, channels) for _ in self.blocks)
        return MambaState(lengths, windows, tuple(like.new_zeros(batch, channels, c.state) for _ in self.blocks))

    def forward(self, inputs: Inputs, state: MambaState, tap: Tap) -> tuple[Outputs, MambaState]:
        target, windows, states = inputs.target, [], []
        x = tap("token", self.token(tap("ids", target.values, "b t", "ids")), "b t d")
        for i, block in enumerate(self.blocks):
            x, window, last = block(x, target, state.windows[i], state.states[i], tap / f"layer{i}")
            windows.append(window)
            states.append(last)
        logits = tap("logits", self.head(tap("norm", self.norm(x), "b t d")), "b t v", "logits")
        lengths = state.lengths + target.lengths
        return Outputs("next_token", logits), replace(state, lengths=lengths, windows=tuple(windows), states=tuple(states))

    def kernels(self, lags: int) -> Mapping[str, tuple[Tensor, str]]:
        """By layer, the kernel `[f, l]` of a layer that has one, and its axes."""
        found = {f"layer{i}": block.kernel(lags) for i, block in enumerate(self.blocks)}  # type: ignore[operator]
        return {path: (kernel, "f l") for path, kernel in found.items() if kernel is not None}


def _formulas(config: Config) -> tuple[Formula, ...]:
    selective = config.selection == "selective"
    return (
        Formula("token", rf"u_t = {p('E')}[id_t]", "the token’s learned vector"),
        Formula("layer*.norm", rf"\operatorname{{RMSNorm}}(u_t) \odot {p('g')}", "the row, scaled to one size"),
        *_state_formulas(config.kernel, selective),
        Formula("layer*.gate", r"\operatorname{silu}(z_t)", "how much of the read passes, made of the row alone"),
        Formula(
            "layer*.output", rf"o_t = (y_t \odot \operatorname{{silu}}(z_t)) {p('W')}^{{\top}}", "what the block adds to the row"
        ),
        Formula("layer*.residual", r"u_t + o_t", "the row with what the block adds"),
        Formula("norm", rf"\operatorname{{RMSNorm}}(u_t) \odot {p('g')}", "the last row, scaled to one size"),
        Formula("logits", rf"\ell_t = u_t {p('W')}^{{\top}}", "one score for each word that may come next"),
        *(() if selective else (Formula("parameter.kernel.*", rf"K_l = {q('C')} e^{{l \Delta A}} \Delta {k('B')}", KERNEL),)),
        Formula("parameter.*.A_log", rf"A = -e^{{{p('A')}}}", "how fast each number of the state fades"),
        *(linear("parameter.*.choose.step", r"\Delta_t", "low_t", of="the step size before softplus") if selective else ()),
    )


def _state_formulas(kernel: int, selective: bool) -> tuple[Formula, ...]:
    """How a row is written into the state and read from it."""
    x = v("x_t")
    low = rf"\operatorname{{softplus}}({x} {p('W')}_{{low}}^{{\top}} {p('W')}_\Delta^{{\top}} + {p('b')})"
    return (
        Formula(
            "layer*.content",
            rf"{x} = \operatorname{{silu}}(\textstyle\sum_{{j<{kernel}}} {p('W')}_j \odot a_{{t-j}} + {p('b')})",
            f"what could be written: the newest {kernel} rows mixed, each channel for itself",
        ),
        Formula(
            "layer*.step",
            rf"\Delta_t = {low}" if selective else rf"\Delta = \operatorname{{softplus}}({p('b')})",
            "the step size: large forgets and writes, near 0 keeps",
        ),
        Formula(
            "layer*.write_at",
            rf"{k('B_t')} = {x} {p('W')}_B^{{\top}}" if selective else k("B"),
            "where the state is written",
        ),
        Formula("layer*.read_at", rf"{q('C_t')} = {x} {p('W')}_C^{{\top}}" if selective else q("C"), "where the state is read"),
        Formula("layer*.kept", r"\bar A_t = e^{\Delta_t A}", "how much of each number of the state stays (zero-order hold)"),
        Formula("layer*.written", rf"\Delta_t\,{x}\,{k('B_t')}", "what this row adds to the state (Euler)"),
        Formula(
            "layer*.state", rf"S_t = \bar A_t \odot S_{{t-1}} + \Delta_t\,{x}\,{k('B_t')}", "what is carried from row to row"
        ),
        Formula("layer*.read", rf"y_t = S_t\,{q('C_t')} + {p('D')} \odot {x}", "what this row takes out of the state"),
    )


def _build(config: Config, source: int | None, target: int) -> nn.Module:
    return Mamba(config, target)


SPEC = Spec(
    id="mamba",
    name="Mamba",
    family="State space",
    summary="One state of fixed size; each row chooses how much is kept, what is written and where it reads.",
    inventory=("A18",),
    paper="Gu and Dao 2023, Mamba: Linear-Time Sequence Modeling with Selective State Spaces, arXiv 2312.00752",
    config=Config,
    build=_build,
    relations=(),
    phases=("train", "prefill", "decode"),
    tasks=("selective_copy", "language_model"),
    layers=lambda config: config.layers,
    capabilities=Capabilities(largest_rows=512),
    formulas=_formulas,
    carries=lambda config: (CARRY,),
)
