"""Strips of handwritten digits, read as a spectrogram is: columns are frames in time, lines are frequency bands.

Three to five digits stand beside each other with gaps between, stretched and moved a little, in faint noise; the target is their
names in order, without saying where each stands: CTC finds that (Graves et al. 2006).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from models.tasks import BLANK, Example, Features, Lines, Preset, Split, Task, Vocabulary, digits

BANDS = 12  # of 8 that hold a digit: it may stand higher or lower
MOST = 80  # frames
NOISE = 0.15  # of the ink: the loudest silence


class Strips(Task):
    """fewest, most: digits of a strip."""

    id: str = "strips"
    name: str = "Strips of digits"
    summary: str = "Handwritten digits pass by like sounds, frame after frame; out come their names in order."
    source: Vocabulary | Features | None = Features(BANDS, MOST, "frames")
    target: Vocabulary = Vocabulary((BLANK, *"0123456789"), (BLANK,))
    objective = "ctc"

    @property
    def presets(self) -> Sequence[Preset]:  # type: ignore[override]
        return _presets()

    @property
    def stamps(self) -> Mapping[str, Lines]:
        return {str(digit): digits.example(digit) for digit in range(10)}

    def example(self, seed: int, split: Split, index: int) -> Example:
        """Digits of the two splits differ."""
        draw = random.Random(f"strips {seed} {split} {index}")
        count = draw.randint(3, 5)
        return _strip(draw, [draw.choice(digits.indices(split)) for _ in range(count)])

    def tokenize(self, text: str) -> list[str]:
        """Each character is a label."""
        return [c for c in text if not c.isspace()]


def _strip(draw: random.Random, chosen: Sequence[int]) -> Example:
    """Digits by their number in `digits.images`, with gaps of 1 to 3 frames, each 6 to 10 frames wide."""
    pixels, classes = digits.images()
    pieces = [np.zeros((BANDS, draw.randint(1, 3)))]
    for image in chosen:
        made = np.zeros((BANDS, width := draw.randint(6, 10)))
        low = draw.randint(0, BANDS - digits.SIZE)
        made[low : low + digits.SIZE] = pixels[image] / digits.INK @ _stretch(width)
        pieces += [made, np.zeros((BANDS, draw.randint(1, 3)))]
    strip = np.concatenate(pieces, 1)
    noise = np.random.default_rng(draw.getrandbits(32)).random(strip.shape) * NOISE
    # Frames are rows; band 0 is the lowest, so the picture's last line comes first.
    frames = np.maximum(strip, noise)[::-1].T
    return Example(None, tuple(str(classes[i]) for i in chosen), (), _lines(frames))


@cache
def _stretch(width: int) -> NDArray[np.float64]:
    """`[8, width]`: the columns of a digit to another number of columns, between neighbours by distance."""
    at = (np.arange(width) + 0.5) * digits.SIZE / width - 0.5
    return np.stack([np.interp(at, np.arange(digits.SIZE), one) for one in np.eye(digits.SIZE)])


def _lines(frames: NDArray[np.float64]) -> Lines:
    return tuple(tuple(frame) for frame in np.round(frames, 3).tolist())


def _presets() -> tuple[Preset, ...]:
    def preset(name: str, note: str, *classes: int) -> Preset:
        draw = random.Random(name)
        made = _strip(draw, [draw.choice(digits.indices("held_out", digit)) for digit in classes])
        return Preset(name, None, made.target, note, made.features)

    return (
        preset("Four digits", "Most frames say nothing; each digit is said once, at the frames that settle it.", 3, 1, 4, 1),
        preset("Twice the same", "Two sevens in a row: a blank must stand between them, or they would fall together.", 7, 7, 2),
        preset("Five digits", "The longest that was learned: look how far a frame reads in each layer.", 2, 7, 1, 8, 2),
    )


TASK = Strips()
