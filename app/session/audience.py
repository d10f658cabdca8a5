"""Who listens to a session: one writer, any number of readers, each with its own selectors, outbox and pace."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.session.commands import Selector
from app.session.events import Event, Notice, Problem, Refused, Values, Welcome
from app.session.line import Line
from app.session.outbox import LARGEST_VALUES, Outbox, size
from app.session.services import Encode

Role = Literal["writer", "reader"]

MOST_WATCHED = 256  # different selectors of a session's connections together
LIFE = 1 << 32  # a session that came back numbers its events from here times its lives, its epochs likewise


@dataclass(eq=False)
class Connection:
    """One socket. wants: the role that it asked for. live: it hears events as they happen. waiting: its commands in the queue.

    key: of the class that it teaches, as it says.
    """

    client: str
    wants: Role
    outbox: Outbox
    key: str = ""
    role: Role = "reader"
    live: bool = False
    waiting: int = 0
    watch: tuple[Selector, ...] = ()
    keys: tuple[str, ...] = ()  # of `watch`, to find a selector again
    mark: int = 0  # of the command that set `watch`

    def look_at(self, watch: tuple[Selector, ...], mark: int = 0) -> None:
        self.watch, self.keys, self.mark = watch, tuple(s.model_dump_json() for s in watch), mark


class Audience:
    """life: how often the session came back from the journal; epochs are told as `life * LIFE` + the engine's.

    held: the key without which nobody writes, while a class follows; empty: no class does.
    """

    def __init__(self, session: str, encode: Encode, life: int) -> None:
        self.connections: list[Connection] = []
        self.held = ""
        self._trusted: Connection | None = None
        self.life = life
        self._left_at = time.monotonic()
        self._session = session
        self._encode = encode
        self._line = Line(life * LIFE)
        self._epoch = 0
        self._union: tuple[str, ...] = ()

    @property
    def epoch(self) -> int:
        return self.life * LIFE + self._epoch

    # --- coming and going

    def add(self, client: str, wants: Role, opened: bool, after: int, epoch: int, key: str = "") -> Connection:
        """A new connection. It resumes after that event if what followed is still kept; otherwise it is not live yet."""
        for other in [c for c in self.connections if c.client == client]:
            self.remove(other, opened)
            other.outbox.close(4409, "replaced by a newer connection of the same page")
        connection = Connection(client, wants, Outbox(self._frame), key)
        self.connections.append(connection)
        missed = self._line.after(after) if epoch // LIFE == self.life else None
        if missed is not None:
            connection.live, connection.outbox.seq = True, after
        self._seat(opened, newcomer=connection)
        for seq, frame in missed or ():
            connection.outbox.put(frame, seq)
        return connection

    def remove(self, connection: Connection, opened: bool) -> None:
        if connection in self.connections:
            self.connections.remove(connection)
            self._left_at = time.monotonic()
            self._seat(opened)

    def hold(self, key: str, trust: bool, opened: bool) -> None:
        """From now on one must have this key to write. trust: who writes at this moment goes on without it."""
        self._trusted = self._writer() if trust else None
        self.held = key
        self._seat(opened)

    def release(self, opened: bool) -> None:
        """Whoever asks to write may again."""
        self.held, self._trusted = "", None
        self._seat(opened)

    def alone_for(self) -> float:
        """Seconds since the last connection went; 0 while there is one."""
        return 0.0 if self.connections else time.monotonic() - self._left_at

    def welcome(self, opened: bool) -> None:
        """Tell everyone whether there is a scenario now."""
        for c in self.connections:
            self.say(c, Welcome(c.role, opened, True))

    def _seat(self, opened: bool, newcomer: Connection | None = None) -> None:
        """The newest that asked to write, and may, is the writer; whoever's role changed is told."""
        writer = self._writer()
        for c in self.connections:
            role: Role = "writer" if c is writer else "reader"
            if role != c.role or c is newcomer:
                c.role = role
                self.say(c, Welcome(role, opened, c.live))

    def _writer(self) -> Connection | None:
        return next((c for c in reversed(self.connections) if c.wants == "writer" and self._may(c)), None)

    def _may(self, c: Connection) -> bool:
        return not self.held or c is self._trusted or secrets.compare_digest(c.key, self.held)

    def of(self, client: str) -> Connection | None:
        return next((c for c in self.connections if c.client == client), None)

    def begin(self, connection: Connection, events: Sequence[Event]) -> None:
        """All that one who joins must know. Only the last frame carries a seq, so that half of it cannot be resumed from."""
        for event in events[:-1]:
            connection.outbox.put(self._frame(event, self.epoch, 0), 0)
        seq = self._line.seq
        connection.outbox.put(self._frame(events[-1], self.epoch, seq), seq)
        connection.live = True

    # --- telling

    def publish(self, event: Event) -> None:
        """A reliable event, for everyone."""
        frame = self._frame(event, self.epoch, self._line.seq + 1)
        self._line.add(frame)
        for c in self.connections:
            if c.live:
                c.outbox.put(frame, self._line.seq)

    def say(self, connection: Connection, event: Event) -> None:
        connection.outbox.say(event, self.epoch)

    def at_epoch(self, engine_epoch: int) -> None:
        self._epoch = engine_epoch

    def _frame(self, event: Event, epoch: int, seq: int) -> bytes:
        return self._encode(event, self._session, epoch, seq)

    # --- values

    def union(self) -> tuple[Selector, ...]:
        """What anybody watches, each selector once; the values that come next refer to it."""
        union = {key: s for c in self.connections for key, s in zip(c.keys, c.watch, strict=True)}
        self._union = tuple(union)
        return tuple(union.values())

    def admit(self, connection: Connection, watch: tuple[Selector, ...], mark: int = 0) -> None:
        """This is what the connection watches from now on. Raises `Refused` where the session would watch too much.

        A class cannot keep its teacher from looking: who writes a run that is held may watch beside all that others do.
        """
        old = connection.watch, connection.mark
        connection.look_at(watch, mark)
        count = len({key for c in self.connections for key in c.keys})
        if count > MOST_WATCHED and not (self.held and connection.role == "writer"):
            connection.look_at(*old)
            message = f"All pages of this session would watch {count} different selectors; allowed: {MOST_WATCHED}. Watch fewer."
            raise Refused(Problem("selectors", count, f"at most {MOST_WATCHED} in a session", message))

    def spread(self, values: Values) -> None:
        """Values for the union, to each connection with the numbers of its own selectors."""
        for c in self.connections:
            if c.live and c.watch:
                self.offer(c, _for_watch(values, self._union, c.keys))

    def offer(self, connection: Connection, values: Values) -> None:
        if size(values.pieces) > LARGEST_VALUES:
            connection.look_at(())
            self.say(connection, Notice("stopped", f"{_too_large(values)} Nothing is watched any more."))
        elif values.pieces or values.keyframe:
            connection.outbox.offer(replace(values, mark=connection.mark), self.epoch)


def bounded(values: Values) -> Values:
    """The same. Raises `Refused` where they are too large for one frame."""
    if size(values.pieces) > LARGEST_VALUES:
        given, allowed = f"{size(values.pieces) >> 20} MiB", f"at most {LARGEST_VALUES >> 20} MiB"
        raise Refused.one("selectors", given, allowed, _too_large(values))
    return values


def _too_large(values: Values) -> str:
    return (
        f"What this page watches takes {size(values.pieces) >> 20} MiB; allowed: {LARGEST_VALUES >> 20} MiB. "
        "Watch fewer paths, one index of an axis, or u8."
    )


def _for_watch(values: Values, union: tuple[str, ...], keys: tuple[str, ...]) -> Values:
    if keys == union:
        return values
    mine: dict[str, list[int]] = {}
    for index, key in enumerate(keys):
        mine.setdefault(key, []).append(index)
    pieces = (replace(p, selector=i) for p in values.pieces for i in mine.get(union[p.selector], ()))
    return replace(values, pieces=tuple(pieces))
