"""One person's world: connections ask, a worker does one command at a time, everyone hears what happens.

Commands of one connection are done in the order they came, the writer's before those of readers; `Pause` and `Cancel` act
at once. Nothing here is shared with other sessions but `Services`, and only commands, events and bytes go in and out.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from app.session.answers import Clients
from app.session.audience import Audience, Connection, Role
from app.session.commands import ANYONE, Analyse, Cancel, Command, Fetch, Look, Open, Pause, Share, Watch
from app.session.events import Pong, Problem, Refused, Reply
from app.session.journal import NOTHING, Saved
from app.session.services import Services
from app.session.worker import Worker

MOST_WAITING = 32  # commands of one connection
WHILE_PLAYING = (Watch, Fetch, Share, Look, Analyse)  # these do not move the run, so that they need not stop it


class Session:
    """saved: what the journal has of it, when it comes back; then `restore` comes before all else."""

    def __init__(self, id: str, services: Services, saved: Saved = NOTHING) -> None:
        self.id = id
        self.used = time.monotonic()
        self._audience = Audience(id, services.encode, saved.life)
        self._clients = Clients(saved.answered)
        self._worker = Worker(id, services, self._audience, self._clients, saved)

    @property
    def opened(self) -> bool:
        """Whether it has a scenario."""
        return self._worker.runner.engine is not None

    @property
    def connections(self) -> int:
        return len(self._audience.connections)

    async def restore(self, saved: Saved) -> None:
        """Stand where the journal says. Raises what the engine raises."""
        await self._worker.restore(saved)

    async def close(self, code: int = 1012, reason: str = "the server stops; reconnect in a moment") -> None:
        """End, with a last snapshot; connections are closed with this code."""
        await self._worker.close()
        for connection in list(self._audience.connections):
            connection.outbox.close(code, reason)

    @property
    def view(self) -> dict[str, Any]:
        """What the writer's page looks at."""
        return self._worker.view

    async def saved(self) -> bytes:
        """The run as it stands when the commands that wait are done. Raises `Refused` where there is none."""
        return await self._worker.turn(self._worker.runner.save)

    # --- a class

    @property
    def held(self) -> str:
        """The key without which nobody writes, while a class follows; empty: no class does."""
        return self._audience.held

    def hold(self, key: str, trust: bool) -> None:
        """Only who has this key writes from now on. trust: and who writes at this moment, until he goes."""
        self._audience.hold(key, trust, self.opened)

    def release(self) -> None:
        """No class follows any more."""
        self.used = time.monotonic()
        self._audience.release(self.opened)

    # --- connections

    def join(self, client: str, wants: Role, after: int = 0, epoch: int = 0, key: str = "") -> Connection:
        """A new connection; it hears `Welcome`, then what it missed or all that there is to know."""
        self.used = time.monotonic()
        connection = self._audience.add(client, wants, self.opened, after, epoch, key)
        if not connection.live:
            self._worker.queue(partial(self._worker.introduce, connection))
        return connection

    def leave(self, connection: Connection) -> None:
        self.used = time.monotonic()
        self._audience.remove(connection, self.opened)

    def ack(self, connection: Connection, seq: int) -> None:
        """Its page drew all values up to `seq`."""
        if connection.outbox.ack(seq):
            self._worker.queue(partial(self._worker.catch_up, connection))

    def pong(self, connection: Connection, n: int) -> None:
        self._audience.say(connection, Pong(n))

    # --- commands

    def ask(self, connection: Connection, seq: int, command: Command) -> None:
        """A command of this connection. Its answer comes as `Reply`, once; a seq that was used before is not done again."""
        if not self._is_new(connection, seq):
            return
        self.used = time.monotonic()
        if problem := _objection(connection, command, self.held):
            self._answer(connection.client, seq, (problem,))
            return
        if isinstance(command, Cancel):
            self._worker.runner.cancel()
        elif connection.role == "writer" and not isinstance(command, WHILE_PLAYING):
            self._worker.stop_playing()
        if isinstance(command, Pause | Cancel):
            self._answer(connection.client, seq)
        else:
            connection.waiting += 1
            self._worker.queue(partial(self._carry_out, connection, seq, command), connection)

    async def open(self, client: str, command: Open) -> tuple[Problem, ...]:
        """As `ask`, for a run that is too long for one message. Returns why it was not opened."""
        connection = self._audience.of(client)
        if connection is None:
            return (Problem("client", client[:64], "a page of this session", "This page is not connected; nothing was opened."),)
        if problem := _objection(connection, command, self.held):
            return (problem,)
        self.used = time.monotonic()
        self._worker.stop_playing()
        connection.waiting += 1
        try:
            return await self._worker.turn(partial(self._waited, connection, -1, command))
        except Refused as refusal:
            return refusal.problems

    def refuse(self, connection: Connection, seq: int, problems: tuple[Problem, ...]) -> None:
        """The answer to a message that was no command; seq -1 where it could not be read."""
        if seq < 0:
            self._audience.say(connection, Reply(seq, False, problems))
        elif self._is_new(connection, seq):
            self._answer(connection.client, seq, problems)

    async def _carry_out(self, connection: Connection, seq: int, command: Command) -> None:
        self._answer(connection.client, seq, await self._waited(connection, seq, command))

    async def _waited(self, connection: Connection, seq: int, command: Command) -> tuple[Problem, ...]:
        problems = await self._worker.carry_out(connection, seq, command)
        connection.waiting -= 1
        return problems

    def _is_new(self, connection: Connection, seq: int) -> bool:
        answers = self._clients.of(connection.client)
        if answers.begin(seq):
            return True
        if reply := answers.again(seq):
            self._audience.say(connection, reply)
        return False

    def _answer(self, client: str, seq: int, problems: tuple[Problem, ...] = ()) -> None:
        reply = self._clients.of(client).end(seq, problems)
        if connection := self._audience.of(client):
            self._audience.say(connection, reply)


def _objection(connection: Connection, command: Command, held: str) -> Problem | None:
    if connection.role == "reader" and not isinstance(command, ANYONE):
        message = (
            f"You are reading along; {command.kind} is the writer's. To take over, open this address without role=reader "
            "(without it already: load the page again); or begin your own run."
        )
        if held:
            message = f"A class follows this run; {command.kind} is the teacher's. Begin a run of your own to try it."
        return Problem("command", command.kind, "watch, fetch, share", message)
    if connection.waiting >= MOST_WAITING:
        message = f"{MOST_WAITING} commands wait already; send the next when one of them is answered."
        return Problem("command", command.kind, f"at most {MOST_WAITING} that wait", message)
    return None
