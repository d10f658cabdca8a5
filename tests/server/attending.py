"""A teacher and students at the socket of a class."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.server.serving import Page, page
from tests.session.pages import PATIENCE

Message = dict[str, Any]


class Seat:
    """heard: all that came, in order."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.heard: list[Message] = []
        self.first: Message = {}

    async def say(self, kind: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"kind": kind, **fields}))

    async def hear(self) -> Message:
        async with asyncio.timeout(PATIENCE):
            message: Message = json.loads(await self.socket.recv())
        self.heard.append(message)
        return message

    async def until(self, kind: str, **fields: Any) -> Message:
        """The next message of this kind with these fields in it."""
        while True:
            message = await self.hear()
            if message["kind"] == kind and fields.items() <= message.items():
                return message

    async def refused(self, kind: str, **fields: Any) -> Message:
        """The one problem with this."""
        await self.say(kind, **fields)
        errors = (await self.until("refused"))["errors"]
        assert [set(e) for e in errors] == [{"field", "given", "allowed", "message"}] * len(errors)
        problem: Message = errors[0]
        return problem

    async def poll(self, **fields: Any) -> Message:
        """The poll, once it is so."""
        while True:
            found = (await self.until("class"))["poll"]
            if found and fields.items() <= found.items():
                poll: Message = found
                return poll


@asynccontextmanager
async def seat(port: int, **options: Any) -> AsyncIterator[Seat]:
    async with connect(f"ws://127.0.0.1:{port}/ws/class", **options) as socket:
        yield Seat(socket)


@asynccontextmanager
async def teacher(port: int, session: str, **known: str) -> AsyncIterator[Seat]:
    async with seat(port) as one:
        await one.say("open", session=session, **known)
        one.first = await one.until("room")
        yield one


@asynccontextmanager
async def student(port: int, code: str, name: str, **known: str) -> AsyncIterator[Seat]:
    async with seat(port) as one:
        await one.say("join", code=code, name=name, **known)
        one.first = await one.until("joined")
        yield one


@asynccontextmanager
async def run(port: int) -> AsyncIterator[tuple[Page, str]]:
    """A page with a run, and the name of its session."""
    async with page(port) as one:
        assert (await one.do(kind="open", scenario={})).ok
        yield one, one.frames[0].session


@asynccontextmanager
async def school(port: int) -> AsyncIterator[tuple[Seat, Seat, Seat, Page]]:
    """A teacher, Ann and Ben, and the teacher's run."""
    async with run(port) as (stage, session), teacher(port, session) as one:
        code = one.first["code"]
        async with student(port, code, "Ann") as ann, student(port, code.lower().replace("-", " "), "Ben") as ben:
            await one.until("class", following=2)
            yield one, ann, ben, stage
