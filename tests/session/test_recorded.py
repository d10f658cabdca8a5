"""The runs that the page's tests read are what the engine says now; else: `python -m tests.assets.recorded.make`."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Iterator

import pytest

from app.server import wire
from app.session.events import Event, Moved
from tests.assets.recorded import make


def kept(name: str) -> Iterator[Event]:
    whole = gzip.decompress((make.HERE / f"{name}.run.gz").read_bytes())
    at = 0
    while at < len(whole):
        (size,) = struct.unpack_from("<I", whole, at)
        yield wire.decode(whole[at + 4 : at + 4 + size]).event
        at += 4 + size


def story(events: Iterator[Event]) -> list[object]:
    moments = [e for e in events if isinstance(e, Moved)]
    return [(m.phase, m.step, m.stage, [s.ops for s in m.stages], [(r.target, r.choice) for r in m.requests]) for m in moments]


@pytest.mark.parametrize("name", make.RUNS)
def test_a_recorded_run_tells_what_the_engine_tells(name: str) -> None:
    assert story(kept(name)) == story(event for event, _ in make.frames(name))
