"""Normalisation of rows, and where it stands in a residual sub-layer.

    LayerNorm   g (x - mean) / sqrt(variance + eps) + b, of one row over its d places    Ba et al. 2016, arXiv 1607.06450
    RMSNorm     g x / sqrt(mean square + eps), of one row                                Zhang and Sennrich 2019, arXiv 1910.07467
    BatchNorm   as LayerNorm, but of one place over all rows of a call: requests, time
                and padding alike                                                        Ioffe and Szegedy 2015, arXiv 1502.03167
    none        x

A sub-layer's norm has two moments: `enter` gives the rows that the sub-layer works on, `leave` adds its output to the residual
stream. `axes` are those of the rows, "b t d" or "b s d". Which norm, where, and whether there is a residual at all are small
classes, joined by `norm_of`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import torch
from torch import Tensor, nn

from models.parts.formulas import Formula, layer_norm, p
from models.parts.tap import Tap


class RMSNorm(nn.Module):
    """The length of a row, not its mean: scale alone, no shift. eps as in T5 and Llama."""

    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps))


class BatchNorm(nn.Module):
    """Each place over all rows of this call, as a BatchNorm in training does: what a row becomes depends on the others.

    One row alone is its own mean: it becomes the shift, whatever it was.
    """

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight, self.bias, self.eps = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width)), eps

    def forward(self, x: Tensor) -> Tensor:
        off = x - x.mean((0, 1))
        return self.weight * off * torch.rsqrt(off.square().mean((0, 1)) + self.eps) + self.bias


class NoNorm(nn.Identity):
    """Rows as they are."""

    def __init__(self, width: int) -> None:
        super().__init__()


KINDS: dict[str, type[nn.Module]] = {"layer": nn.LayerNorm, "rms": RMSNorm, "batch": BatchNorm, "none": NoNorm}


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


class Pre(SubLayerNorm):
    """x + F(norm(x)) (Xiong et al. 2020, figure 1b): the stream itself is never normalised, so a last norm follows the stack."""

    def enter(self, x: Tensor, axes: str, tap: Tap) -> Tensor:
        return tap("norm", self(x), axes)

    def leave(self, x: Tensor, output: Tensor, axes: str, tap: Tap) -> Tensor:
        return tap("residual", self.add(x, output), axes)


class Post(SubLayerNorm):
    """norm(x + F(x)) (Vaswani et al. 2017, section 3.1)."""

    def enter(self, x: Tensor, axes: str, tap: Tap) -> Tensor:
        return x

    def leave(self, x: Tensor, output: Tensor, axes: str, tap: Tap) -> Tensor:
        return tap("norm", self(tap("residual", self.add(x, output), axes)), axes)


PLACES: dict[str, type[SubLayerNorm]] = {"pre": Pre, "post": Post}
Norm = type[SubLayerNorm]  # called with the width of a row


@cache
def norm_of(place: str, kind: str = "layer", residual: bool = True) -> Norm:
    """place: a key of `PLACES`; kind: of `KINDS`."""
    bases = (*(() if residual else (NoResidual,)), PLACES[place], KINDS[kind])
    return type(f"{place}_{kind}", bases, {})


PreNorm, PostNorm = norm_of("pre"), norm_of("post")
NORMS: dict[str, Norm] = {"pre": PreNorm, "post": PostNorm}

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
        *parameters(f"parameter.{at}.norm", norm, y, x),
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
