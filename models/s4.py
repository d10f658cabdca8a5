"""S4, diagonal (S4D) or normal plus low rank: a linear state system, as recurrence or as convolution (000, section 0x0C.3).

    x' = A x + B u    y = C x + D u        bilinear:  Ā = (1 + ΔA/2) / (1 - ΔA/2),  B̄ = Δ B / (1 - ΔA/2)
    recurrence        x_t = Ā x_(t-1) + B̄ u_t,  y_t = C x_t + D u_t
    convolution       y_t = sum over lags l of K_l u_(t-l) + D u_t,  K_l = C Ā^l B̄

Gu, Goel and Re 2021, "Efficiently Modeling Long Sequences with Structured State Spaces", arXiv 2111.00396, sections 2 and 3; Gu
et al. 2022, "On the Parameterization and Initialization of Diagonal State Space Models", arXiv 2206.11893. HiPPO-LegS is a
normal matrix less one of rank one (form "nplr", `parts/low_rank.py`). Without that part it is diagonal ("s4d",
`parts/linear_system.py`). Either has n/2 pairs of conjugate complex numbers for each of the d channels, of which one each is
kept. (Mamba, `mamba.py`, discretises otherwise.) The same system serves at every row, so that a row's weight depends on its
distance alone: that is the kernel. Both schedules give the same outputs but for rounding. Blocks add to a residual stream: GELU
and a gated linear map mix the channels.

Axes: b request, t target row (s source row, of a sequence that is classified), d channel, n state (real parts, then imaginary
ones), l lag, v vocabulary entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import Capabilities, Inputs, Outputs, Rows, Spec
from models.parts import hippo, low_rank
from models.parts.carrying import Carry, Factor
from models.parts.formulas import Formula, layer_norm, linear, p
from models.parts.linear_system import System, convolution, recurrence
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
    form: str = setting(
        "s4d", "Form of A", "its diagonal alone, or less a part of rank one: HiPPO-LegS whole", choices=("s4d", "nplr")
    )
    start: str = setting(
        "legs",
        "A begins as",
        "HiPPO-LegS’s normal part, or evenly spaced frequencies (S4D-Lin)",
        choices=tuple(hippo.STARTS),
        when={"form": "s4d"},
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


@dataclass(frozen=True)
class Nothing:
    """Nothing is kept: the whole sequence is read in one call."""

    lengths: Tensor

    def kept(self) -> dict[str, tuple[Tensor, str, bool]]:
        return {}


def initial_state(config: Config, batch: int, like: Tensor) -> S4State:
    """States of zeros."""
    lengths = torch.zeros(batch, dtype=torch.int64, device=like.device)
    return S4State(lengths, tuple(like.new_zeros(batch, config.d_model, config.state) for _ in range(config.layers)))


class Block(nn.Module):
    """x + glu(W gelu(S4(norm(x))))."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        steps = (config.step_low, config.step_high)
        self.norm = nn.LayerNorm(config.d_model)
        if config.form == "s4d":
            self.system: Any = System(config.d_model, config.state, config.start, steps, config.speed)
            at_once: Any = convolution
        else:
            self.system, at_once = low_rank.LowRank(config.d_model, config.state, steps, config.speed), low_rank.convolution
        self.run = recurrence if config.schedule == "recurrence" else at_once
        self.mix = nn.Linear(config.d_model, 2 * config.d_model)

    def forward(self, x: Tensor, rows: Rows, state: Tensor, tap: Tap, owner: str) -> tuple[Tensor, Tensor]:
        """Rows `[b, t, d]` and the state before them `[b, d, n]` -> rows `[b, t, d]` and the state after them."""
        axes = f"b {owner} d"
        u = tap("input", self.norm(x), axes)
        read, state = self.run(self.system, u, rows, state, tap, owner)
        y = tap("read", read + self.system.D * u, axes)
        added = tap("output", F.glu(self.mix(F.gelu(y)), -1), axes)
        return tap("residual", x + added, axes), state


class Blocks(nn.Module):
    """All blocks, one over the other, and the last norm. owner: the letter of the rows."""

    def __init__(self, config: Config, owner: str) -> None:
        super().__init__()
        self.owner = owner
        self.layers = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.d_model)

    def forward(self, x: Tensor, rows: Rows, states: tuple[Tensor, ...], tap: Tap) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Rows `[b, t, d]` -> normed rows `[b, t, d]`, and each layer's state after them."""
        after = []
        for i, (block, state) in enumerate(zip(self.layers, states, strict=True)):
            x, new = block(x, rows, state, tap / f"layer{i}", self.owner)
            after.append(new)
        return tap("norm", self.norm(x), f"b {self.owner} d"), tuple(after)

    def kernels(self, lags: int) -> Mapping[str, tuple[Tensor, str]]:
        """By layer, its kernel `[d, l]` and the axes of it."""
        systems = {f"layer{i}": block.system for i, block in enumerate(self.layers)}
        return {path: (s.kernel(*s.discrete(OFF), lags), "d l") for path, s in systems.items()}  # type: ignore[union-attr, operator]


class S4(nn.Module):
    """A language model: token vectors, blocks, one linear map to the vocabulary."""

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__()
        self.config, d = config, config.d_model
        self.token, self.blocks, self.head = nn.Embedding(vocabulary, d), Blocks(config, "t"), nn.Linear(d, vocabulary)
        self.kernels = self.blocks.kernels

    def initial_state(self, batch: int) -> S4State:
        return initial_state(self.config, batch, self.head.weight)

    def forward(self, inputs: Inputs, state: S4State, tap: Tap) -> tuple[Outputs, S4State]:
        target = inputs.target
        x = tap("token", self.token(tap("ids", target.values, "b t", "ids")), "b t d")
        x, layers = self.blocks(x, target, state.layers, tap)
        logits = tap("logits", self.head(x), "b t v", "logits")
        return Outputs("next_token", logits), replace(state, lengths=state.lengths + target.lengths, layers=layers)


class S4Classifier(nn.Module):
    """A class for a sequence of numbers: rows through the same blocks, and one linear map of their mean."""

    def __init__(self, config: Config, width: int, classes: int) -> None:
        super().__init__()
        self.config, d = config, config.d_model
        self.enter, self.blocks, self.head = nn.Linear(width, d), Blocks(config, "s"), nn.Linear(d, classes)
        self.kernels = self.blocks.kernels

    def initial_state(self, batch: int) -> Nothing:
        return Nothing(torch.zeros(batch, dtype=torch.int64, device=self.head.weight.device))

    def forward(self, inputs: Inputs, state: Nothing, tap: Tap) -> tuple[Outputs, Nothing]:
        source = inputs.source
        if source is None:
            raise ValueError("source: none given; a sequence to classify is read in one call")
        x = tap("token", self.enter(source.values), "b s d")
        x, _ = self.blocks(x, source, initial_state(self.config, len(x), x).layers, tap)
        real = torch.where(source.valid[..., None], x, 0.0)
        mean = tap("mean", real.sum(1) / source.lengths.clamp(min=1)[:, None], "b d")
        return Outputs("class", tap("logits", self.head(mean), "b v", "logits")), replace(state)


def _formulas(config: Config) -> tuple[Formula, ...]:
    times = "" if config.speed == 1 else rf"{config.speed:g}\,"
    half = rf"{times}\Delta A / 2"
    mixed = rf"o_t = \operatorname{{GLU}}(\operatorname{{GELU}}(y_t) {p('W')}^{{\top}} + {p('b')})"
    means = "the row as it comes in: a token’s learned vector, or its numbers times a matrix"
    A = "A" if config.form == "s4d" else r"\Lambda"
    weighs = "what a row l rows back adds to the read, whatever it holds (bilinear rule)"
    return (
        Formula("token", rf"r_t = {p('E')}[id_t]", means),
        Formula("layer*.input", r"u_t = \operatorname{LayerNorm}(r_t)", "what the system of each channel is given"),
        Formula("layer*.step", rf"{times}\Delta = {times}e^{{{p('s')}}}", "how far time goes on from row to row"),
        *_discrete(config, times, half),
        *_states(config),
        Formula("layer*.read", _read(config), "what this row takes out of all rows up to it"),
        Formula("parameter.kernel.*", rf"K_l = 2 \operatorname{{Re}} {p('C')} \bar A^{{\,l}} \bar B", weighs),
        Formula("layer*.output", mixed, "what the block adds to the row, its channels mixed"),
        Formula("layer*.residual", "r_t + o_t", "the row with what the block adds"),
        Formula("norm", r"\operatorname{LayerNorm}(r_t)", "the last row, normalised"),
        Formula("logits", rf"\ell = h\,{p('W')}^{{\top}} + {p('b')}", "one score for each word or class"),
        Formula("parameter.*.A_log", rf"\operatorname{{Re}} {A} = -e^{{{p('A')}}}", "how fast each number of the state fades"),
        Formula("parameter.*.A_imag", rf"\operatorname{{Im}} {A} = {p('A')}", "how fast each number of the state turns"),
        *layer_norm("parameter.blocks.*.norm", "u_t", "r_t"),
        *linear("parameter.blocks.*.mix", "a_t", r"\operatorname{GELU}(y_t)"),
    )


def _discrete(config: Config, times: str, half: str) -> tuple[Formula, ...]:
    """The bilinear rule, for a number at a time or for the whole matrix."""
    takes, step = "how each number of a state takes up the row", rf"{times}\Delta\,{p('B')}"
    if config.form == "s4d":
        turned = "what each number of a state is multiplied by at every row (real parts, then imaginary ones)"
        kept, written = rf"\bar A = (1 + {half}) / (1 - {half})", rf"\bar B = {step} / (1 - {half})"
    else:
        turned = "what a state is multiplied by at every row: a matrix, since the part of rank one joins its numbers"
        kept = rf"\bar A = (I - {half})^{{-1}} (I + {half}), \quad A = \Lambda - {p('P')} {p('P')}^{{*}}"
        written = rf"\bar B = (I - {half})^{{-1}} {step}"
    return Formula("layer*.kept", kept, turned), Formula("layer*.written", written, takes)


def _states(config: Config) -> tuple[Formula, ...]:
    if config.schedule == "convolution":
        return ()
    carried, times = "what is carried from row to row (real parts, then imaginary ones)", r"\odot" if config.form == "s4d" else ""
    return (Formula("layer*.state", rf"x_t = \bar A {times} x_{{t-1}} + \bar B u_t", carried),)


def _read(config: Config) -> str:
    if config.schedule == "recurrence":
        return rf"y_t = 2 \operatorname{{Re}} {p('C')} x_t + {p('D')} u_t"
    return rf"y_t = \textstyle\sum_l K_l u_{{t-l}} + {p('D')} u_t"


def _carries(config: Config) -> tuple[Carry, ...]:
    written = (Factor("written"), Factor("input"))
    return (Carry("layer*", "state", Factor("kept"), written, pairs=config.form == "s4d", read="read"),)


def _check(config: Config) -> list[tuple[str, Any, str]]:
    wrong: list[tuple[str, Any, str]] = []
    if config.state % 2:
        wrong.append(("state", config.state, "an even number: two for each complex one"))
    if config.step_low > config.step_high:
        wrong.append(("step_low", config.step_low, f"at most the largest first Δ, {config.step_high:g}"))
    return wrong


def _classes(config: Config) -> tuple[Formula, ...]:
    mean = Formula("mean", r"h = \frac{1}{T} \sum_t \operatorname{LayerNorm}(r_t)", "the mean of all rows")
    return (mean, *_formulas(config))


def _build(config: Config, source: Any, target: int) -> nn.Module:
    return S4(config, target)


def _build_classifier(config: Config, source: Any, target: int) -> nn.Module:
    return S4Classifier(config, source.width, target)


SPEC = Spec(
    id="s4",
    name="S4",
    family="State space",
    summary="One linear state system a channel, run row after row or as one convolution with a fixed kernel: the same outputs.",
    inventory=("A17",),
    paper="Gu, Goel and Re 2021, arXiv 2111.00396; Gu et al. 2022, arXiv 2206.11893 (S4D)",
    config=Config,
    build=_build,
    relations=(),
    phases=("train", "prefill", "decode"),
    tasks=("language_model", "selective_copy"),
    layers=lambda config: config.layers,
    check=_check,
    capabilities=Capabilities(largest_rows=512),
    formulas=_formulas,
    carries=_carries,
)
CLASSIFIER = replace(
    SPEC,
    id="s4_classifier",
    name="S4 over a sequence",
    summary="The same blocks over a long sequence of numbers; the mean of all rows says its class.",
    build=_build_classifier,
    phases=("train", "prefill"),
    tasks=("pixels",),
    capabilities=Capabilities(has_source=True, causal=False, streams=False, largest_source=512),
    formulas=_classes,
)
SPECS = (SPEC, CLASSIFIER)
