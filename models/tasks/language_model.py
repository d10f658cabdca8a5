"""Next-word prediction over the English side of `grammar.py`: a decision depends on what was said about a report earlier."""

from __future__ import annotations

from collections.abc import Sequence

from models.tasks import Example, Preset, Split, Task, Vocabulary, grammar, lexicon


def _preset(name: str, prompt: str, note: str) -> Preset:
    return Preset(name, None, tuple(lexicon.tokenize(prompt)), note)


class LanguageModel(Task):
    """clauses: the least and the most clauses of a passage, within 1 to 5. The shipped weights learned from 1 to 3."""

    id: str = "language_model"
    name: str = "Next word, English"
    summary: str = "Passages of a small grammar: verbs agree with nouns before them, and a committee tends to follow the report."
    source: Vocabulary | None = None
    target: Vocabulary = lexicon.ENGLISH
    presets: Sequence[Preset] = (
        _preset("A good report", "the report was convincing . the committee", "accepted leads. Insert not and look again."),
        _preset("A bad report", "the report was not convincing . the committee", "One word earlier, not, and rejected leads."),
        _preset(
            "Something in between",
            "the report was not convincing . the black cat sleeps . the committee",
            "The evidence is further back: does the last row still read it?",
        ),
        _preset("No report", "the committee", "Nothing was said about a report: accepted and rejected are about as likely."),
        _preset("Agreement with mice", "these small white mice", "The verb must agree with mice: a singular one would not."),
        _preset("An open beginning", "my", "Many words can follow: try temperature, top-k and top-p here."),
    )

    def __init__(self, clauses: tuple[int, int] = (1, 3)) -> None:
        self.clauses = clauses

    def example(self, seed: int, split: Split, index: int) -> Example:
        """A passage; the same (seed, split, index) as in translation gives the English side of the same sentence."""
        return Example(None, grammar.draw(seed, split, index, self.clauses).source)

    def tokenize(self, text: str) -> list[str]:
        return lexicon.tokenize(text)


TASK = LanguageModel()
