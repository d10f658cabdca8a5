"""One session's part of the journal: which command is the next one, and when a snapshot is due."""

from __future__ import annotations

import time

from app.session.commands import Command, Look
from app.session.journal import Journal
from app.session.runner import Runner

SAVE_EVERY = 10.0  # seconds between snapshots, at least


class Record:
    """n: how many commands were carried out that must last. Methods raise sqlite3.Error where the disk does not take it.

    A command that could not be written leaves a gap, and nothing may follow a gap: then the next one is kept as a snapshot.
    """

    def __init__(self, session: str, journal: Journal, runner: Runner, n: int) -> None:
        self._session = session
        self._journal = journal
        self._runner = runner
        self._saved_at = time.monotonic()
        self.begin(n)

    def begin(self, n: int) -> None:
        """The run stands where the journal says."""
        self.n = self._saved_n = n
        self._gap = False

    async def keep(self, client: str, seq: int, command: Command, done: dict[str, int]) -> None:
        """A command that was carried out; on disk when this returns."""
        if isinstance(command, Look):
            await self._journal.look(self._session, command.view)
            return
        self.n += 1
        if self._gap:
            await self._snapshot(done)
            return
        self._gap = True
        await self._journal.append(self._session, self.n, client, seq, command)
        self._gap = False

    async def save(self, done: dict[str, int], now: bool = False) -> None:
        """A snapshot, if something happened since the last one and that is long enough ago (or `now`)."""
        if self.n > self._saved_n and (now or time.monotonic() - self._saved_at >= SAVE_EVERY):
            await self._snapshot(done)

    async def _snapshot(self, done: dict[str, int]) -> None:
        n, self._saved_at = self.n, time.monotonic()
        await self._journal.snapshot(self._session, n, await self._runner.save(), done)
        self._saved_n, self._gap = n, False
