"""Does a session's commands one after another, in the order they came, and plays while none waits."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TypeVar, assert_never

from app.session.answers import Clients
from app.session.audience import Audience, Connection, bounded
from app.session.commands import (
    DURABLE,
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
    Share,
    Step,
    Undo,
    Watch,
)
from app.session.events import Event, Notice, Opened, Problem, Refused, Shared, Values, Viewed
from app.session.journal import NOTHING, Saved
from app.session.player import Player
from app.session.record import Record
from app.session.runner import Runner
from app.session.services import Services
from app.session.turns import Job, Turns

log = logging.getLogger("lookback")

LARGEST_VIEW = 8 * 1024  # bytes of JSON text
PLAY_ALONE = 10.0  # seconds that a run plays on while nobody is connected

T = TypeVar("T")


class Worker:
    """Owns what only one command at a time may touch: the engine, the view, the record in the journal."""

    def __init__(self, session: str, services: Services, audience: Audience, clients: Clients, saved: Saved) -> None:
        self.runner = Runner(services)
        self.player = Player()
        self._session = session
        self._services = services
        self._audience = audience
        self._clients = clients
        self._record = Record(session, services.journal, self.runner, saved.n)
        self.view = saved.view
        self._news: list[Notice] = []  # for the next one who joins
        self._told_not_saved = False
        self._paused = 0  # how often playing was to end
        self._jobs = Turns()
        self._played = False  # last of all that was done
        self._wake = asyncio.Event()
        self._closing = False
        self._task = asyncio.create_task(self._work(), name=f"session {session}")

    async def restore(self, saved: Saved) -> None:
        """Stand where the journal says. Raises what the engine raises."""
        await self.runner.rebuild(saved)
        if self.runner.engine is not None:
            self._news.append(Notice("recovered", "The server was started again. The run stands where you left it."))

    async def close(self) -> None:
        """End, with a last snapshot. What runs is cancelled at its next event."""
        self._closing = True
        self.runner.cancel()
        self._wake.set()
        await self._task
        try:
            await self._record.save(self._clients.done(), now=True)
        except Exception:  # its commands are on disk; the snapshot would only have made coming back quicker
            log.exception("Session %s leaves no last snapshot.", self._session)

    def queue(self, job: Job, asker: Connection | None = None) -> None:
        """asker: whose command it is."""
        self._jobs.add(job, asker if asker and (asker.role == "reader" or self._jobs.waits(asker)) else None)
        self._wake.set()

    async def turn(self, work: Callable[[], Awaitable[T]]) -> T:
        """What this gives when all that waits before it is done. Raises `Refused` where the session ends before that."""
        found: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.queue(partial(_settle, found, work))
        try:
            await asyncio.wait((found, self._task), return_when=asyncio.FIRST_COMPLETED)
            if not found.done():
                raise Refused.one("session", self._session, "one that goes on", "The session ended before that; try again.")
            return found.result()
        finally:
            found.cancel()

    async def _work(self) -> None:
        while job := await self._next():
            try:
                await job()
                await self._save()
            except Exception as error:
                await self._recover(error)

    async def _next(self) -> Job | None:
        """The job whose turn it is; the next step of playing when it is due, before readers every other time; None at the end."""
        while not self._closing and not self._jobs.pressing:
            wait = self.player.wait()
            if wait == 0 and not (self._jobs and self._played):
                self._played = True
                return self._play_on
            if self._jobs:
                break
            self._wake.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), wait)
        self._played = False
        return None if self._closing else self._jobs.next()

    # --- commands

    async def carry_out(self, connection: Connection, seq: int, command: Command) -> tuple[Problem, ...]:
        """One command, on disk if it must last. Returns why it was not done."""
        try:
            await self._do(connection, command)
            if isinstance(command, DURABLE):
                await self._keep(connection.client if seq >= 0 else "", seq, command)
        except Refused as refusal:
            return refusal.problems
        except Exception as error:
            return (await self._recover(error),)
        return ()

    async def _do(self, connection: Connection, command: Command) -> None:
        match command:
            case Watch():
                await self._watch(connection, command)
            case Look():
                self._look(command)
            case Play():
                await self._start_playing(command)
            case Fetch() | Share() | Analyse():
                await self._run(command, connection)
            case Open() | Step() | Back() | Go() | Choose() | Join() | Leave() | Enter() | Change() | Undo() | Redo() | Reset():
                await self._run(command, connection)
            case Pause() | Cancel():
                raise ValueError(f"{command.kind} acts at once; it never waits here")
            case _:
                assert_never(command)

    async def _run(self, command: Command, asker: Connection | None = None) -> None:
        """Raises `Refused`; what was told of a command that did not last is put right first."""
        try:
            await self.runner.run(command, self._audience.union(), partial(self._heard, asker))
        except Refused:
            if self.runner.heard and isinstance(command, DURABLE):
                await self._tell_all()
            raise

    def _heard(self, asker: Connection | None, event: Event, epoch: int) -> None:
        """One event of the engine, on its way to whom it concerns."""
        self._audience.at_epoch(epoch)
        self.player.hear(event)
        if isinstance(event, Shared) or (isinstance(event, Values) and event.fetched):
            if asker is not None:
                self._audience.say(asker, bounded(event) if isinstance(event, Values) else event)
        elif isinstance(event, Values):
            self._audience.spread(event)
        else:
            self._audience.publish(self._filled(event))

    async def _watch(self, connection: Connection, command: Watch) -> None:
        old = connection.watch, connection.mark
        self._audience.admit(connection, command.selectors, command.mark)
        try:
            values = await self.runner.keyframe(command.selectors)
            if values is not None:
                self._audience.offer(connection, bounded(values))
        except Exception:
            connection.look_at(*old)
            raise

    def _look(self, command: Look) -> None:
        length = len(json.dumps(command.view).encode())
        if length > LARGEST_VIEW:
            allowed = f"at most {LARGEST_VIEW} bytes of JSON"
            raise Refused(Problem("view", f"{length} bytes", allowed, f"view was given {length} bytes; allowed: {allowed}"))
        self.view = command.view
        self._audience.publish(Viewed(self.view))

    async def _keep(self, client: str, seq: int, command: Command) -> None:
        with self._disk():
            await self._record.keep(client, seq, command, self._clients.done())
            self._told_not_saved = False

    async def _save(self) -> None:
        with self._disk():
            await self._record.save(self._clients.done())

    @contextmanager
    def _disk(self) -> Iterator[None]:
        """A disk that does not take it ends nothing, but people are told, once."""
        try:
            yield
        except sqlite3.Error as error:
            log.error("Session %s cannot be saved: %s", self._session, error)
            if not self._told_not_saved:
                self._told_not_saved = True
                message = f"This run cannot be saved ({error}): it lasts only as long as the server. Share it to keep it."
                self._audience.publish(Notice("not_saved", message))

    # --- playing

    async def _start_playing(self, play: Play) -> None:
        if self.runner.engine is None or self.runner.ended:
            message = "There is nothing to play: the run has ended, or no scenario is open. Go back, reset or open one."
            raise Refused(Problem("command", play.kind, "a run that can step", message))
        paused = self._paused
        self.player.start(play, await self.runner.describe() if play.stops else ())
        if paused != self._paused:  # meanwhile somebody asked for something else
            self.player.play = None
        self._audience.publish(self.player.state())

    def stop_playing(self) -> None:
        self._paused += 1
        if self.player.play is not None:
            self.player.play = None
            self._audience.publish(self.player.state())

    async def _play_on(self) -> None:
        """One step of playing, kept like one that was asked for."""
        play = self.player.play
        if play is None:
            return
        step = Step(unit=self.player.step_begins(play))
        try:
            await self._run(step)
        except Refused as refusal:
            self.player.stop_reason = str(refusal)
        else:
            await self._keep("", -1, step)
        if reason := self.player.stop_reason:
            self._audience.publish(Notice("stopped", reason))
        if reason or self.runner.ended or self._audience.alone_for() > PLAY_ALONE:
            self.stop_playing()

    # --- telling

    async def introduce(self, connection: Connection) -> None:
        """All that one who joins must know."""
        if self._audience.of(connection.client) is not connection:
            return
        events = [self._filled(e) for e in await self.runner.describe()]
        self._audience.at_epoch(self.runner.epoch)
        self._audience.begin(connection, [*events, self.player.state(), Viewed(self.view)])
        while self._news:
            self._audience.publish(self._news.pop())

    async def catch_up(self, connection: Connection) -> None:
        """A keyframe for one that fell behind."""
        values = await self.runner.keyframe(connection.watch)
        if values is not None:
            self._audience.offer(connection, values)

    def _filled(self, event: Event) -> Event:
        """The engine knows nothing of the view."""
        return replace(event, view=self.view) if isinstance(event, Opened) else event

    async def _tell_all(self) -> None:
        """Everything anew, for everyone: after something was told that did not last."""
        events = await self.runner.describe()
        self._audience.at_epoch(self.runner.epoch)
        for event in events:
            self._audience.publish(self._filled(event))
        for connection in list(self._audience.connections):
            await self.catch_up(connection)

    async def _recover(self, error: Exception) -> Problem:
        """The engine failed, and what it holds may be half done: make it anew from the journal. Other sessions notice nothing."""
        log.error("Session %s failed.", self._session, exc_info=error)
        self.stop_playing()
        self._audience.life += 1
        message = "The server failed at this; its log says why. The run stands where it stood before that."
        try:
            saved = await self._services.journal.load(self._session) or NOTHING
            await self.runner.rebuild(saved)
            self._record.begin(saved.n)
            await self._tell_all()
        except Exception:
            log.exception("Session %s could not be made anew.", self._session)
            self.runner.engine = None
            self._record.begin(self._record.n)  # nothing is left that could be saved
            message = "The server failed at this; its log says why. The run is lost: open it anew."
        self._audience.welcome(self.runner.engine is not None)
        self._audience.publish(Notice("stopped", message))
        return Problem("command", "", "", message)


async def _settle(found: asyncio.Future[T], work: Callable[[], Awaitable[T]]) -> None:
    """Do it for somebody who waits; who has gone meanwhile hears nothing."""
    with suppress(asyncio.InvalidStateError):
        try:
            found.set_result(await work())
        except Exception as error:
            found.set_exception(error)
