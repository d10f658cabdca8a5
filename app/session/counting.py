"""Counting what a pass does, from the pass itself: products by operation, steps that wait for each other, the time.

Work is multiply-accumulates of matrix products and convolutions, half of what torch's own `FlopCounterMode` counts of the shapes
that really met; what is done element by element is not counted, there or here. A value that is tapped was computed since the tap
before it: so the work between two taps belongs to the operation of the second.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from models.parts.tap import Tap
from models.parts.tape import SemanticType

LAYER = re.compile(r"^(.*?)\.?layer(\d+)\b")
TIMES = 5


@dataclass
class Counted:
    """macs: by operation, in the order of the pass. loops: steps by the scope that they are made in."""

    macs: dict[str, int] = field(default_factory=dict)
    loops: dict[str, set[int]] = field(default_factory=dict)
    layers: set[str] = field(default_factory=set)

    @property
    def total(self) -> int:
        return sum(self.macs.values())

    @property
    def sequential(self) -> int:
        """The fewest steps one after the other: layers that wait for layers, and in a loop rows that wait for rows. Layers of one
        loop may work at different rows at once (a wave), so that L layers over n rows take n + L - 1 steps."""
        stacks = {_stack(scope) for scope in (*self.layers, *self.loops)}
        return max(1, sum(self._steps(stack) for stack in stacks))

    def _steps(self, stack: str) -> int:
        inside = [steps for scope, steps in self.loops.items() if _stack(scope) == stack]
        layers = len({s for s in self.layers if _stack(s) == stack})
        return max((len(s) for s in inside), default=0) + max(0, layers - 1) if inside else layers


def _stack(scope: str) -> str:
    """What layers stand in: "decoder" of "decoder.layer0.self"."""
    found = LAYER.match(scope)
    return found[1] if found else scope.split(".")[0]


class Counting:
    """A tap that counts, and passes on. `counter`: the mode that the pass runs under."""

    def __init__(self, counted: Counted, counter: FlopCounterMode, prefix: str = "", step: int | None = None) -> None:
        self._counted, self._counter, self._prefix, self._step = counted, counter, prefix, step

    def __call__(self, name: str, value: Tensor, axes: str, type: SemanticType = "hidden") -> Tensor:
        scope = self._prefix.rstrip(".") or name
        new = self._counter.get_total_flops() // 2 - self._counted.total
        if new:
            self._counted.macs[scope] = self._counted.macs.get(scope, 0) + new
        if found := LAYER.match(scope):
            self._counted.layers.add(found[0])
        if self._step is not None:
            self._counted.loops.setdefault(scope, set()).add(self._step)
        return value

    def __truediv__(self, name: str) -> Counting:
        return Counting(self._counted, self._counter, f"{self._prefix}{name}.", self._step)

    def at(self, axis: str, index: int) -> Counting:
        step = self._step if axis in ("i", "j") else index  # tiles can be joined in any order: none waits for another
        return Counting(self._counted, self._counter, self._prefix, step)

    def show(self, name: str, make: Callable[[], Tensor], axes: str, type: SemanticType = "hidden") -> None:
        """What is made for who looks is no work of the model."""


def count(call: Callable[[Tap], object]) -> Counted:
    """One pass, `call(tap)`, counted. What comes after its last tap belongs to "rest"."""
    counted, counter = Counted(), FlopCounterMode(display=False)
    with torch.no_grad(), counter:
        call(Counting(counted, counter))
    rest = counter.get_total_flops() // 2 - counted.total
    if rest:
        counted.macs["rest"] = rest
    return counted


def timed(call: Callable[[], object], times: int = TIMES) -> float:
    """The median of some passes, ms. The first, which warms up, does not count."""
    took: list[float] = []
    with torch.no_grad():
        for _ in range(times + 1):
            began = time.perf_counter()
            call()
            took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took[1:])


def visible(masks: Sequence[Tensor]) -> tuple[int, int]:
    """Cells that are read, and all cells, of masks `[..., queries, keys]` (bool)."""
    return sum(int(m.sum()) for m in masks), sum(m.numel() for m in masks)
