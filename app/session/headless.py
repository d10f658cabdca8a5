"""A run without a page: so many steps, and everything that was recorded as one safetensors file.

The file's metadata holds `scenario` (JSON) and `tensors` (JSON): by tensor name its path, axes, owner, type, side (value,
unedited or gradient), phase, step, and start, which places its rows as in docs/wire.md. The first tensors belong to the moment at
which the run opened.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from typing import IO, Any

import torch

from app.session.commands import Open, Selector, Step
from app.session.engine import Engine
from app.session.events import Event, Moved, Problem, Refused, Schema, TapInfo, Values
from app.session.shown import Piece

EVERYTHING = (
    Selector(path="*", dtype="f32"),
    Selector(path="*", side="unedited", dtype="f32"),
    Selector(path="*", side="gradient", dtype="f32"),
)
LARGEST_HEADER = 90_000_000  # bytes; a safetensors reader refuses a header above 100 MB


def run(opening: Open, steps: int, out: IO[bytes]) -> tuple[int, int]:
    """Open, step, and write. Returns (steps done, tensors written); a run that ends earlier is not stepped further.

    Raises `Refused` where the scenario is, or where so many steps record more than one file can describe.
    """
    engine = Engine(torch.device("cpu"))
    with tempfile.TemporaryFile() as data:
        recording = Recording(data)
        recording.take(engine.run(opening, EVERYTHING))
        done = 0
        while done < steps and not engine.ended:
            recording.take(engine.run(Step(), EVERYTHING))
            done += 1
        recording.write(engine.scenario.model_dump_json(), out)
    return done, len(recording.tensors)


class Recording:
    """Collects values as they come: bytes go to a scratch file, so memory stays small however long the run."""

    def __init__(self, data: IO[bytes]) -> None:
        self.data = data
        self.taps: dict[str, TapInfo] = {}
        self.tensors: dict[str, dict[str, Any]] = {}
        self.header: dict[str, Any] = {}
        self._at: Moved | None = None
        self._size = 0

    def take(self, events: Iterator[Event]) -> None:
        for event in events:
            match event:
                case Schema():
                    self.taps |= {tap.path: tap for tap in event.taps}
                case Moved():
                    self._at = event
                case Values():
                    for piece in event.pieces:
                        self._keep(piece)
                case _:
                    pass

    def _keep(self, piece: Piece) -> None:
        assert self._at is not None
        tap, array = self.taps[piece.path], piece.array
        described = {
            "path": piece.path,
            "axes": list(piece.axes),
            "owner": tap.owner,
            "type": tap.type,
            "side": piece.side,
            "phase": self._at.phase,
            "step": self._at.step,
            "start": piece.start,
        }
        name = self._name(described)
        self.tensors[name] = described
        begin = self.data.tell()
        self.data.write(array.data)
        self.header[name] = {"dtype": array.dtype, "shape": list(array.shape), "data_offsets": [begin, self.data.tell()]}
        self._size += 2 * len(name) + len(json.dumps(json.dumps(described))) + len(json.dumps(self.header[name]))
        if self._size > LARGEST_HEADER:
            many = f"{len(self.tensors)} tensors up to step {self._at.step}"
            message = f"{many} are more than one file can describe; ask for fewer steps."
            raise Refused(Problem("steps", self._at.step, "fewer steps", message))

    def _name(self, described: dict[str, Any]) -> str:
        """For example "decode.3/decoder.layer0.self.weights"; a gradient, a single request or a second part say so at the end."""
        name = f"{described['phase']}.{described['step']}/{described['path']}"
        name += "" if described["side"] == "value" else f".{described['side']}"
        name += f".b{described['start']['b']}" if "b" in described["start"] else ""
        same = sum(1 for _ in self._alike(name))
        return f"{name}.part{same + 1}" if same else name

    def _alike(self, name: str) -> Iterator[str]:
        found, number = name, 1
        while found in self.tensors:
            yield found
            number += 1
            found = f"{name}.part{number}"

    def write(self, scenario: str, out: IO[bytes]) -> None:
        """The whole file: length, header, tensors."""
        text = {"scenario": scenario, "tensors": json.dumps(self.tensors)}
        header = json.dumps({"__metadata__": text, **self.header}).encode()
        header += b" " * (-len(header) % 8)
        out.write(len(header).to_bytes(8, "little") + header)
        self.data.seek(0)
        shutil.copyfileobj(self.data, out)
