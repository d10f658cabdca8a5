"""The socket of a class: what is said goes to a room, and what holds there comes back. See docs/wire.md, "A class"."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any, get_args

from starlette.websockets import WebSocket, WebSocketDisconnect

from app.server.admission import close_reason
from app.server.pace import Pace
from app.server.socket import CLOSING_TIME, Closed, texts
from app.server.strict import read_json
from app.session import class_words as words
from app.session.class_people import Person
from app.session.classes import Classes
from app.session.classroom import MOST_PEOPLE, Room
from app.session.events import Refused
from app.session.lobby import Full, Lobby, Missing
from app.session.problems import shorten
from app.session.session import Session

LARGEST = 4 * 1024  # bytes of a message
STRANGERS = 100  # sockets beside those of all people in all classes
TIME_TO_SAY = 60.0  # seconds until a socket must have said who it is
GAP = 0.2  # seconds between two tellings of a class to one socket
RATE, BURST = 20, 40  # messages a second that are read from one socket, and how many at once
MOST_UNSENT = 64  # messages that wait for a slow reader

_TEACHER = get_args(words.OfTeacher)
_STUDENT = get_args(words.OfStudent)


class Place:
    """One socket's place in a class. tells: the class as this one sees it, once it has said who it is."""

    def __init__(self) -> None:
        self.room: Room | None = None
        self.person: Person | None = None
        self.tells: Callable[[], dict[str, Any]] | None = None
        self.closing: tuple[int, str] | None = None
        self.waiting: deque[dict[str, Any]] = deque()
        self.news = asyncio.Event()
        self._due = False

    def due(self) -> None:
        self._due = True
        self.news.set()

    def say(self, message: dict[str, Any]) -> None:
        self.waiting.append(message)
        if len(self.waiting) > MOST_UNSENT:
            self.waiting.clear()
            self.close(1013, "this page reads too slowly; connect again")
        self.news.set()

    def close(self, code: int, reason: str) -> None:
        self.closing = self.closing or (code, reason)
        self.news.set()

    async def rest(self, pause: float) -> None:
        """Until there is news, or this pause is over after which the class is told."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, pause) if self._due else None):  # wait_for can lose that its task is cancelled
                await self.news.wait()

    def state(self) -> dict[str, Any] | None:
        """The class as it is now, if it changed since this was asked last."""
        due, self._due = self._due, False
        return self.tells() if due and self.tells and not self.closing else None


class Sockets:
    """All sockets of classes."""

    def __init__(self, lobby: Lobby, classes: Classes) -> None:
        self._lobby = lobby
        self._classes = classes
        self._count = 0

    async def serve(self, websocket: WebSocket) -> None:
        """One connection from its first word to its last. Whatever happens to it, its class goes on."""
        await websocket.accept()
        place, closed = Place(), (1000, "")
        self._count += 1
        try:
            closed = await self._converse(websocket, place)
        except Closed as error:
            closed = error.code, error.reason
        finally:
            self._count -= 1
            if place.room:
                place.room.gone(place)
        with suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
            await asyncio.wait_for(websocket.close(closed[0], close_reason(closed[1])), CLOSING_TIME)

    async def _converse(self, websocket: WebSocket, place: Place) -> tuple[int, str]:
        most = self._classes.most * (MOST_PEOPLE + 1) + STRANGERS
        if self._count > most:
            raise Closed(4429, f"this server has {most} connections of classes, the most allowed; try again later")
        address = websocket.client.host if websocket.client else ""
        tasks = [asyncio.create_task(self._read(websocket, place, address)), asyncio.create_task(_send(websocket, place))]
        timer = asyncio.get_running_loop().call_later(TIME_TO_SAY, _too_late, place)
        done, running = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        timer.cancel()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        for task in done:
            task.result()
        return place.closing or (1000, "")

    async def _read(self, websocket: WebSocket, place: Place, address: str) -> None:
        async for text in texts(websocket, LARGEST, Pace(RATE, BURST)):
            if not place.closing:
                await self._take(place, text, address)

    async def _take(self, place: Place, text: str, address: str) -> None:
        try:
            await self._hear(place, words.read(_json(text)), address)
        except Refused as refusal:
            place.say({"kind": "refused", "errors": [asdict(p) for p in refusal.problems]})

    async def _hear(self, place: Place, said: words.Said, address: str) -> None:
        match said:
            case words.Sign(n=n):
                place.say({"kind": "pong", "n": n})
            case words.OpenClass() | words.JoinClass() if place.room and not _teaches(place, said):
                raise _not_now(said.kind, "what this socket is already")
            case words.OpenClass():
                await self._open(place, said, address)
            case words.JoinClass():
                self._join(place, said, address)
            case _:
                _speak(place, said)

    async def _open(self, place: Place, said: words.OpenClass, address: str) -> None:
        session = await self._find(said.session)
        room = self._classes.open(session, said.code, said.key, address)
        place.room, place.tells = room, room.for_teacher
        place.say({"kind": "room", "code": room.code, "key": room.key, "session": room.run.id})
        room.seat_teacher(place)

    async def _find(self, id: str) -> Session:
        try:
            return await self._lobby.find(id)
        except Missing as missing:
            raise Refused.one("session", id[:40], "a session of this server", str(missing)) from None
        except Full as full:
            raise Refused.one("session", id[:40], "a session in memory", str(full)) from None

    def _join(self, place: Place, said: words.JoinClass, address: str) -> None:
        room = self._classes.find(said.code, address)
        person = room.join(place, said.name, said.token)
        place.room, place.person, place.tells = room, person, lambda: room.for_student(person)
        place.say({"kind": "joined", "code": room.code, "name": person.name, "token": person.token, "session": room.run.id})
        room.joined(person)


def _teaches(place: Place, said: words.First) -> bool:
    """Whether the teacher opens his class once more: with another run, say."""
    return (
        isinstance(said, words.OpenClass) and place.person is None and place.room is not None and place.room.has(said.key or "")
    )


def _speak(place: Place, said: words.OfTeacher | words.OfStudent) -> None:
    room, person = place.room, place.person
    if room is None:
        raise _not_now(said.kind, "open or join first")
    if person is None and isinstance(said, _TEACHER):
        room.of_teacher(said)
    elif person is not None and isinstance(said, _STUDENT):
        room.of_student(person, said)
    else:
        raise _not_now(said.kind, "the teacher's" if person else "a student's")


def _not_now(kind: str, allowed: str) -> Refused:
    return Refused.one("kind", kind, allowed, f"kind was given {kind!r}; allowed: {allowed}")


def _json(text: str) -> Any:
    try:
        return read_json(text)
    except (ValueError, RecursionError) as error:
        if isinstance(error, Refused):
            raise
        given = shorten(text)
        raise Refused.one("message", given, "JSON text", f"the message is not JSON ({error}): {given!r}") from None


def _too_late(place: Place) -> None:
    if place.room is None:
        place.close(4400, f"this socket said neither open nor join for {TIME_TO_SAY:.0f} seconds")


async def _send(websocket: WebSocket, place: Place) -> None:
    """What waits, at once; the class, with a pause after each; until the place is closed, or the connection."""
    last, free = "", 0.0
    with suppress(WebSocketDisconnect, RuntimeError):
        while not (place.closing and not place.waiting):
            place.news.clear()
            while place.waiting:
                await websocket.send_text(json.dumps(place.waiting.popleft()))
            if free <= time.monotonic() and (state := place.state()) and (text := json.dumps(state)) != last:
                await websocket.send_text(text)
                last, free = text, time.monotonic() + GAP
            if not place.closing:
                await place.rest(free - time.monotonic())
