"""A linear state system for each channel whose matrix is normal less one of rank one, as HiPPO-LegS is (S4 proper).

    A = V (Λ - P P*) V*        Ā = (I - Δ/2 A)^-1 (I + Δ/2 A)        B̄ = (I - Δ/2 A)^-1 Δ B

Gu, Goel and Re 2021, arXiv 2111.00396, equation 3 and theorem 1. The state is kept in the basis V, one of each pair of conjugate
numbers, as real parts, then imaginary ones; there P P* x is 2 p (p · x), so that Ā is a real matrix of n x n for each channel.
At the sizes of this page it is made whole. The kernel is made of its exact powers, by doubling; the paper's truncated generating
function gives the same numbers at less work for large n.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models import Rows
from models.parts import hippo
from models.parts.linear_system import System, parts
from models.parts.tap import Tap


class LowRank(System):
    """Λ = -exp(A_log) + i A_imag and P, as `hippo.nplr` begins. Runs row after row by `linear_system.recurrence`."""

    def __init__(self, d: int, state: int, steps: tuple[float, float], speed: float = 1.0) -> None:
        super().__init__(d, state, "legs", steps, speed)
        _, P, B = hippo.nplr(state // 2)
        self.P, self.B = (nn.Parameter(parts(x).float().repeat(d, 1)) for x in (P, B))

    def matrix(self) -> Tensor:
        """A on real and imaginary parts `[d, n, n]`: Λ turns and fades each pair, the part of rank one joins them all."""
        real, imaginary = torch.diag_embed(-self.A_log.exp()), torch.diag_embed(self.A_imag)
        normal = torch.cat((torch.cat((real, -imaginary), -1), torch.cat((imaginary, real), -1)), -2)
        return normal - 2 * self.P[:, :, None] * self.P[:, None, :]

    def discrete(self, tap: Tap) -> tuple[Tensor, Tensor]:
        """Ā `[d, n, n]` and B̄ `[d, n]`, by the bilinear rule."""
        step = tap("step", self.step_log.exp() * self.speed, "d")
        half = step[:, None, None] / 2 * self.matrix()
        one = torch.eye(half.shape[-1], dtype=half.dtype, device=half.device)
        both = torch.linalg.solve(one - half, torch.cat((one + half, step[:, None, None] * self.B[..., None]), -1))
        return tap("kept", both[..., :-1], "d n n'", "coefficients"), tap("written", both[..., -1], "d n", "coefficients")

    def next(self, kept: Tensor, written: Tensor, state: Tensor, u: Tensor) -> Tensor:
        return torch.einsum("dij,bdj->bdi", kept, state) + written * u[..., None]

    def kernel(self, kept: Tensor, written: Tensor, lags: int) -> Tensor:
        """K_l = C Ā^l B̄ `[d, l]`."""
        return self.read(_followed(kept, written[None], lags))[0].T


def _followed(kept: Tensor, x: Tensor, count: int) -> Tensor:
    """x, Ā x, Ā^2 x, ... of states `[b, d, n]` -> `[b, count, d, n]`: twice as many with every square of Ā."""
    found = x[:, None]
    while found.shape[1] < count:
        more = torch.einsum("dij,btdj->btdi", kept, found[:, : count - found.shape[1]])
        found, kept = torch.cat((found, more), 1), kept @ kept
    return found[:, :count]


def convolution(system: LowRank, u: Tensor, rows: Rows, before: Tensor, tap: Tap, owner: str) -> tuple[Tensor, Tensor]:
    """The same at once, through the kernel. No state is made but the last, which the next call goes on with."""
    kept, written = system.discrete(tap)
    t = u.shape[1]
    if not t:
        return u, before
    added, old = _followed(kept, written[None], t)[0], _followed(kept, before, t + 1)  # t d n, b t+1 d n
    spectrum = torch.fft.rfft(u, 2 * t, 1) * torch.fft.rfft(system.read(added), 2 * t, 0)
    y = torch.fft.irfft(spectrum, 2 * t, 1)[:, :t] + system.read(old[:, 1:])  # what is new, and what was there before
    back = rows.lengths[:, None] - 1 - torch.arange(t, device=u.device)  # of each row, how many come after it
    late = torch.where((back >= 0)[..., None, None], added[back.clamp(min=0)], 0.0)  # b t d n
    last = torch.einsum("btdn,btd->bdn", late, u)
    return y, last + old[torch.arange(len(u), device=u.device), rows.lengths]
