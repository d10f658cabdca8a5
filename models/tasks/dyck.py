"""Brackets of six kinds that must close in order: what closes next depends on one row, often far back (a Dyck word)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from models.tasks import SPECIALS, Example, Preset, Split, Task, Vocabulary

PAIRS = ("()", "[]", "{}", "⟨⟩", "«»", "⌊⌋")
CLOSES = {pair[1]: pair[0] for pair in PAIRS}
LONGEST = 40


def _preset(name: str, text: str, note: str) -> Preset:
    return Preset(name, None, tuple(text.split()), note)


class Dyck(Task):
    """longest: brackets in a word, even. A word is drawn bracket by bracket, to open or to close with equal chance."""

    id: str = "dyck"
    name: str = "Brackets of six kinds"
    summary: str = "Every bracket closes in order: which one must close now stands in one earlier row, however far back."
    source: Vocabulary | None = None
    target: Vocabulary = Vocabulary((*SPECIALS, *(bracket for pair in PAIRS for bracket in pair)))
    presets: Sequence[Preset] = (
        _preset("One open far back", "« ( ) [ ] { } ( [ ] )", "Only » may close now: does the last row read the first?"),
        _preset("Deep", "( [ { ⟨ « ⌊", "Six are open: they close from the last to the first."),
        _preset("Side by side", "( ) [ ] {", "What was closed does not count."),
    )

    def __init__(self, longest: int = LONGEST) -> None:
        self.longest = longest

    def example(self, seed: int, split: Split, index: int) -> Example:
        """A word of 2 to `longest` brackets; a held-out word never occurs in training (they are told apart by their brackets)."""
        draw = random.Random(f"dyck {seed} {split} {index}")
        while True:
            word = self._word(draw)
            if (hash_of(word) % 5 == 0) == (split == "held_out"):
                return Example(None, word)

    def _word(self, draw: random.Random) -> tuple[str, ...]:
        size, word, open_ = 2 * draw.randint(1, self.longest // 2), list[str](), list[str]()
        while len(word) < size:
            if open_ and (len(open_) == size - len(word) or draw.random() < 0.5):
                word.append(open_.pop())
            else:
                pair = draw.choice(PAIRS)
                word.append(pair[0])
                open_.append(pair[1])
        return tuple(word)

    def tokenize(self, text: str) -> list[str]:
        """Every bracket is a token, with or without blanks between them; other signs stay together as words."""
        spaced = "".join(f" {c} " if c in self.target.ids else c for c in text)
        return spaced.split()

    def openers(self, word: Sequence[str]) -> dict[int, int]:
        """For every bracket that closes: where the one that it closes stands."""
        found, open_ = dict[int, int](), list[int]()
        for i, bracket in enumerate(word):
            if bracket in CLOSES:
                if open_:
                    found[i] = open_.pop()
            else:
                open_.append(i)
        return found


def hash_of(word: Sequence[str]) -> int:
    """The same on every machine, unlike `hash`."""
    total = 0
    for bracket in word:
        total = (total * 31 + ord(bracket)) % 1_000_003
    return total


TASK = Dyck()
