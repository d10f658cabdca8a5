"""A page without a screen: one connection of the product's socket, which acknowledges values as a page does."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from app.session.commands import Selector
from app.session.scenario import Scenario
from bench import servers

_ABOUT = re.compile(rb'"kind":"(\w+)".*?"seq":"(\d+)","event":"(.{0,60})', re.DOTALL)


class Client:
    def __init__(self, socket: ClientConnection) -> None:
        self.session = ""  # once a frame was read
        self._socket = socket
        self._number = 0

    async def send(self, **command: Any) -> list[tuple[str, bytes]]:
        """Send one command; all frames up to its reply, each with its kind. Raises RuntimeError for a refusal."""
        self._number += 1
        await self._socket.send(json.dumps({"seq": self._number, "command": command}))
        frames: list[tuple[str, bytes]] = []
        while True:
            frame = await self._socket.recv()
            assert isinstance(frame, bytes)
            kind, seq, event = _about(frame)
            self.session = self.session or _session(frame)
            frames.append((kind, frame))
            if kind == "values":
                await self._socket.send(json.dumps({"ack": seq}))
            if kind == "reply" and f'\\"to\\":{self._number},' in event:
                if '\\"ok\\":true' not in event:
                    raise RuntimeError(f"{command['kind']} was refused: {frame[8:]!r}")
                return frames

    async def begin(self, scenario: Scenario, watch: Sequence[Selector]) -> None:
        await self.send(kind="open", scenario=scenario.model_dump(mode="json"))
        await self.watch(watch)

    async def watch(self, selectors: Sequence[Selector]) -> list[tuple[str, bytes]]:
        return await self.send(kind="watch", selectors=[s.model_dump(mode="json") for s in selectors])

    async def follow(self) -> int:
        """Until values of the next step are here; bytes of all that came."""
        count = 0
        while True:
            frame = await self._socket.recv()
            assert isinstance(frame, bytes)
            count += len(frame)
            kind, seq, _ = _about(frame)
            if kind == "values":
                await self._socket.send(json.dumps({"ack": seq}))
                return count

    async def step(self) -> float:
        """Milliseconds until everything about one step was here."""
        began = time.perf_counter()
        await self.send(kind="step")
        return (time.perf_counter() - began) * 1e3


def _about(frame: bytes) -> tuple[str, int, str]:
    found = _ABOUT.search(frame, 0, 400)
    assert found is not None
    return found[1].decode(), int(found[2]), found[3].decode("utf-8", "replace")


def _session(frame: bytes) -> str:
    found = re.search(rb'"session":"([^"]+)"', frame)
    assert found is not None
    return found[1].decode()


@asynccontextmanager
async def client(query: str = "") -> AsyncIterator[Client]:
    async with connect(f"ws://127.0.0.1:{servers.LOOKBACK}/ws?{query}", compression=None, max_size=None) as socket:
        yield Client(socket)
