"""The reads of this moment in both exact forms, tile by tile and as one matrix: the same outputs, and what is kept on the way.

The running maximum, sum and output of one row after each tile of keys, and the largest difference between the two. Where the
model itself runs in tiles, those are its own, and the same weights run once more as one matrix, logits included.
Source: `models/parts/tiles.py`; 000 0x00E, 0x07I.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from app.session import checks, weights
from app.session.analyses import Result, Run, known, whole
from app.session.events import Check, Refused, Status
from models.parts.tap import Recorder
from models.parts.tape import Record, Tape
from models.parts.tiles import tiled
from models.parts.tiles import whole as scored

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
KEPT = ("maximum", "sum", "running")
# The other form of a read: its output, how far the logits that follow are apart (where they do), and what is kept by tile.
Other = tuple[Tensor, float | None, dict[str, Record]]


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """Of one read: the largest difference over all rows and heads; of one of its rows what was kept after each tile."""
    own = _own(run)
    tile = own or whole(arguments, "tile", 1, LARGEST, 4)
    path, tape = _read(run, arguments.get("path"))
    scores, values, mask, mixed = _of(tape, path)
    b = whole(arguments, "request", 0, len(scores) - 1, 0)
    head, row = (whole(arguments, n, 0, scores.shape[i] - 1, 0) for n, i in (("head", 1), ("row", 2)))
    yield 0.5
    other, logits, kept = _as_one_matrix(run, tape, path) if own else _in_tiles(scores, values, mask, tile)
    real = mask.any(-1)[:, None].expand(mixed.shape[:3])
    off = float((other - mixed).abs()[real].max())
    status: Status = "pass" if off <= checks.TOLERANCE else "fail"
    yield Check(NAME, CLAIM, status, f"max |Δ| {checks.small(off)}", "measured")
    queries, keys = scores.shape[2], scores.shape[3]
    yield Result(
        {
            "path": path,
            "tile": tile,
            "request": b,
            "head": head,
            "row": row,
            "largest": off,
            "logits": logits,
            "own": bool(own),
            "tiles": [_after(kept, b, head, i, row) for i in range(-(-keys // tile))],
            "dense": queries * keys,
            "tiled": min(tile, queries) * min(tile, keys),
            "rows": queries,
            "keys": keys,
            "width": values.shape[3],
        }
    )


def _read(run: Run, path: Any) -> tuple[str, Tape]:
    """The path of a read and what this moment records of it. Raises `Refused` where there is no such read."""
    if run.place.phase == "train":
        message = "Tiles are measured on the rows of a request: step in prefill or decode."
        raise Refused.one("name", NAME, "prefill or decode", message)
    tape = known(run)
    reads = [p.removesuffix(".scores") for p, r in tape.records.items() if r.type == "scores" and _is_read(tape, p)]
    if path not in reads:
        allowed = ", ".join(reads) or "none: this model mixes no values by a softmax over scores"
        raise Refused.one("arguments.path", path, allowed, f"path was given {path!r}; allowed: {allowed}")
    return path, tape


def _own(run: Run) -> int:
    """Rows and keys of a tile of the model itself; 0: it reads in one matrix."""
    config = run.place.scenario.config
    return int(config["tile"]) if config.get("mask_enters") == "tiles" else 0


def _dense(run: Run) -> nn.Module:
    """The same parameters, every read one matrix."""
    scenario = run.place.scenario
    twin = scenario.model_copy(update={"config": {**scenario.config, "mask_enters": "additive"}, "weights": "random"})
    model, _ = weights.build(twin, run.device)
    mine = dict(run.model.named_parameters())
    for name, parameter in model.named_parameters():
        parameter.data = mine[name].data
    return model


def _as_one_matrix(run: Run, tape: Tape, path: str) -> Other:
    """Where the model itself runs in tiles."""
    dense = known(replace(run, model=_dense(run)))
    logits = tape.records["logits"].value - dense.records["logits"].value
    return dense.records[f"{path}.mixed"].value, float(logits.abs().max()), {n: tape.records[f"{path}.tile.{n}"] for n in KEPT}


def _in_tiles(scores: Tensor, values: Tensor, mask: Tensor, tile: int) -> Other:
    """Where the model runs as one matrix."""
    recorder = Recorder()
    mixed = tiled(scored(scores), values, mask, tile, recorder).mixed
    return mixed, None, recorder.tape.finish().records


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


def _after(kept: dict[str, Record], b: int, head: int, number: int, row: int) -> dict[str, Any]:
    """Axes of a tape: b h i t."""
    largest, total, running = (kept[n].value[b, head, number, row] for n in KEPT)
    return {"maximum": float(largest), "sum": float(total), "output": running.tolist()}
