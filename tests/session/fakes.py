"""A run that counts, in place of a model: it obeys the engine's interface, and the scenario says what goes wrong and when."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

import torch

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
from app.session.events import (
    Analysis,
    Check,
    Checked,
    Curve,
    Event,
    History,
    Moved,
    Notice,
    Opened,
    Problem,
    Refused,
    Schema,
    Shared,
    Values,
)
from app.session.shown import Array, Piece


class FakeEngine:
    """`at` is where it stands; row i of everything it records holds the number i.

    scenario: {"ends_at", "fails_check_at", "fails_check_to", "diverges_at", "crashes_at", "width", "refused"}.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.epoch = 0
        self.at = 0
        self.scenario: dict[str, Any] = {}

    @property
    def ended(self) -> bool:
        return self.at >= self.scenario.get("ends_at", 10**9)

    def run(self, command: Command, watch: Sequence[Selector] = ()) -> Iterator[Event]:
        match command:
            case Open():
                yield from self._open(command, watch)
            case Step() | Choose():
                yield from self._step(command, watch)
            case Back() | Enter() | Change() | Undo() | Redo() | Reset():
                yield from self._jump(max(0, self.at - 1) if isinstance(command, Back) else 0, watch)
            case Go():
                yield from self._go(command.moment, watch)
            case Analyse():
                yield from self._analyse(command)
            case Fetch():
                yield Values(self.at, True, (self._piece(-1, command.selector, 0),), True)
            case Share():
                yield Shared("#s=x", {"v": 1, "at": self.at, "view": command.view})
            case Watch() | Play() | Pause() | Cancel() | Look():
                raise AssertionError(f"{command.kind} must not come here")

    def _open(self, command: Open, watch: Sequence[Selector]) -> Iterator[Event]:
        if "refused" in command.scenario:
            raise Refused(Problem("scenario", "refused", "another", "This scenario is refused."))
        self.scenario, self.at = command.scenario, 0
        self.epoch += 1
        yield from self.describe()
        yield self.keyframe(watch)
        for _ in command.log:
            time.sleep(0.01)
            yield from self._step(Step(), watch)

    def _step(self, command: Command, watch: Sequence[Selector]) -> Iterator[Event]:
        if self.ended:
            raise Refused(Problem("command", command.kind, "back", "The run has ended."))
        if self.at + 1 == self.scenario.get("crashes_at"):
            self.at = -1000
            yield self._moved()
            raise ZeroDivisionError("as the scenario says")
        self.at += 1
        yield self._moved()
        yield Values(self.at, False, tuple(self._piece(i, s, self.at - 1) for i, s in enumerate(watch)))
        yield self._checked()
        if self.at == self.scenario.get("diverges_at"):
            yield Notice("diverged", "The loss runs away.", {"kind": "back"})

    def _jump(self, at: int, watch: Sequence[Selector]) -> Iterator[Event]:
        self.at = at
        self.epoch += 1
        yield self._moved()
        yield self.keyframe(watch)

    def _go(self, moment: int, watch: Sequence[Selector]) -> Iterator[Event]:
        before = self.at
        try:
            for at in range(moment):
                time.sleep(0.002)
                self.at = at
                yield Analysis("replay", at / moment, None)
            yield from self._jump(moment, watch)
            before = moment
        finally:
            self.at = before

    def _analyse(self, command: Analyse) -> Iterator[Event]:
        for i in range(command.arguments["ticks"]):
            time.sleep(0.002)
            yield Analysis(command.name, i / command.arguments["ticks"], {"text": "x" * command.arguments.get("size", 0)})
        yield Analysis(command.name, 1.0, {"at": self.at})

    def describe(self) -> tuple[Event, ...]:
        opened = Opened(self.scenario, {}, 0, (), {}, "cpu", {})
        return opened, Schema(()), History((), self.at), Curve((), (), (), (), True), self._moved(), self._checked()

    def keyframe(self, watch: Sequence[Selector]) -> Values:
        return Values(self.at, True, tuple(self._piece(i, s, 0) for i, s in enumerate(watch)))

    def _piece(self, number: int, selector: Selector, start: int) -> Piece:
        width = self.scenario.get("width", 1)
        rows = b"".join(bytes([row % 256]) * width for row in range(start, self.at))
        array = Array("U8", (self.at - start, width), rows, 0.0, 255.0)
        return Piece(number, selector.path, selector.side, ("t", "d"), {"t": start} if start else {}, array)

    def _moved(self) -> Moved:
        return Moved(self.at, "decode", self.at, "", (), self.ended, (), None, (), {}, (), 0.0, 0)

    def _checked(self) -> Checked:
        begin = self.scenario.get("fails_check_at", 10**9)
        fails = begin <= self.at <= self.scenario.get("fails_check_to", begin)
        return Checked(self.at, (Check("sum", "rows sum to 1", "fail" if fails else "pass", "", "measured"),))

    def follow(self, before: FakeEngine) -> None:
        self.before = before.scenario

    def save(self) -> bytes:
        return json.dumps([self.epoch, self.at, self.scenario]).encode()

    @classmethod
    def restore(cls, data: bytes, device: torch.device) -> FakeEngine:
        engine = cls(device)
        engine.epoch, engine.at, engine.scenario = json.loads(data)
        return engine

    def digest(self) -> str:
        return hashlib.sha256(json.dumps([self.at, self.scenario]).encode()).hexdigest()
