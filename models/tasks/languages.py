"""Which language a name is in: names of countries and languages as ten languages write them, letter by letter.

The names are those of the Unicode CLDR (licence beside them) that occur in one of the ten languages alone, in lower case. They
were taken from Babel 2.19.0: of each language `Locale(language).territories` and `.languages`, 3 to 24 letters, blanks, "-" or
"'"; a name with a letter that occurs once in all is left out.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from models.tasks import SPECIALS, Example, Objective, Preset, Split, Task, Vocabulary

FILE = Path(__file__).parent / "data" / "names.txt"
LANGUAGES = {
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "it": "Italian",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "tr": "Turkish",
}
HELD_OUT = 5  # every fifth name of the sorted list is never trained on


@cache
def names(split: Split) -> tuple[tuple[str, str], ...]:
    """(language, name)."""
    lines = [line.split("\t") for line in FILE.read_text("utf-8").splitlines()]
    held = split == "held_out"
    return tuple((LANGUAGES[code], name) for i, (code, name) in enumerate(lines) if (i % HELD_OUT == 0) == held)


def _letters() -> tuple[str, ...]:
    return tuple(sorted({c for split in ("train", "held_out") for _, name in names(split) for c in name}))


def _preset(name: str, language: str, note: str) -> Preset:
    return Preset(name, tuple(name.lower()), (language,), note)


class Languages(Task):
    """One name a request. Each language is drawn as often as the others."""

    id: str = "languages"
    name: str = "Language of a name"
    summary: str = "The name of a country or a language, letter by letter: in which of ten languages is it written?"
    source: Vocabulary = Vocabulary((*SPECIALS, *_letters()))
    target: Vocabulary = Vocabulary(tuple(LANGUAGES.values()), ())
    objective: Objective = "class"
    presets: Sequence[Preset] = (
        _preset(
            "Länsi-Sahara",
            "Finnish",
            "ä is German and Finnish alike: do the hops weigh different places?",
        ),
        _preset("Großbritannien", "German", "ß is written in German alone: does a hop read it?"),
        _preset("Nouvelle-Calédonie", "French", "Do the hops read different places of the name?"),
        _preset("Güney Kore", "Turkish", "Two words: ü, y and a final e."),
        _preset("Wyspa Bożego Narodzenia", "Polish", "Long names leave more to choose from."),
        _preset("Nieuw-Zeeland", "Dutch", "ieuw and ee: pairs of vowels, not single letters."),
    )

    def example(self, seed: int, split: Split, index: int) -> Example:
        draw = random.Random(f"languages {seed} {split} {index}")
        language = draw.choice(list(LANGUAGES.values()))
        return Example(tuple(draw.choice(_by_language(split)[language])), (language,))

    def tokenize(self, text: str) -> list[str]:
        """Every character is a token, blanks too, in lower case."""
        return list(text.lower())


@cache
def _by_language(split: Split) -> dict[str, list[str]]:
    return {language: [name for own, name in names(split) if own == language] for language in LANGUAGES.values()}


TASK = Languages()
