"""A needle in a haystack: one word of up to 255 says which class the whole is of; all others are hay.

The needle never stands within 32 rows of <cls>, so that a few layers of narrow windows cannot carry it there: with a global row
the class is learned, without one it stays a guess among eight.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from models.tasks import CLS, WITH_MASK, Example, Objective, Preset, Split, Task, Vocabulary, lexicon

NEEDLES = ("gold", "silver", "copper", "iron", "tin", "zinc", "nickel", "cobalt")
HAY = tuple(sorted(a.english for a in lexicon.ADJECTIVES))
LENGTH, NEAREST = 255, 32


class Needle(Task):
    """length: words of a text at most, <cls> not counted."""

    id: str = "needle"
    name: str = "Needle in 256"
    summary: str = (
        "One word of 255 is a metal: which? A window of a few rows cannot carry it to <cls>; a global row reads it at once."
    )
    source: Vocabulary = Vocabulary((*WITH_MASK, *HAY, *NEEDLES), WITH_MASK)
    target: Vocabulary = Vocabulary(NEEDLES, ())
    objective: Objective = "class"
    opening: str | None = CLS

    def __init__(self, length: int = LENGTH) -> None:
        self.length = length
        self.presets: Sequence[Preset] = (
            self._preset("Far away", 250, "Layer 1, head 4: row 0, <cls>, is global. Does its largest weight lie on row 251?"),
            self._preset("In the middle", 128, "Take row 0 out of the global rows: the class becomes a guess."),
            self._preset(
                "As near as it comes", NEAREST, "Two layers of radius 8 reach 16 rows; the metal stands twice as far away."
            ),
        )

    def example(self, seed: int, split: Split, index: int) -> Example:
        draw = random.Random(f"needle {seed} {split} {index}")
        count = draw.randint(self.length * 7 // 8, self.length)  # texts of one length would have no padding to get wrong
        return self._example(draw, count, draw.randrange(NEAREST, count))

    def _example(self, draw: random.Random, count: int, place: int) -> Example:
        """place: of the needle among the words, from 0; <cls> stands before them."""
        needle = draw.choice(NEEDLES)
        words = [draw.choice(HAY) for _ in range(count)]
        words[place] = needle
        return Example(tuple(words), (needle,))

    def _preset(self, name: str, place: int, note: str) -> Preset:
        example = self._example(random.Random(f"needle preset {place}"), self.length, place)
        return Preset(name, example.source, example.target, note)

    def tokenize(self, text: str) -> list[str]:
        return lexicon.tokenize(text)


TASK = Needle()
