"""Next piece of English verse, cut by byte pairs learned from it (BPE): often seen letters stand together as one piece.

The merges are `data/merges.json`, learned from the lines that are trained on. `python -m models.tasks.subwords` learns them
again.
"""

from __future__ import annotations

import json
from pathlib import Path

from models.tasks import SPECIALS, Vocabulary, verse
from models.tasks.bytes import ELSEWHERE
from models.tasks.tokenizers import BytePairs, Merge, learn

MERGES = 512
FILE = Path(__file__).parent / "data" / "merges.json"


def learned() -> list[Merge]:
    """The merges that the training text asks for, in their order."""
    return learn(verse.text("train"), MERGES)


class NextPiece(verse.Verse):
    id: str = "subwords"
    name: str = "Next piece (BPE), Shakespeare"
    summary: str = "Verse in pieces that were often neighbours: whole short words, and the parts of rare ones."


if __name__ == "__main__":
    FILE.write_text("[\n" + ",\n".join(json.dumps(m) for m in learned()) + "\n]\n", "utf-8")
TOKENIZER = BytePairs([(left, right, count) for left, right, count in json.loads(FILE.read_text("utf-8"))])
TASK = NextPiece(TOKENIZER, Vocabulary((*SPECIALS, *TOKENIZER.names)), (*verse.PRESETS, ELSEWHERE))
