"""An engine in threads: one call at a time, in slices, so that a long command can be ended and lets other sessions compute."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TypeVar, cast

from app.session.commands import Command, Open, Selector
from app.session.events import Event, Problem, Refused, Values
from app.session.journal import Saved
from app.session.services import Engine, Services

SLICE = 0.05  # seconds after which a command gives its thread to whoever waits, at its next event

T = TypeVar("T")
Hear = Callable[[Event, int], None]  # (event, the engine's epoch)


class Cancelled(Refused):
    """The command was ended by `Cancel`; the run stands where it stood. heard: whether events of it were told already."""

    def __init__(self, command: Command, heard: bool) -> None:
        message = f"{command.kind} was cancelled; the run stands where it stood before."
        super().__init__(Problem("command", command.kind, "", message))
        self.heard = heard


class Runner:
    """`engine` is None until a scenario was opened. Its methods are awaited one at a time; only `cancel` comes in between."""

    def __init__(self, services: Services) -> None:
        self.engine: Engine | None = None
        self._services = services
        self._stop = threading.Event()
        self._failed: Exception | None = None

    @property
    def ended(self) -> bool:
        return self.engine is not None and self.engine.ended

    def cancel(self) -> None:
        """End the command that runs now, at its next event. Without one nothing happens."""
        self._stop.set()

    async def run(self, command: Command, watch: Sequence[Selector], hear: Hear) -> None:
        """Carry out one command; `hear` gets its events on the loop's thread, in order. Raises `Refused`, `Cancelled`."""
        engine = self.engine
        if engine is None:
            if not isinstance(command, Open):
                message = f"This session has no scenario yet, so it cannot {command.kind}; open one first."
                raise Refused(Problem("command", command.kind, "open", message))
            engine = self._services.engine(self._services.device)
        self._stop.clear()
        self._failed = None
        events, heard, ended = engine.run(command, watch), 0, False
        while not ended:
            count, ended = await self._thread(self._pull, engine, events, hear)
            heard += count
            if self._failed is not None:
                raise self._failed
            if self._stop.is_set() and not ended:
                await self._thread(cast(Generator[Event], events).close)
                raise Cancelled(command, heard > 0)
        self.engine = engine

    async def describe(self) -> tuple[Event, ...]:
        return () if self.engine is None else await self._thread(self.engine.describe)

    async def keyframe(self, watch: Sequence[Selector]) -> Values | None:
        return None if self.engine is None or not watch else await self._thread(self.engine.keyframe, watch)

    async def save(self) -> bytes:
        """Raises ValueError while there is no engine."""
        if self.engine is None:
            raise ValueError("there is no run to save")
        return await self._thread(self.engine.save)

    async def rebuild(self, saved: Saved) -> None:
        """The engine as the journal has it. Raises what the engine raises."""
        self.engine = await self._thread(rebuild, self._services, saved)

    def _pull(self, engine: Engine, events: Iterator[Event], hear: Hear) -> tuple[int, bool]:
        """Events until the slice is over: how many, and whether these were all."""
        until = time.monotonic() + SLICE
        count = 0
        for event in events:
            count += 1
            self._loop.call_soon_threadsafe(self._tell, hear, event, engine.epoch)
            if self._stop.is_set() or time.monotonic() > until:
                return count, False
        return count, True

    def _tell(self, hear: Hear, event: Event, epoch: int) -> None:
        try:
            hear(event, epoch)
        except Exception as error:  # raised again where the command is awaited
            self._failed = self._failed or error

    async def _thread(self, work: Callable[..., T], *arguments: object) -> T:
        self._loop = asyncio.get_running_loop()
        return await self._loop.run_in_executor(self._services.pool, work, *arguments)


def rebuild(services: Services, saved: Saved) -> Engine | None:
    """Snapshot and the commands after it; None: nothing was opened yet."""
    engine = None if saved.snapshot is None else services.engine.restore(saved.snapshot, services.device)
    for command in saved.commands:
        if isinstance(command, Open):
            engine = services.engine(services.device)
        if engine is None:
            raise ValueError("the journal holds a command before the first open")
        for _ in engine.run(command):
            pass
    return engine
