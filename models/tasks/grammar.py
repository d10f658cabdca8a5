"""A small seeded grammar that writes English and French side by side, with gold alignment.

Both tasks read it: translation uses the two sides, the language model the English one. What it is made to show:
an adjective goes behind its noun (black cat -> chat noir) or stays before it (small cat -> petit chat); determiners,
adjectives and verbs agree with a noun that may be far away; a negation is two words around the verb (ne dort pas); and a
committee decides by what was said earlier about a report (000 0x00A), as a tendency, not as a rule.

The words are in `lexicon.py`.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from models.tasks import Split
from models.tasks.lexicon import (
    ACTS,
    ACTS_ON,
    ANIMALS,
    ANY,
    BODIES,
    DECISIONS,
    DEFINITE,
    DETERMINERS,
    DOCUMENTS,
    IS,
    JUDGEMENTS,
    KINDS,
    PROPOSAL,
    SIZES,
    THINGS,
    WAS,
    Adjective,
    Noun,
    Verb,
)

TENDENCY = 0.9  # how often a decision follows the report


@dataclass(frozen=True)
class Phrase:
    """Words of both sides in order, gold links (source word, target word), and which adjective met which noun."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[tuple[int, int], ...]
    pairs: tuple[tuple[str, str], ...] = ()

    def __add__(self, other: Phrase) -> Phrase:
        i, j = len(self.source), len(self.target)
        links = (*self.links, *((s + i, t + j) for s, t in other.links))
        return Phrase((*self.source, *other.source), (*self.target, *other.target), links, (*self.pairs, *other.pairs))


def word(source: str, target: str) -> Phrase:
    """One word for one word."""
    return Phrase((source,), (target,), ((0, 0),))


FULL_STOP, AND = word(".", "."), word("and", "et")
THANKS = Phrase(("thank", "you"), ("merci",), ((0, 0), (1, 0)))


@dataclass(frozen=True)
class NounPhrase:
    """place: which of the four `Forms` agrees with it."""

    phrase: Phrase
    noun: Noun
    place: int

    @property
    def plural(self) -> bool:
        return self.place >= 2


def noun_phrase(
    rng: Random, noun: Noun, determiners: Sequence[str], kinds: Sequence[Adjective], dressed: float = 0.6
) -> NounPhrase:
    """A determiner, adjectives in proportion `dressed` (a size before the noun, another of `kinds` behind it), the noun."""
    plural = bool(noun.english[1]) and rng.random() < 0.35
    place = 2 * plural + (noun.gender == "f")
    determiner = rng.choice([d for d in determiners if DETERMINERS[d][place]])
    before = [rng.choice(SIZES)] if rng.random() < dressed / 3 else []
    behind = [rng.choice(kinds)] if rng.random() < dressed else []
    made = written(noun, plural, determiner, before, behind)
    assert made is not None
    return made


def written(noun: Noun, plural: bool, determiner: str, before: list[Adjective], behind: list[Adjective]) -> NounPhrase | None:
    """A noun with its determiner and at most one adjective on each side; None: the determiner has no such form."""
    place = 2 * plural + (noun.gender == "f")
    english = (*(a.english for a in (*before, *behind)), noun.english[plural])
    french = (*(a.french[place] for a in before), noun.french[plural], *(a.french[place] for a in behind))
    links = [(0, 0)] if before else []
    at = len(before)
    links += [(at, at + 1), (at + 1, at)] if behind else [(at, at)]
    pairs = tuple((a.english, noun.english[0]) for a in (*before, *behind))
    form = DETERMINERS[determiner][place]
    return NounPhrase(word(determiner, form) + Phrase(english, french, tuple(links), pairs), noun, place) if form else None


def act(verb: Verb, plural: bool, negated: bool) -> Phrase:
    """sleeps -> dort; does not sleep -> ne dort pas. "does" has no word of its own in French and no link."""
    if not negated:
        return word(verb.english[plural], verb.french[plural])
    source = ("do" if plural else "does", "not", verb.english[1])
    return Phrase(source, ("ne", verb.french[plural], "pas"), ((1, 0), (1, 2), (2, 1)))


def predicate(verb: Verb, subject: NounPhrase, adjective: Adjective, negated: bool) -> Phrase:
    """is black -> est noire; was not convincing -> n' était pas convaincant."""
    be, est = verb.english[subject.plural], verb.french[subject.plural]
    what = Phrase(
        (adjective.english,), (adjective.french[subject.place],), ((0, 0),), ((adjective.english, subject.noun.english[0]),)
    )
    if not negated:
        return word(be, est) + what
    ne = "n'" if est[0] in "eé" else "ne"
    return Phrase((be, "not"), (ne, est, "pas"), ((0, 1), (1, 0), (1, 2))) + what


def act_clause(rng: Random) -> Phrase:
    """the black cat does not sleep"""
    subject = noun_phrase(rng, rng.choice(ANIMALS), ANY, KINDS)
    return subject.phrase + act(rng.choice(ACTS), subject.plural, rng.random() < 0.3)


def act_on_clause(rng: Random) -> Phrase:
    """a small dog sees the red house; an indefinite object would change under negation (pas de), so it takes DEFINITE"""
    subject = noun_phrase(rng, rng.choice(ANIMALS), ANY, KINDS)
    noun = rng.choice((*ANIMALS, *THINGS, *DOCUMENTS))
    thing = noun_phrase(rng, noun, DEFINITE, (*KINDS, *JUDGEMENTS) if noun in DOCUMENTS else KINDS)
    return subject.phrase + act(rng.choice(ACTS_ON), subject.plural, rng.random() < 0.3) + thing.phrase


def state_clause(rng: Random) -> Phrase:
    """my beautiful table is not green"""
    subject = noun_phrase(rng, rng.choice((*ANIMALS, *THINGS)), DEFINITE, KINDS, dressed=0.3)
    return subject.phrase + predicate(IS, subject, rng.choice((*SIZES, *KINDS)), rng.random() < 0.3)


def report_clause(rng: Random) -> tuple[Phrase, bool]:
    """the report was not convincing; and whether it spoke well of it"""
    subject = noun_phrase(rng, rng.choice((DOCUMENTS[0], *DOCUMENTS)), DEFINITE, KINDS, dressed=0.2)
    negated = rng.random() < 0.5
    return subject.phrase + predicate(WAS, subject, rng.choice(JUDGEMENTS), negated), not negated


def decision_clause(rng: Random, good: bool | None) -> Phrase:
    """the committee accepted the proposal; `good`: what was said of the last report, None = nothing"""
    follows = rng.random() < (0.5 if good is None else TENDENCY)
    decided, décidé = DECISIONS[follows != (good is not False)]
    body = noun_phrase(rng, rng.choice(BODIES), ("the", "the", "the", "my", "your"), KINDS, dressed=0.0)
    thing = noun_phrase(rng, PROPOSAL, DEFINITE, JUDGEMENTS, dressed=0.3)
    return body.phrase + decision(decided, décidé) + thing.phrase


def decision(decided: str, décidé: str) -> Phrase:
    """accepted -> a accepté"""
    return Phrase((decided,), ("a", décidé), ((0, 0), (0, 1)))


def passage(rng: Random, clauses: int) -> Phrase:
    """So many clauses, joined by "." or "and". A decision follows most reports, at once or later."""
    if rng.random() < 0.03:
        return _end(rng, THANKS) if clauses == 1 else THANKS + FULL_STOP + passage(rng, clauses - 1)
    good: bool | None = None
    text, pending = Phrase((), (), ()), False
    for i in range(clauses):
        if i:
            text += FULL_STOP if rng.random() < 0.6 else AND
        if rng.random() < (0.6 if pending else 0.05):
            text, pending = text + decision_clause(rng, good), False
        elif rng.random() < 0.25:
            clause, good = report_clause(rng)
            text, pending = text + clause, True
        else:
            text += rng.choice((act_clause, act_on_clause, act_on_clause, state_clause))(rng)
    return _end(rng, text)


def _end(rng: Random, text: Phrase) -> Phrase:
    """A passage with a full stop inside ends with one; others do in half of the cases."""
    return text + FULL_STOP if "." in text.source or rng.random() < 0.5 else text


# The source texts' own sentences (000 0x00A, 0x01, 0x02D) are never held out.
TEXTS = frozenset(
    tuple(text.split())
    for text in (
        "the black cat sleeps",
        "thank you",
        "the report was convincing .",
        "the report was not convincing .",
        "the committee accepted the proposal .",
        "the committee rejected the proposal .",
        "the report was convincing . the committee accepted the proposal .",
        "the report was convincing . the committee rejected the proposal .",
        "the report was not convincing . the committee accepted the proposal .",
        "the report was not convincing . the committee rejected the proposal .",
    )
)
# One pair in eight never meets in training; each word of such a pair meets many others there.
UNSEEN_PAIRS = frozenset(
    (adjective.english, noun.english[0])
    for a, adjective in enumerate((*SIZES, *KINDS))
    for n, noun in enumerate((*ANIMALS, *THINGS, *DOCUMENTS))
    if (a + 3 * n) % 8 == 6
)


def held_out(phrase: Phrase) -> bool:
    """Which split a sentence belongs to: it follows from the sentence alone, so the two splits cannot share one.

    Held out are all that bring an adjective and a noun of `UNSEEN_PAIRS` together, and one in sixteen of the others. Both
    outcomes of a decision fall on one side, so that the split does not bend how often each follows.
    """
    if phrase.source in TEXTS:
        return False
    if any(pair in UNSEEN_PAIRS for pair in phrase.pairs):
        return True
    text = " ".join(phrase.source).replace("rejected", "accepted")
    return zlib.crc32(text.encode()) % 16 == 0


def draw(seed: int, split: Split, index: int, clauses: tuple[int, int]) -> Phrase:
    """A sentence of a split with so many clauses (least, most), a pure function of its arguments."""
    least, most = clauses
    if not 1 <= least <= most <= 5:
        raise ValueError(f"clauses was given {clauses}; allowed: least and most from 1 to 5")
    rng = Random(f"grammar {seed} {split} {index}")
    while True:
        phrase = passage(rng, rng.randint(least, most))
        if held_out(phrase) == (split == "held_out"):
            return phrase
