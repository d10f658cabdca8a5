"""`python -m bench` runs every benchmark and prints one table; `python -m bench NAME ...` runs some."""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch

from bench import click_to_painted, frames, load, memory, recording
from bench.report import Line, table

BENCHMARKS: dict[str, Callable[[], list[Line]]] = {
    "click_to_painted": click_to_painted.measure,
    "recording": recording.measure,
    "frames": frames.measure,
    "load": load.measure,
    "memory": memory.measure,
}


def main(names: list[str]) -> int:
    """A target that is missed is no failure of the benchmark: the table says it."""
    unknown = [n for n in names if n not in BENCHMARKS]
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}; allowed: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    lines: list[Line] = []
    for name in names or BENCHMARKS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        lines += BENCHMARKS[name]()
    print(table(lines))
    return 0


sys.exit(main(sys.argv[1:]))
