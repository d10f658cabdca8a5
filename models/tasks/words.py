"""Next word of English verse: the most frequent words are known, every other one is <unk>."""

from __future__ import annotations

from collections import Counter

from models.tasks import SPECIALS, Vocabulary, verse
from models.tasks.tokenizers import Words

KNOWN = 1000
NOTE = "A thousand words are known; of those that it was not trained on one in six is unknown."
PRESETS = (
    ("A famous line", "To be, or not to", "One word is left. How far back must a row see to know it?"),
    ("The name of a speaker", "Ham.\n", "A name and a break: now speaks Hamlet, and a line begins with a capital."),
    ("An unknown word", "the ambassador", NOTE),
    ("An open beginning", "O", "Many words can follow: try temperature, top-k and top-p here."),
)
TOKENIZER = Words()


def frequent() -> list[str]:
    """Of words that are as frequent the ones that come first in the text are known."""
    return [word for word, _ in Counter(TOKENIZER.pieces(verse.text("train"))).most_common(KNOWN)]


class NextWord(verse.Verse):
    id: str = "words"
    name: str = "Next word, Shakespeare"
    summary: str = "Verse, word by word: a row is a whole word, and a word that was rare is unknown."


TASK = NextWord(TOKENIZER, Vocabulary((*SPECIALS, *frequent())), PRESETS)
