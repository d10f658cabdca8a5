"""What a session is given from outside: the engine's class, the encoder, the journal, and threads to compute in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Protocol, Self

import torch

from app.session.commands import Command, Selector
from app.session.events import Event, Values
from app.session.journal import Journal

Encode = Callable[[Event, str, int, int], bytes]  # (event, session, epoch, seq) -> one frame


class Engine(Protocol):
    """One run. One call at a time, from any thread. `run` raises `Refused` when nothing changed."""

    @property
    def epoch(self) -> int: ...

    @property
    def ended(self) -> bool: ...

    def run(self, command: Command, watch: Sequence[Selector] = ()) -> Iterator[Event]: ...

    def describe(self) -> tuple[Event, ...]: ...

    def keyframe(self, watch: Sequence[Selector]) -> Values: ...

    def follow(self, before: Self) -> None: ...

    def save(self) -> bytes: ...

    def digest(self) -> str: ...


class EngineClass(Protocol):
    """What makes an engine, anew or as `Engine.save` kept it."""

    def __call__(self, device: torch.device) -> Engine: ...

    def restore(self, data: bytes, device: torch.device) -> Engine: ...


@dataclass(frozen=True)
class Services:
    """pool: bounded and shared by all sessions; a session holds a thread for one slice of work at a time."""

    engine: EngineClass
    encode: Encode
    journal: Journal
    pool: Executor
    device: torch.device
