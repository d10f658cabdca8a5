"""All classes of this server: their codes, how many there may be, and how often one may guess."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import math
import re
import secrets
import time
from collections.abc import Callable

from app.session.classroom import Room, Run
from app.session.events import Refused

log = logging.getLogger("lookback")

SIGNS = "23456789CDFGHJKMNPQRTVWXY"  # none that looks like another; no vowels, so that no code is a word
LENGTH = 6
MOST_CODES = 30  # different ones that one address may try in a minute
MINUTE = 60.0
TEND_EVERY = 5.0  # seconds
_MEANT = str.maketrans("BSZ", "852")  # letters that no code has, for the signs that they look like
_KEY = re.compile(r"[A-Za-z0-9_-]{22}")


class Classes:
    """most: how many there may be. clock: seconds."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._rooms: dict[str, Room] = {}
        self._tries: dict[str, dict[str, float]] = {}  # by address: codes, and when each was tried first

    @property
    def most(self) -> int:
        return self._most

    # --- opening

    def open(self, run: Run, code: str | None, key: str | None) -> Room:
        """A class on this run; with code and key the one that had them. Raises `Refused`."""
        if (code is None) != (key is None):
            raise Refused.one("key", key and "a key", "code and key, or neither", "Give both code and key, or neither.")
        if key is not None and not _KEY.fullmatch(key):
            given, allowed = f"{len(key)} characters", "the key that came with a class's code"
            raise Refused.one("key", given, allowed, f"key was given {given}; allowed: {allowed}")
        self._forget()
        room = next((r for r in self._rooms.values() if key and secrets.compare_digest(r.key, key)), None)
        self._check_free(run, room)
        if room is None:
            room = self._made(run, code, key)
            run.hold(room.key, trust=key is None)
        elif room.run is not run:
            run.hold(room.key, trust=False)
            room.follow(run)
        return room

    def _check_free(self, run: Run, mine: Room | None) -> None:
        if any(r.run.id == run.id and r is not mine for r in self._rooms.values()):
            message = "Another class follows this run. Open it with its code and key, or begin a run of your own."
            raise Refused.one("session", run.id, "a run that no class follows", message)

    def _made(self, run: Run, code: str | None, key: str | None) -> Room:
        if len(self._rooms) >= self._most:
            allowed = f"at most {self._most} classes"
            message = f"All {self._most} classes of this server are open; try again later (LOOKBACK_CLASSES allows more)."
            raise Refused.one("session", run.id, allowed, message)
        old = plain(code or "")
        code = old if _well_formed(old) and old not in self._rooms else self._fresh()
        self._rooms[code] = Room(written(code), key or secrets.token_urlsafe(16), run, self._clock)
        return self._rooms[code]

    def _fresh(self) -> str:
        while True:
            code = "".join(secrets.choice(SIGNS) for _ in range(LENGTH))
            if code not in self._rooms:
                return code

    # --- finding

    def find(self, code: str, address: str) -> Room:
        """The class with this code. Raises `Refused`, also where this address has tried too many."""
        wanted = plain(code)
        if _well_formed(wanted):  # another one is no guess
            self._count(wanted, address)
        room = self._rooms.get(wanted)
        if room is None or room.over:
            message = f"There is no class {code[:32]!r} here (any more). Look at the code again, or ask the teacher."
            raise Refused.one("code", code[:32], "the code of a class that is open", message)
        return room

    def _count(self, code: str, address: str) -> None:
        now, place = self._clock(), network(address)
        tried = {c: at for c, at in self._tries.get(place, {}).items() if now - at < MINUTE}
        if code not in tried and len(tried) >= MOST_CODES:
            wait = math.ceil(MINUTE - (now - min(tried.values())))
            message = f"Too many different codes were tried from here; try again in {wait} seconds."
            raise Refused.one("code", code[:32], f"at most {MOST_CODES} different codes a minute", message)
        self._tries[place] = {code: now, **tried}

    # --- the end

    def tidy(self) -> None:
        """What waited long enough is over, and forgotten."""
        now = self._clock()
        for room in list(self._rooms.values()):
            room.tidy()
        self._forget()
        self._tries = {place: t for place, t in self._tries.items() if any(now - at < MINUTE for at in t.values())}

    def _forget(self) -> None:
        self._rooms = {code: room for code, room in self._rooms.items() if not room.over}

    async def tend(self) -> None:
        """For ever."""
        while True:
            try:
                self.tidy()
            except Exception:
                log.exception("Classes could not be tidied; it is tried again.")
            await asyncio.sleep(TEND_EVERY)


def plain(code: str) -> str:
    """A code as it was meant, however it was written."""
    return "".join(code.upper().split()).replace("-", "").translate(_MEANT)


def written(code: str) -> str:
    return f"{code[:3]}-{code[3:]}"


def network(address: str) -> str:
    """Who is counted together: an address, or of IPv6 the network that one household has."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)


def _well_formed(code: str) -> bool:
    return len(code) == LENGTH and set(code) <= set(SIGNS)
