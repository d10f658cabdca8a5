"""The words of the grammar in `grammar.py`, English and French side by side, and how typed text becomes words.

Every French noun and adjective that can follow le, la, ce, mon, ma or ne begins with a consonant, so the only elided word
is n' before est, était and étaient; it is a token of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from models.tasks import SPECIALS, Vocabulary

Forms = tuple[str, str, str, str]  # masculine, feminine, masculine plural, feminine plural


@dataclass(frozen=True)
class Noun:
    """Forms by number in both languages, and the gender that its French words agree with."""

    english: tuple[str, str]  # singular, plural ("" where the grammar uses none)
    gender: Literal["m", "f"]
    french: tuple[str, str]


@dataclass(frozen=True)
class Adjective:
    """One English form, and the French ones by gender and number."""

    english: str
    french: Forms
    before: bool = False  # stays before its noun


@dataclass(frozen=True)
class Verb:
    """Forms by number in both languages, third person."""

    english: tuple[str, str]  # sleeps, sleep
    french: tuple[str, str]  # dort, dorment


ANIMALS = (
    Noun(("cat", "cats"), "m", ("chat", "chats")),
    Noun(("dog", "dogs"), "m", ("chien", "chiens")),
    Noun(("horse", "horses"), "m", ("cheval", "chevaux")),
    Noun(("fox", "foxes"), "m", ("renard", "renards")),
    Noun(("cow", "cows"), "f", ("vache", "vaches")),
    Noun(("hen", "hens"), "f", ("poule", "poules")),
    Noun(("goat", "goats"), "f", ("chèvre", "chèvres")),
    Noun(("mouse", "mice"), "f", ("souris", "souris")),
)
THINGS = (
    Noun(("book", "books"), "m", ("livre", "livres")),
    Noun(("hat", "hats"), "m", ("chapeau", "chapeaux")),
    Noun(("bed", "beds"), "m", ("lit", "lits")),
    Noun(("house", "houses"), "f", ("maison", "maisons")),
    Noun(("table", "tables"), "f", ("table", "tables")),
    Noun(("flower", "flowers"), "f", ("fleur", "fleurs")),
    Noun(("key", "keys"), "f", ("clé", "clés")),
    Noun(("car", "cars"), "f", ("voiture", "voitures")),
)
DOCUMENTS = (
    Noun(("report", "reports"), "m", ("rapport", "rapports")),
    Noun(("letter", "letters"), "f", ("lettre", "lettres")),
)
BODIES = (Noun(("committee", ""), "m", ("comité", "")), Noun(("council", ""), "m", ("conseil", "")))
PROPOSAL = Noun(("proposal", ""), "f", ("proposition", ""))
NOUNS = (*ANIMALS, *THINGS, *DOCUMENTS, *BODIES, PROPOSAL)

SIZES = (
    Adjective("small", ("petit", "petite", "petits", "petites"), before=True),
    Adjective("big", ("grand", "grande", "grands", "grandes"), before=True),
    Adjective("beautiful", ("beau", "belle", "beaux", "belles"), before=True),
)
KINDS = (
    Adjective("black", ("noir", "noire", "noirs", "noires")),
    Adjective("white", ("blanc", "blanche", "blancs", "blanches")),
    Adjective("green", ("vert", "verte", "verts", "vertes")),
    Adjective("red", ("rouge", "rouge", "rouges", "rouges")),
    Adjective("heavy", ("lourd", "lourde", "lourds", "lourdes")),
    Adjective("strange", ("étrange", "étrange", "étranges", "étranges")),
)
JUDGEMENTS = (
    Adjective("convincing", ("convaincant", "convaincante", "convaincants", "convaincantes")),
    Adjective("clear", ("clair", "claire", "clairs", "claires")),
)
ADJECTIVES = (*SIZES, *KINDS, *JUDGEMENTS)

ACTS = (
    Verb(("sleeps", "sleep"), ("dort", "dorment")),
    Verb(("eats", "eat"), ("mange", "mangent")),
    Verb(("runs", "run"), ("court", "courent")),
    Verb(("sings", "sing"), ("chante", "chantent")),
)
ACTS_ON = (
    Verb(("sees", "see"), ("voit", "voient")),
    Verb(("finds", "find"), ("trouve", "trouvent")),
    Verb(("takes", "take"), ("prend", "prennent")),
)
IS = Verb(("is", "are"), ("est", "sont"))
WAS = Verb(("was", "were"), ("était", "étaient"))
DECISIONS = (("accepted", "accepté"), ("rejected", "rejeté"))  # after a good report, after a bad one

DETERMINERS: dict[str, Forms] = {
    "the": ("le", "la", "les", "les"),
    "my": ("mon", "ma", "mes", "mes"),
    "your": ("votre", "votre", "vos", "vos"),
    "this": ("ce", "cette", "", ""),
    "these": ("", "", "ces", "ces"),
    "a": ("un", "une", "", ""),
    "two": ("", "", "deux", "deux"),
}
DEFINITE = ("the", "the", "my", "your", "this", "these")  # "the" twice: it is the commonest
ANY = (*DEFINITE, "a", "two")


def _vocabulary(words: Iterable[str]) -> Vocabulary:
    return Vocabulary((*SPECIALS, *dict.fromkeys(w for w in words if w)))


def _english() -> Iterable[str]:
    yield from (".", "and", "thank", "you", "not", "does", "do", *DETERMINERS)
    for entry in (*NOUNS, *ACTS, *ACTS_ON, IS, WAS):
        yield from entry.english
    yield from (a.english for a in ADJECTIVES)
    yield from (decided for decided, _ in DECISIONS)


def _french() -> Iterable[str]:
    yield from (".", "et", "merci", "ne", "n'", "pas", "a")
    for forms in (*DETERMINERS.values(), *(a.french for a in ADJECTIVES)):
        yield from forms
    for entry in (*NOUNS, *ACTS, *ACTS_ON, IS, WAS):
        yield from entry.french
    yield from (décidé for _, décidé in DECISIONS)


ENGLISH, FRENCH = _vocabulary(_english()), _vocabulary(_french())

_MARKS = r"""\.,;:!\?\(\)"«»…。、！？،؟"""
_TOKEN = re.compile(rf"n'(?=\w)|[^\s{_MARKS}]+|[{_MARKS}]")
_BIDI_CONTROLS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def tokenize(text: str) -> list[str]:
    """Lower-case words, punctuation apart, n' apart. Whatever is written in any script stays a word, known or not; "<eos>" too.

    Control characters, lone surrogates and marks that only switch the writing direction are left out: nobody sees them, and
    they could reorder the page around a token.
    """
    text = unicodedata.normalize("NFC", text.replace("’", "'")).lower()
    return _TOKEN.findall("".join(c for c in text if c.isspace() or not _invisible(c)))


def _invisible(character: str) -> bool:
    return character in _BIDI_CONTROLS or unicodedata.category(character) in ("Cc", "Cs")
