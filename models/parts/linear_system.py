"""A linear state system for each channel, diagonal discretised by the bilinear rule, and the two schedules that it can run in.

    x_t = Ā x_(t-1) + B̄ u_t,  C x_t  =  sum over lags l of K_l u_(t-l),  K_l = C Ā^l B̄

See `models/s4.py` for the papers and the axes.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from models import Rows
from models.parts import hippo
from models.parts.tap import Tap


def parts(z: Tensor) -> Tensor:
    """Complex `[..., n/2]` as real numbers `[..., n]`: real parts, then imaginary ones."""
    return torch.cat((z.real, z.imag), -1)


def whole(x: Tensor) -> Tensor:
    """The complex numbers `[..., n/2]` of `parts`."""
    return torch.complex(*x.chunk(2, -1))


def powers(z: Tensor, count: int) -> Tensor:
    """z^0, z^1, ... `[..., count]`: those up to about the root of `count` by doubling, times powers of the last one."""
    width = math.isqrt(count - 1) + 1
    fine = _doubled(z, width)
    coarse = _doubled(fine[..., -1] * z, -(-count // width))
    return (coarse[..., None] * fine[..., None, :]).flatten(-2)[..., :count]


def _doubled(z: Tensor, count: int) -> Tensor:
    found, factor = torch.ones_like(z)[..., None], z
    while found.shape[-1] < count:
        more = found[..., : count - found.shape[-1]] * factor[..., None]
        found, factor = torch.cat((found, more), -1), factor * factor
    return found


class System(nn.Module):
    """One state system a channel. A = -exp(A_log) + i A_imag, so that every state fades; a pair counts twice its real part."""

    def __init__(self, d: int, state: int, start: str, steps: tuple[float, float], speed: float = 1.0) -> None:
        """start: one of `hippo.STARTS`; steps: Δ begins between these, evenly in its logarithm; speed: what every Δ is times."""
        super().__init__()
        self.speed, pairs = speed, state // 2
        A, B = hippo.STARTS[start](pairs)
        low, high = map(math.log, steps)
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

    def next(self, kept: Tensor, written: Tensor, state: Tensor, u: Tensor) -> Tensor:
        """Ā x + B̄ u: states `[b, d, n]` and one row `[b, d]` -> states `[b, d, n]`."""
        return parts(kept * whole(state) + written * u[..., None])

    def read(self, x: Tensor) -> Tensor:
        """C x of states `[..., d, n]` -> `[..., d]`."""
        return 2 * (whole(self.C) * whole(x)).real.sum(-1)

    def kernel(self, kept: Tensor, written: Tensor, lags: int) -> Tensor:
        """K_l = C Ā^l B̄ `[d, l]`."""
        faded = parts(powers(kept, lags).transpose(1, 2)).transpose(1, 2)
        return self.weighed((whole(self.C) * written)[:, None], faded)[:, 0]

    def weighed(self, by: Tensor, faded: Tensor) -> Tensor:
        """2 Re of sums over n: weights, complex `[d, r, n/2]`, of Ā^l `[d, n, l]` -> `[d, r, l]`."""
        return 2 * torch.cat((by.real, -by.imag), -1) @ faded


def recurrence(system: System, u: Tensor, rows: Rows, before: Tensor, tap: Tap, owner: str) -> tuple[Tensor, Tensor]:
    """Row after row: u `[b, t, d]`, the state before it `[b, d, n]` -> C x of each row `[b, t, d]`, the state after the last."""
    kept, written = system.discrete(tap)
    valid, state, read = rows.valid, before, [u[:, :0]]
    for t in range(u.shape[1]):
        new = tap.at(owner, t)("state", system.next(kept, written, state, u[:, t]), "b d n", "state")
        state = torch.where(valid[:, t, None, None], new, state)
        read.append(system.read(state)[:, None])
    return torch.cat(read, 1), state


def convolution(system: System, u: Tensor, rows: Rows, before: Tensor, tap: Tap, owner: str) -> tuple[Tensor, Tensor]:
    """The same at once, through the kernel. No state is made but the last, which the next call goes on with."""
    kept, written = system.discrete(tap)
    t = u.shape[1]
    if not t:
        return u, before
    faded = parts(powers(kept, t + 1).transpose(1, 2)).transpose(1, 2)  # Ā^l [d, n, l]
    C = whole(system.C)
    kernel, old = system.weighed(torch.cat(((C * written)[:, None], (C * whole(before)).transpose(0, 1)), 1), faded).split(
        (1, len(u)), 1
    )
    spectrum = torch.fft.rfft(u.transpose(1, 2), 2 * t) * torch.fft.rfft(kernel[:, 0, :t], 2 * t)
    y = torch.fft.irfft(spectrum, 2 * t)[..., :t] + old[..., 1:].transpose(0, 1)  # what is new, and what was there before
    return y.transpose(1, 2), _last(written, u, rows, before, faded)


def _last(written: Tensor, u: Tensor, rows: Rows, before: Tensor, faded: Tensor) -> Tensor:
    """Each request's state after its last real row: its rows are moved to the end, so that all have faded alike."""
    t = u.shape[1]
    at = torch.arange(t, device=u.device) - (t - rows.lengths)[:, None]
    moved = torch.where((at >= 0)[..., None], u.gather(1, at.clamp(min=0)[..., None].expand_as(u)), 0.0)
    new = faded[..., :t] @ moved.flip(1).permute(2, 1, 0)  # [d, n, b]
    old = faded.permute(2, 0, 1)[rows.lengths]
    return parts(whole(new.permute(2, 0, 1)) * written + whole(old) * whole(before))
