"""Small pictures and what stands in them: one or two handwritten digits, each in its own quarter.

    a picture of 24 x 24 pixels  ->  "top left seven and bottom right three"

The quarters are named in reading order, so that a picture has one caption; an empty picture says "nothing". The gold alignment
pairs every word of a digit's phrase with the places (of 4 x 4 pixels, six a line) that its ink touches.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from models.tasks import SPECIALS, Example, Features, Lines, Preset, Split, Task, Vocabulary, digits

SIDE, PLACE = 24, 4  # pixels of the picture's side, and of one place's
QUARTER = SIDE // 2
NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
QUARTERS = (("top", "left"), ("top", "right"), ("bottom", "left"), ("bottom", "right"))  # in reading order
EMPTY = 0.02  # share of pictures without a digit
ALONE = 0.3  # and with one alone


def picture(placed: Sequence[tuple[int, int, int]]) -> NDArray[np.uint8]:
    """Digits by (number of the image in `digits.images`, line, column of its corner) -> `[24, 24]`, 0 paper .. 16 ink."""
    made = np.zeros((SIDE, SIDE), np.uint8)
    for image, y, x in placed:
        at = made[y : y + digits.SIZE, x : x + digits.SIZE]
        np.maximum(at, digits.images()[0][image], out=at)
    return made


def lines(made: NDArray[np.uint8]) -> Lines:
    """Pixels 0..16 as the numbers 0..1 that a model reads."""
    return tuple(tuple(line) for line in (made / digits.INK).tolist())


def touched(made: NDArray[np.uint8]) -> list[int]:
    """The places, in reading order, that hold ink."""
    held = made.reshape(SIDE // PLACE, PLACE, -1, PLACE).max((1, 3)).ravel()
    return np.flatnonzero(held).tolist()


class Captions(Task):
    """Where each digit stands is drawn: its quarter, and its place inside it. alone: every picture holds one digit."""

    id: str = "captions"
    name: str = "Captions of digits"
    summary: str = "A picture with one or two handwritten digits becomes words: where each stands, and which it is."
    source: Vocabulary | Features | None = Features(SIDE, SIDE, "picture")
    target: Vocabulary = Vocabulary((*SPECIALS, "top", "bottom", "left", "right", "and", "nothing", *NAMES))

    def __init__(self, alone: bool = False) -> None:
        self.alone = alone

    @property
    def presets(self) -> Sequence[Preset]:  # type: ignore[override]
        return _presets()

    @property
    def stamps(self) -> Mapping[str, Lines]:
        return {name: digits.example(digit) for digit, name in enumerate(NAMES)}

    def example(self, seed: int, split: Split, index: int) -> Example:
        """Digits of the two splits differ; which quarters and which of the ten classes are drawn alike in both."""
        draw = random.Random(f"captions {seed} {split} {index}")
        kind = draw.random()
        count = 1 if self.alone else 0 if kind < EMPTY else 1 if kind < EMPTY + ALONE else 2
        quarters = sorted(draw.sample(range(4), count))
        pool = digits.indices(split)
        return _example([(q, draw.choice(pool), draw.randrange(5), draw.randrange(5)) for q in quarters])

    def shortest(self) -> Captions:
        """One digit alone: what it looks like is learned first, from captions that say little else."""
        return Captions(alone=True)

    def quarters(self, example: Example) -> list[tuple[int, list[int]]]:
        """Of each word that names a digit: its number, and all places of that digit's quarter."""
        half = SIDE // PLACE // 2
        words = [i for i, word in enumerate(example.target) if word in NAMES]
        corners = [(half * (example.target[i - 2] == "bottom"), half * (example.target[i - 1] == "right")) for i in words]
        inside = [[(y + r) * 2 * half + x + c for r in range(half) for c in range(half)] for y, x in corners]
        return list(zip(words, inside, strict=True))

    def tokenize(self, text: str) -> list[str]:
        """Words between blanks, in lower case."""
        return text.lower().split()


def _example(drawn: Sequence[tuple[int, int, int, int]]) -> Example:
    """Of (quarter, image, line and column inside the quarter)."""
    placed = [(image, q // 2 * QUARTER + y, q % 2 * QUARTER + x) for q, image, y, x in drawn]
    words: list[str] = []
    pairs: list[tuple[int, int]] = []
    for (q, image, *_), one in zip(drawn, placed, strict=True):
        words += ["and"] * bool(words)
        phrase, places = [*QUARTERS[q], NAMES[digits.images()[1][image]]], touched(picture([one]))
        pairs += [(place, len(words) + i) for i in range(len(phrase)) for place in places]
        words += phrase
    return Example(None, tuple(words or ["nothing"]), tuple(pairs), lines(picture(placed)))


def _presets() -> tuple[Preset, ...]:
    def preset(name: str, note: str, *drawn: tuple[int, int, int]) -> Preset:
        """drawn: quarter, class, and which of its held-out images."""
        example = _example([(q, digits.indices("held_out", digit)[nth], 2, 2) for q, digit, nth in drawn])
        return Preset(name, None, (), note, example.features)

    return (
        preset(
            "Seven and three",
            "Each digit is read while it is named; before, the read looks where one stands.",
            (0, 7, 0),
            (3, 3, 0),
        ),
        preset("Side by side", "Both in the upper half: left and right are told apart by place alone.", (0, 4, 1), (1, 9, 1)),
        preset("One alone", "One digit: the caption ends after three words.", (2, 5, 2)),
        preset("Nothing", "An empty picture: no place holds ink, the weights have nothing to settle on."),
    )


TASK = Captions()
