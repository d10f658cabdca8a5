"""What a model learns: seeded data with its vocabulary. Shift, loss rows and decision rows are in `objective.py`.

An example is a pure function of (seed, split, index), so a batch can be made again from three numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

Split = Literal["train", "held_out"]

PAD, BOS, EOS, UNK = 0, 1, 2, 3
SPECIALS = ("<pad>", "<bos>", "<eos>", "<unk>")


@dataclass(frozen=True)
class Special:
    """A special token that was chosen as such; the same characters typed as text are an ordinary (unknown) word."""

    name: str

    def __post_init__(self) -> None:
        if self.name not in SPECIALS:
            raise ValueError(f"special token {self.name!r} is unknown; allowed: {', '.join(SPECIALS)}")


Token = str | Special


@dataclass(frozen=True)
class Vocabulary:
    """Ids to words. The first four are the special tokens, in the order of `SPECIALS`."""

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.words[:4] != SPECIALS:
            raise ValueError(f"a vocabulary begins with {SPECIALS}, this one with {self.words[:4]}")

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def ids(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words) if i >= len(SPECIALS)}

    def encode(self, tokens: Iterable[Token]) -> list[int]:
        """Ids of tokens; a word that is not in the vocabulary becomes <unk>."""
        return [SPECIALS.index(t.name) if isinstance(t, Special) else self.ids.get(t, UNK) for t in tokens]

    def unknown(self, tokens: Iterable[Token]) -> list[str]:
        """The words among these that the vocabulary does not have, once each, in order."""
        return list(dict.fromkeys(t for t in tokens if isinstance(t, str) and t not in self.ids))

    def decode(self, ids: Iterable[int]) -> list[str]:
        return [self.words[i] for i in ids]


@dataclass(frozen=True)
class Example:
    """One piece of data. `source` is None for a language model. `alignment` holds gold (source word, target word) pairs."""

    source: tuple[str, ...] | None
    target: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Preset:
    """An example that the page offers by name. `note` says what to look at."""

    name: str
    source: tuple[str, ...] | None
    target: tuple[str, ...]
    note: str


class Task(Protocol):
    """See `translation.py` for one. `reads` names what a person types: the source, or a prompt on the target side."""

    id: str
    name: str
    summary: str
    source: Vocabulary | None
    target: Vocabulary
    presets: Sequence[Preset]

    def example(self, seed: int, split: Split, index: int) -> Example: ...

    def tokenize(self, text: str) -> list[str]: ...
