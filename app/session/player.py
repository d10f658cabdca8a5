"""Playing: when the next step is due, how far it goes, and what makes it stop."""

from __future__ import annotations

import time
from collections.abc import Iterable

from app.session import stops
from app.session.commands import Play, Stop, Unit
from app.session.events import Checked, Event, Moved, Notice, Playing


class Player:
    """stop_reason: why playing must end after what was heard since `start`, or "". reached: the stop that ended it."""

    def __init__(self) -> None:
        self.play: Play | None = None
        self.stop_reason = ""
        self.reached: Stop | None = None
        self._last = Play()
        self._due = 0.0
        self._failing: frozenset[str] = frozenset()
        self._at: Moved | None = None
        self._walks = False

    def start(self, play: Play, described: Iterable[Event] = ()) -> None:
        """`described`: what a page that joins is told, where there are stops. Raises `Refused` where one does not fit the run."""
        events = list(described)
        stops.refuse(play.stops, events)
        self._at = next((e for e in events if isinstance(e, Moved)), self._at)
        self.play = self._last = play
        self.stop_reason, self.reached, self._walks = "", None, False
        self._due = time.monotonic()

    def state(self) -> Playing:
        stop = None if self.reached is None else self.reached.model_dump(mode="json")
        return Playing(self.play is not None, self._last.unit, self._last.rate, stop)

    def wait(self) -> float | None:
        """Seconds until the next step is due; None when not playing."""
        if self.play is None:
            return None
        return 0.0 if self._walks and self._at and self._at.stage else max(0.0, self._due - time.monotonic())

    def step_begins(self, play: Play) -> Unit:
        """How far the step that is due now goes: by stages, without waiting between them, where a stop lies inside it.

        `rate` is an upper bound: a step that came late does not make the next one come early.
        """
        if not (self._walks and self._at and self._at.stage):
            self._due = max(self._due + 1 / play.rate, time.monotonic() + 0.5 / play.rate)
        self._walks = play.unit == "step" and self._at is not None and stops.inside(play.stops, self._at)
        return "stage" if self._walks else play.unit

    def hear(self, event: Event) -> None:
        """A stop that is reached, a check that begins to fail, or a loss that runs away. A check that failed before playing
        began does not count."""
        if isinstance(event, Moved):
            self._moved(event)
        elif isinstance(event, Checked):
            failing = {c.id: c.claim for c in event.checks if c.status == "fail"}
            new = [claim for id, claim in failing.items() if id not in self._failing]
            self._failing = frozenset(failing)
            if new:
                self.stop_reason = f"Stopped, because a check fails: {new[0]}."
        elif isinstance(event, Notice) and event.code == "diverged":
            self.stop_reason = event.message

    def _moved(self, now: Moved) -> None:
        before, self._at = self._at, now
        if self.play is not None and before is not None:
            self.reached = stops.reached(self.play.stops, before, now)
            self.stop_reason = stops.said(self.reached, now) if self.reached else self.stop_reason
