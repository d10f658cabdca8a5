"""Where the normalisation of a residual sub-layer stands.

Both classes are a LayerNorm (Ba et al. 2016) with two moments: `enter` gives the rows that the sub-layer works on, `leave`
adds its output to the residual stream. `axes` are those of the rows, "b t d" or "b s d".
"""

from __future__ import annotations

from torch import Tensor, nn

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
