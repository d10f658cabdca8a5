"""Helpers that drive a real engine in tests."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import torch

from app.session.commands import Analyse, Change, Command, Open, Selector
from app.session.engine import Engine
from app.session.events import Check, Checked, Event, Moved, Values
from app.session.scenario import defaults
from app.session.shown import Array, Piece
from models.catalogue import architectures

E = TypeVar("E")
SMALL = {"layers": 1, "heads": 2, "d_model": 16, "d_ff": 32}


def opened(architecture: str = "encoder_decoder", **fields: Any) -> Engine:
    """An engine that stands at the start of a small scenario with random weights, unless the fields say otherwise."""
    engine = Engine(torch.device("cpu"))
    do(engine, Open(scenario=scenario(architecture, **fields)))
    return engine


def scenario(architecture: str = "encoder_decoder", **fields: Any) -> dict[str, Any]:
    """The default scenario as plain data, small and with random weights unless the fields say otherwise."""
    own = {f.name for f in dataclasses.fields(architectures()[architecture].config)}
    small = {name: value for name, value in SMALL.items() if name in own}
    return defaults(architecture, **{"weights": "random", "config": small, **fields}).model_dump(mode="json")


def do(engine: Engine, command: Command, watch: tuple[Selector, ...] = ()) -> list[Event]:
    return list(engine.run(command, watch))


def of(events: list[Event], kind: type[E]) -> list[E]:
    return [e for e in events if isinstance(e, kind)]


def moved(events: list[Event]) -> Moved:
    """The last one."""
    return of(events, Moved)[-1]


def tokens(engine: Engine, request: int = 0) -> list[str]:
    """The target rows of a request, padding left out."""
    shown = engine.moved(()).requests[request].target
    return [r.token for r in shown if r.state != "padded"]


def numbers(array: Array) -> np.ndarray:
    """An array as a reader of the wire sees it."""
    dtype = {"U8": "u1", "F16": "<f2", "F32": "<f4", "I32": "<i4", "BOOL": "?"}[array.dtype]
    values = np.frombuffer(array.data, dtype).reshape(array.shape)
    return array.low + (array.high - array.low) * values.astype(np.float64) / 255 if array.dtype == "U8" else values


class Reader:
    """A page's store in a few lines: merges keyframes and deltas, rows along t, NaN where nothing is known."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, str], np.ndarray] = {}

    def take(self, events: list[Event]) -> None:
        for values in of(events, Values):
            if values.keyframe:
                self.known.clear()
            for piece in values.pieces:
                self._merge(piece)

    def _merge(self, piece: Piece) -> None:
        key, new = (piece.selector, piece.path), numbers(piece.array).astype(np.float64)
        start = [piece.start.get(a, 0) if a in ("t", "t'") else 0 for a in piece.axes]
        old = self.known.get(key, np.full([0] * new.ndim, np.nan))
        shape = [max(o, s + n) for o, s, n in zip(old.shape, start, new.shape, strict=True)]
        merged = np.full(shape, np.nan)
        merged[tuple(slice(0, n) for n in old.shape)] = old
        place = tuple(slice(s, s + n) for s, n in zip(start, new.shape, strict=True))
        merged[place] = np.fmax(merged[place], new) if piece.bin > 1 else new
        self.known[key] = merged


CAUSAL_CELL = {"relation": "target_self", "layer": None, "program": "causal", "parameter": 0}
NO_SOURCE_2 = {
    "relation": "cross",
    "program": "full",
    "cells": [{"query": q, "key": 2, "visible": False} for q in range(40)],
}


def masks(*several: dict[str, Any]) -> Change:
    return Change(fields={"masks": list(several)})


def phrase() -> dict[str, Any]:
    return {"requests": [{"source": ["the", "black", "cat", "sleeps"], "target": ["le", "chat", "noir", "dort"]}]}


def measured(engine: Engine, name: str) -> Check:
    events = do(engine, Analyse(name=name))
    return next(c for c in of(events, Checked)[-1].checks if c.id == name)


SOURCES = [{"source": ["the", "black", "cat"]}, {"source": ["thank", "you"], "target": ["merci"]}]


def edits(*several: dict[str, Any]) -> Change:
    return Change(fields={"edits": list(several)})


def value(engine: Engine, path: str, side: str = "value") -> np.ndarray:
    """What is recorded at a tap for the first request, all rows."""
    watch = (Selector.model_validate({"path": path, "side": side, "index": {"b": 0}, "dtype": "f32"}),)
    return numbers(engine.keyframe(watch).pieces[0].array)[0]


def logits(engine: Engine, request: int = 0) -> np.ndarray:
    array = engine.moved(()).requests[request].logits
    assert array is not None
    return numbers(array)


@contextmanager
def counted(engine: Engine) -> Iterator[list[int]]:
    """How many model calls happen inside."""
    calls = [0]

    def count(*_: object) -> None:
        calls[0] += 1

    hook = engine.learner.model.register_forward_hook(count)
    yield calls
    hook.remove()
