"""Next character of English verse, one letter at a time; a line break is the character ↵."""

from __future__ import annotations

from models.tasks import SPECIALS, Vocabulary, verse
from models.tasks.tokenizers import BREAK, Characters


class NextCharacter(verse.Verse):
    id: str = "characters"
    name: str = "Next character, Shakespeare"
    summary: str = "Verse, letter by letter: spelling first, then words, names of speakers, and where a line breaks."


LETTERS = sorted(set(verse.FILE.read_text("utf-8")) - {"\n"})
TASK = NextCharacter(Characters(), Vocabulary((*SPECIALS, BREAK, *LETTERS)))
