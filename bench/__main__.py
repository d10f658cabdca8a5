"""`python -m bench` runs every benchmark and prints one table; `python -m bench NAME ...` runs some; `--readme` puts it there."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import torch

from bench import (
    band,
    click_to_painted,
    comparing,
    first_load,
    following,
    frames,
    large_map,
    load,
    memory,
    recording,
    recurrent,
    state_spaces,
    switching,
    trainings,
)
from bench.report import Line, table

BENCHMARKS: dict[str, Callable[[], list[Line]]] = {
    "click_to_painted": click_to_painted.measure,
    "comparing": comparing.measure,
    "first_load": first_load.measure,
    "recording": recording.measure,
    "frames": frames.measure,
    "large_map": large_map.measure,
    "load": load.measure,
    "following": following.measure,
    "memory": memory.measure,
    "band": band.measure,
    "recurrent": recurrent.measure,
    "switching": switching.measure,
    "state_spaces": state_spaces.measure,
    "trainings": trainings.measure,
}


def main(names: list[str]) -> int:
    """A target that is missed is no failure of the benchmark: the table says it."""
    readme = "--readme" in names
    names = [n for n in names if n != "--readme"]
    unknown = [n for n in names if n not in BENCHMARKS]
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}; allowed: {', '.join(BENCHMARKS)}, --readme", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    lines: list[Line] = []
    for name in names or BENCHMARKS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        lines += BENCHMARKS[name]()
    print(table(lines))
    if readme:
        _put(Path(__file__).parents[1] / "README.md", table(lines))
    return 0


def _put(file: Path, text: str) -> None:
    """Between the two marks that the file has for it."""
    begin, end = "<!-- bench:begin -->", "<!-- bench:end -->"
    file.write_text(re.sub(f"{begin}.*{end}", lambda _: f"{begin}\n{text}\n{end}", file.read_text(), flags=re.DOTALL))


sys.exit(main(sys.argv[1:]))
