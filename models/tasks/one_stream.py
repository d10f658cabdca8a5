"""Translation in one stream: source words, a separator, target words, all rows of one owner and one vocabulary.

The sentences are those of `translation.py`, example for example, so that an encoder-decoder and one stack over one stream can be
compared: the same conditioning, but other owners and another state. A row before the separator never counts in the loss.
"""

from __future__ import annotations

from collections.abc import Sequence

from models.tasks import SPECIALS, Example, Preset, Restated, Split, Task, Vocabulary, lexicon, translation

SEPARATOR = len(SPECIALS)  # the id of "→"
ARROW = "→"
WORDS = Vocabulary((*SPECIALS, ARROW, *dict.fromkeys((*lexicon.ENGLISH.words[4:], *lexicon.FRENCH.words[4:]))))


def joined(source: Sequence[str], target: Sequence[str] = ()) -> tuple[str, ...]:
    """Source and target as one text, with the arrow between them."""
    return (*source, ARROW, *target)


class OneStream(Task):
    """clauses: as in `Translation`."""

    id: str = "one_stream"
    name: str = "Translation in one stream"
    summary: str = (
        "The sentences of the translation task, source → target as rows of one stream; only rows of the target are learned."
    )
    source = None
    target: Vocabulary = WORDS
    separator = SEPARATOR
    restates = Restated(translation.TASK.id, after=(ARROW,))
    presets: Sequence[Preset] = tuple(
        Preset(p.name, None, joined([t for t in p.source or () if isinstance(t, str)]), p.note)
        for p in translation.Translation.presets
    )

    def __init__(self, clauses: tuple[int, int] = (1, 3)) -> None:
        self.pairs = translation.Translation(clauses)

    def example(self, seed: int, split: Split, index: int) -> Example:
        """The pair of that number in one stream. Gold links: (row of a source word, row of a target word) after <bos>."""
        pair = self.pairs.example(seed, split, index)
        begin = len(pair.source or ()) + 1
        links = tuple((s, begin + t) for s, t in pair.alignment)
        return Example(None, joined(pair.source or (), pair.target), links)

    def tokenize(self, text: str) -> list[str]:
        """As in translation; "->" is the separator too."""
        return lexicon.tokenize(text.replace("->", f" {ARROW} ").replace(ARROW, f" {ARROW} "))


TASK = OneStream()
