"""Does it agree? French sentences of `grammar.py`, in half of which one determiner has the other gender (le chat, la chat)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from models.tasks import CLS, Example, Objective, Preset, Split, Task, Vocabulary, lexicon, translation
from models.tasks.masked_french import WORDS

# Singular determiners whose form tells the gender, masculine and feminine.
GENDERED = tuple(forms[:2] for forms in lexicon.DETERMINERS.values() if forms[0] and forms[0] != forms[1])
OTHER = {word: other for m, f in GENDERED for word, other in ((m, f), (f, m))}
AGREES, CLASHES = "agrees", "clashes"
STRIDE = 16  # sentences that one example may look through until one has such a determiner


def _preset(name: str, text: str, said: str, note: str) -> Preset:
    return Preset(name, tuple(lexicon.tokenize(text)), (said,), note)


class Agreement(Task):
    """clauses: as in `Translation`, whose target sentences these are."""

    id: str = "agreement"
    name: str = "Does it agree? French"
    summary: str = "One determiner of the other gender spoils a sentence: <cls> must learn of it from the row that noticed."
    source: Vocabulary = WORDS
    target: Vocabulary = Vocabulary((AGREES, CLASHES), ())
    objective: Objective = "class"
    opening: str | None = CLS
    presets: Sequence[Preset] = (
        _preset("It clashes", "la chat noir dort .", CLASHES, "Which row notices, and in which layer does <cls> read it?"),
        _preset("It agrees", "le chat noir dort .", AGREES, "One letter changed: follow the same rows."),
        _preset(
            "Further back", "le chat noir dort et un petite maison est rouge .", CLASHES, "The clash is in the second clause."
        ),
    )

    def __init__(self, clauses: tuple[int, int] = (1, 2)) -> None:
        self.pairs = translation.Translation(clauses)

    def example(self, seed: int, split: Split, index: int) -> Example:
        draw = random.Random(f"agreement {seed} {split} {index}")
        sentences = (self.pairs.example(seed, split, index * STRIDE + i).target for i in range(STRIDE))
        words = next(s for s in sentences if any(w in OTHER for w in s))
        if draw.random() < 0.5:
            return Example(words, (AGREES,))
        at = draw.choice([i for i, w in enumerate(words) if w in OTHER])
        return Example((*words[:at], OTHER[words[at]], *words[at + 1 :]), (CLASHES,))

    def tokenize(self, text: str) -> list[str]:
        return lexicon.tokenize(text)


TASK = Agreement()
