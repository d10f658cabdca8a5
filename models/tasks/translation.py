"""Translation from English to French over `grammar.py`, with gold alignment."""

from __future__ import annotations

from collections.abc import Sequence

from models.tasks import Example, Preset, Split, Task, Token, Vocabulary, gold, grammar, lexicon

_ADJECTIVES = frozenset(a.english for a in lexicon.ADJECTIVES)


def _preset(name: str, source: str, note: str) -> Preset:
    return Preset(name, tuple(lexicon.tokenize(source)), (), note)


class Translation(Task):
    """clauses: the least and the most clauses of a sentence, within 1 to 5. The shipped weights learned from 1 to 3."""

    id: str = "translation"
    name: str = "Translation, English to French"
    summary: str = (
        "A small grammar: adjectives move behind the noun, words agree in gender and number, "
        "and a negation becomes two words around the verb."
    )
    source: Vocabulary | None = lexicon.ENGLISH
    target: Vocabulary = lexicon.FRENCH
    presets: Sequence[Preset] = (
        _preset("The black cat", "the black cat sleeps", "The adjective moves: the row that predicts noir reads back to black."),
        _preset("Thank you", "thank you", "Two source words, one target word: predicting merci and stopping are two decisions."),
        _preset(
            "A report",
            "the report was convincing .",
            "Compare with the next one: one word more in the source, two in the target.",
        ),
        _preset("A report, negated", "the report was not convincing .", "not becomes n' and pas, on both sides of était."),
        _preset(
            "The committee",
            "the report was not convincing . the committee rejected the proposal .",
            "One source word, rejected, gives two target words: a and rejeté.",
        ),
        _preset(
            "Agreement",
            "these small white mice do not see my black cows .",
            "small stays before its noun, white and black move behind; all of them agree with it.",
        ),
        _preset(
            "A pair never seen", "the green fox sees the red book .", "green and fox never met in training, nor did red and book."
        ),
        _preset(
            "Five clauses",
            "the black cat sleeps . my small dog does not run and the red hens sing . the report was not clear . "
            "the council rejected this clear proposal .",
            "Longer than the sentences in training, which have up to three clauses: look for what gets lost.",
        ),
    )

    def __init__(self, clauses: tuple[int, int] = (1, 3)) -> None:
        self.clauses = clauses

    def shortest(self) -> Translation:
        """Sentences of one clause."""
        return Translation((1, 1))

    def example(self, seed: int, split: Split, index: int) -> Example:
        """A sentence with its translation and gold links (source word, target word)."""
        phrase = grammar.draw(seed, split, index, self.clauses)
        return Example(phrase.source, phrase.target, phrase.links)

    def tokenize(self, text: str) -> list[str]:
        return lexicon.tokenize(text)

    def gold(self, source: Sequence[Token]) -> Example | None:
        """What the grammar writes beside a sentence, with gold links; None where it does not write such a sentence."""
        phrase = gold.translation(source)
        return None if phrase is None else Example(phrase.source, phrase.target, phrase.links)

    def moved(self, example: Example) -> list[tuple[int, int]]:
        """The adjectives that changed places with their noun, as (source word, target word).

        The noun is the next word in the source and the word before in the target, so the two links cross.
        """
        links = set(example.alignment)
        words = example.source or ()
        return [(s, t) for s, t in example.alignment if words[s] in _ADJECTIVES and (s + 1, t - 1) in links]


TASK = Translation()
