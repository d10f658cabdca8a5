"""All sessions: making, finding and bringing them back, limits, expiry."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time

from app.session.journal import Saved
from app.session.services import Services
from app.session.session import Session

log = logging.getLogger("lookback")

TEND_EVERY = 30.0  # seconds
NEVER_OPENED = 60.0  # seconds that a session without a scenario and without connections is kept
_ID = re.compile(r"[A-Za-z0-9_-]{22}")


class Missing(LookupError):
    """There is no such session. The message says what to do."""


class Full(RuntimeError):
    """As many sessions as this server takes are in use. The message says when to come back."""


class Lobby:
    """limit: sessions in memory. idle: seconds after which one that nobody looks at leaves memory; the journal keeps it for
    `expiry` days, and it comes back when somebody names it."""

    def __init__(self, services: Services, limit: int, idle: float, expiry: float) -> None:
        self._services = services
        self._limit = limit
        self._idle = idle
        self._expiry = expiry
        self._sessions: dict[str, Session] = {}
        self._returning: dict[str, asyncio.Task[None]] = {}
        self._leaving: dict[str, asyncio.Event] = {}  # set when the last snapshot is written

    def __len__(self) -> int:
        return len(self._sessions) + len(self._returning)

    async def find(self, id: str | None) -> Session:
        """The session of that name, from memory or from the journal; None: a new one. Raises `Missing`, `Full`."""
        if id is None:
            await self._make_room(coming=1)
            session = Session(secrets.token_urlsafe(16), self._services)
            self._sessions[session.id] = session
            return session
        while id not in self._sessions:
            if id not in self._returning:
                self._returning[id] = asyncio.create_task(self._bring_back(id))
            await asyncio.shield(self._returning[id])
        return self._sessions[id]

    async def _bring_back(self, id: str) -> None:
        try:
            if id in self._leaving:
                await self._leaving[id].wait()
            saved = await self._services.journal.load(id) if _ID.fullmatch(id) else None
            if saved is None:
                raise Missing("there is no such session here (any more); begin a new one")
            await self._make_room(coming=0)
            self._sessions[id] = await self._restored(id, saved)
        except (Missing, Full):
            raise
        except Exception as error:
            log.exception("Session %s cannot be brought back.", id)
            raise Missing(f"this session cannot be brought back ({type(error).__name__}: {error}); begin a new one") from None
        finally:
            del self._returning[id]

    async def _restored(self, id: str, saved: Saved) -> Session:
        session = Session(id, self._services, saved)
        try:
            await session.restore(saved)
        except Exception:
            await session.close()
            raise
        return session

    async def _make_room(self, coming: int) -> None:
        """Room for those that come: the session that nobody looks at for longest leaves memory."""
        while len(self) + coming > self._limit:
            idle = min(
                (s for s in self._sessions.values() if not s.connections and not s.held), key=lambda s: s.used, default=None
            )
            if idle is None:
                raise Full(f"all {self._limit} sessions of this server are in use; try again in a few minutes")
            await self._close(idle)

    async def tend(self) -> None:
        """For ever: what nobody looks at leaves memory after a while, and the journal after longer."""
        while True:
            try:
                await self.tidy()
            except Exception:
                log.exception("Sessions could not be tidied; it is tried again.")
            await asyncio.sleep(TEND_EVERY)

    async def tidy(self) -> None:
        now = time.monotonic()
        for session in list(self._sessions.values()):
            patience = self._idle if session.opened else min(self._idle, NEVER_OPENED)
            if not session.connections and not session.held and now - session.used > patience:
                await self._close(session)
        await self._services.journal.expire(self._expiry)

    async def close(self) -> None:
        """Every session ends with a last snapshot."""
        await asyncio.gather(*(self._close(s) for s in list(self._sessions.values())))

    async def _close(self, session: Session) -> None:
        self._sessions.pop(session.id, None)
        self._leaving[session.id] = left = asyncio.Event()
        try:
            await session.close()
        finally:
            del self._leaving[session.id]
            left.set()
