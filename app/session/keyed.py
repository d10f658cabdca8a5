"""Random draws keyed by (seed, purpose, step): the same key draws the same numbers, so a replay needs no saved generator."""

from __future__ import annotations

import hashlib

import torch


def number(seed: int, purpose: str, *step: int | str) -> int:
    """A whole number from 0 to 2**63 - 1 that follows from the arguments alone."""
    key = "/".join((str(seed), purpose, *map(str, step)))
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "little") >> 1


def generator(seed: int, purpose: str, *step: int | str) -> torch.Generator:
    """A fresh CPU generator for this purpose and step."""
    return torch.Generator().manual_seed(number(seed, purpose, *step))
