"""A question to a class: who may vote when, and who is told what. Votes themselves belong to the people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.session.class_words import Answer, Ask
from app.session.events import Refused

Votes = Sequence[int | None]  # by person; None: he has not voted


class Poll:
    """closed: no more votes. shown: counts and answer are everybody's, and there are no more votes either."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.again()

    def again(self) -> None:
        """As it was when it was asked."""
        self.closed = self.shown = False
        self._answer: int | None = None
        self._measured = ""

    @property
    def open(self) -> bool:
        return not (self.closed or self.shown)

    def answered(self, answer: Answer) -> None:
        """Raises `Refused` for an option that there is not."""
        if answer.option is not None:
            self._check(answer.option)
        self._answer, self._measured = answer.option, answer.measured

    def admit(self, option: int) -> None:
        """Raises `Refused` where this cannot be voted for, or not now."""
        if not self.open:
            raise Refused.one("option", option, "a poll that is open", "This poll is closed; your vote stays as it was.")
        self._check(option)

    def _check(self, option: int) -> None:
        last = len(self._ask.options) - 1
        if option > last:
            allowed = f"a whole number from 0 to {last}"
            raise Refused.one("option", option, allowed, f"option was given {option}; allowed: {allowed}")

    def for_teacher(self, votes: Votes) -> dict[str, Any]:
        return {**self._told(votes), "counts": self._counts(votes), "answer": self._answer, "measured": self._measured}

    def for_student(self, votes: Votes, mine: int | None) -> dict[str, Any]:
        told = {**self._told(votes), "mine": mine}
        if self.shown:
            return {**told, "counts": self._counts(votes), "answer": self._answer, "measured": self._measured}
        return {**told, "counts": None, "answer": None, "measured": ""}

    def _told(self, votes: Votes) -> dict[str, Any]:
        return {
            "question": self._ask.question,
            "options": [{"text": o.text, "key": o.key} for o in self._ask.options],
            "about": self._ask.about,
            "open": self.open,
            "shown": self.shown,
            "answered": sum(vote is not None for vote in votes),
            "of": len(votes),
        }

    def _counts(self, votes: Votes) -> list[int]:
        return [sum(vote == i for vote in votes) for i in range(len(self._ask.options))]
