"""Next character of English verse, one letter at a time: two plays by Shakespeare (public domain; where from is in
THIRD_PARTY_NOTICES.md).

An example is a few whole lines; a line break is the character ↵. One block of lines in ten is never trained on.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from models.tasks import SPECIALS, Example, Preset, Split, Task, Vocabulary

FILE = Path(__file__).parent / "data" / "shakespeare.txt"
BREAK = "↵"
LONGEST = 96  # characters of an example
BLOCK, HELD_OUT = 40, 10  # lines; every tenth block of so many is held out


@cache
def lines(split: Split) -> tuple[tuple[str, ...], ...]:
    """Blocks of lines that stand together in the text; no block is in both splits."""
    every = FILE.read_text("utf-8").splitlines()
    blocks = [tuple(every[i : i + BLOCK]) for i in range(0, len(every), BLOCK)]
    return tuple(block for i, block in enumerate(blocks) if (i % HELD_OUT == HELD_OUT - 1) == (split == "held_out"))


def _preset(name: str, prompt: str, note: str) -> Preset:
    return Preset(name, None, tuple(prompt), note)


class Characters(Task):
    """Lines of verse, up to `LONGEST` characters of them."""

    id: str = "characters"
    name: str = "Next character, Shakespeare"
    summary: str = "Verse, letter by letter: spelling first, then words, names of speakers, and where a line breaks."
    source: Vocabulary | None = None
    target: Vocabulary = Vocabulary((*SPECIALS, BREAK, *sorted(set(FILE.read_text("utf-8")) - {"\n"})))
    presets: Sequence[Preset] = (
        _preset("A famous line", "To be, or not to b", "One letter is left. How far back must a row see to know it?"),
        _preset(
            "The name of a speaker", f"Ham.{BREAK}", "A name and a break: now speaks Hamlet, and a line begins with a capital."
        ),
        _preset("After q", "The q", "u is nearly certain: one row back is enough."),
        _preset("A long word", "the ambassad", "The word must be spelled on: which rows does the choice depend on?"),
        _preset("An open beginning", "O", "Many letters can follow: try temperature and top-p here."),
    )

    def example(self, seed: int, split: Split, index: int) -> Example:
        """Whole lines from a place drawn at random; a line that alone is too long is cut."""
        draw = random.Random(f"characters {seed} {split} {index}")
        block = draw.choice(lines(split))
        at = draw.randrange(len(block))
        text = block[at]
        for line in block[at + 1 :]:
            if len(text) + 1 + len(line) > LONGEST:
                break
            text += BREAK + line
        return Example(None, tuple(text[:LONGEST]))

    def tokenize(self, text: str) -> list[str]:
        """Every character is a token, blanks too; a line break becomes ↵."""
        return list(text.replace("\n", BREAK))


TASK = Characters()
