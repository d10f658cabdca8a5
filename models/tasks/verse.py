"""What comes next in English verse, two plays by Shakespeare (public domain; where from is in THIRD_PARTY_NOTICES.md). The same
texts for every tokenizer: `words.py`, `characters.py`, `bytes.py`, `subwords.py`.

An example is a few whole lines. One block of lines in ten is never trained on.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from models.tasks import Example, Preset, Split, Task, Vocabulary
from models.tasks.tokenizers import Tokenizer

FILE = Path(__file__).parent / "data" / "shakespeare.txt"
LONGEST = 96  # characters of an example
BLOCK, HELD_OUT = 40, 10  # lines; every tenth block of so many is held out
PRESETS = (
    ("A famous line", "To be, or not to b", "One letter is left. How far back must a row see to know it?"),
    ("The name of a speaker", "Ham.\n", "A name and a break: now speaks Hamlet, and a line begins with a capital."),
    ("After q", "The q", "u is nearly certain: one row back is enough."),
    ("A long word", "the ambassad", "The word must be spelled on: which rows does the choice depend on?"),
    ("An open beginning", "O", "Many letters can follow: try temperature and top-p here."),
)


@cache
def lines(split: Split) -> tuple[tuple[str, ...], ...]:
    """Blocks of lines that stand together in the text; no block is in both splits."""
    every = FILE.read_text("utf-8").splitlines()
    blocks = [tuple(every[i : i + BLOCK]) for i in range(0, len(every), BLOCK)]
    return tuple(block for i, block in enumerate(blocks) if (i % HELD_OUT == HELD_OUT - 1) == (split == "held_out"))


def text(split: Split) -> str:
    """All lines of a split."""
    return "\n".join("\n".join(block) for block in lines(split))


def passage(seed: int, split: Split, index: int) -> str:
    """Whole lines from a place drawn at random, up to `LONGEST` characters of them; a line that alone is too long is cut."""
    draw = random.Random(f"characters {seed} {split} {index}")
    block = draw.choice(lines(split))
    at = draw.randrange(len(block))
    found = block[at]
    for line in block[at + 1 :]:
        if len(found) + 1 + len(line) > LONGEST:
            break
        found += "\n" + line
    return found[:LONGEST]


class Verse(Task):
    """The passages, cut by a tokenizer."""

    source: Vocabulary | None = None
    tokenizer: Tokenizer

    def __init__(self, tokenizer: Tokenizer, vocabulary: Vocabulary, presets: Sequence[tuple[str, str, str]] = PRESETS) -> None:
        self.tokenizer, self.target = tokenizer, vocabulary
        self.presets = tuple(Preset(name, None, tuple(tokenizer.pieces(text)), note) for name, text, note in presets)

    def example(self, seed: int, split: Split, index: int) -> Example:
        """The same passage for the same numbers, whatever cuts it."""
        return Example(None, tuple(self.tokenizer.pieces(passage(seed, split, index))))

    def tokenize(self, text: str) -> list[str]:
        return self.tokenizer.pieces(text)
