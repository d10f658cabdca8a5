"""Normalisation of rows, and where it stands in a residual sub-layer.

    LayerNorm   g (x - mean) / sqrt(variance + eps) + b, of one row over its d places    Ba et al. 2016, arXiv 1607.06450
    RMSNorm     g x / sqrt(mean square + eps), of one row                                Zhang and Sennrich 2019, arXiv 1910.07467
    BatchNorm   as LayerNorm, but of one place over all rows of a call: requests, time
                and padding alike; in use, over what training has seen                   Ioffe and Szegedy 2015, arXiv 1502.03167
    none        x

A sub-layer's norm has two moments: `enter` gives the rows that the sub-layer works on, `leave` adds its output to the residual
stream. `axes` are those of the rows, "b t d" or "b s d". Which norm, where, and whether there is a residual at all are small
classes, joined by `norm_of`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor, nn

from models.parts.formulas import Formula, layer_norm, p
from models.parts.tap import Tap


class FineLayerNorm(nn.LayerNorm):
    """As BERT has it: less is added to the variance."""

    def __init__(self, width: int) -> None:
        super().__init__(width, 1e-12)


class RMSNorm(nn.Module):
    """The length of a row, not its mean: scale alone, no shift. eps as in T5 and Llama."""

    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps))


class Seen(NamedTuple):
    """Mean and variance of each place over the rows of one call, and how many rows they were."""

    norm: BatchNorm
    mean: Tensor
    variance: Tensor
    rows: int


class BatchNorm(nn.Module):
    """Each place by its mean and variance: while it is taught over all rows of the call, so that what a row becomes depends on
    the others; in use by the running ones, which follow those of each update (`settle`).

    One row alone is its own mean: taught on it, it becomes the shift, whatever it was.
    """

    now = False  # in use too, over the rows of the call
    running_mean: Tensor
    running_variance: Tensor

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight, self.bias, self.eps = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width)), eps
        self.register_buffer("running_mean", torch.zeros(width))
        self.register_buffer("running_variance", torch.ones(width))
        self.seen: list[Seen] | None = None  # while it is taught (`teaching`), what it measured

    def forward(self, x: Tensor) -> Tensor:
        return self.scaled(x, *self.moments(x))

    def moments(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance `[d]` by which rows `[b, n, d]` are normalised now."""
        if self.seen is None and not self.now:
            return self.running_mean, self.running_variance
        mean = x.mean((0, 1))
        variance = (x - mean).square().mean((0, 1))
        if self.seen is not None:
            self.seen.append(Seen(self, mean.detach(), variance.detach(), x.shape[0] * x.shape[1]))
        return mean, variance

    def scaled(self, x: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
        return self.weight * (x - mean) * torch.rsqrt(variance + self.eps) + self.bias


class BatchNormNow(BatchNorm):
    """Over the rows of each call, whether it is taught or used."""

    now = True


FOLLOWS = 0.1  # share of an update's batch in the running statistics, torch's "momentum"


def batch_norms(model: nn.Module) -> dict[str, BatchNorm]:
    """Those of a model, by dotted path."""
    return {name: m for name, m in model.named_modules() if isinstance(m, BatchNorm)}


@contextmanager
def teaching(model: nn.Module) -> Iterator[list[Seen]]:
    """A forward pass that is learned from: a BatchNorm measures its rows, and what it measured is in the list."""
    seen: list[Seen] = []
    found = batch_norms(model).values()
    for norm in found:
        norm.seen = seen
    try:
        yield seen
    finally:
        for norm in found:
            norm.seen = None


def settle(seen: Iterable[Seen]) -> None:
    """Let running statistics follow those of a batch, when its update is done. Of one row there is no variance to follow."""
    for norm, mean, variance, rows in seen:
        norm.running_mean = norm.running_mean.lerp(mean, FOLLOWS)
        if rows > 1:
            norm.running_variance = norm.running_variance.lerp(variance * (rows / (rows - 1)), FOLLOWS)


def statistics(model: nn.Module) -> dict[str, Tensor]:
    """What a model learns without a gradient: running means and variances, by name."""
    return {f"{name}.{n}": b for name, norm in batch_norms(model).items() for n, b in norm.named_buffers(recurse=False)}


def restore(model: nn.Module, known: Mapping[str, Tensor]) -> None:
    """Running statistics as they were; those that are not known stay."""
    for name, norm in batch_norms(model).items():
        for n, _ in list(norm.named_buffers(recurse=False)):
            if (value := known.get(f"{name}.{n}")) is not None:
                setattr(norm, n, value.clone())


class NoNorm(nn.Identity):
    """Rows as they are."""

    def __init__(self, width: int) -> None:
        super().__init__()


KINDS: dict[str, type[nn.Module]] = {"layer": nn.LayerNorm, "rms": RMSNorm, "batch": BatchNorm, "none": NoNorm}
NOW = "batch_now"  # BatchNorm over the rows of each call
FINE = "fine_layer"  # BERT's LayerNorm
MADE = {**KINDS, NOW: BatchNormNow, FINE: FineLayerNorm}


class Residual:
    """x + F(x): a row keeps what it was (He et al. 2015, arXiv 1512.03385)."""

    def add(self, x: Tensor, output: Tensor) -> Tensor:
        return x + output


class NoResidual:
    """F(x) alone: what the sub-layer does not pass on is lost."""

    def add(self, x: Tensor, output: Tensor) -> Tensor:
        return output


class SubLayerNorm(Residual, nn.Module):
    """What a residual sub-layer asks of its norm."""

    def enter(self, x: Tensor, axes: str, tap: Tap) -> Tensor:
        raise NotImplementedError

    def leave(self, x: Tensor, output: Tensor, axes: str, tap: Tap) -> Tensor:
        raise NotImplementedError

    def normalised(self, x: Tensor, tap: Tap) -> Tensor:
        """The norm of rows; one over rows tells by which mean and variance."""
        if not isinstance(self, BatchNorm):
            return self(x)
        mean, variance = self.moments(x)
        return self.scaled(x, tap("mean", mean, "d"), tap("variance", variance, "d"))


class Pre(SubLayerNorm):
    """x + F(norm(x)) (Xiong et al. 2020, figure 1b): the stream itself is never normalised, so a last norm follows the stack."""

    def enter(self, x: Tensor, axes: str, tap: Tap) -> Tensor:
        return tap("norm", self.normalised(x, tap), axes)

    def leave(self, x: Tensor, output: Tensor, axes: str, tap: Tap) -> Tensor:
        return tap("residual", self.add(x, output), axes)


class Post(SubLayerNorm):
    """norm(x + F(x)) (Vaswani et al. 2017, section 3.1)."""

    def enter(self, x: Tensor, axes: str, tap: Tap) -> Tensor:
        return x

    def leave(self, x: Tensor, output: Tensor, axes: str, tap: Tap) -> Tensor:
        return tap("norm", self.normalised(tap("residual", self.add(x, output), axes), tap), axes)


PLACES: dict[str, type[SubLayerNorm]] = {"pre": Pre, "post": Post}
Norm = type[SubLayerNorm]  # called with the width of a row


@cache
def norm_of(place: str, kind: str = "layer", residual: bool = True) -> Norm:
    """place: a key of `PLACES`; kind: of `MADE`."""
    bases = (*(() if residual else (NoResidual,)), PLACES[place], MADE[kind])
    return type(f"{place}_{kind}", bases, {})


PreNorm, PostNorm = norm_of("pre"), norm_of("post")

NAMES = {nn.LayerNorm: "LayerNorm", RMSNorm: "RMSNorm", BatchNorm: "BatchNorm"}


def formulas(at: str, norm: Norm) -> tuple[Formula, ...]:
    """Of the residual sub-layer under this scope, whose output is o."""
    before = issubclass(norm, Pre)
    y, x = ("n_t", "x_t") if before else ("y_t", "r_t")
    means = "the row, normalised, as the sub-layer takes it" if before else "the row after this sub-layer, normalised"
    residual = ("y_t" if before else "r_t") + (" = o_t" if issubclass(norm, NoResidual) else " = x_t + o_t")
    adds = "what the sub-layer gives; the row is lost" if issubclass(norm, NoResidual) else "the row with what the sub-layer adds"
    return (
        Formula(f"{at}.norm", f"{y} = {normalised(norm, x)}", means),
        Formula(f"{at}.residual", residual, adds),
        *_moments(at, norm, x),
        *parameters(f"parameter.{at}.norm", norm, y, x),
    )


def _moments(at: str, norm: Norm, x: str) -> tuple[Formula, ...]:
    """By which a norm over rows normalises."""
    if not issubclass(norm, BatchNorm):
        return ()
    over = rf"\textstyle\frac{{1}}{{n}} \sum {x}"
    kept = "" if norm.now else rf", \; \text{{in use }} 0.9 \, \mu + 0.1 \, {over} \text{{ of each update}}"
    spread = rf"\sigma^2 = \textstyle\frac{{1}}{{n}} \sum ({x} - \mu)^2"
    return (
        Formula(
            f"{at}.mean",
            rf"\mu = {over}{kept}",
            "mean of each place over all rows, padding too; in use the kept one, unless told otherwise",
        ),
        Formula(
            f"{at}.variance",
            spread,
            "variance of each place over all rows, padding too; in use the kept one, unless told otherwise",
        ),
    )


def normalised(norm: Norm, x: str) -> str:
    """The norm of x, by its name."""
    name = next((name for kind, name in NAMES.items() if issubclass(norm, kind)), "")
    return rf"\operatorname{{{name}}}({x})" if name else x


def parameters(path: str, norm: Norm, y: str, x: str) -> tuple[Formula, ...]:
    """Scale and shift of a norm that gives y from rows x."""
    if issubclass(norm, NoNorm):
        return ()
    if issubclass(norm, RMSNorm):
        latex = rf"{y} = {p('g')} \odot {x} / \sqrt{{\textstyle\frac{{1}}{{d}} \sum {x}^2 + \epsilon}}"
        return (Formula(f"{path}.weight", latex, "learned scale of each place of a normalised row"),)
    found = layer_norm(path, y, x)
    if not issubclass(norm, BatchNorm):
        return found
    return tuple(replace(f, means=f"{f.means}; mean and deviation are of each place over all rows") for f in found)
