"""Schedules of linear recurrences against each other; what one further row costs from row 64 to row 4096, in four families."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from bench.recording import cpu_ms
from bench.report import Line
from models import Inputs, Rows, State, convolution, mamba, s4, transformer
from models.parts import linear_system
from models.parts.scan import loop, scan
from models.parts.tap import OFF

SCANNED, CONVOLVED = 256, 1024  # rows
POSITIONS = (64, 512, 1024, 2048, 3072, 4096)
WORDS, CHUNK = 64, 256


def measure(times: int = 15) -> list[Line]:
    return [_scan(times), _convolution(times), *_decode(times)]


def _scan(times: int) -> Line:
    """Forward and backward of the states of one block: 64 channels, 8 numbers each, one request."""
    torch.manual_seed(7)
    a, w = (torch.rand(1, SCANNED, 64, 8, requires_grad=True) for _ in range(2))
    before, gradient = torch.zeros(1, 64, 8), torch.randn(1, SCANNED, 64, 8)

    def both(run: Callable[..., Tensor]) -> Callable[[], object]:
        def once() -> None:
            a.grad = w.grad = None
            run(a, w, before, OFF, "b t f n").backward(gradient)

        return once

    fast, slow = cpu_ms((both(scan), both(loop)), 2 * times)
    off = float((scan(a, w, before, OFF, "b t f n") - loop(a, w, before, OFF, "b t f n")).detach().abs().max())
    what = f"Mamba’s states of {SCANNED} rows, forward and backward: parallel scan to a Python loop"
    return Line(what, "≤ 0.25", f"{fast:.1f} to {slow:.1f} ms; they differ by {off:.0e}", fast / slow, 0.25)


@torch.no_grad()
def _convolution(times: int) -> Line:
    torch.manual_seed(7)
    system = linear_system.System(64, 16, "legs", (1e-3, 1e-1))
    u, before = torch.randn(1, CONVOLVED, 64), torch.zeros(1, 64, 16)
    rows = Rows(u[..., 0], torch.tensor([CONVOLVED]))
    runs = (linear_system.convolution, linear_system.recurrence)
    fast, slow = cpu_ms([lambda run=run: run(system, u, rows, before, OFF, "t") for run in runs], times)  # type: ignore[misc]
    off = float((runs[0](system, u, rows, before, OFF, "t")[0] - runs[1](system, u, rows, before, OFF, "t")[0]).abs().max())
    what = f"S4 over {CONVOLVED} rows: convolution to recurrence"
    return Line(what, "≤ 0.2", f"{fast:.1f} to {slow:.1f} ms; they differ by {off:.0e}", fast / slow, 0.2)


class Counting(TorchDispatchMode):
    """Counts the numbers that every operation makes: work that is the same on every machine."""

    def __init__(self) -> None:
        super().__init__()
        self.made = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        self.made += sum(t.numel() for t in (found if isinstance(found, tuple | list) else [found]) if isinstance(t, Tensor))
        return found


@dataclass(frozen=True)
class Costs:
    """Of one further row at each of `POSITIONS`: numbers made, and CPU milliseconds."""

    made: list[int]
    ms: list[float]

    @property
    def said(self) -> str:
        """First and last, and how much more each 1000 rows cost (least squares)."""
        made, ms = (statistics.linear_regression(POSITIONS, values).slope * 1000 for values in (self.made, self.ms))
        counted = f"{self.made[0]:,} to {self.made[-1]:,} numbers ({made:+,.0f} each 1000 rows)"
        return f"{counted}; {self.ms[0]:.2f} to {self.ms[-1]:.2f} ms ({ms:+.3f} each 1000 rows)"


def _decode(times: int) -> Iterator[Line]:
    """Rows 64 to 4096: the families that carry a state of one size stay flat, attention over a cache grows."""
    rows = f"One further row at row {POSITIONS[-1]} to row {POSITIONS[0]}"
    for name, build in _flat().items():
        costs = cost(build(), times)
        yield Line(f"{rows}, {name}: numbers made", "≤ 1", costs.said, costs.made[-1] / costs.made[0], 1.0)
    with _long_attention():
        costs = cost(transformer.DecoderOnly(transformer.DecoderOnlyConfig(position="rope"), WORDS), times)
    shown = f"{rows}, attention over its cache: numbers made, which grow (row {POSITIONS[0]} to row {POSITIONS[-1]})"
    yield Line(shown, "≤ 0.5", costs.said, costs.made[0] / costs.made[-1], 0.5)


def _flat() -> dict[str, Callable[[], nn.Module]]:
    return {
        "S4": lambda: s4.S4(s4.Config(), WORDS),
        "Mamba": lambda: mamba.Mamba(mamba.Config(), WORDS),
        "convolution": lambda: convolution.SPEC.build(convolution.Config(), None, WORDS),
    }


@contextmanager
def _long_attention() -> Iterator[None]:
    """The decoder holds as many rows as are measured here; on the page it holds fewer."""
    before = transformer.ALONE_ROWS
    transformer.ALONE_ROWS = POSITIONS[-1] + 1
    try:
        yield
    finally:
        transformer.ALONE_ROWS = before


@torch.no_grad()
def cost(model: nn.Module, times: int) -> Costs:
    """What one more row costs once so many are known; each step is done anew from the same state, which is a value."""
    made = torch.Generator().manual_seed(7)
    state: State = model.eval().initial_state(1)  # type: ignore[operator]
    known, steps, counted = 0, [], list[int]()
    for position in POSITIONS:
        while known < position:
            size = min(CHUNK, position - known)
            known += size
            _, state = model(Inputs(_rows(size, made)), state, OFF)
        one = Inputs(_rows(1, made))
        steps.append(lambda one=one, state=state: model(one, state, OFF))
        with Counting() as counting:
            steps[-1]()
        counted.append(counting.made)
    return Costs(counted, cpu_ms(steps, times))


def _rows(count: int, made: torch.Generator) -> Rows:
    return Rows(torch.randint(4, WORDS, (1, count), generator=made), torch.tensor([count]))
