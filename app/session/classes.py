"""All classes of this server: their codes, how many there may be, from one address too, and how often one may guess."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import math
import secrets
import time
from collections.abc import Callable

from app.session.class_keys import FORM, Keys
from app.session.class_people import Run
from app.session.classroom import Room
from app.session.events import Refused

log = logging.getLogger("lookback")

SIGNS = "23456789CDFGHJKMNPQRTVWXY"  # none that looks like another; no vowels, so that no code is a word
LENGTH = 6
MOST_CODES = 30  # different ones that one address may try in a minute
MINUTE = 60.0
TEND_EVERY = 5.0  # seconds
_MEANT = str.maketrans("BSZ", "852")  # letters that no code has, for the signs that they look like


class Classes:
    """most: how many there may be; each: from one address. clock: seconds."""

    def __init__(self, most: int, each: int, keys: Keys, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._each = each
        self._keys = keys
        self._clock = clock
        self._rooms: dict[str, Room] = {}
        self._from: dict[str, str] = {}  # by code: the address that opened it
        self._tries: dict[str, dict[str, float]] = {}  # by address: codes, and when each was tried first

    @property
    def most(self) -> int:
        return self._most

    # --- opening

    def open(self, run: Run, code: str | None, key: str | None, address: str = "") -> Room:
        """A class on this run; with code and key the one that had them. Raises `Refused`."""
        _check_words(code, key)
        self._forget()
        room = next((r for r in self._rooms.values() if key and r.has(key)), None)
        given = self._keys.given_at(key, plain(code or ""), run.id)
        self._make_free(run, room, given)
        if room is None:
            room = self._made(run, plain(code or ""), key if given is not None else None, address)
            run.hold(room.key, trust=key is None)
        elif room.run is not run:
            room.key = self._keys.make(plain(room.code), run.id)
            run.hold(room.key, trust=False)
            room.follow(run)
        return room

    def _make_free(self, run: Run, mine: Room | None, given: int | None) -> None:
        """Who had this run's class before a restart comes before whoever opened one on it since. Raises `Refused`."""
        other = next((r for r in self._rooms.values() if r.run.id == run.id and r is not mine), None)
        if other is None:
            return
        since = self._keys.given_at(other.key, plain(other.code), run.id)
        if given is None or since is None or given >= since:
            message = "Another class follows this run. Open it with its code and key, or begin a run of your own."
            raise Refused.one("session", run.id, "a run that no class follows", message)
        other.end("ended")
        self._forget()

    def _made(self, run: Run, code: str, key: str | None, address: str) -> Room:
        """key: None where it has none that this server gave, and with it this code."""
        self._check_room(run, network(address), back=key is not None)
        if key is None or code in self._rooms:
            code = self._fresh()
            key = self._keys.make(code, run.id)
        self._rooms[code] = Room(written(code), key, run, self._clock)
        self._from[code] = network(address)
        return self._rooms[code]

    def _check_room(self, run: Run, place: str, back: bool) -> None:
        """back: a class that was here before comes in beside those of its address."""
        if len(self._rooms) >= self._most:
            allowed = f"at most {self._most} classes"
            message = f"All {self._most} classes of this server are open; try again later (LOOKBACK_CLASSES allows more)."
            raise Refused.one("session", run.id, allowed, message)
        if not back and not _here(place) and sum(self._from[code] == place for code in self._rooms) >= self._each:
            allowed = f"at most {self._each} classes from one address"
            message = f"{self._each} classes are open from your address; end one first (LOOKBACK_CLASSES_ADDRESS allows more)."
            raise Refused.one("session", run.id, allowed, message)

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
        self._from = {code: place for code, place in self._from.items() if code in self._rooms}

    async def tend(self) -> None:
        """For ever."""
        while True:
            try:
                self.tidy()
            except Exception:
                log.exception("Classes could not be tidied; it is tried again.")
            await asyncio.sleep(TEND_EVERY)


def _check_words(code: str | None, key: str | None) -> None:
    """Raises `Refused`."""
    if (code is None) != (key is None):
        raise Refused.one("key", key and "a key", "code and key, or neither", "Give both code and key, or neither.")
    if key is not None and not FORM.fullmatch(key):
        given, allowed = f"{len(key)} characters", "the key that came with a class's code"
        raise Refused.one("key", given, allowed, f"key was given {given}; allowed: {allowed}")


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
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None and not found.is_loopback:
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(getattr(found, "ipv4_mapped", None) or found)


def _here(place: str) -> bool:
    """Whether it is this machine: its owner, or a proxy that does not say who is asking."""
    try:
        return ipaddress.ip_network(place).is_loopback
    except ValueError:
        return False


def _well_formed(code: str) -> bool:
    return len(code) == LENGTH and set(code) <= set(SIGNS)
