"""Under RoPE a score depends on how far two rows are apart, not on where they stand: all rows are moved on by the same number.

q_i R_i and k_j R_j are turned again for row numbers i + D and j + D, with the rates of this call, and their scores are compared
(Su et al. 2021, arXiv 2104.09864, section 3.2.2; 002, R_t^T R_s = R_(s-t)). In fp64, so that large row numbers do not round.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from app.session import checks
from app.session.analyses import Result, Run, known
from app.session.checks_parts import OFFSET, OFFSET_CLAIM
from app.session.events import Check, Status
from models.parts.attention import Attention
from models.parts.places import Rotary

NAME = OFFSET
TITLE = "Rotated scores depend on the offset alone"
ARGUMENTS: dict[str, str] = {}
MOVES = (1, 10, 100, 1000)


def run(run: Run, arguments: dict[str, Any]) -> Iterator[float | Check | Result]:
    """Largest change of any score of any rotated read of this moment's rows, by how far all rows were moved."""
    reads = {n: m for n, m in run.model.named_modules() if isinstance(m, Attention) and isinstance(m.place, Rotary)}
    if not reads or run.place.phase == "train":
        reason = (
            "no read turns queries and keys" if not reads else "it is measured on the rows of a request, in prefill and decode"
        )
        yield Check(NAME, OFFSET_CLAIM, "does_not_apply", "", "measured", reason)
        yield Result({"by_move": []})
        return
    tape, by_move = known(run).records, [0.0] * len(MOVES)
    for done, (scope, module) in enumerate(reads.items()):
        kept = "keys" if f"{scope}.keys" in tape else "k"  # an encoder keeps none: those of this call
        q, keys, rates = (tape[f"{scope}.{n}"].value.double() for n in ("q", kept, "rates"))
        rows = torch.arange(q.shape[2])[None, :, None]
        place = module.place
        assert isinstance(place, Rotary)
        plain, *moved = (_scores(place, q, keys, (rows + move) * rates[:, None]) for move in (0, *MOVES))
        by_move = [max(worst, float((m - plain).abs().max())) for worst, m in zip(by_move, moved, strict=True)]
        yield (done + 1) / len(reads)
    status: Status = "pass" if max(by_move) <= checks.TOLERANCE else "fail"
    yield Check(NAME, OFFSET_CLAIM, status, f"max |Δs| {checks.small(max(by_move))}", "measured")
    yield Result({"moves": list(MOVES), "by_move": by_move})


def _scores(place: Rotary, q: torch.Tensor, keys: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
    return place.turned(q, angles) @ place.turned(keys, angles).transpose(-1, -2)
