"""A command goes in, events come out: the engine carries a run from moment to moment.

It is a generator, so whoever pulls it decides the pace: stepping, cancelling and back-pressure come for free. A refused or
cancelled command leaves the run where it stood.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

import torch

from app.session import saving
from app.session.analyses import analyse
from app.session.changing import Changing
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
from app.session.events import Analysis, Check, Event, Refused
from app.session.log import commands_of
from app.session.scenario import Scenario, parse
from models.parts.visibility import NoVisibleKey


class Engine(Changing):
    """One run. Not thread-safe: one call at a time."""

    # ---- one command

    def run(self, command: Command, watch: Sequence[Selector] = ()) -> Iterator[Event]:
        """Carry out one command and yield what it says. Raises `Refused`: then nothing changed.

        Closing it at an `Analysis` event (progress) cancels: the run stands where it stood. What other events say has happened.
        """
        try:
            yield from self._run(command, watch)
        except NoVisibleKey as error:
            allowed = f"at least one visible key for row {error.row} in {error.relation}"
            raise Refused.one("masks", f"row {error.row}", allowed, f"Nothing was changed: {error}.") from None
        finally:
            if self._dirty:
                for _ in self._stand(self.timeline.here):
                    pass

    def _run(self, command: Command, watch: Sequence[Selector]) -> Iterator[Event]:
        match command:
            case Open():
                yield from self._open(command, watch)
            case Step():
                yield from self._step(command, watch)
            case Choose():
                yield from self._choose(command, watch)
            case Join():
                yield from self._join(command, watch)
            case Leave():
                yield from self._leave(command, watch)
            case Back():
                yield from self._back(watch)
            case Go():
                yield from self._go(self.timeline.find(command.moment), watch)
            case Enter():
                yield from self._enter(command, watch)
            case Change():
                yield from self._change(command, watch)
            case Undo():
                yield from self._undo(command, watch)
            case Redo():
                yield from self._redo(command, watch)
            case Reset():
                yield from self._build(self.timeline.moments[0].place.scenario, watch)
            case Fetch() | Analyse() | Share():
                yield from self._answer(command)
            case Watch() | Play() | Pause() | Cancel() | Look():
                raise ValueError(f"{command.kind} is the session's own command; the engine never gets it")
            case _:
                assert_never(command)

    # ---- building

    def _open(self, command: Open, watch: Sequence[Selector]) -> Iterator[Event]:
        commands = commands_of(command.log)
        self._place(parse(command.scenario))
        for done, one in enumerate(commands, 1):
            for _ in self._run(one, ()):
                pass
            if done % 16 == 0 or (done == len(commands) and done > 16):
                yield Analysis("replay", done / len(commands), None)
        yield from self._joined(watch)
        yield from self.warnings()

    def _build(self, scenario: Scenario, watch: Sequence[Selector]) -> Iterator[Event]:
        self._place(scenario)
        yield from self._joined(watch)
        yield from self.warnings()

    # ---- on demand

    def _answer(self, command: Fetch | Analyse | Share) -> Iterator[Event]:
        """What only asks: the run stands where it stood."""
        match command:
            case Fetch():
                yield self.values([command.selector.model_copy()], keyframe=True, fetched=True)
            case Analyse():
                yield from self._analyse(command)
            case Share():
                yield self.share(command)
            case _:
                assert_never(command)

    def _analyse(self, command: Analyse) -> Iterator[Event]:
        for event in analyse(self, command.name, command.arguments):
            if isinstance(event, Check):
                self.measured[event.id] = event
                yield self.checked()
            else:
                yield event

    # ---- keeping

    def save(self) -> bytes:
        """All that is needed to stand here again on this machine, bit for bit."""
        return saving.save(self)

    @classmethod
    def restore(cls, data: bytes, device: torch.device) -> Engine:
        """The run that `save` kept."""
        return saving.restore(cls(device), data)

    def digest(self) -> str:
        """Equal for equal runs: a hash of parameters, optimizer state, caches and position."""
        return saving.digest(self)
