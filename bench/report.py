"""What a benchmark reports: one line a target, and the Markdown table of them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """what: the target in words. measured: the numbers behind it. ratio: what the target bounds, `allowed`: its bound."""

    what: str
    target: str
    measured: str
    ratio: float
    allowed: float

    @property
    def met(self) -> bool:
        return self.ratio <= self.allowed


def table(lines: Iterable[Line]) -> str:
    head = ["| | target | measured | ratio | |", "|---|---|---|---|---|"]
    rows = [f"| {x.what} | {x.target} | {x.measured} | {x.ratio:.3g} | {'met' if x.met else 'MISSED'} |" for x in lines]
    return "\n".join([*head, *rows])


def percentile(values: Sequence[float], percent: int) -> float:
    """The value that `percent` of 100 do not exceed, interpolated."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def p50_p95(values: Sequence[float]) -> str:
    return f"{percentile(values, 50):.1f}/{percentile(values, 95):.1f} ms"
