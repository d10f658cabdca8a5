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
    """z^0, z^1, ... `[..., count]`, twice as many in each round."""
    found, factor = torch.ones_like(z)[..., None], z
    while found.shape[-1] < count:
        found, factor = torch.cat((found, found * factor[..., None]), -1), factor * factor
    return found[..., :count]


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
    kernel = system.kernel(kept, written, t)
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
