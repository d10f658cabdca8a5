"""Next byte of English verse: 256 pieces write any text, a letter beyond ASCII takes two to four of them."""

from __future__ import annotations

from models.tasks import SPECIALS, Vocabulary, verse
from models.tasks.tokenizers import BytePairs

ELSEWHERE = (
    "Letters of several bytes",
    "naïve — 日本",
    "ï takes two bytes, — and 日 three. None of them was seen in training.",
)
TOKENIZER = BytePairs()


class NextByte(verse.Verse):
    id: str = "bytes"
    name: str = "Next byte, Shakespeare"
    summary: str = "Verse, byte by byte: no text is unknown, and a character may take several pieces."


TASK = NextByte(TOKENIZER, Vocabulary((*SPECIALS, *TOKENIZER.names)), (*verse.PRESETS, ELSEWHERE))
