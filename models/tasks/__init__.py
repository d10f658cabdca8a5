"""What a model learns: seeded data with its vocabulary. Batches, loss rows and decisions are in `objective.py`.

An example is a pure function of (seed, split, index), so a batch can be made again from three numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

from models import OutputKind, Phase
from models.tasks.tokenizers import Tokenizer

Split = Literal["train", "held_out"]
Objective = Literal["next_token", "masked", "class", "ctc"]

KINDS: dict[Objective, OutputKind] = {"next_token": "next_token", "masked": "same_token", "class": "class", "ctc": "frames"}

PAD, BOS, EOS, UNK = 0, 1, 2, 3
SPECIALS = ("<pad>", "<bos>", "<eos>", "<unk>")
MASK, CLS, BLANK = "<mask>", "<cls>", "<blank>"
WITH_MASK = (*SPECIALS, MASK, CLS)  # of a task with masked tokens: <mask> and <cls> can be picked like the others
ALL_SPECIALS = (*WITH_MASK, BLANK)


@dataclass(frozen=True)
class Special:
    """A special token that was chosen as such; the same characters typed as text are an ordinary (unknown) word."""

    name: str

    def __post_init__(self) -> None:
        if self.name not in ALL_SPECIALS:
            raise ValueError(f"special token {self.name!r} is unknown; allowed: {', '.join(ALL_SPECIALS)}")


Token = str | Special


@dataclass(frozen=True)
class Vocabulary:
    """Ids to words. The special tokens come first: those of text, or for labels none (classes) or <blank> alone (CTC)."""

    words: tuple[str, ...]
    specials: tuple[str, ...] = SPECIALS

    def __post_init__(self) -> None:
        if self.words[: len(self.specials)] != self.specials:
            given = self.words[: len(self.specials)]
            raise ValueError(f"this vocabulary begins with {self.specials}, it was given {given}")

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def ids(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words) if i >= len(self.specials)}

    def encode(self, tokens: Iterable[Token]) -> list[int]:
        """Ids of tokens; a word that is not in the vocabulary becomes <unk>, or is refused (ValueError) where there is none."""
        return [self._id(t) for t in tokens]

    def _id(self, token: Token) -> int:
        if isinstance(token, Special) and token.name in self.specials:
            return self.specials.index(token.name)
        found = self.ids.get(token) if isinstance(token, str) else None
        if found is None and "<unk>" in self.specials:
            return UNK
        if found is None:
            raise ValueError(f"{token!r} is no label of this task; allowed: {', '.join(self.ids)}")
        return found

    def unknown(self, tokens: Iterable[Token]) -> list[str]:
        """The words among these that the vocabulary does not have, once each, in order."""
        return list(dict.fromkeys(t for t in tokens if isinstance(t, str) and t not in self.ids))

    def decode(self, ids: Iterable[int]) -> list[str]:
        return [self.words[i] for i in ids]


@dataclass(frozen=True)
class Features:
    """A source of numbers in 0..1 instead of words: n rows of `width` numbers, at most `most` rows.

    what: how a person sees it. picture: rows are its lines, from the top. frames: rows follow in time, their numbers are bands,
    from the lowest. sequence: rows follow in time.
    """

    width: int
    most: int
    what: Literal["picture", "frames", "sequence"]


Lines = tuple[tuple[float, ...], ...]  # [n][width], of a source that is `Features`


@dataclass(frozen=True)
class Example:
    """One piece of data. `source` is None for a language model. `alignment` holds gold (source word, target word) pairs.

    target: the words to write; the class, one word; for CTC the labels in order; of masked tokens nothing (the source has them).
    """

    source: tuple[str, ...] | None
    target: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...] = ()
    features: Lines | None = None


@dataclass(frozen=True)
class Preset:
    """An example that the page offers by name. `note` says what to look at."""

    name: str
    source: tuple[Token, ...] | None
    target: tuple[str, ...]
    note: str
    features: Lines | None = None


@dataclass(frozen=True)
class Restated:
    """The sentences of another task, by its id: the words that stand before and after what that one has as its source."""

    task: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class Task(Protocol):
    """See `translation.py` for one; a task derives from this class, so that what it leaves out has its default.

    source: what is read first: words, `Features`, or nothing. A person gives the source, or else a prompt on the target side.
    objective: what is learned. "next_token": the next word of the target. The others have source rows alone and no decode:
    "masked": the source's own words, some of them hidden (target is the source's vocabulary); "class": one word of `target` for
    the whole source; "ctc": the words of `target` in order, fewer than source rows; its <blank> says nothing.
    opening: a special token that stands before every source (<cls>).
    separator: the id of the word that ends the source where source and target are one stream (`one_stream.py`).
    stamps: pieces by name that a person lays on a picture.
    restates: whose sentences these are, where another task has the same in other words; so they can be compared.
    tokenizer: how text becomes pieces, where that is something to look at (`tokenizers.py`).
    """

    id: str
    name: str
    summary: str
    source: Vocabulary | Features | None
    target: Vocabulary
    presets: Sequence[Preset]
    objective: Objective = "next_token"
    opening: str | None = None
    separator: int | None = None
    restates: Restated | None = None
    tokenizer: Tokenizer | None = None

    @property
    def stamps(self) -> Mapping[str, Lines]:
        return {}

    def example(self, seed: int, split: Split, index: int) -> Example: ...

    def tokenize(self, text: str) -> list[str]: ...

    def shortest(self) -> Task:
        """The same task with its shortest examples alone, for a curriculum; itself where they are all of a kind."""
        return self

    def gold(self, source: Sequence[Token]) -> Example | None:
        """The one right answer to what is typed, with its alignment; None where the task does not know it."""
        return None


def phases(declared: tuple[Phase, ...], objective: Objective) -> tuple[Phase, ...]:
    """Of the phases that a Spec declares those that a task has: only a next token can be decoded."""
    return tuple(p for p in declared if p != "decode" or objective == "next_token")


def words_of(task: Task) -> Vocabulary | None:
    """The vocabulary of a task's source, if that is words."""
    return task.source if isinstance(task.source, Vocabulary) else None


def source_size(task: Task) -> int | Features | None:
    """What a model is built for: how many words a source may hold, or its features."""
    return len(task.source) if isinstance(task.source, Vocabulary) else task.source
