"""A window as a band and as one masked matrix: time and memory of a read of 2048 rows, window 32, with one global row."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path

import torch

from bench.recording import cpu_ms
from bench.report import Line
from models.parts.band import Projected, Window, banded, bound, dense, edges
from models.parts.visibility import Visibility

ROWS, WINDOW = 2048, Window(16, 1, (0,))  # 16 rows to each side: a window of 32
TIMES = 15


@torch.no_grad()
def measure(times: int = TIMES) -> list[Line]:
    made = torch.Generator().manual_seed(7)
    x = Projected(*(torch.randn(1, 4, ROWS, 16, generator=made) for _ in range(3)))
    valid = torch.ones(1, ROWS, dtype=torch.bool)
    mask = Visibility("sliding", WINDOW.radius, global_rows=WINDOW.rows).dense(ROWS, ROWS)[None]
    forms = [lambda: banded(x, WINDOW, valid), lambda: dense(x, mask)]
    off = float((forms[0]() - forms[1]()).abs().max())
    if off > 1e-6:
        raise RuntimeError(f"the band differs from the dense masked form by {off}")
    band, whole = cpu_ms(forms, times)
    small, large = (peak(form) for form in forms)
    open_ = f"{edges(WINDOW, ROWS):,} cells of {ROWS * ROWS:,} (bound {bound(WINDOW, ROWS):,}); they differ by {off:.0e}"
    what = f"A read of {ROWS} rows, window 32, one global row, as a band: "
    return [
        Line(f"{what}time to the dense masked form's", "≤ 0.25", f"{band:.1f} to {whole:.1f} ms; {open_}", band / whole, 0.25),
        Line(f"{what}memory to the dense masked form's", "≤ 0.25", f"{small:.1f} to {large:.1f} MB at most", small / large, 0.25),
    ]


def peak(form: Callable[[], object]) -> float:
    """How much this process grows while it computes, at most, in MB. Linux says it, and begins anew where it is asked to; what
    was freed before is given back first, or it would be used again unseen."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    form()
    return (_status("VmHWM") - before) / 1e3


def _status(field: str) -> int:
    """In kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1])
