"""Masked words on the French side of `grammar.py`: a hidden determiner must agree with a noun that comes after it."""

from __future__ import annotations

from collections.abc import Sequence

from models.tasks import CLS, MASK, WITH_MASK, Example, Objective, Preset, Special, Split, Task, Vocabulary, lexicon, translation

WORDS = Vocabulary((*WITH_MASK, *lexicon.FRENCH.words[4:]), WITH_MASK)


def _preset(name: str, text: str, note: str) -> Preset:
    """ "_" stands for a hidden word."""
    return Preset(name, tuple(Special(MASK) if w == "_" else w for w in lexicon.tokenize(text)), (), note)


class MaskedFrench(Task):
    """clauses: as in `Translation`, whose target sentences these are."""

    id: str = "masked_french"
    name: str = "Masked words, French"
    summary: str = "Some words are hidden: which stood there? What comes after a word counts as much as what comes before."
    source: Vocabulary = WORDS
    target: Vocabulary = WORDS
    objective: Objective = "masked"
    opening: str | None = CLS
    presets: Sequence[Preset] = (
        _preset(
            "The black cat", "_ chat noir dort", "chat stands after the hidden word and decides its gender: which head reads it?"
        ),
        _preset("A hidden noun", "la _ noire dort .", "la before and noire behind: only a feminine noun fits between them."),
        _preset("Both at once", "_ _ noire voit le livre rouge .", "Two hidden words do not see each other; both read noire."),
        _preset(
            "Around the verb",
            "le rapport _ était _ convaincant .",
            "Two words make one negation: each is read from the other’s side.",
        ),
    )

    def __init__(self, clauses: tuple[int, int] = (1, 2)) -> None:
        self.pairs = translation.Translation(clauses)

    def example(self, seed: int, split: Split, index: int) -> Example:
        return Example(self.pairs.example(seed, split, index).target, ())

    def tokenize(self, text: str) -> list[str]:
        return lexicon.tokenize(text)


TASK = MaskedFrench()
