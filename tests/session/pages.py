"""A page without a browser: asks a session, and keeps what it hears."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import torch

from app.server import wire
from app.session.audience import Connection, Role
from app.session.commands import (
    Analyse,
    Back,
    Cancel,
    Change,
    Choose,
    Command,
    Enter,
    Fetch,
    Go,
    Join,
    Leave,
    Look,
    Open,
    Pause,
    Play,
    Redo,
    Reset,
    Selector,
    Share,
    Step,
    Undo,
    Watch,
)
from app.session.events import Event, Moved, Reply, Values
from app.session.journal import Journal
from app.session.services import EngineClass, Services
from app.session.session import Session
from tests.session.fakes import FakeEngine

E = TypeVar("E")
PATIENCE = 20.0  # seconds until a test gives up waiting


@asynccontextmanager
async def services(path: Path | None = None, engine: EngineClass = FakeEngine) -> AsyncIterator[Services]:
    """What sessions need, with a journal at this path or in memory."""
    journal = Journal(path)
    with ThreadPoolExecutor(2, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        yield Services(engine, wire.encode, journal, pool, torch.device("cpu"))
    journal.close()


@asynccontextmanager
async def session(**scenario: Any) -> AsyncIterator[tuple[Session, Page]]:
    """A session with one page, whose scenario is open."""
    async with services() as given:
        made = Session("s" * 22, given)
        page = Page(made)
        await page.ask(Open(scenario=scenario))
        yield made, page
        await made.close()


class Page:
    """frames: all that it heard, in order. acks: whether it draws values (gives credit) as they come."""

    def __init__(
        self,
        session: Session,
        client: str = "page",
        role: Role = "writer",
        after: int = 0,
        epoch: int = 0,
        acks: bool = True,
        key: str = "",
    ) -> None:
        self.session = session
        self.acks = acks
        self.frames: list[wire.Frame] = []
        self.connection: Connection = session.join(client, role, after, epoch, key)
        self._seq = 0

    def say(self, command: Command, seq: int | None = None) -> int:
        """Ask without waiting; returns the seq."""
        self._seq = self._seq + 1 if seq is None else seq
        self.session.ask(self.connection, self._seq, command)
        return self._seq

    async def ask(self, command: Command, seq: int | None = None) -> Reply:
        return await self.reply(self.say(command, seq))

    async def done(self, command: Command) -> list[Event]:
        """Ask, expect that it is done, and give what was heard until then."""
        before = len(self.frames)
        reply = await self.ask(command)
        assert reply.ok, reply
        return [f.event for f in self.frames[before:]]

    async def reply(self, seq: int) -> Reply:
        while True:
            event = (await self.hear()).event
            if isinstance(event, Reply) and event.to == seq:
                return event

    async def hear(self) -> wire.Frame:
        """The next frame."""
        data = await asyncio.wait_for(self.connection.outbox.next(), PATIENCE)
        assert data is not None, self.connection.outbox.closing
        frame = wire.decode(data)
        self.frames.append(frame)
        if self.acks and isinstance(frame.event, Values) and not frame.event.fetched:
            self.session.ack(self.connection, frame.seq)
        return frame

    async def until(self, kind: type[E]) -> E:
        """Listen until an event of this kind."""
        while True:
            event = (await self.hear()).event
            if isinstance(event, kind):
                return event

    async def until_quiet(self) -> None:
        """Take all frames that wait."""
        await self.ask(Share())

    def heard(self, kind: type[E]) -> list[E]:
        return [f.event for f in self.frames if isinstance(f.event, kind)]

    def kinds(self) -> list[str]:
        return [type(f.event).__name__ for f in self.frames]

    def leave(self) -> None:
        self.session.leave(self.connection)


def known(frames: Sequence[Values]) -> dict[tuple[int, str], dict[int, int]]:
    """What a page knows after these values: by selector and path, the number in each row."""
    rows: dict[tuple[int, str], dict[int, int]] = {}
    for values in frames:
        if values.keyframe:
            rows.clear()
        for piece in values.pieces:
            width = piece.array.shape[1]
            here = rows.setdefault((piece.selector, piece.path), {})
            start = piece.start.get("t", 0)
            here |= {start + i: piece.array.data[i * width] for i in range(piece.array.shape[0])}
    return rows


ALL: tuple[Command, ...] = (
    *(Open(scenario={}), Step(), Back(), Go(moment=0), Choose(request=0, token=4)),
    *(Join(request={"source": ["the", "cat", "sleeps"], "target": []}), Leave(request=1), Enter(phase="train")),
    *(Change(fields={"seed": 1}), Undo(), Redo(), Reset(), Play(), Pause(), Watch(selectors=())),
    Fetch(selector=Selector(path="*")),
    *(Analyse(name="a", arguments={"ticks": 1}), Cancel(), Look(view={}), Share()),
)


def steps(page: Page) -> list[int]:
    """Where it heard that the run stood, in order."""
    return [m.at for m in page.heard(Moved)]
