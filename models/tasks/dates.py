"""Dates as eight locales write them, to ISO 8601, character by character: month names are read, digits are copied and moved.

Patterns and names are those of the Unicode CLDR (`data/dates.json`, licence beside it); two-digit years are left out, because
nobody can know the century.
"""

from __future__ import annotations

import datetime
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from models.tasks import SPECIALS, Example, Preset, Split, Task, Vocabulary

LOCALES: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "dates.json").read_text("utf-8"))
FIRST, LAST = datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)
HELD_OUT = 7  # every seventh day, counted from the first, is never trained on
_FIELD = re.compile(r"'([^']*)'|(EEEE|MMMM|MMM|MM|M|dd|d|y)|(.)")


def write(date: datetime.date, locale: str, pattern: str) -> str:
    """A date by a CLDR pattern (Unicode TR 35: EEEE weekday, MMMM or MMM month, MM or M its number, dd or d, y; quoted text)."""
    words = LOCALES[locale]
    fields = {
        "EEEE": lambda: words["days"][date.weekday()],
        "MMMM": lambda: words["months"]["MMMM"][date.month - 1],
        "MMM": lambda: words["months"]["MMM"][date.month - 1],
        "MM": lambda: f"{date.month:02}",
        "M": lambda: str(date.month),
        "dd": lambda: f"{date.day:02}",
        "d": lambda: str(date.day),
        "y": lambda: str(date.year),
    }
    return "".join(text or other or fields[field]() for text, field, other in _FIELD.findall(pattern))


def _characters() -> tuple[str, ...]:
    parts = [*"0123456789 ./-,"]
    for words in LOCALES.values():
        parts += [*"".join(words["days"]), *"".join(words["months"]["MMMM"] + words["months"]["MMM"] + words["patterns"])]
    return tuple(sorted(set(parts) - {"'"}))


def _preset(name: str, text: str, note: str) -> Preset:
    return Preset(name, tuple(text), (), note)


class Dates(Task):
    """One date in one locale's words; the target is YYYY-MM-DD."""

    id: str = "dates"
    name: str = "Dates to ISO"
    summary: str = "A date as one of eight locales writes it, character by character, becomes year, month, day."
    source: Vocabulary | None = Vocabulary((*SPECIALS, *_characters()))
    target: Vocabulary = Vocabulary((*SPECIALS, *"-0123456789"))
    presets: Sequence[Preset] = (
        _preset("In French", "lundi 9 mars 1987", "The year is written first: the first rows read the end of the source."),
        _preset("In Spanish", "21 de agosto de 2004", "agosto becomes 08: two digits from six letters."),
        _preset("With points", "07.11.1965", "Nothing but digits, moved."),
        _preset("In Turkish", "9 Mart 1987 Pazartesi", "The weekday stands last and gives nothing."),
    )

    def example(self, seed: int, split: Split, index: int) -> Example:
        """A day, a locale and one of its patterns. Days of the two splits differ."""
        draw = random.Random(f"dates {seed} {split} {index}")
        while True:
            date = FIRST + datetime.timedelta(draw.randrange((LAST - FIRST).days + 1))
            if ((date - FIRST).days % HELD_OUT == 0) == (split == "held_out"):
                break
        locale = draw.choice(list(LOCALES))
        text = write(date, locale, draw.choice(LOCALES[locale]["patterns"]))
        return Example(tuple(text), tuple(date.isoformat()))

    def tokenize(self, text: str) -> list[str]:
        """Every character is a token, blanks too."""
        return list(text)


TASK = Dates()
