"""What one pass recorded: values by path with their axes, and after a backward pass the gradients of those that have one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import torch
from torch import Tensor

SemanticType = Literal[
    "ids", "hidden", "scores", "mask", "weights", "coefficients", "logits", "probabilities", "loss", "state", "decision"
]
FIXED_TYPES: frozenset[str] = frozenset({"ids", "mask", "loss", "decision"})


class Record(NamedTuple):
    """One recorded value. unedited: what the model computed, where an edit put `value` in its place; shown: see `Tap.show`."""

    path: str
    axes: tuple[str, ...]
    type: SemanticType
    value: Tensor
    unedited: Tensor | None = None
    shown: bool = False

    @property
    def editable(self) -> bool:
        return not self.shown and self.type not in FIXED_TYPES


class AxisError(ValueError):
    """A tap's axes do not fit its value, or one letter has two sizes in one pass."""


class TapeFull(MemoryError):
    """A pass recorded more bytes than its tape has room for."""


@dataclass
class Loop:
    """The steps of one tap in a loop, each by its index, until they are one value."""

    axis: str
    letters: tuple[str, ...]
    type: SemanticType
    place: int  # values outside loops before its first step
    gradients: bool  # whether those of its steps are kept
    values: dict[int, Tensor] = field(default_factory=dict)
    unedited: dict[int, Tensor] = field(default_factory=dict)


@dataclass
class Tape:
    """records: by path. room: how many bytes of values it may still take."""

    records: dict[str, Record] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    looped: set[str] = field(default_factory=set)  # paths that were tapped step by step
    room: float = math.inf
    shapes: dict[str, torch.Size] = field(default_factory=dict)  # by axes, the last that was found right: most taps are alike
    loops: dict[str, Loop] = field(default_factory=dict)  # until `finish`
    _awaited: dict[str, Sequence[Tensor]] = field(default_factory=dict)  # the very values (steps of a loop) that keep a gradient
    _gradients: dict[str, Tensor] = field(default_factory=dict)

    @property
    def gradients(self) -> dict[str, Tensor]:
        """By path, in the order in which the backward pass reached them; none before it. To be asked for when it is over: the
        steps of a loop become one value then, which costs a fraction of a hook for each."""
        if self.loops:
            raise RuntimeError(f"{next(iter(self.loops))} was tapped in a loop; finish the tape before the backward pass")
        reached = self.reached()
        if reached:
            self._gradients = {path: self._gradient(path) for path in reached}
            self._awaited.clear()
        return self._gradients

    def reached(self) -> list[str]:
        """Paths whose gradient is there (of a loop: of some step) and was not asked for yet, in the order of the backward pass,
        which runs the nodes of a graph from the newest to the oldest."""
        there = [(path, [v for v in values if v.grad is not None]) for path, values in self._awaited.items()]
        newest = {path: max(_made(values[0]), _made(values[-1])) for path, values in there if values}
        return sorted(newest, key=newest.__getitem__, reverse=True)

    def _gradient(self, path: str) -> Tensor:
        values, looped = self._awaited[path], path in self.looped
        found = [torch.zeros_like(v) if v.grad is None else v.grad for v in values]  # of a step that nothing depends on: 0
        return torch.stack(found, loop_position(self.records[path].axes)) if looped else found[0]

    def finish(self) -> Tape:
        """Stack the steps of every loop into one value each; to be called when the forward pass ends, before a backward pass.

        The loop's axis comes after b, h and g, where a model that computes all rows at once has it: weights "b h s" of step
        t become "b h t s". A tape stands where its first step was tapped. Raises AxisError where steps are missing or their
        number is not the size of that axis.
        """
        outside, before = list(self.records.items()), 0
        self.records.clear()
        for path, loop in self.loops.items():
            self.records.update(outside[before : loop.place])
            before = loop.place
            self.records[path] = self._stacked(path, loop)
        self.records.update(outside[before:])
        self.looped.update(self.loops)
        self.loops.clear()
        return self

    def _stacked(self, path: str, loop: Loop) -> Record:
        """The steps of one loop as one value."""
        indices = sorted(loop.values)
        if indices != list(range(len(indices))):
            raise AxisError(f"{path}: steps {indices} of axis {loop.axis!r} were tapped, they must be 0 to n - 1")
        steps = [loop.values[i] for i in indices]
        at = loop_position(loop.letters)
        with torch.no_grad():
            value = torch.stack(steps, at)
            unedited = torch.stack([loop.unedited.get(i, v) for i, v in enumerate(steps)], at) if loop.unedited else None
        axes = (*loop.letters[:at], loop.axis, *loop.letters[at:])
        self.check(path, axes, value.shape)
        if loop.gradients:
            self.await_gradients(path, steps)
        return Record(path, axes, loop.type, value, unedited)

    def check(self, path: str, axes: tuple[str, ...], shape: torch.Size) -> None:
        """Raises AxisError unless every axis of the value has a letter and every letter has one size in this pass."""
        if len(axes) != len(shape):
            raise AxisError(f"{path}: axes {' '.join(axes)!r} name {len(axes)} axes, the value has shape {list(shape)}")
        for letter, size in zip(axes, shape, strict=True):
            if self.sizes.setdefault(letter, size) != size:
                raise AxisError(f"{path}: axis {letter!r} has size {size} here and {self.sizes[letter]} earlier in this pass")

    def await_gradients(self, path: str, values: Sequence[Tensor]) -> None:
        """Let the backward pass leave its gradients at these values."""
        within = [v for v in values if v.requires_grad]
        for value in within:
            value.retain_grad()
        if within:
            self._awaited[path] = values


def _made(value: Tensor) -> int:
    """When the node of a graph that made it was made: a later one has a larger number."""
    return -1 if value.grad_fn is None else int(value.grad_fn._sequence_nr())


def loop_position(axes: tuple[str, ...]) -> int:
    """Where a loop's axis stands in the stacked tape of values with these axes: after b, h and g."""
    return next((i for i, letter in enumerate(axes) if letter not in "bhg"), len(axes))
