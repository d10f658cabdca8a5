"""What one connection has still to hear, within bounds: a reader that stops reading costs a known amount of memory."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from app.session.events import Event, Values
from app.session.shown import Piece

CREDIT = 2  # values frames on their way that the page has not drawn yet
LARGEST_QUEUE = 16 << 20  # bytes of reliable events and answers; beyond it the connection is closed and may resume
LARGEST_VALUES = 8 << 20  # bytes of one values frame
LARGEST_HELD = 512 << 10  # bytes of merged values; beyond it a keyframe is owed instead
MOST_HELD = 512  # pieces of merged values


class Outbox:
    """Reliable frames in order; values as far as credit goes, merged beyond that.

    frame: (event, epoch, seq) -> bytes. `seq` is that of the last reliable event put here, 0 before the first.
    """

    def __init__(self, frame: Callable[[Event, int, int], bytes]) -> None:
        self.seq = 0
        self.closing: tuple[int, str] | None = None
        self._frame = frame
        self._queue: deque[tuple[bytes, int]] = deque()  # frames, and what each counts against the bound
        self._size = 0
        self._wake = asyncio.Event()
        self._shut = asyncio.Event()
        self._flying: list[int] = []
        self._held: tuple[Values, int] | None = None
        self._owed = False  # a keyframe, because too much was left out
        self._asked = False  # for that keyframe

    def put(self, frame: bytes, seq: int) -> None:
        """A reliable event, encoded once for all connections."""
        self.seq = seq
        self._push(frame, len(frame))

    def say(self, event: Event, epoch: int) -> None:
        """Something for this connection alone, at once and surely: an answer, its role."""
        frame = self._frame(event, epoch, self.seq)
        self._push(frame, len(frame))

    def offer(self, values: Values, epoch: int) -> None:
        """Values for this connection's selectors; now, or merged with what is held until there is credit."""
        if values.keyframe:
            self._held, self._owed, self._asked = None, False, False
        elif self._owed:
            return
        if len(self._flying) < CREDIT:
            self._send(values, epoch)
        else:
            self._hold(values, epoch)

    def ack(self, seq: int) -> bool:
        """The page drew all values up to `seq`. True, once: it fell too far behind, and a keyframe should be offered."""
        self._flying = [s for s in self._flying if s > seq]
        if len(self._flying) >= CREDIT:
            return False
        if self._held is not None:
            held, self._held = self._held, None
            self._send(*held)
        ask, self._asked = self._owed and not self._asked, self._owed
        return ask

    def close(self, code: int, reason: str) -> None:
        """Say no more. The first reason counts."""
        self.closing = self.closing or (code, reason)
        self._queue.clear()
        self._wake.set()
        self._shut.set()

    async def next(self) -> bytes | None:
        """The next frame to send; None once closed."""
        while not self._queue:
            if self.closing:
                return None
            self._wake.clear()
            await self._wake.wait()
        frame, counts = self._queue.popleft()
        self._size -= counts
        return frame

    async def closed(self) -> None:
        """Returns when `closing` is set, also while nobody takes frames."""
        await self._shut.wait()

    def _push(self, frame: bytes, counts: int) -> None:
        if self.closing:
            return
        self._queue.append((frame, counts))
        self._size += counts
        self._wake.set()
        if self._size > LARGEST_QUEUE:
            self.close(1013, f"the page reads too slowly: more than {LARGEST_QUEUE >> 20} MiB wait; reconnect and resume")

    def _send(self, values: Values, epoch: int) -> None:
        self._flying.append(self.seq)
        self._push(self._frame(values, epoch, self.seq), 0)

    def _hold(self, values: Values, epoch: int) -> None:
        if values.keyframe or self._held is None:
            self._held = (values, epoch)
            return
        older, old_epoch = self._held
        merged = merge(older, values) if epoch == old_epoch else None
        self._held = None if merged is None else (merged, epoch)
        self._owed = merged is None


def merge(older: Values, newer: Values) -> Values | None:
    """One frame that says what both say: pieces apply in order, and those that a newer one covers are left out.

    None: it would be larger than the bound, a keyframe is cheaper.
    """
    by_key: dict[tuple[int, str, str], list[Piece]] = {}
    for piece in newer.pieces:
        by_key.setdefault(_key(piece), []).append(piece)
    left = [p for p in older.pieces if not any(_covers(n, p) for n in by_key.get(_key(p), ()))]
    pieces = (*left, *newer.pieces)
    if len(pieces) > MOST_HELD or size(pieces) > LARGEST_HELD:
        return None
    return replace(newer, keyframe=older.keyframe, pieces=pieces)


def size(pieces: tuple[Piece, ...]) -> int:
    """In bytes."""
    return sum(len(p.array.data) for p in pieces)


def _key(piece: Piece) -> tuple[int, str, str]:
    return piece.selector, piece.path, piece.side


def _covers(newer: Piece, older: Piece) -> bool:
    """Whether every place that the older piece writes is written again by the newer one. Binned ones add to each other."""

    def span(piece: Piece) -> list[tuple[int, int]]:
        starts = [piece.start.get(axis, 0) for axis in piece.axes]
        return [(s, s + n) for s, n in zip(starts, piece.array.shape, strict=True)]

    spans = zip(span(newer), span(older), strict=False)
    return newer.bin == 1 and newer.axes == older.axes and all(n[0] <= o[0] and n[1] >= o[1] for n, o in spans)
