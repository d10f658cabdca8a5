"""Handwritten digits: 1797 images of 8 x 8 pixels with their classes. `captions.py`, `strips.py` and others are made of them.

The test set of the UCI "Optical Recognition of Handwritten Digits" (E. Alpaydin and C. Kaynak 1998), as scikit-learn ships it:
each 4 x 4 block of a 32 x 32 bitmap counts its ink, 0..16. File: 65 bytes a digit, its class first, then its pixels line by line.
"""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.tasks import Lines, Split

SIZE = 8  # pixels of a side
INK = 16  # the darkest pixel
HELD_OUT = 5  # every fifth digit, counted from the first, is never trained on


@cache
def images() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """All digits `[1797, y, x]` (0 paper .. 16 ink) and their classes `[1797]`; not to be written to."""
    raw = np.frombuffer(gzip.decompress((Path(__file__).parent / "data" / "digits.gz").read_bytes()), np.uint8)
    records = raw.reshape(-1, 1 + SIZE * SIZE)
    return records[:, 1:].reshape(-1, SIZE, SIZE), records[:, 0]


def example(digit: int) -> Lines:
    """One held-out image of a class, as the numbers 0..1 that a model reads: for a person to lay down."""
    return tuple(tuple(line) for line in (images()[0][indices("held_out", digit)[1]] / INK).tolist())


@cache
def indices(split: Split, digit: int | None = None) -> tuple[int, ...]:
    """Which digits belong to a split; of one class only, if it is given."""
    classes = images()[1]
    return tuple(
        i for i, label in enumerate(classes) if (i % HELD_OUT == 0) == (split == "held_out") and (digit is None or label == digit)
    )
