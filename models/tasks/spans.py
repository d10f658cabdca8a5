"""Text to text: a few words say what to do, and every answer is text (Raffel et al. 2020, T5, arXiv 1910.10683, 2.4 and 3.1.4).

    translate : the black cat sleeps            -> le chat noir dort
    restore : the <x0> cat sleeps <x1> sings    -> <x0> black <x1> and the hen <x2>

Span corruption: about 15 % of the words are cut out in spans of three words on average; each span leaves a sentinel, numbered
from 0, and the answer says after each sentinel what stood there, with one more sentinel at its end.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from models.tasks import SPECIALS, Example, Preset, Restated, Split, Task, Vocabulary, lexicon, translation

DENSITY, MEAN = 0.15, 3.0  # share of words that are cut out; words of a span on average
SENTINELS = tuple(f"<x{i}>" for i in range(8))
TRANSLATE, RESTORE = ("translate", ":"), ("restore", ":")
_OTHERS = (*SENTINELS, ":", "translate", "restore")
WORDS = Vocabulary((*SPECIALS, *dict.fromkeys((*_OTHERS, *lexicon.ENGLISH.words[4:], *lexicon.FRENCH.words[4:]))))


def spans(draw: random.Random, count: int, density: float = DENSITY, mean: float = MEAN) -> list[tuple[int, int]]:
    """(first, end) of the spans cut out of `count` words, in order. Between two spans, and before the first, a word stays.

    As published: so many words and so many spans as the shares say (at least one, and one word stays), then cut by chance.
    """
    if count < 2:
        raise ValueError(f"{count} words were given; allowed: 2 or more, so that one can be cut out and one stays")
    cut = min(max(round(count * density), 1), count - 1)
    number = min(max(round(cut / mean), 1), cut, count - cut, len(SENTINELS) - 1)
    lengths, gaps = _parts(draw, cut, number), _parts(draw, count - cut, number)
    found, at = [], 0
    for gap, length in zip(gaps, lengths, strict=True):
        found.append((at + gap, at + gap + length))
        at += gap + length
    return found


def _parts(draw: random.Random, whole: int, number: int) -> list[int]:
    """A whole in so many parts of at least 1, each way of cutting as likely as the others."""
    cuts = [0, *sorted(draw.sample(range(1, whole), number - 1)), whole]
    return [b - a for a, b in pairwise(cuts)]


def corrupted(words: Sequence[str], cut: Sequence[tuple[int, int]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is given, and what is to be said: each span's words after its sentinel, and a last sentinel."""
    given, said, at = list[str](), list[str](), 0
    for i, (first, end) in enumerate(cut):
        given += [*words[at:first], SENTINELS[i]]
        said += [SENTINELS[i], *words[first:end]]
        at = end
    return (*given, *words[at:]), (*said, SENTINELS[len(cut)])


def _preset(name: str, source: str, note: str) -> Preset:
    return Preset(name, tuple(TextToText.tokenize(source)), (), note)


class TextToText(Task):
    """Every second example is a translation, the others are restored. clauses: as in `Translation`."""

    id: str = "text_to_text"
    name: str = "Text to text"
    summary: str = "One model, two tasks: the first word says whether to translate or to put words back where sentinels stand."
    source = WORDS
    target: Vocabulary = WORDS
    restates = Restated(translation.TASK.id, before=TRANSLATE)

    def __init__(self, clauses: tuple[int, int] = (1, 2)) -> None:
        self.pairs = translation.Translation(clauses)
        self.presets: Sequence[Preset] = (
            _preset("The black cat", "translate : the black cat sleeps", "The same sentence as one stream: Prefix LM and UniLM."),
            _preset(
                "Put back",
                "restore : the black <x0> sleeps . the <x1> accepted the proposal .",
                "Each sentinel is answered in turn; agreement says what may stand there.",
            ),
            _preset(
                "Same words, other task", "restore : the black cat <x0>", "Change restore to translate and look at the answer."
            ),
            _preset(
                "A report", "translate : the report was not convincing .", "One word more than the task needs: where is it read?"
            ),
        )

    def example(self, seed: int, split: Split, index: int) -> Example:
        pair = self.pairs.example(seed, split, index)
        words = tuple(w for w in pair.source or ())
        if index % 2 == 0 or len(words) < 2:
            links = tuple((s + len(TRANSLATE), t) for s, t in pair.alignment)
            return Example((*TRANSLATE, *words), pair.target, links)
        given, said = corrupted(words, spans(random.Random(f"spans {seed} {split} {index}"), len(words)))
        return Example((*RESTORE, *given), said)

    @staticmethod
    def tokenize(text: str) -> list[str]:
        return lexicon.tokenize(text)


TASK = TextToText()
