"""A real server on a free port, with a run that counts in place of a model, and a page made of a websocket client."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from app import settings
from app.main import configuration, create_app, listen
from app.server.wire import Frame, decode
from app.session.events import Event, Reply, Values
from app.session.services import EngineClass
from tests.session.fakes import FakeEngine
from tests.session.pages import PATIENCE

E = TypeVar("E")


@contextmanager
def served(data: Path, engine: EngineClass = FakeEngine, **environment: str) -> Iterator[int]:
    """The whole application on a free port of this machine; its journal is in that folder."""
    found = settings.read({"PORT": "0", "LOOKBACK_DATA": str(data), **environment})
    server = uvicorn.Server(configuration(create_app(found, engine)))
    listening = listen(found)
    port = listening.getsockname()[1]
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
        yield port
    finally:
        server.should_exit = True
        thread.join()


class Page:
    """frames: all that came, in order. acks: whether it gives credit for values."""

    def __init__(self, socket: ClientConnection, acks: bool) -> None:
        self.socket = socket
        self.acks = acks
        self.frames: list[Frame] = []
        self._seq = 0

    async def send(self, **command: Any) -> int:
        self._seq += 1
        await self.socket.send(json.dumps({"seq": self._seq, "command": command}))
        return self._seq

    async def do(self, **command: Any) -> Reply:
        return await self.reply(await self.send(**command))

    async def reply(self, seq: int) -> Reply:
        while True:
            event = (await self.hear()).event
            if isinstance(event, Reply) and event.to == seq:
                return event

    async def hear(self) -> Frame:
        async with asyncio.timeout(PATIENCE):
            data = await self.socket.recv()
        assert isinstance(data, bytes)
        frame = decode(data)
        self.frames.append(frame)
        if self.acks and isinstance(frame.event, Values) and not frame.event.fetched:
            await self.socket.send(json.dumps({"ack": frame.seq}))
        return frame

    async def until(self, kind: type[E]) -> E:
        while True:
            event: Event = (await self.hear()).event
            if isinstance(event, kind):
                return event

    def heard(self, kind: type[E]) -> list[E]:
        return [f.event for f in self.frames if isinstance(f.event, kind)]


@asynccontextmanager
async def page(port: int, query: str = "", acks: bool = True, **options: Any) -> AsyncIterator[Page]:
    """A page whose socket is open. query: what follows the question mark."""
    async with connect(f"ws://127.0.0.1:{port}/ws?{query}", max_size=None, **options) as socket:
        yield Page(socket, acks)


async def closing(port: int, query: str = "", path: str = "/ws", send: Any = None, **options: Any) -> tuple[int, str]:
    """Code and reason with which the server closes a socket (after this message)."""
    async with connect(f"ws://127.0.0.1:{port}{path}?{query}", max_size=None, **options) as connection:
        if send is not None:
            await connection.send(send)
        with pytest.raises(ConnectionClosed):
            while True:
                await connection.recv()
        assert connection.close_code is not None
        return connection.close_code, connection.close_reason or ""


def errors(answer: httpx2.Response, status: int) -> list[dict[str, Any]]:
    """The problems of a refusal, whose shape is checked here."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
    assert answer.json().keys() == {"errors"}
    found: list[dict[str, Any]] = answer.json()["errors"]
    assert found and all(set(e) == {"field", "given", "allowed", "message"} and e["message"] for e in found)
    return found
