"""The tap: how anything that a model computes is seen or changed.

A model calls `value = tap(name, value, axes)` and uses what comes back. Nobody listening: the value comes straight back.
A `Recorder` keeps it. An `Editor` hands back something else and lets the recorder behind it keep both. What the model does not
need, but who looks wants to see (the weights of a read that never had them all at once), it offers by `tap.show(...)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

import torch
from torch import Tensor

SemanticType = Literal[
    "ids", "hidden", "scores", "mask", "weights", "coefficients", "logits", "probabilities", "loss", "state", "decision"
]
Step = tuple[str, int]  # a loop's axis letter and the index of this step
FIXED_TYPES: frozenset[str] = frozenset({"ids", "mask", "loss", "decision"})


class Tap(Protocol):
    """See the module. `type` also says whether the value may be edited: those in `FIXED_TYPES` may not."""

    def __call__(self, name: str, value: Tensor, axes: str, type: SemanticType = "hidden") -> Tensor: ...

    def __truediv__(self, name: str) -> Tap: ...

    def at(self, axis: str, index: int) -> Tap: ...

    def show(self, name: str, make: Callable[[], Tensor], axes: str, type: SemanticType = "hidden") -> None:
        """A value that nothing depends on, made where somebody records alone; it cannot be edited."""


class _Off:
    """Nobody listens. One shared object, so that a silent forward pays one call per site and nothing else."""

    __slots__ = ()

    def __call__(self, name: str, value: Tensor, axes: str, type: SemanticType = "hidden") -> Tensor:
        return value

    def __truediv__(self, name: str) -> _Off:
        return self

    def at(self, axis: str, index: int) -> _Off:
        return self

    def show(self, name: str, make: Callable[[], Tensor], axes: str, type: SemanticType = "hidden") -> None:
        return None


OFF: Tap = _Off()


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
class _Loop:
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
    """What one pass recorded: values by path, and after a backward pass the gradients of those that have one.

    `room`: how many bytes of values it may still take.
    """

    records: dict[str, Record] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    looped: set[str] = field(default_factory=set)  # paths that were tapped step by step
    room: float = math.inf
    _shapes: dict[str, torch.Size] = field(default_factory=dict)
    _loops: dict[str, _Loop] = field(default_factory=dict)
    _awaited: dict[str, Sequence[Tensor]] = field(default_factory=dict)  # the very values (steps of a loop) that keep a gradient
    _gradients: dict[str, Tensor] = field(default_factory=dict)

    @property
    def gradients(self) -> dict[str, Tensor]:
        """By path, in the order in which the backward pass reached them; none before it. To be asked for when it is over: the
        steps of a loop become one value then, which costs a fraction of a hook for each."""
        if self._loops:
            raise RuntimeError(f"{next(iter(self._loops))} was tapped in a loop; finish the tape before the backward pass")
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
        for path, loop in self._loops.items():
            self.records.update(outside[before : loop.place])
            before = loop.place
            self.records[path] = self._stacked(path, loop)
        self.records.update(outside[before:])
        self.looped.update(self._loops)
        self._loops.clear()
        return self

    def _stacked(self, path: str, loop: _Loop) -> Record:
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


class Recorder:
    """Keeps every value under its dotted path, and its gradient when `gradients` is on and backward runs.

    Values are kept by reference (a model never writes in place); only a parameter, or a view of one, is copied, because
    an optimizer does write in place. Nothing about the forward pass changes: the value handed back is the value given.
    """

    __slots__ = ("_children", "_gradients", "_prefix", "_step", "tape")

    def __init__(
        self, tape: Tape | None = None, *, gradients: bool = False, prefix: str = "", step: tuple[str, int] | None = None
    ) -> None:
        self.tape = Tape() if tape is None else tape
        self._gradients, self._prefix, self._step = gradients, prefix, step
        self._children: dict[str, Recorder] = {}

    def __call__(self, name: str, value: Tensor, axes: str, type: SemanticType = "hidden") -> Tensor:
        if self._gradients and value.is_leaf and value.requires_grad:  # a parameter: its own gradient is that of all its uses
            value = value.view_as(value)
        self.keep(name, value, axes, type, None)
        return value

    def __truediv__(self, name: str) -> Recorder:
        child = self._children.get(name)
        if child is None:
            child = Recorder(self.tape, gradients=self._gradients, prefix=f"{self._prefix}{name}.", step=self._step)
            self._children[name] = child
        return child

    def at(self, axis: str, index: int) -> Recorder:
        if self._step is not None:
            raise AxisError(f"{self._prefix}: a loop over {axis!r} inside a loop over {self._step[0]!r}; tap one axis at once")
        return Recorder(self.tape, gradients=self._gradients, prefix=self._prefix, step=(axis, index))

    def show(self, name: str, make: Callable[[], Tensor], axes: str, type: SemanticType = "hidden") -> None:
        self.keep(name, make().detach(), axes, type, None, True)

    def keep(self, name: str, value: Tensor, axes: str, type: SemanticType, unedited: Tensor | None, shown: bool = False) -> None:
        tape, step, path, letters, shape = self.tape, self._step, self._prefix + name, _letters(axes), value.shape
        if tape._shapes.get(axes) != shape:
            tape.check(path, letters, shape)
            tape._shapes[axes] = shape
        tape.room -= value.nbytes
        if tape.room < 0:
            raise TapeFull(path)
        if step is None:
            tape.records[path] = Record(path, letters, type, _snapshot(value), unedited, shown)
            if self._gradients:
                tape.await_gradients(path, (value,))
            return
        loop = tape._loops.get(path)
        if loop is None:
            loop = tape._loops[path] = _Loop(step[0], letters, type, len(tape.records), self._gradients)
        loop.values[step[1]] = value
        if unedited is not None:
            loop.unedited[step[1]] = unedited


_LETTERS: dict[str, tuple[str, ...]] = {}


def _letters(axes: str) -> tuple[str, ...]:
    found = _LETTERS.get(axes)
    if found is None:
        found = _LETTERS[axes] = tuple(axes.split())
    return found


def _snapshot(value: Tensor) -> Tensor:
    """The value outside the graph; a copy if it is a parameter or a view of one."""
    base = value._base
    owner = value if base is None else base
    kept = value.detach() if value.requires_grad else value
    return kept.clone() if owner.requires_grad and owner.is_leaf else kept


def _made(value: Tensor) -> int:
    """When the node of a graph that made it was made: a later one has a larger number."""
    return -1 if value.grad_fn is None else int(value.grad_fn._sequence_nr())


def loop_position(axes: tuple[str, ...]) -> int:
    """Where a loop's axis stands in the stacked tape of values with these axes: after b, h and g."""
    return next((i for i, letter in enumerate(axes) if letter not in "bhg"), len(axes))


Edit = Callable[[Tensor, tuple[str, ...], Step | None], Tensor]


class Editor:
    """Hands back an edited value where an edit is set, and lets the recorder behind it keep both.

    edits: by dotted path, `edit(value, axes, step) -> value`, step set inside a loop. It must return a new tensor of the same
    shape and dtype.
    """

    __slots__ = ("_behind", "_edits", "_prefix", "_step")

    def __init__(
        self, edits: Mapping[str, Edit], behind: Recorder | None = None, *, prefix: str = "", step: Step | None = None
    ) -> None:
        self._edits = edits
        self._behind = behind
        self._prefix = prefix
        self._step = step

    def __call__(self, name: str, value: Tensor, axes: str, type: SemanticType = "hidden") -> Tensor:
        edit = self._edits.get(self._prefix + name)
        if edit is None:
            return value if self._behind is None else self._behind(name, value, axes, type)
        if type in FIXED_TYPES:
            raise ValueError(f"{self._prefix}{name} holds {type}, which cannot be edited at a tap; it has its own command")
        changed = edit(value, _letters(axes), self._step)
        if changed.shape != value.shape or changed.dtype != value.dtype:
            raise ValueError(
                f"an edit of {self._prefix}{name} gave {list(changed.shape)} {changed.dtype}, "
                f"it must stay {list(value.shape)} {value.dtype}"
            )
        if self._behind is not None:
            self._behind.keep(name, changed, axes, type, _snapshot(value))
        return changed

    def __truediv__(self, name: str) -> Editor:
        behind = None if self._behind is None else self._behind / name
        return Editor(self._edits, behind, prefix=f"{self._prefix}{name}.", step=self._step)

    def at(self, axis: str, index: int) -> Editor:
        behind = None if self._behind is None else self._behind.at(axis, index)
        return Editor(self._edits, behind, prefix=self._prefix, step=(axis, index))

    def show(self, name: str, make: Callable[[], Tensor], axes: str, type: SemanticType = "hidden") -> None:
        if self._behind is not None:
            self._behind.show(name, make, axes, type)
