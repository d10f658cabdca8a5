"""Dates and pronunciation: what they hold, and dates against Babel's own formatting."""

from __future__ import annotations

import datetime
import random

import pytest
from babel.dates import format_date

from models.tasks import EOS, UNK, Split, Task, verse, words_of
from models.tasks import dates as dates_module
from models.tasks.characters import TASK as CHARACTERS
from models.tasks.dates import LOCALES, write
from models.tasks.dates import TASK as DATES
from models.tasks.pronunciation import PHONES, words
from models.tasks.pronunciation import TASK as PRONUNCIATION
from models.tasks.tokenizers import BREAK


@pytest.mark.parametrize("locale", LOCALES)
def test_dates_are_written_as_babel_writes_them(locale: str) -> None:
    draw = random.Random(locale)
    for _ in range(60):
        date = dates_module.FIRST + datetime.timedelta(draw.randrange(73_000))
        for pattern in LOCALES[locale]["patterns"]:
            assert write(date, locale, pattern) == format_date(date, pattern, locale=locale)


@pytest.mark.parametrize("task", [DATES, PRONUNCIATION], ids=lambda t: t.id)
def test_every_example_is_in_the_vocabulary_and_splits_share_none(task: Task) -> None:
    known = words_of(task)
    assert known is not None
    drawn = {split: [task.example(3, split, i) for i in range(400)] for split in ("train", "held_out")}
    for example in (*drawn["train"], *drawn["held_out"]):
        ids = [*known.encode(example.source or ()), *task.target.encode(example.target)]
        assert UNK not in ids and min(ids) > EOS
    assert not {e.source for e in drawn["train"]} & {e.source for e in drawn["held_out"]}
    assert task.example(3, "train", 7) == task.example(3, "train", 7)
    for preset in task.presets:
        assert UNK not in known.encode(preset.source or ())


def test_a_date_becomes_year_month_day() -> None:
    assert write(datetime.date(1987, 3, 9), "es", "d 'de' MMMM 'de' y") == "9 de marzo de 1987"
    example = DATES.example(3, "train", 0)
    assert datetime.date.fromisoformat("".join(example.target))


def test_words_have_three_to_nine_letters_and_known_sounds() -> None:
    both = (*words("train"), *words("held_out"))
    assert len(both) > 10_000 and len(dict(both)) == len(both)
    assert all(3 <= len(word) <= 9 and set(phones) <= set(PHONES) for word, phones in both)
    assert dict(both).get("nation") in (None, ("N", "EY", "SH", "AH", "N"))


def test_text_becomes_characters() -> None:
    assert DATES.tokenize("9 mars") == ["9", " ", "m", "a", "r", "s"]
    assert PRONUNCIATION.tokenize("Na tion") == list("nation")


def test_characters_are_whole_lines_of_the_text_and_the_splits_share_no_block() -> None:
    text = verse.FILE.read_text("utf-8").replace("\n", BREAK)
    splits: tuple[Split, ...] = ("train", "held_out")
    for split in splits:
        for i in range(200):
            example = CHARACTERS.example(3, split, i)
            written = "".join(example.target)
            assert written in text and 0 < len(written) <= verse.LONGEST
            assert UNK not in CHARACTERS.target.encode(example.target)
    train, held_out = (verse.lines(split) for split in ("train", "held_out"))
    assert 8 < len(train) / len(held_out) < 10 and not set(train) & set(held_out)
    for preset in CHARACTERS.presets:
        assert UNK not in CHARACTERS.target.encode(preset.target)
    assert CHARACTERS.tokenize("To be\nor") == ["T", "o", " ", "b", "e", "↵", "o", "r"]
