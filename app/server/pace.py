"""How many messages are read from one socket: more wait where they are, and nobody else waits for them."""

from __future__ import annotations

import asyncio
import time


class Pace:
    """rate: messages a second; burst: how many at once. A long one counts as one more for each `share` bytes."""

    def __init__(self, rate: float, burst: float, share: int = 4096) -> None:
        self._rate = rate
        self._burst = burst
        self._share = share
        self._left = burst
        self._at = time.monotonic()

    async def wait(self, length: int = 0) -> None:
        """After a message of so many bytes. Others have their turn in any case."""
        now = time.monotonic()
        self._left = min(self._burst, self._left + (now - self._at) * self._rate) - 1 - length // self._share
        self._at = now
        await asyncio.sleep(max(0.0, -self._left / self._rate))
