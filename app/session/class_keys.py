"""The key of a class says by itself whose it is: this server gave it, for this code and this run, at that time.

A class lives in memory alone. After a restart the server knows none, but it knows its own keys again: whoever brings one has
the same code, and comes before anybody who opened a class on that run meanwhile.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import os
import re
import secrets
import time
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger("lookback")

FORM = re.compile(r"[A-Za-z0-9_-]{22}")
_TIME, _SALT = 6, 2  # bytes; the rest of 16 is the proof
_SECRET = 32


class Keys:
    """secret: what makes keys of this server. clock: seconds since 1970."""

    def __init__(self, secret: bytes, clock: Callable[[], float] = time.time) -> None:
        self._secret = secret
        self._clock = clock

    def make(self, code: str, session: str) -> str:
        head = int(1000 * self._clock()).to_bytes(_TIME, "big") + secrets.token_bytes(_SALT)
        return base64.urlsafe_b64encode(head + self._proof(head, code, session)).decode().rstrip("=")

    def given_at(self, key: str | None, code: str, session: str) -> int | None:
        """When this server gave that key, in ms, to the class with this code, on this run; None: it did not."""
        if key is None or not FORM.fullmatch(key):
            return None
        data = base64.urlsafe_b64decode(key + "==")
        head, proof = data[: _TIME + _SALT], data[_TIME + _SALT :]
        return int.from_bytes(head[:_TIME], "big") if hmac.compare_digest(proof, self._proof(head, code, session)) else None

    def _proof(self, head: bytes, code: str, session: str) -> bytes:
        said = b"\0".join((head.hex().encode(), code.encode(), session.encode()))
        return hmac.digest(self._secret, said, hashlib.sha256)[: 16 - _TIME - _SALT]


def secret_in(folder: Path) -> bytes:
    """The secret that is kept there, made at first; one that lasts as long as this process where nothing can be written."""
    path = folder / "class.secret"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _write(path, secrets.token_bytes(_SECRET))
        kept = path.read_bytes()
        if len(kept) == _SECRET:
            return kept
        log.warning("%s is not what was written there; classes cannot come back after a restart until it is removed.", path)
    except OSError as error:
        log.warning("No secret can be kept in %s (%s): classes do not come back after a restart.", folder, error)
    return secrets.token_bytes(_SECRET)


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all, for its owner alone."""
    beside = path.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    os.replace(beside, path)
