"""English spelling to sounds, letter by letter: words of the CMU Pronouncing Dictionary (a sample; licence beside it)."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from models.tasks import SPECIALS, Example, Preset, Split, Task, Vocabulary

FILE = Path(__file__).parent / "data" / "cmudict_sample.txt"
VOWELS = ("AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW")
CONSONANTS = (
    *("B", "CH", "D", "DH", "F", "G", "HH", "JH", "K", "L", "M", "N"),
    *("NG", "P", "R", "S", "SH", "T", "TH", "V", "W", "Y", "Z", "ZH"),
)
PHONES = (*VOWELS, *CONSONANTS)
HELD_OUT = 10  # every tenth word of the sample is never trained on


@cache
def words(split: Split) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Words and their phones (ARPAbet without stress; the first pronunciation given)."""
    lines = [line.split() for line in FILE.read_text("utf-8").splitlines()]
    held = split == "held_out"
    return tuple((word, tuple(phones)) for i, (word, *phones) in enumerate(lines) if (i % HELD_OUT == 0) == held)


def _preset(word: str, note: str) -> Preset:
    return Preset(word, tuple(word), (), note)


class Pronunciation(Task):
    """One word a request: three to nine letters."""

    id: str = "pronunciation"
    name: str = "Spelling to sound"
    summary: str = "An English word, letter by letter, becomes its sounds: often two letters make one sound, or none."
    source: Vocabulary | None = Vocabulary((*SPECIALS, *string.ascii_lowercase))
    target: Vocabulary = Vocabulary((*SPECIALS, *PHONES))
    presets: Sequence[Preset] = (
        _preset("nation", "t and i together make SH."),
        _preset("though", "Six letters, two sounds: which rows are read at all?"),
        _preset("knight", "k is silent, igh makes one vowel."),
        _preset("character", "ch makes K here."),
    )

    def example(self, seed: int, split: Split, index: int) -> Example:
        word, phones = random.Random(f"pronunciation {seed} {split} {index}").choice(words(split))
        return Example(tuple(word), phones)

    def tokenize(self, text: str) -> list[str]:
        """Every letter is a token, in lower case; blanks are left out, because a request holds one word."""
        return [c for c in text.lower() if not c.isspace()]


TASK = Pronunciation()
