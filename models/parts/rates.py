"""How fast each pair of a head turns under RoPE, and what is done to these rates for rows beyond the trained length.

    none          w_i = base^(-2i/e)                                          Su et al. 2021, arXiv 2104.09864, eq. 15
    linear        w_i / s: as if rows stood s times closer                    Chen et al. 2023, arXiv 2306.15595
    ntk           base' = base * s^(e/(e-2)): the slowest pair as linear, the fastest untouched; once and for all
                                                                              bloc97 2023; 002, context extension
    dynamic_ntk   the same with s = f L/L0 - (f - 1) of the L rows known now, and only beyond the trained length L0
    yarn          pairs that turn often within L0 stay, those that turn less than once are linear, a ramp lies between; queries
                  and keys are longer by 0.1 ln s + 1                         Peng et al. 2023, arXiv 2309.00071, section 3

s or f is the factor, at least 1 to mean anything; each class maps rows known `[b]` to rates `[b, p]` of the e/2 pairs of a head.
A base of 500,000 or more from the start is a practice of its own (a choice of `base`), not what the ntk formula gives.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Plain:
    """width: e of a head, even; factor: s; trained: L0, rows that the model was trained on; base: of the geometric series."""

    width: int
    factor: float = 1.0
    trained: int = 64
    base: float = 10000.0

    latex = r"\omega_i = b^{-2i/e}"
    stretch = 1.0  # of queries and keys

    def __post_init__(self) -> None:
        if self.width % 2:
            raise ValueError(f"RoPE was given heads of width {self.width}; allowed: an even width, whose places turn in pairs")
        if not self.factor > 0:
            raise ValueError(f"RoPE was given a scaling factor of {self.factor}; allowed: a number above 0")

    def rates(self, known: Tensor) -> Tensor:
        return self.series(torch.full_like(known, self.base, dtype=torch.float64))

    def series(self, base: Tensor) -> Tensor:
        """The geometric series of bases `[b]`: `[b, p]`, in fp64."""
        return base[:, None] ** (torch.arange(0, self.width, 2, device=base.device) / -self.width)


class Linear(Plain):
    """Position interpolation (Chen et al. 2023): every rate divided by the factor."""

    latex = r"\omega_i = b^{-2i/e} / s"

    def rates(self, known: Tensor) -> Tensor:
        return super().rates(known) / self.factor


class NTK(Plain):
    """NTK-aware: a larger base, so that the fastest pair keeps its rate and the slowest is divided by the factor."""

    latex = r"\omega_i = (b \, s^{e/(e-2)})^{-2i/e}"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width < 4:
            raise ValueError(
                f"NTK-aware scaling was given heads of width {self.width}; allowed: 4 or more, for its power e/(e-2)"
            )

    def scaled(self, s: Tensor) -> Tensor:
        return self.base * s ** (self.width / (self.width - 2))

    def rates(self, known: Tensor) -> Tensor:
        return self.series(self.scaled(torch.full_like(known, self.factor, dtype=torch.float64)))


class DynamicNTK(NTK):
    """NTK-aware with a factor that grows with the rows that are known, from 1 at the trained ones."""

    latex = r"\omega_i = (b \, (f L / L_0 - (f - 1))^{e/(e-2)})^{-2i/e}, \; L \ge L_0"

    def rates(self, known: Tensor) -> Tensor:
        beyond = known.double().clamp(min=self.trained) / self.trained
        return self.series(self.scaled((self.factor * beyond - (self.factor - 1)).clamp(min=1.0)))


class YaRN(Plain):
    """YaRN (Peng et al. 2023): fast pairs keep their rates, slow ones are divided by the factor, between them a ramp."""

    latex = r"\omega_i = (1 - \gamma_i) b^{-2i/e} / s + \gamma_i b^{-2i/e}"
    fast, slow = 32.0, 1.0  # turns within the trained length: beta of the paper

    @property
    def stretch(self) -> float:  # type: ignore[override]
        return 0.1 * math.log(self.factor) + 1.0 if self.factor > 1 else 1.0

    def pair(self, turns: float) -> float:
        """The pair that makes so many turns within the trained length."""
        return self.width * math.log(self.trained / (turns * 2 * math.pi)) / (2 * math.log(self.base))

    def kept(self) -> Tensor:
        """How far each pair keeps its rate, `[p]`: 1 for those that turn often, 0 for those that do not get round once."""
        low, high = max(math.floor(self.pair(self.fast)), 0), min(math.ceil(self.pair(self.slow)), self.width - 1)
        ramp = (torch.arange(self.width // 2, dtype=torch.float64) - low) / (high - low if high > low else 0.001)
        return 1 - ramp.clamp(0, 1)

    def rates(self, known: Tensor) -> Tensor:
        plain, kept = super().rates(known), self.kept().to(known.device)
        return plain / self.factor * (1 - kept) + plain * kept


SCALINGS: dict[str, type[Plain]] = {"none": Plain, "linear": Linear, "ntk": NTK, "dynamic_ntk": DynamicNTK, "yarn": YaRN}
