"""The leading terms of a layer's work, as the papers write them, and where they cross.

    self-attention n^2 d      recurrent n d^2      convolutional k n d^2      restricted self-attention r n d

Vaswani et al. 2017, section 4, table 1 (000 0x07D-0x07F). They leave out constants, heads and projections: they say how work
grows, not how much a run does. What a run does is counted (`app/session/analyses/cost.py`).
"""

from __future__ import annotations


def terms(n: int, d: int, k: int, r: int) -> dict[str, int]:
    """n rows, d width, k kernel, r rows that a restricted window reads. Raises ValueError below 1."""
    for name, value in (("n", n), ("d", d), ("k", k), ("r", r)):
        if value < 1:
            raise ValueError(f"{name} was given {value}; allowed: 1 or more")
    return {
        "self_attention": n * n * d,
        "recurrent": n * d * d,
        "convolutional": k * n * d * d,
        "restricted": min(r, n) * n * d,
    }


def crossovers(d: int, k: int, r: int) -> dict[str, int]:
    """The n from which full self-attention's term is the largest of the two."""
    return {"recurrent": d, "convolutional": k * d, "restricted": r}
