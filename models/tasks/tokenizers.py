"""Text to pieces and back: words, characters, bytes, and byte pairs learned from a text (BPE).

    Sennrich, Haddow and Birch 2016, arXiv 1508.07909: merge the pair of neighbours that is seen most often, again and again.
    Radford et al. 2019 (GPT-2), section 2.2: over the bytes of UTF-8, so that no text is unknown, and never across words.

A tokenizer cuts a text into pieces; a vocabulary numbers them; a model knows the numbers alone. Words lose what stands between
them and do not know every word; characters do not know every character. Bytes and byte pairs write any text: `text(pieces(x))` is
x, up to lone surrogates, which are half a character, cannot be written in UTF-8, and become U+FFFD.
"""

from __future__ import annotations

import heapq
import itertools
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, Protocol

Kind = Literal["word", "character", "byte", "bpe"]
Pair = tuple[int, int]
Merge = tuple[int, int, int]  # left piece, right piece, how often they were neighbours when they were merged

BREAK = "↵"  # a line break, as a piece
REPLACEMENT = "\ufffd"
BYTES = 256
_WORD = re.compile(rb" ?[A-Za-z\x80-\xff]+| ?[0-9]+| ?[!-/:-@\[-`{-~]+|[\x00-\x20\x7f]")
_MARK = r"!-/:-@\[-`{-~↵"
_TOKEN = re.compile(rf"[^ {_MARK}]+(?:['-][^ {_MARK}]+)*|[{_MARK}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_DIRECTION = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Tokenizer(Protocol):
    """Text to pieces, and pieces to the text that they stand for. `lossless`: any text comes back as it was."""

    kind: Kind
    lossless: bool

    def pieces(self, text: str) -> list[str]: ...

    def text(self, pieces: Iterable[str]) -> str: ...


class Characters:
    """Each character is a piece, blanks too; a line break is ↵. What has no form of its own is left out."""

    kind: Kind = "character"
    lossless = True  # of the texts that its vocabulary was made from

    def pieces(self, text: str) -> list[str]:
        return list(_seen(text))

    def text(self, pieces: Iterable[str]) -> str:
        return "".join(pieces).replace(BREAK, "\n")


class Words:
    """Words and marks apart; a hyphen or an apostrophe inside a word belongs to it. The blanks between them are lost."""

    kind: Kind = "word"
    lossless = False

    def pieces(self, text: str) -> list[str]:
        return _TOKEN.findall(_seen(text))

    def text(self, pieces: Iterable[str]) -> str:
        return " ".join(pieces).replace(f" {BREAK} ", "\n").replace(BREAK, "\n")


class BytePairs:
    """Pieces are numbers: 0 to 255 are bytes, 256 + k is what the k-th merge joins. Without merges it is a tokenizer of bytes.

    A text is cut into words first (a word takes the blank before it); no merge joins two of them.
    """

    lossless = True

    def __init__(self, merges: Sequence[Merge] = ()) -> None:
        self.kind: Kind = "bpe" if merges else "byte"
        self.merges = tuple(merges)
        self.table = [bytes([b]) for b in range(BYTES)]
        for left, right, _ in self.merges:
            self.table.append(self.table[left] + self.table[right])
        self.rank = {(left, right): k for k, (left, right, _) in enumerate(self.merges)}
        self.names = tuple(name(piece) for piece in self.table)
        self.numbers = {n: i for i, n in enumerate(self.names)}
        self.encoded = lru_cache(maxsize=1 << 16)(self._encoded)

    def pieces(self, text: str) -> list[str]:
        return [self.names[i] for word in split(utf8(text)) for i in self.encoded(word)]

    def text(self, pieces: Iterable[str]) -> str:
        """Bytes that make no character become U+FFFD; a piece that is none of its own stands for its own letters."""
        whole = b"".join(self.table[self.numbers[p]] if p in self.numbers else utf8(p) for p in pieces)
        return whole.decode("utf-8", "replace")

    def _encoded(self, word: bytes) -> tuple[int, ...]:
        """Of all pairs that stand in the word the one that was learned first is joined everywhere, until none is left."""
        found = list(word)
        while pairs := self.rank.keys() & set(itertools.pairwise(found)):
            first = min(pairs, key=self.rank.__getitem__)
            found = joined(found, first, BYTES + self.rank[first])
        return tuple(found)


def split(data: bytes) -> list[bytes]:
    """Words with the blank before them, numbers and marks likewise, and what is left byte by byte; together they are the whole.
    Every byte from 128 on counts as a letter, so that no character is ever cut."""
    return _WORD.findall(data)


def utf8(text: str) -> bytes:
    """The bytes of a text; half a surrogate pair, which has none, becomes the replacement character."""
    return _SURROGATE.sub(REPLACEMENT, text).encode("utf-8")


def name(piece: bytes) -> str:
    """A piece as a person reads it: its text where that is whole and has a form, else its bytes, <0xE2> each."""
    if piece == b"\n":
        return BREAK
    try:
        text = piece.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if text.isprintable() and text and BREAK not in text:
        return text
    return "".join(f"<0x{b:02X}>" for b in piece)


def joined(pieces: Sequence[int], pair: Pair, new: int) -> list[int]:
    """The same pieces with every such pair, from the left, as one."""
    out: list[int] = []
    at = 0
    while at < len(pieces):
        both = tuple(pieces[at : at + 2]) == pair
        out.append(new if both else pieces[at])
        at += 1 + both
    return out


def learn(text: str, count: int) -> list[Merge]:
    """The first `count` merges of a text, or as many as it has: each joins the pair that is seen most often inside its words.

    Of pairs that are seen equally often the one with the lowest left piece is taken, then the one with the lowest right. A pure
    function of its arguments.
    """
    counts = Counter(split(utf8(text)))
    words, often = [list(word) for word in counts], list(counts.values())
    seen, places = Counter[Pair](), defaultdict[Pair, set[int]](set)
    for i, word in enumerate(words):
        _count(word, often[i], i, seen, places)
    queue = [(-n, pair) for pair, n in seen.items()]
    heapq.heapify(queue)
    merges: list[Merge] = []
    while queue and len(merges) < count:
        n, pair = heapq.heappop(queue)
        if seen[pair] != -n:  # it was counted again since: its newer count stands in the queue too
            continue
        merges.append((*pair, -n))
        changed = set[Pair]()
        for i in tuple(places[pair]):
            changed |= _count(words[i], -often[i], i, seen, places)
            words[i] = joined(words[i], pair, BYTES + len(merges) - 1)
            changed |= _count(words[i], often[i], i, seen, places)
        for other in changed:
            if seen[other] > 0:
                heapq.heappush(queue, (-seen[other], other))
    return merges


def _count(word: list[int], times: int, at: int, seen: Counter[Pair], places: dict[Pair, set[int]]) -> set[Pair]:
    """Count the neighbours of a word so many times more (or, below 0, less); which they are."""
    pairs = set(itertools.pairwise(word))
    for pair in itertools.pairwise(word):
        seen[pair] += times
    for pair in pairs:
        (places[pair].add if times > 0 else places[pair].discard)(at)
    return pairs


def _seen(text: str) -> str:
    """What has a form: no control characters, lone surrogates or marks of direction; apostrophes alike, a line break as ↵, every
    other blank as a blank."""
    text = unicodedata.normalize("NFC", text.replace("’", "'").replace("\r\n", "\n"))
    kept = (c for c in text if c in "\t\n\r" or not (c in _DIRECTION or unicodedata.category(c) in ("Cc", "Cs")))
    return "".join(BREAK if c in "\n\r" else " " if c.isspace() else c for c in kept)
