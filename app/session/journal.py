"""What survives a crash: commands on disk before they are answered, a snapshot of each run now and then.

SQLite with a write-ahead log and synchronous=FULL. One thread owns the connection; what arrives while it commits is
committed together next, so that many sessions share one flush to the disk.
"""

from __future__ import annotations

import asyncio
import json
import logging
import queue
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.session.commands import COMMANDS, Command

log = logging.getLogger("lookback")

KEPT_SESSIONS = 1000
_TABLES = """
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, used REAL NOT NULL, life INTEGER NOT NULL DEFAULT 0, view TEXT NOT NULL DEFAULT '{}',
    upto INTEGER NOT NULL DEFAULT 0, snapshot BLOB, answered TEXT NOT NULL DEFAULT '{}');
CREATE TABLE IF NOT EXISTS commands (
    session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, n INTEGER NOT NULL, client TEXT NOT NULL,
    seq INTEGER NOT NULL, command TEXT NOT NULL, PRIMARY KEY (session, n)) WITHOUT ROWID;
"""

Work = Callable[[sqlite3.Connection], Any]


@dataclass(frozen=True)
class Saved:
    """A session as it was last written. life: how often it came back, this time included. n: number of its last command.

    commands: those after the snapshot. answered: by client, the seq of its last command that is on disk.
    """

    life: int
    view: dict[str, Any]
    snapshot: bytes | None
    commands: tuple[Command, ...]
    n: int
    answered: dict[str, int]


NOTHING = Saved(0, {}, None, (), 0, {})


def place(folder: Path) -> Path | None:
    """The journal's file in this folder, or where one can be written instead; None: nowhere, it stays in memory."""
    for candidate in (folder, Path(tempfile.gettempdir()) / "lookback"):
        try:
            candidate.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=candidate):
                pass
        except OSError as error:
            log.warning("The journal cannot be kept in %s (%s).", candidate, error)
        else:
            log.info("The journal is in %s.", candidate)
            return candidate / "journal.sqlite3"
    log.warning("The journal is kept in memory: runs end with the server.")
    return None


def open_in(folder: Path) -> Journal:
    """The journal in this folder. One that cannot be read is put aside, and a new one is begun."""
    path = place(folder)
    try:
        return Journal(path)
    except sqlite3.Error as error:
        assert path is not None
        aside = path.with_suffix(f".broken-{int(time.time())}")
        log.warning("The journal cannot be read (%s); it is put aside as %s.", error, aside)
        path.replace(aside)
        return Journal(path)


class Journal:
    """Every method returns when its change is on disk, or raises sqlite3.Error."""

    def __init__(self, path: Path | None) -> None:
        self._queue: queue.SimpleQueue[tuple[Work, Future[Any]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, args=(path or ":memory:",), name="journal", daemon=True)
        self._opened: Future[None] = Future()
        self._thread.start()
        self._opened.result()

    def close(self) -> None:
        """Write what waits, and end."""
        self._queue.put(None)
        self._thread.join()

    async def append(self, session: str, n: int, client: str, seq: int, command: Command) -> None:
        """The session's n-th command (from 1). An `Open` begins anew: what was before it is forgotten."""
        text = command.model_dump_json()

        def work(db: sqlite3.Connection) -> None:
            if command.kind == "open":
                db.execute("DELETE FROM commands WHERE session = ?", (session,))
                db.execute("UPDATE sessions SET snapshot = NULL, upto = ? WHERE id = ?", (n - 1, session))
            _touch(db, session)
            db.execute("INSERT INTO commands VALUES (?, ?, ?, ?, ?)", (session, n, client, seq, text))

        await self._do(work)

    async def look(self, session: str, view: dict[str, Any]) -> None:
        text = json.dumps(view)

        def work(db: sqlite3.Connection) -> None:
            _touch(db, session)
            db.execute("UPDATE sessions SET view = ? WHERE id = ?", (text, session))

        await self._do(work)

    async def snapshot(self, session: str, n: int, data: bytes, answered: dict[str, int]) -> None:
        """The run after its n-th command. Commands up to there are in it and need not be kept."""
        text = json.dumps(answered)

        def work(db: sqlite3.Connection) -> None:
            _touch(db, session)
            db.execute("UPDATE sessions SET snapshot = ?, upto = ?, answered = ? WHERE id = ?", (data, n, text, session))
            db.execute("DELETE FROM commands WHERE session = ? AND n <= ?", (session, n))

        await self._do(work)

    async def load(self, session: str) -> Saved | None:
        """The session for one more life, or None when there is none of that name."""
        found: Saved | None = await self._do(lambda db: _load(db, session))
        return found

    async def forget(self, session: str) -> None:
        await self._do(lambda db: db.execute("DELETE FROM sessions WHERE id = ?", (session,)))

    async def expire(self, days: float, keep: int = KEPT_SESSIONS) -> None:
        """Delete what nobody used for so long, and the least recently used beyond `keep`."""

        def work(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM sessions WHERE used < ?", (time.time() - days * 86400,))
            db.execute("DELETE FROM sessions WHERE id NOT IN (SELECT id FROM sessions ORDER BY used DESC LIMIT ?)", (keep,))

        await self._do(work)

    async def _do(self, work: Work) -> Any:
        if not self._thread.is_alive():
            raise sqlite3.ProgrammingError("the journal is closed")
        future: Future[Any] = Future()
        self._queue.put((work, future))
        return await asyncio.shield(asyncio.wrap_future(future))

    # --- in the journal's own thread ---

    def _write(self, path: Path | str) -> None:
        try:
            db = sqlite3.connect(path, timeout=5, isolation_level=None)
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            db.execute("PRAGMA foreign_keys=ON")
            db.executescript(_TABLES)
        except sqlite3.Error as error:
            self._opened.set_exception(error)
            return
        self._opened.set_result(None)
        while batch := self._batch():
            _commit(db, batch)
        db.close()

    def _batch(self) -> list[tuple[Work, Future[Any]]]:
        """The next work and all that waits behind it; empty: the end."""
        batch = []
        item = self._queue.get()
        while item is not None:
            batch.append(item)
            if self._queue.empty():
                return batch
            item = self._queue.get()
        self._queue.put(None)  # the end, seen again by the next call
        return batch


def _commit(db: sqlite3.Connection, batch: list[tuple[Work, Future[Any]]]) -> None:
    """One transaction for all; if that fails, one for each, so that only those fail that are wrong."""
    try:
        db.execute("BEGIN IMMEDIATE")
        results = [work(db) for work, _ in batch]
        db.execute("COMMIT")
    except Exception as error:
        if db.in_transaction:
            db.execute("ROLLBACK")
        if len(batch) == 1:
            batch[0][1].set_exception(error)
        else:
            for item in batch:
                _commit(db, [item])
    else:
        for (_, future), result in zip(batch, results, strict=True):
            future.set_result(result)


def _touch(db: sqlite3.Connection, session: str) -> None:
    db.execute("INSERT INTO sessions (id, used) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET used = ?2", (session, time.time()))


def _load(db: sqlite3.Connection, session: str) -> Saved | None:
    db.execute("UPDATE sessions SET life = life + 1, used = ? WHERE id = ?", (time.time(), session))
    row = db.execute("SELECT life, view, upto, snapshot, answered FROM sessions WHERE id = ?", (session,)).fetchone()
    if row is None:
        return None
    life, view, upto, snapshot, answered = row
    rows = db.execute("SELECT n, client, seq, command FROM commands WHERE session = ? ORDER BY n", (session,)).fetchall()
    later = {client: seq for _, client, seq, _ in rows}
    commands = tuple(COMMANDS.validate_json(text) for *_, text in rows)
    last = rows[-1][0] if rows else upto
    return Saved(life, json.loads(view), snapshot, commands, last, json.loads(answered) | later)
