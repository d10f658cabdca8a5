"""The reliable events of a session: one line for all connections, the newest kept so that a page can resume."""

from __future__ import annotations

from collections import deque

LARGEST_KEPT = 512 << 10  # bytes


class Line:
    """first: where numbering begins; a session that came back from the journal begins far above its earlier lives."""

    def __init__(self, first: int = 0) -> None:
        self.seq = first
        self._kept: deque[tuple[int, bytes]] = deque()
        self._size = 0

    def add(self, frame: bytes) -> None:
        """Keep the frame that carries `seq + 1`."""
        self.seq += 1
        self._kept.append((self.seq, frame))
        self._size += len(frame)
        while self._size > LARGEST_KEPT:
            self._size -= len(self._kept.popleft()[1])

    def after(self, seq: int) -> list[tuple[int, bytes]] | None:
        """What came after `seq`; None when that is not kept any more, or never was."""
        oldest = self.seq - len(self._kept)
        return [item for item in self._kept if item[0] > seq] if max(oldest, 1) <= seq <= self.seq else None
