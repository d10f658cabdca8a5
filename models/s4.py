"""S4 in its diagonal form (S4D): one linear state system, as a recurrence or as a convolution (source text 000, section 0x0C.3).

    x' = A x + B u    y = C x + D u        bilinear:  Ā = (1 + ΔA/2) / (1 - ΔA/2),  B̄ = Δ B / (1 - ΔA/2)
    recurrence        x_t = Ā x_(t-1) + B̄ u_t,  y_t = C x_t + D u_t
    convolution       y_t = sum over lags l of K_l u_(t-l) + D u_t,  K_l = C Ā^l B̄

Gu, Goel and Re 2021, "Efficiently Modeling Long Sequences with Structured State Spaces", arXiv 2111.00396, sections 2 and 3; Gu
et al. 2022, "On the Parameterization and Initialization of Diagonal State Space Models", arXiv 2206.11893. HiPPO-LegS is a normal
matrix less one of rank one; here the low-rank part is left out and the normal part is diagonal: n/2 pairs of conjugate complex
numbers for each of the d channels, of which one each is kept. (Mamba, `mamba.py`, discretises otherwise.) The same system serves
at every row, so that a row's weight depends on its distance alone: that is the kernel. Both schedules give the same outputs but
for rounding. Blocks add to a residual stream: GELU and a gated linear map mix the channels.

Axes: b request, t target row (s source row, of a sequence that is classified), d channel, n state (real parts, then imaginary
ones), l lag, v vocabulary entry.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import Capabilities, Inputs, Outputs, Rows, Spec
from models.parts import hippo
from models.parts.formulas import Formula, layer_norm, linear, p
from models.parts.settings import setting
from models.parts.tap import OFF, Tap


@dataclass(frozen=True)
class Config:
    """Two small blocks. `schedule` and `speed` change how the same weights run."""

    schedule: str = setting(
        "recurrence",
        "Known rows run",
        "one after another, or in one convolution",
        choices=("recurrence", "convolution"),
        same_weights=True,
    )
    start: str = setting(
        "legs", "A begins as", "HiPPO-LegS’s normal part, or evenly spaced frequencies (S4D-Lin)", choices=tuple(hippo.STARTS)
    )
    layers: int = setting(2, "Layers", "each reads the rows of the one below", low=1, high=6)
    d_model: int = setting(64, "Channels d", "each has a state of its own", low=4, high=128)
    state: int = setting(16, "State width n", "real numbers a channel carries, two for each complex one", low=2, high=64)
    step_low: float = setting(
        1e-3, "Smallest first Δ", "slow channels: how far back they begin to see is about 1/Δ rows", low=1e-5, high=1.0
    )
    step_high: float = setting(1e-1, "Largest first Δ", "fast channels", low=1e-5, high=1.0)
    speed: float = setting(
        1.0, "Δ times", "every step size, after training: how fast time passes", low=0.05, high=20.0, same_weights=True
    )


@dataclass(frozen=True)
class S4State:
    """Target rows known `[b]`, and for each layer its state `[b, d, n]`: the same size after any number of rows."""

    lengths: Tensor
    layers: tuple[Tensor, ...]

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        return {f"layer{i}.state": (x, "b d n", False) for i, x in enumerate(self.layers)}


def parts(z: Tensor) -> Tensor:
    """Complex `[..., n/2]` as real numbers `[..., n]`: real parts, then imaginary ones."""
    return torch.cat((z.real, z.imag), -1)


def whole(x: Tensor) -> Tensor:
    """The complex numbers `[..., n/2]` of `parts`."""
    return torch.complex(*x.chunk(2, -1))


def powers(z: Tensor, count: int) -> Tensor:
    """z^0, z^1, ... `[..., count]`, twice as many in each round."""
    found, factor = torch.ones_like(z)[..., None], z
    while found.shape[-1] < count:
        found, factor = torch.cat((found, found * factor[..., None]), -1), factor * factor
    return found[..., :count]


class System(nn.Module):
    """One state system a channel. A = -exp(A_log) + i A_imag, so that every state fades; a pair counts twice its real part."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        d, pairs = config.d_model, config.state // 2
        self.speed = config.speed
        A, B = hippo.STARTS[config.start](pairs)
        low, high = math.log(config.step_low), math.log(config.step_high)
        self.step_log = nn.Parameter(torch.rand(d) * (high - low) + low)
        self.A_log = nn.Parameter((-A.real).log().float().repeat(d, 1))
        self.A_imag = nn.Parameter(A.imag.float().repeat(d, 1))
        self.B = nn.Parameter(parts(B).float().repeat(d, 1))
        self.C = nn.Parameter(torch.randn(d, 2 * pairs) * math.sqrt(0.5))
        self.D = nn.Parameter(torch.randn(d))

    def discrete(self, tap: Tap) -> tuple[Tensor, Tensor]:
        """Ā and B̄, complex `[d, n/2]`, by the bilinear rule."""
        step = tap("step", self.step_log.exp() * self.speed, "d")[:, None]
        half = step / 2 * torch.complex(-self.A_log.exp(), self.A_imag)
        kept = tap("kept", parts((1 + half) / (1 - half)), "d n", "coefficients")
        return whole(kept), whole(tap("written", parts(step * whole(self.B) / (1 - half)), "d n", "coefficients"))

    def read(self, x: Tensor) -> Tensor:
        """C x of states, complex `[..., d, n/2]` -> real `[..., d]`."""
        return 2 * (whole(self.C) * x).real.sum(-1)

    def kernel(self, kept: Tensor, written: Tensor, lags: int) -> Tensor:
        """K_l = C Ā^l B̄ `[d, l]`."""
        return 2 * torch.einsum("dn,dnl->dl", whole(self.C) * written, powers(kept, lags)).real


def recurrence(system: System, u: Tensor, rows: Rows, before: Tensor, tap: Tap, owner: str) -> tuple[Tensor, Tensor]:
    """Row after row: u `[b, t, d]`, the state before it `[b, d, n]` -> C x of each row `[b, t, d]`, the state after the last."""
    kept, written = system.discrete(tap)
    valid, state, read = rows.valid, before, [u[:, :0]]
    for t in range(u.shape[1]):
        new = parts(kept * whole(state) + written * u[:, t, :, None])
        new = tap.at(owner, t)("state", new, "b d n", "state")
        state = torch.where(valid[:, t, None, None], new, state)
        read.append(system.read(whole(state))[:, None])
    return torch.cat(read, 1), state


def convolution(system: System, u: Tensor, rows: Rows, before: Tensor, tap: Tap, owner: str) -> tuple[Tensor, Tensor]:
    """The same at once, through the kernel. No state is made but the last, which the next call goes on with."""
    kept, written = system.discrete(tap)
    t = u.shape[1]
    if not t:
        return u, before
    kernel = tap("kernel", system.kernel(kept, written, t), "d l", "coefficients")
    y = torch.fft.irfft(torch.fft.rfft(u, 2 * t, 1) * torch.fft.rfft(kernel.T, 2 * t, 0), 2 * t, 1)[:, :t]
    faded = powers(kept, t + 1)
    y = y + 2 * torch.einsum("bdn,dnt->btd", whole(system.C) * whole(before), faded[..., 1:]).real  # what was read before
    return y, _last(written, u, rows, before, faded)


def _last(written: Tensor, u: Tensor, rows: Rows, before: Tensor, faded: Tensor) -> Tensor:
    """Each request's state after its last real row: its rows are moved to the end, so that all have faded alike."""
    t = u.shape[1]
    at = torch.arange(t, device=u.device) - (t - rows.lengths)[:, None]
    moved = torch.where((at >= 0)[..., None], u.gather(1, at.clamp(min=0)[..., None].expand_as(u)), 0.0)
    new = torch.einsum("btd,dnt->bdn", moved.to(faded.dtype), faded[..., :t].flip(-1)) * written
    old = faded.permute(2, 0, 1)[rows.lengths] * whole(before)
    return parts(new + old)


class Block(nn.Module):
    """x + glu(W gelu(S4(norm(x))))."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.run = recurrence if config.schedule == "recurrence" else convolution
        self.norm, self.system = nn.LayerNorm(config.d_model), System(config)
        self.mix = nn.Linear(config.d_model, 2 * config.d_model)

    def forward(self, x: Tensor, rows: Rows, state: Tensor, tap: Tap, owner: str) -> tuple[Tensor, Tensor]:
        """Rows `[b, t, d]` and the state before them `[b, d, n]` -> rows `[b, t, d]` and the state after them."""
        axes = f"b {owner} d"
        u = tap("input", self.norm(x), axes)
        read, state = self.run(self.system, u, rows, state, tap, owner)
        y = tap("read", read + self.system.D * u, axes)
        added = tap("output", F.glu(self.mix(F.gelu(y)), -1), axes)
        return tap("residual", x + added, axes), state


class S4(nn.Module):
    """Rows in, blocks, a last norm, and one linear map: of each target row to the next word, or of the mean row to a class."""

    def __init__(self, config: Config, source: Any, vocabulary: int) -> None:
        super().__init__()
        self.config, d = config, config.d_model
        self.classifies = source is not None
        self.enter = nn.Linear(source.width, d) if self.classifies else nn.Embedding(vocabulary, d)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, vocabulary)

    def initial_state(self, batch: int) -> S4State:
        like, c = self.head.weight, self.config
        lengths = torch.zeros(batch, dtype=torch.int64, device=like.device)
        return S4State(lengths, tuple(like.new_zeros(batch, c.d_model, c.state) for _ in self.blocks))

    def forward(self, inputs: Inputs, state: S4State, tap: Tap) -> tuple[Outputs, S4State]:
        if self.classifies:
            return self._classify(inputs, state, tap), state
        target = inputs.target
        x = tap("token", self.enter(tap("ids", target.values, "b t", "ids")), "b t d")
        x, layers = self._blocks(x, target, state.layers, tap, "t")
        logits = tap("logits", self.head(tap("norm", self.norm(x), "b t d")), "b t v", "logits")
        return Outputs("next_token", logits), replace(state, lengths=state.lengths + target.lengths, layers=layers)

    def _classify(self, inputs: Inputs, state: S4State, tap: Tap) -> Outputs:
        source = inputs.source
        if source is None:
            raise ValueError("source: none given; a sequence to classify is read in one call")
        x = tap("token", self.enter(source.values), "b s d")
        x, _ = self._blocks(x, source, state.layers, tap, "s")
        real = source.valid[..., None]
        mean = torch.where(real, self.norm(x), 0.0).sum(1) / source.lengths.clamp(min=1)[:, None]
        logits = tap("logits", self.head(tap("mean", mean, "b d")), "b v", "logits")
        return Outputs("class", logits)

    def _blocks(
        self, x: Tensor, rows: Rows, states: tuple[Tensor, ...], tap: Tap, owner: str
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        after = []
        for i, (block, state) in enumerate(zip(self.blocks, states, strict=True)):
            x, new = block(x, rows, state, tap / f"layer{i}", owner)
            after.append(new)
        return x, tuple(after)

    def kernels(self, lags: int) -> Mapping[str, Tensor]:
        """By layer, its kernel `[d, l]`."""
        systems = {f"layer{i}": block.system for i, block in enumerate(self.blocks)}
        return {path: s.kernel(*s.discrete(OFF), lags) for path, s in systems.items()}  # type: ignore[union-attr, operator]


def _formulas(config: Config) -> tuple[Formula, ...]:
    times = "" if config.speed == 1 else rf"{config.speed:g}\,"
    half = rf"{times}\Delta A / 2"
    mixed = rf"o_t = \operatorname{{GLU}}(\operatorname{{GELU}}(y_t) {p('W')}^{{\top}} + {p('b')})"
    means = "the row as it comes in: a token’s learned vector, or its numbers times a matrix"
    turned = "what each number of a state is multiplied by at every row (real parts, then imaginary ones)"
    return (
        Formula("token", rf"r_t = {p('E')}[id_t]", means),
        Formula("layer*.input", r"u_t = \operatorname{LayerNorm}(r_t)", "what the system of each channel is given"),
        Formula("layer*.step", rf"{times}\Delta = {times}e^{{{p('s')}}}", "how far time goes on from row to row"),
        Formula("layer*.kept", rf"\bar A = (1 + {half}) / (1 - {half})", turned),
        Formula(
            "layer*.written",
            rf"\bar B = {times}\Delta\,{p('B')} / (1 - {half})",
            "how each number of a state takes up the row",
        ),
        *_schedule(config),
        Formula("layer*.output", mixed, "what the block adds to the row, its channels mixed"),
        Formula("layer*.residual", "r_t + o_t", "the row with what the block adds"),
        Formula("norm", r"\operatorname{LayerNorm}(r_t)", "the last row, normalised"),
        Formula("logits", rf"\ell = h\,{p('W')}^{{\top}} + {p('b')}", "one score for each word or class"),
        Formula("parameter.*.A_log", rf"\operatorname{{Re}} A = -e^{{{p('A')}}}", "how fast each number of the state fades"),
        Formula("parameter.*.A_imag", rf"\operatorname{{Im}} A = {p('A')}", "how fast each number of the state turns"),
        *layer_norm("parameter.blocks.*.norm", "u_t", "r_t"),
        *linear("parameter.blocks.*.mix", "a_t", r"\operatorname{GELU}(y_t)"),
    )


def _schedule(config: Config) -> tuple[Formula, Formula]:
    read = "what this row takes out of all rows up to it"
    if config.schedule == "recurrence":
        carried = "what is carried from row to row (real parts, then imaginary ones)"
        return (
            Formula("layer*.state", r"x_t = \bar A \odot x_{t-1} + \bar B u_t", carried),
            Formula("layer*.read", rf"y_t = 2 \operatorname{{Re}} {p('C')} x_t + {p('D')} u_t", read),
        )
    weighs = "what a row l rows back adds to the read, whatever it holds"
    return (
        Formula("layer*.kernel", rf"K_l = 2 \operatorname{{Re}} {p('C')} \bar A^{{\,l}} \bar B", weighs),
        Formula("layer*.read", rf"y_t = \textstyle\sum_l K_l u_{{t-l}} + {p('D')} u_t", read),
    )


def _check(config: Config) -> list[tuple[str, Any, str]]:
    wrong: list[tuple[str, Any, str]] = []
    if config.state % 2:
        wrong.append(("state", config.state, "an even number: two for each complex one"))
    if config.step_low > config.step_high:
        wrong.append(("step_low", config.step_low, f"at most the largest first Δ, {config.step_high:g}"))
    return wrong


def _build(config: Config, source: Any, target: int) -> nn.Module:
    return S4(config, source, target)


SPEC = Spec(
    id="s4",
    name="S4, diagonal (S4D)",
    family="State space",
    summary="One linear state system a channel, run row after row or as one convolution with a fixed kernel: the same outputs.",
    inventory=("A17",),
    paper="Gu, Goel and Re 2021, arXiv 2111.00396; Gu et al. 2022, arXiv 2206.11893 (S4D)",
    config=Config,
    build=_build,
    relations=(),
    phases=("train", "prefill", "decode"),
    tasks=("language_model",),
    layers=lambda config: config.layers,
    check=_check,
    capabilities=Capabilities(largest_rows=512),
    formulas=_formulas,
)
