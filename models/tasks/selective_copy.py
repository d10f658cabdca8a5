"""Selective copying: a few letters stand among dots; after "copy" the letters alone must be said again, in order.

Gu and Dao 2023, arXiv 2312.00752, section 3.1 (after Arjovsky et al. 2016). The dots between the letters vary in number, so that
no weighing by distance alone can tell where the letters stood: what is read must itself say whether it is kept.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from models.tasks import SPECIALS, Example, Preset, Split, Task, Vocabulary

LETTERS = tuple("ABCDEFGH")
DOT, COPY = "·", "copy"


def _preset(name: str, text: str, note: str) -> Preset:
    return Preset(name, None, tuple(text.split()), note)


class SelectiveCopy(Task):
    """letters: the least and the most letters; longest: the most rows before "copy"."""

    id: str = "selective_copy"
    name: str = "Selective copy, letters among dots"
    summary: str = (
        "Letters stand among dots; after copy the letters come again in order. What is read must say whether it is kept."
    )
    source: Vocabulary | None = None
    target: Vocabulary = Vocabulary((*SPECIALS, DOT, COPY, *LETTERS))
    presets: Sequence[Preset] = (
        _preset("Two letters", "· G · · C · copy", "Only G and C should change the state. Does a dot leave it alone?"),
        _preset(
            "Far apart",
            "B · · · · · · · · · · · · · E · copy",
            "B was read long ago: how much of its row is left when it is said?",
        ),
        _preset("Side by side", "A D F H · · · · copy", "Four letters at once, then dots that must not wash them out."),
        _preset("The same one twice", "· C · C · · copy", "The state must count, not only hold."),
    )

    def __init__(self, letters: tuple[int, int] = (2, 4), longest: int = 32) -> None:
        self.letters, self.longest = letters, longest

    def example(self, seed: int, split: Split, index: int) -> Example:
        """Letters in random places; what is held out never occurs in training (told apart by letters and places)."""
        draw = random.Random(f"selective copy {seed} {split} {index}")
        while True:
            count = draw.randint(*self.letters)
            letters = draw.choices(LETTERS, k=count)
            size = draw.randint(count + 2, self.longest)
            places = sorted(draw.sample(range(size), count))
            held_out = (sum(places) + sum(map(LETTERS.index, letters))) % 5 == 0
            if held_out == (split == "held_out"):
                shown = [DOT] * size
                for place, letter in zip(places, letters, strict=True):
                    shown[place] = letter
                return Example(None, (*shown, COPY, *letters))

    def tokenize(self, text: str) -> list[str]:
        """Words as typed; dots and letters may stand without blanks between them, and a full stop is a dot."""
        said = [COPY if word == COPY else " ".join(word.replace(".", DOT)) for word in text.split()]
        return " ".join(said).split()


TASK = SelectiveCopy()
