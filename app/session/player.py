"""Playing: when the next step is due, and what makes it stop."""

from __future__ import annotations

import time

from app.session.commands import Play
from app.session.events import Checked, Event, Notice, Playing


class Player:
    """stop_reason: why playing must stop after what was heard since `start`; "" while it need not."""

    def __init__(self) -> None:
        self.play: Play | None = None
        self.stop_reason = ""
        self._last = Play()
        self._due = 0.0
        self._failing: frozenset[str] = frozenset()

    def start(self, play: Play) -> None:
        self.play = self._last = play
        self.stop_reason = ""
        self._due = time.monotonic()

    def state(self) -> Playing:
        return Playing(self.play is not None, self._last.unit, self._last.rate)

    def wait(self) -> float | None:
        """Seconds until the next step is due; None when not playing."""
        return None if self.play is None else max(0.0, self._due - time.monotonic())

    def step_begins(self, play: Play) -> None:
        """`rate` is an upper bound: a step that came late does not make the next one come early."""
        self._due = max(self._due + 1 / play.rate, time.monotonic() + 0.5 / play.rate)

    def hear(self, event: Event) -> None:
        """A check that begins to fail, or a loss that runs away. A check that failed before playing began does not count."""
        if isinstance(event, Checked):
            failing = {c.id: c.claim for c in event.checks if c.status == "fail"}
            new = [claim for id, claim in failing.items() if id not in self._failing]
            self._failing = frozenset(failing)
            if new:
                self.stop_reason = f"Stopped, because a check fails: {new[0]}."
        elif isinstance(event, Notice) and event.code == "diverged":
            self.stop_reason = event.message
