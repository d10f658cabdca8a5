"""The gold translation of a sentence of the grammar: what `grammar.py` would have written beside it, with its alignment.

A sentence is read as the grammar writes it: clauses joined by "." or "and"; a clause is a subject with a verb, with a verb and an
object, with an adjective (is, was), or with a decision. What the grammar cannot write has no gold translation.
"""

from __future__ import annotations

from collections.abc import Sequence

from models.tasks import Token, grammar, lexicon
from models.tasks.grammar import AND, FULL_STOP, THANKS, NounPhrase, Phrase
from models.tasks.lexicon import Adjective, Noun, Verb

_SIZES = {a.english: a for a in lexicon.SIZES}
_KINDS = {a.english: a for a in (*lexicon.KINDS, *lexicon.JUDGEMENTS)}
_NOUNS: dict[str, tuple[Noun, bool]] = {form: (n, plural) for n in lexicon.NOUNS for plural, form in enumerate(n.english) if form}  # type: ignore[misc]
_JOINTS = {".": FULL_STOP, "and": AND}


class _NotWritten(Exception):
    """The grammar does not write this."""


class _Reader:
    """The words that are left of a sentence."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)

    def next(self) -> str:
        """The next word, "" at the end."""
        return self.words[0] if self.words else ""

    def take(self, *allowed: str) -> str:
        """The next word if it is one of these."""
        if self.next() not in allowed or not self.words:
            raise _NotWritten(self.next())
        return self.words.pop(0)

    def passage(self) -> Phrase:
        text = self.clause()
        while self.words:
            text += _JOINTS[self.take(*_JOINTS)]
            if not self.words and text.source[-1] == ".":
                return text
            text += self.clause()
        return text

    def clause(self) -> Phrase:
        if self.next() == "thank":
            self.take("thank")
            self.take("you")
            return THANKS
        subject = self.noun_phrase()
        return subject.phrase + self.said_of(subject)

    def noun_phrase(self) -> NounPhrase:
        determiner = self.take(*lexicon.DETERMINERS)
        before, behind = self.adjective(_SIZES), self.adjective(_KINDS)
        noun, plural = _NOUNS[self.take(*_NOUNS)]
        made = grammar.written(noun, plural, determiner, before, behind)
        if made is None:
            raise _NotWritten(determiner)
        return made

    def adjective(self, known: dict[str, Adjective]) -> list[Adjective]:
        return [known[self.take(*known)]] if self.next() in known else []

    def said_of(self, subject: NounPhrase) -> Phrase:
        for verb in (lexicon.IS, lexicon.WAS):
            if self.next() == verb.english[subject.plural]:
                return self.predicate(verb, subject)
        decided = {english: (english, french) for english, french in lexicon.DECISIONS}
        if self.next() in decided and not subject.plural:
            word, past = decided[self.take(*decided)]
            return grammar.decision(word, past) + self.noun_phrase().phrase
        return self.act(subject.plural)

    def predicate(self, verb: Verb, subject: NounPhrase) -> Phrase:
        self.take(verb.english[subject.plural])
        negated = bool(self.next() == "not" and self.take("not"))
        adjective = {**_SIZES, **_KINDS}
        return grammar.predicate(verb, subject, adjective[self.take(*adjective)], negated)

    def act(self, plural: bool) -> Phrase:
        negated = self.next() in ("do", "does")
        if negated:
            self.take("do" if plural else "does")
            self.take("not")
        verbs = {v.english[1 if negated else plural]: v for v in (*lexicon.ACTS, *lexicon.ACTS_ON)}
        verb = verbs[self.take(*verbs)]
        done = grammar.act(verb, plural, negated)
        return done + self.noun_phrase().phrase if verb in lexicon.ACTS_ON else done


def translation(source: Sequence[Token]) -> Phrase | None:
    """A sentence with its translation and gold links, or None where the grammar does not write it."""
    try:
        return _Reader([t if isinstance(t, str) else "" for t in source]).passage()
    except _NotWritten:
        return None
