"""Where the normalisation of a residual sub-layer stands.

Both classes are a LayerNorm (Ba et al. 2016) with two moments: `enter` gives the rows that the sub-layer works on, `leave`
adds its output to the residual stream. `axes` are those of the rows, "b t d" or "b s d".
"""

from __future__ import annotations

from torch import Tensor, nn

from models.parts.formulas import Formula, layer_norm
from models.parts.tap import Tap


class PreNorm(nn.LayerNorm):
    """x + F(norm(x)) (Xiong et al. 2020, figure 1b): the stream itself is never normalised, so a last norm follows the stack."""

    def enter(self, x: Tensor, axes: str, tap: Tap) -> Tensor:
        return tap("norm", self(x), axes)

    def leave(self, x: Tensor, output: Tensor, axes: str, tap: Tap) -> Tensor:
        return tap("residual", x + output, axes)


class PostNorm(nn.LayerNorm):
    """norm(x + F(x)) (Vaswani et al. 2017, section 3.1)."""

    def enter(self, x: Tensor, axes: str, tap: Tap) -> Tensor:
        return x

    def leave(self, x: Tensor, output: Tensor, axes: str, tap: Tap) -> Tensor:
        return tap("norm", self(tap("residual", x + output, axes)), axes)


NORMS: dict[str, type[PreNorm] | type[PostNorm]] = {"pre": PreNorm, "post": PostNorm}


def formulas(at: str, norm: type[PreNorm] | type[PostNorm]) -> tuple[Formula, ...]:
    """Of the residual sub-layer under this scope, whose output is o."""
    before = norm is PreNorm
    y, x = ("n_t", "x_t") if before else ("y_t", "r_t")
    latex = rf"{y} = \operatorname{{LayerNorm}}({x})"
    means = "the row, normalised, as the sub-layer takes it" if before else "the row after this sub-layer, normalised"
    residual = ("y_t" if before else "r_t") + " = x_t + o_t"
    return (
        Formula(f"{at}.norm", latex, means),
        Formula(f"{at}.residual", residual, "the row with what the sub-layer adds"),
        *layer_norm(f"parameter.{at}.norm", y, x),
    )
