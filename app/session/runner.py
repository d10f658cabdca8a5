"""An engine in threads: one call at a time, in slices, so that a long command can be ended and lets other sessions compute."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from typing import TypeVar, cast

from app.session.commands import Command, Open, Selector
from app.session.events import Analysis, Event, Problem, Refused, Values
from app.session.journal import Saved
from app.session.services import Engine, Services

SLICE = 0.005  # seconds after which a command tells what it has and gives its thread to whoever waits, at its next event

T = TypeVar("T")
Hear = Callable[[Event, int], None]  # (event, epoch)


class Runner:
    """engine: None until a scenario was opened. heard: how many events of the last command were told before it ended.

    Its methods are awaited one at a time; only `cancel` comes in between.
    """

    def __init__(self, services: Services) -> None:
        self.engine: Engine | None = None
        self.heard = 0
        self._services = services
        self._base = 0  # what the engine's epochs are told from, so that a new engine's never repeat an old one's
        self._newest = 0
        self._stop = threading.Event()
        self._stopped = False

    @property
    def ended(self) -> bool:
        return self.engine is not None and self.engine.ended

    @property
    def epoch(self) -> int:
        return 0 if self.engine is None else self._base + self.engine.epoch

    def cancel(self) -> None:
        """End the command that runs now, at its next event. Without one nothing happens."""
        self._stop.set()

    async def run(self, command: Command, watch: Sequence[Selector], hear: Hear) -> None:
        """Carry out one command; `hear` gets its events on the loop's thread, in order. Raises `Refused`, also when cancelled.

        `Open` gets an engine of its own, which takes the place of the old one at its end: an `Open` that fails changes nothing.
        """
        self.heard = 0
        engine, base = self.engine, self._base
        if isinstance(command, Open):
            engine, base = self._successor(), self._newest
        if engine is None:
            message = f"This session has no scenario yet, so it cannot {command.kind}; open one first."
            raise Refused(Problem("command", command.kind, "open", message))
        await self._exhaust(engine, engine.run(command, watch), partial(self._hear, hear, base), command)
        self.engine, self._base = engine, base

    def _successor(self) -> Engine:
        """A new engine, from whose run Undo leads back to the one that is there."""
        engine = self._services.engine(self._services.device)
        if self.engine is not None:
            engine.follow(self.engine)
        return engine

    async def _exhaust(self, engine: Engine, events: Iterator[Event], hear: Hear, command: Command) -> None:
        self._stop.clear()
        self._stopped = False
        ended = False
        while not ended:
            batch, ended = await self._thread(self._pull, engine, events)
            for event, epoch in batch:
                hear(event, epoch)
            if self._stopped:
                await self._thread(cast(Generator[Event], events).close)
                message = "Cancelled; the run stands where it stood before."
                raise Refused(Problem("cancel", command.kind, "", message))
            await asyncio.sleep(0)  # what was told is sent before the engine takes the interpreter again

    def _hear(self, hear: Hear, base: int, event: Event, epoch: int) -> None:
        self.heard += 1
        self._newest = max(self._newest, base + epoch)
        hear(event, base + epoch)

    async def describe(self) -> tuple[Event, ...]:
        return () if self.engine is None else await self._thread(self.engine.describe)

    async def keyframe(self, watch: Sequence[Selector]) -> Values | None:
        return None if self.engine is None or not watch else await self._thread(self.engine.keyframe, watch)

    async def save(self) -> bytes:
        """Raises `Refused` while there is no engine."""
        if self.engine is None:
            raise Refused.one("session", "", "a session with a run", "There is no run yet that could be saved.")
        return await self._thread(self.engine.save)

    async def rebuild(self, saved: Saved) -> None:
        """The engine as the journal has it. Raises what the engine raises."""
        self.engine = await self._thread(rebuild, self._services, saved)

    def _pull(self, engine: Engine, events: Iterator[Event]) -> tuple[list[tuple[Event, int]], bool]:
        """Events until the slice is over, each with its epoch, and whether these were all.

        What comes in quick succession is told together: waking the loop for each event would cost more than the event. A step's
        values are what a person waits for; what is measured on them afterwards begins when they are sent.
        """
        begun = time.monotonic()
        batch: list[tuple[Event, int]] = []
        for event in events:
            batch.append((event, engine.epoch))
            self._stopped = self._stop.is_set() and isinstance(event, Analysis)  # other events say what has happened
            if self._stopped or isinstance(event, Values) or time.monotonic() - begun > SLICE:
                return batch, False
        return batch, True

    async def _thread(self, work: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._services.pool, work, *arguments)


def rebuild(services: Services, saved: Saved) -> Engine | None:
    """Snapshot and the commands after it; None: nothing was opened yet."""
    engine = None if saved.snapshot is None else services.engine.restore(saved.snapshot, services.device)
    for command in saved.commands:
        before, engine = engine, services.engine(services.device) if isinstance(command, Open) else engine
        if before is not None and engine is not None and engine is not before:
            engine.follow(before)
        if engine is None:
            raise ValueError("the journal holds a command before the first open")
        for _ in engine.run(command):
            pass
    return engine
