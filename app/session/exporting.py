"""A run that is taken away: its way is walked again in an engine of its own, so that the session goes on meanwhile.

Both functions are generators of (moments done, moments in all), so that whoever pulls them decides the pace and can stop. They
write to `out` and raise `Refused` where the run is larger than one file may be.
"""

from __future__ import annotations

import gzip
import io
import struct
import tempfile
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import IO, Any

import torch

from app.session import checks
from app.session.commands import COMMANDS, Analyse, Go, Selector, Share
from app.session.engine import Engine
from app.session.events import Checked, Event, History, Opened, Problem, Refused
from app.session.headless import EVERYTHING, Recording
from app.session.services import Encode
from app.session.timeline import Moment

LARGEST_RECORDING = 256 << 20  # bytes of tensors
LARGEST_REPLAY = 24 << 20  # bytes, packed
MEASURED = 64  # rows up to which checks that need further model calls are in a replay
NAME = "recording"  # of the session in a replay: the true one would let its reader into the session
# What a replay holds: every value as 16-bit floats. A gradient comes whole for scores (a map shows it), else as its norm: its
# small rows would be lost in 16 bits, and all of it would be half of the file. Parameters come once, so in training not at all.
READS = (Selector(path="*"), Selector(path="*", side="unedited"))
PARAMETERS = (Selector(path="parameter.*"),)
GRADIENTS = (
    Selector(path="*", side="gradient", dtype="f32", reduce="norm"),
    Selector(path="*.scores", side="gradient", dtype="f32"),
)

Pages = Callable[[bool], tuple[bytes, bytes]]  # (with charts) -> what stands before and after the packed run
Steps = Iterator[tuple[int, int]]


def recording(data: bytes, device: torch.device, whole: bool, out: IO[bytes]) -> Steps:
    """What was recorded at the moment where the run stands, or (`whole`) on the way to it, as `lookback run --out` writes it."""
    engine = Engine.restore(data, device)
    with tempfile.TemporaryFile() as scratch:
        kept = Recording(scratch)
        if whole:
            path = [*engine.timeline.path()][::-1]
            for done, events in enumerate(_walk(engine, path, EVERYTHING), 1):
                kept.take(events)
                _fits(scratch.tell(), LARGEST_RECORDING, done, len(path), "this moment alone")
                yield done, len(path)
        else:
            kept.take(iter((*engine.describe(), engine.keyframe(EVERYTHING))))
            _fits(scratch.tell(), LARGEST_RECORDING, 1, 1, "shorter inputs")
            yield 1, 1
        kept.write(engine.scenario.model_dump_json(), out)


def replay(data: bytes, device: torch.device, encode: Encode, pages: Pages, view: dict[str, Any], out: IO[bytes]) -> Steps:
    """A page that plays this run without a server: the way to the moment where it stands and on along the newest branch.

    The run lies in it as docs/wire.md describes a saved run, packed by gzip, as base64.
    """
    engine = Engine.restore(data, device)
    shared, path = engine.share(Share(view=view)), _way(engine)
    history = History(tuple(engine.timeline.node(m) for m in path), engine.timeline.at)
    trains = any(m.place.phase == "train" for m in path)
    before, after = pages(trains)
    out.write(before)
    text = _Base64(out)
    with gzip.GzipFile(fileobj=text, mode="wb", compresslevel=6, mtime=0, filename="") as packed:

        def put(event: Event) -> None:
            frame = encode(event, NAME, 1, 0)
            packed.write(struct.pack("<I", len(frame)) + frame)

        put(shared)
        for done, events in enumerate(_bounded_walk(engine, path, (*READS, *(GRADIENTS if trains else ())), text), 1):
            for event in events:
                put(_standing(event, history, view))
            for checked in _measured(engine):
                put(checked)
            if done == 1 and not trains:
                put(replace(engine.keyframe(PARAMETERS), keyframe=False))
            packed.flush()  # so that its size is known
            _fits(text.size, LARGEST_REPLAY, done, len(path), "the scenario file")
            yield done, len(path)
    text.end()
    out.write(after)


def _bounded_walk(engine: Engine, path: Sequence[Moment], watch: Sequence[Selector], text: _Base64) -> Iterator[Iterator[Event]]:
    """As `_walk`; where all moments would take more than a replay may, the earlier ones come without values, which an empty
    keyframe says. The first two come whole: by the second the others are measured."""
    sizes: list[int] = []

    def fits(i: int) -> bool:
        left = LARGEST_REPLAY - text.size - (64 << 10)
        return i < 2 or (len(path) - i) * max(sizes[1:]) < left

    hole = False
    for i, moment in enumerate(path):
        before, whole = text.size, fits(i)
        events = _arrival(engine, moment, watch if whole and not hole else (), first=i == 0)
        if hole or not whole:
            events = chain(events, _values(engine, watch if whole else ()))
        yield events
        hole = not whole
        if whole:
            sizes.append(text.size - before)


def _measured(engine: Engine) -> Iterator[Event]:
    """The checks that a page would measure by itself when the run rests: no recording can do it later."""
    rows = sum(len(r.target) + len(r.source or ()) for r in engine.moved(()).requests)
    pending = (
        [c.id for c in engine.checked().checks if c.status == "pending" and c.id not in checks.ASKED] if rows <= MEASURED else []
    )
    for name in pending:
        yield from (e for e in engine.run(Analyse(name=name)) if isinstance(e, Checked))


def _values(engine: Engine, watch: Sequence[Selector]) -> Iterator[Event]:
    """A keyframe, made when it is asked for."""
    yield engine.keyframe(watch)


def _way(engine: Engine) -> list[Moment]:
    """From the start to here, and on to where the newest branch ends."""
    found = [*engine.timeline.path()][::-1]
    while found[-1].children:
        found.append(engine.timeline.moments[max(found[-1].children.values())])
    return found


def _walk(engine: Engine, path: Sequence[Moment], watch: Sequence[Selector]) -> Iterator[Iterator[Event]]:
    """What is said at each moment of a path from the start. Each iterator must be used up before the next."""
    for i, moment in enumerate(path):
        yield _arrival(engine, moment, watch, first=i == 0)


def _arrival(engine: Engine, moment: Moment, watch: Sequence[Selector], *, first: bool) -> Iterator[Event]:
    """To a moment whose parent the engine stands at, by the command that led there; to the first from anywhere."""
    if first:
        for _ in engine.run(Go(moment=moment.id)):
            pass
        yield from (*engine.describe(), engine.keyframe(watch), *engine.warnings())
        return
    yield from engine.run(COMMANDS.validate_json(moment.command), watch)
    if engine.timeline.at != moment.id:
        raise RuntimeError(f"moment {moment.id} was not reached again: the run stands at {engine.timeline.at}")


def _standing(event: Event, history: History, view: dict[str, Any]) -> Event:
    """The tree of a replay has only what it holds; it begins where the run stood, with the view of that time."""
    match event:
        case History():
            return history
        case Opened():
            return replace(event, view=view)
        case _:
            return event


def _fits(size: int, largest: int, done: int, of: int, instead: str) -> None:
    if size > largest:
        given, allowed = f"{done} of {of} moments take {size >> 20} MiB", f"at most {largest >> 20} MiB"
        message = f"This run is too large for one file: {given}; allowed: {allowed}. Save {instead} instead."
        raise Refused(Problem("file", given, allowed, message))


class _Base64(io.RawIOBase):
    """Writes to another file as base64. size: bytes that were given."""

    def __init__(self, out: IO[bytes]) -> None:
        self.size = 0
        self._out = out
        self._rest = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.size += len(data)
        given = self._rest + bytes(data)
        whole = len(given) - len(given) % 3
        self._out.write(b64encode(given[:whole]))
        self._rest = given[whole:]
        return len(data)

    def end(self) -> None:
        self._out.write(b64encode(self._rest))
