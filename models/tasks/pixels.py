"""A handwritten digit pixel by pixel: 64 numbers, one a row, from the top left; which digit was it? (sequential digits)

The images are those of `digits.py`. Neighbours in a column stand 8 rows apart, so that a stroke is spread over the whole sequence
(arXiv 2111.00396, section 4.2, does the same to MNIST's 784 pixels).
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from models.tasks import Example, Features, Lines, Objective, Preset, Split, Task, Vocabulary
from models.tasks.digits import INK, SIZE, images, indices

DIGITS = tuple("0123456789")


def pixels(index: int) -> Lines:
    """One digit's pixels, each a row of one number from 0 (paper) to 1 (ink)."""
    return tuple((int(ink) / INK,) for ink in images()[0][index].flatten())


def _preset(name: str, digit: int, which: int, note: str) -> Preset:
    return Preset(name, None, (str(digit),), note, pixels(indices("held_out", digit)[which]))


class Pixels(Task):
    """One digit a request; each of the ten is drawn as often as the others."""

    id: str = "pixels"
    name: str = "Sequential digits, pixels"
    summary: str = "64 pixels of a handwritten digit come one after another: which digit is it?"
    source: Features = Features(1, SIZE * SIZE, "sequence")
    target: Vocabulary = Vocabulary(DIGITS, ())
    objective: Objective = "class"
    presets: Sequence[Preset] = (
        _preset("A three", 3, 0, "Every eighth pixel is a column. Which channels carry one that far?"),
        _preset("A zero", 0, 0, "Run it as a convolution: the same class, and no state is made."),
        _preset("A seven", 7, 1, "Set Δ times to 2 or 0.5: the same weights see time pass faster or slower."),
        _preset("A one", 1, 2, "Ones and sevens differ in few pixels."),
    )

    def example(self, seed: int, split: Split, index: int) -> Example:
        draw = random.Random(f"pixels {seed} {split} {index}")
        digit = draw.randrange(10)
        return Example(None, (str(digit),), features=pixels(draw.choice(indices(split, digit))))

    def tokenize(self, text: str) -> list[str]:
        """Labels alone are typed: each sign is one."""
        return [c for c in text if not c.isspace()]


TASK = Pixels()
