"""Span corruption: what is cut out, what is said, and that both together give the text again."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from models.tasks.spans import RESTORE, SENTINELS, TASK, TRANSLATE, WORDS, corrupted, spans


def together(given: tuple[str, ...], said: tuple[str, ...]) -> list[str]:
    """The text again: each sentinel in what is given is replaced by what is said after it."""
    parts: dict[str, list[str]] = {}
    for word in said:
        if word in SENTINELS:
            parts[word] = []
        else:
            parts[list(parts)[-1]].append(word)
    return [w for word in given for w in parts.get(word, [word])]


def test_the_printed_example() -> None:
    """Figure 2 of the paper: "Thank you for inviting me to your party last week ." with two spans."""
    words = tuple(["thank", "you", "for", "inviting", "me", "to", "your", "party", "last", "week", "."])
    given, said = corrupted(words, [(2, 4), (8, 9)])
    assert given == tuple(["thank", "you", "<x0>", "me", "to", "your", "party", "<x1>", "week", "."])
    assert said == tuple(["<x0>", "for", "inviting", "<x1>", "last", "<x2>"])


def test_given_and_said_give_the_text_again() -> None:
    for index in range(200):
        draw = random.Random(index)
        words = tuple(f"w{i}" for i in range(draw.randint(2, 60)))
        cut = spans(draw, len(words))
        given, said = corrupted(words, cut)
        assert together(given, said) == list(words)
        assert cut[0][0] > 0 and all(a[1] < b[0] for a, b in pairwise(cut)), "spans touch"
        assert sum(b - a for a, b in cut) == max(1, round(0.15 * len(words)))


def test_shares_can_be_moved() -> None:
    cut = spans(random.Random(1), 40, density=0.5, mean=4)
    assert sum(b - a for a, b in cut) == 20 and len(cut) == 5
    assert len(spans(random.Random(1), 3, density=1.0, mean=1)) == 1, "one word stays"


def test_too_short_a_text_is_refused() -> None:
    with pytest.raises(ValueError, match="1 words were given; allowed: 2 or more"):
        spans(random.Random(1), 1)


def test_examples_are_text_to_text() -> None:
    kinds = {TASK.example(7, "train", i).source[:2] for i in range(20)}  # type: ignore[index]
    assert kinds == {TRANSLATE, RESTORE}
    for i in range(50):
        example = TASK.example(7, "held_out", i)
        assert not WORDS.unknown((*(example.source or ()), *example.target))
    assert TASK.example(7, "train", 3) == TASK.example(7, "train", 3)
    for preset in TASK.presets:
        assert preset.source and not WORDS.unknown(preset.source)
