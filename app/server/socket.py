"""The one websocket: reads a browser's messages, sends its frames, and gives both an end. See docs/wire.md."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import assert_never, cast

from starlette.datastructures import QueryParams
from starlette.websockets import WebSocket, WebSocketDisconnect

from app.server.admission import close_reason
from app.server.pace import Pace
from app.server.wire import LARGEST_MESSAGE, LARGEST_NUMBER, Ack, Ask, Malformed, Ping, parse_message
from app.session.audience import Connection, Role
from app.session.lobby import Full, Lobby, Missing
from app.session.session import Session

MOST_CONNECTIONS = 64  # of one session
RATE, BURST = 100, 200  # messages a second that are read from one socket, and how many at once
CLOSING_TIME = 2.0  # seconds in which a page may take the last frames and the closing one
_CLIENT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NUMBER = re.compile(r"-?\d{1,16}")
_PARAMETERS = ("session", "client", "after", "epoch", "role", "key")


class Closed(Exception):
    """The connection is to be closed with this code and reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(frozen=True)
class Address:
    """What the address of a socket asks for."""

    session: str | None
    client: str
    after: int
    epoch: int
    role: Role
    key: str


def read_address(query: QueryParams) -> Address:
    """Raises `Closed` 4400 for a parameter that is not allowed."""
    for name in query:
        if name not in _PARAMETERS:
            raise Closed(4400, f"parameter {name[:40]!r} is unknown; allowed: {', '.join(_PARAMETERS)}")
    client = query.get("client", secrets.token_urlsafe(16))
    if not _CLIENT.fullmatch(client):
        raise Closed(4400, f"client was given {client[:40]!r}; allowed: 1 to 64 of A-Z a-z 0-9 _ -")
    role = query.get("role", "writer")
    if role not in ("writer", "reader"):
        raise Closed(4400, f"role was given {role[:40]!r}; allowed: writer, reader")
    key = query.get("key", "")
    if len(key) > 64 or not key.isascii():
        raise Closed(4400, f"key was given {len(key)} characters; allowed: the key of a class")
    return Address(query.get("session"), client, _number(query, "after"), _number(query, "epoch"), cast(Role, role), key)


def _number(query: QueryParams, name: str) -> int:
    text = query.get(name, "0")
    if not _NUMBER.fullmatch(text) or int(text) > LARGEST_NUMBER:
        raise Closed(4400, f"{name} was given {text[:40]!r}; allowed: a whole number")
    return int(text)


async def serve(websocket: WebSocket, lobby: Lobby) -> None:
    """One connection from its first frame to its last. Whatever happens to it, the session goes on."""
    await websocket.accept()
    code, reason = 1000, ""
    try:
        address = read_address(websocket.query_params)
        session = await _find(lobby, address.session, address.key)
        connection = session.join(address.client, address.role, address.after, address.epoch, address.key)
        try:
            code, reason = await _converse(websocket, session, connection)
        finally:
            session.leave(connection)
    except Closed as closed:
        code, reason = closed.code, closed.reason
    with suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
        await asyncio.wait_for(websocket.close(code, close_reason(reason)), CLOSING_TIME)


async def _find(lobby: Lobby, id: str | None, key: str) -> Session:
    try:
        session = await lobby.find(id)
    except Missing as missing:
        raise Closed(4404, str(missing)) from None
    except Full as full:
        raise Closed(4429, str(full)) from None
    teaches = bool(session.held) and secrets.compare_digest(session.held, key)
    if session.connections >= MOST_CONNECTIONS and not teaches:
        raise Closed(4429, f"this session has {MOST_CONNECTIONS} connections, the most allowed; try again later")
    return session


async def _converse(websocket: WebSocket, session: Session, connection: Connection) -> tuple[int, str]:
    """Read and send until one side ends it: the code and reason to close with."""
    tasks = [
        asyncio.create_task(_read(websocket, session, connection)),
        asyncio.create_task(_send(websocket, connection)),
        asyncio.create_task(connection.outbox.closed()),
    ]
    done, running = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    for task in done:
        if isinstance(error := task.exception(), Closed):
            return error.code, error.reason
        if error is not None and not isinstance(error, WebSocketDisconnect):
            raise error
    return connection.outbox.closing or (1000, "")


async def _send(websocket: WebSocket, connection: Connection) -> None:
    """Until the outbox is closed, or the connection: by the page, or (RuntimeError) by the protocol, if a message is too long."""
    with suppress(WebSocketDisconnect, RuntimeError):
        while (frame := await connection.outbox.next()) is not None:
            await websocket.send_bytes(frame)


async def _read(websocket: WebSocket, session: Session, connection: Connection) -> None:
    async for text in texts(websocket, LARGEST_MESSAGE, Pace(RATE, BURST)):
        _take(session, connection, text)


async def texts(websocket: WebSocket, largest: int, pace: Pace) -> AsyncIterator[str]:
    """What the browser says at this pace, until it goes. largest: bytes of a message.

    Raises `Closed` for one that is longer, or no text.
    """
    while (message := await websocket.receive())["type"] != "websocket.disconnect":
        text = message.get("text")
        if text is None:
            raise Closed(1003, "a binary message was given; allowed: JSON text")
        if (length := len(text.encode("utf-8", "replace"))) > largest:
            raise Closed(1009, f"a message of {length} bytes was given; allowed: at most {largest} bytes")
        yield text
        await pace.wait(length)


def _take(session: Session, connection: Connection, text: str) -> None:
    try:
        match parse_message(text):
            case Ask(seq, command):
                session.ask(connection, seq, command)
            case Ack(seq):
                session.ack(connection, seq)
            case Ping(n):
                session.pong(connection, n)
            case never:
                assert_never(never)
    except Malformed as malformed:
        session.refuse(connection, malformed.to, malformed.problems)
