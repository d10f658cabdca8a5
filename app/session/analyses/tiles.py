"""The reads of this moment once more, tile by tile: the same outputs, and what is kept on the way.

The running maximum, sum and output of one row after each tile of keys, and the largest difference to what the model computed in
one matrix. Source: `models/parts/tiles.py`; 000 0x00E, 0x07I.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import Tensor

from app.session import checks
from app.session.analyses import Result, Run, known, whole
from app.session.events import Check, Refused, Status
from models.parts.tap import Recorder, Tape
from models.parts.tiles import tiled

NAME = "tiles"
TITLE = "The same read, tile by tile"
CLAIM = "tiles give the dense read"
ARGUMENTS = {
    "path": "the path of a read, such as decoder.layer0.self",
    "tile": "rows and keys of a tile, from 1 to 512",
    "request": "a request, from 0",
    "head": "a head, from 0",
    "row": "a query row, from 0",
}
LARGEST = 512


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """Of one read: the largest difference over all rows and heads; of one of its rows what was kept after each tile."""
    path, tile = arguments.get("path"), whole(arguments, "tile", 1, LARGEST, 4)
    if run.place.phase == "train":
        raise Refused.one(
            "name", NAME, "prefill or decode", "Tiles are measured on the rows of a request: step in prefill or decode."
        )
    tape = known(run)
    reads = [p.removesuffix(".scores") for p, r in tape.records.items() if r.type == "scores" and _is_read(tape, p)]
    if path not in reads:
        allowed = ", ".join(reads) or "none: this model mixes no values by a softmax over scores"
        raise Refused.one("arguments.path", path, allowed, f"path was given {path!r}; allowed: {allowed}")
    scores, values, mask, mixed = _of(tape, path)
    b = whole(arguments, "request", 0, len(scores) - 1, 0)
    head, row = (whole(arguments, n, 0, scores.shape[i] - 1, 0) for n, i in (("head", 1), ("row", 2)))
    recorder = Recorder()
    output = tiled(scores, values, mask, tile, recorder)
    real = mask.any(-1)[:, None].expand(mixed.shape[:3])
    off = float((output - mixed).abs()[real].max())
    status: Status = "pass" if off <= checks.TOLERANCE else "fail"
    yield Check(NAME, CLAIM, status, f"max |Δ| {checks.small(off)}", "measured")
    kept, queries, keys = recorder.tape.finish().records, scores.shape[2], scores.shape[3]
    yield Result(
        {
            "path": path,
            "tile": tile,
            "request": b,
            "head": head,
            "row": row,
            "largest": off,
            "tiles": [_after(kept, b, head, i, row) for i in range(-(-keys // tile))],
            "dense": queries * keys,
            "tiled": min(tile, queries) * min(tile, keys),
            "rows": queries,
            "keys": keys,
            "width": values.shape[3],
        }
    )


def _is_read(tape: Tape, path: str) -> bool:
    """Scores whose weights mix values of the same scope, by a softmax with an additive mask."""
    scope = path.removesuffix(".scores")
    there = tape.records.keys() >= {f"{scope}.{n}" for n in ("weights", "v", "mask", "mixed")}
    own = {f"{scope}.{n}" for n in ("spread", "v_global")}  # such a read is cut another way, or mixes values of two kinds
    return there and not own & tape.records.keys()


def _of(tape: Tape, path: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    values = tape.records.get(f"{path}.values") or tape.records[f"{path}.v"]  # what is kept, or made in this call
    scores, mask, mixed = (tape.records[f"{path}.{n}"].value for n in ("scores", "mask", "mixed"))
    return scores, values.value, mask, mixed


def _after(kept: Any, b: int, head: int, number: int, row: int) -> dict[str, Any]:
    """Axes of a tape: b h k t."""
    largest, total, running = (kept[n].value[b, head, number, row] for n in ("maximum", "sum", "running"))
    return {"maximum": float(largest), "sum": float(total), "output": running.tolist()}
