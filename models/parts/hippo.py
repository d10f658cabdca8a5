"""How the diagonal of a state system begins: so that its states remember the past in a known way."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def legs(pairs: int) -> tuple[Tensor, Tensor]:
    """HiPPO-LegS, diagonal: eigenvalues with positive imaginary part of A + P P^T, and B / 2 in their basis; complex `[pairs]`.

    A_nk = -sqrt(2n+1) sqrt(2k+1) below the diagonal and -(n+1) on it, P_n = sqrt(n + 1/2), B_n = sqrt(2n+1) (arXiv 2206.11893,
    section 4.2: with B / 2 the diagonal system comes to LegS's own kernel as n grows).
    """
    n = torch.arange(2 * pairs, dtype=torch.float64)
    root = (2 * n + 1).sqrt()
    skew = (
        torch.tril(root[:, None] * root[None, :], -1) / 2
    )  # A + P P^T is -1/2 on the diagonal and this, antisymmetric, beside it
    frequencies, basis = torch.linalg.eigh(-1j * (skew.T - skew))
    there = frequencies > 0
    B = basis.mH @ (root / 2).to(basis.dtype)
    return -0.5 + 1j * frequencies[there], B[there].abs().to(basis.dtype)  # a basis vector's phase is free: here B is real


def nplr(pairs: int) -> tuple[Tensor, Tensor, Tensor]:
    """HiPPO-LegS whole: the eigenvalues of `legs`, and P and B in their basis; complex `[pairs]`. P is B / sqrt(2) there too."""
    A, half = legs(pairs)
    return A, math.sqrt(2) * half, 2 * half


def lin(pairs: int) -> tuple[Tensor, Tensor]:
    """S4D-Lin (arXiv 2206.11893, section 4.3): -1/2 + i pi n, and B of ones; complex `[pairs]`."""
    return -0.5 + 1j * math.pi * torch.arange(pairs, dtype=torch.float64), torch.ones(pairs, dtype=torch.complex128)


STARTS = {"legs": legs, "lin": lin}
