"""Random letters and digits that are written again: what follows is found where the same sign stood before, not in what it means.

The task of induction heads (Elhage et al. 2021, A Mathematical Framework for Transformer Circuits; Olsson et al. 2022, arXiv
2209.11895): one layer notes at each row what stood before it, the next reads the row that stands after the earlier copy.
"""

from __future__ import annotations

import random
import string
from collections.abc import Sequence

from models.tasks import SPECIALS, Example, Preset, Split, Task, Vocabulary
from models.tasks.dyck import hash_of

SIGNS = string.ascii_letters + string.digits


def _preset(name: str, text: str, note: str) -> Preset:
    return Preset(name, None, tuple(text), note)


class Repeats(Task):
    """segment: the least and the most signs of a segment, within 2 to 62, all different; it is written twice."""

    id: str = "repeats"
    name: str = "Repeated segments"
    summary: str = "Random signs, then the same once more: the second time each can be known from the row after its first place."
    source: Vocabulary | None = None
    target: Vocabulary = Vocabulary((*SPECIALS, *SIGNS))
    presets: Sequence[Preset] = (
        _preset(
            "Second time", "kV3qZ8mTpkV3", "A head of layer 2 reads the row after the first 3 and gives q. With 1 layer none can."
        ),
        _preset("First time", "kV3qZ8m", "Nothing is repeated yet: every sign that did not stand here is about as likely."),
        _preset("Far apart", "aR5tPx7LwBn2aR5", "The pair that repeats lies twelve rows apart: the same head finds it."),
        _preset("Broken off", "kV3qZ8mTpkV9", "9 never stood here: no row can be found, and the choice is open again."),
    )

    def __init__(self, segment: tuple[int, int] = (8, 15)) -> None:
        self.segment = segment

    def example(self, seed: int, split: Split, index: int) -> Example:
        """A held-out segment never occurs in training (they are told apart by their signs)."""
        draw = random.Random(f"repeats {seed} {split} {index}")
        while True:
            word = tuple(draw.sample(SIGNS, draw.randint(*self.segment)))
            if (hash_of(word) % 5 == 0) == (split == "held_out"):
                return Example(None, word * 2)

    def tokenize(self, text: str) -> list[str]:
        """Every sign is a token."""
        return [sign for sign in text if not sign.isspace()]


TASK = Repeats()
