"""The tap: how anything that a model computes is seen or changed.

A model calls `value = tap(name, value, axes)` and uses what comes back. Nobody listening: the value comes straight back.
A `Recorder` keeps it. An `Editor` hands back something else and lets the recorder behind it keep both. What the model does not
need, but who looks wants to see (the weights of a read that never had them all at once), it offers by `tap.show(...)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
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
class Tape:
    """What one pass recorded: values by path, and after a backward pass the gradients of those that have one.

    `room`: how many bytes of values it may still take.
    """

    records: dict[str, Record] = field(default_factory=dict)
    reached: dict[str, Tensor] = field(default_factory=dict)  # see `gradients`; of a loop, one step until they are asked for
    sizes: dict[str, int] = field(default_factory=dict)
    looped: set[str] = field(default_factory=set)  # paths that were tapped step by step
    room: float = math.inf
    _shapes: dict[str, torch.Size] = field(default_factory=dict)
    _loops: dict[str, dict[int, Record]] = field(default_factory=dict)
    _loop_axes: dict[str, str] = field(default_factory=dict)
    _loop_places: dict[str, int] = field(default_factory=dict)  # values outside loops before its first step
    _gradient_steps: dict[str, tuple[str, dict[int, Tensor]]] = field(default_factory=dict)  # a loop's axis and its steps

    @property
    def gradients(self) -> dict[str, Tensor]:
        """By path, in the order in which the backward pass reached them. Those of loops are stacked when they are asked for: one
        copy of all steps costs a fraction of a copy of each."""
        while self._gradient_steps:
            path, (axis, steps) = self._gradient_steps.popitem()
            at = self.records[path].axes.index(axis)
            nothing = torch.zeros_like(self.reached[path])  # of a step that nothing depends on
            every = range(self.records[path].value.shape[at])
            self.reached[path] = torch.stack([steps.get(i, nothing) for i in every], at)
        return self.reached

    def finish(self) -> Tape:
        """Stack the steps of every loop into one value each; to be called when the forward pass ends, before a backward pass.

        The loop's axis comes after b, h and g, where a model that computes all rows at once has it: weights "b h s" of step
        t become "b h t s". A tape stands where its first step was tapped. Raises AxisError where steps are missing or their
        number is not the size of that axis.
        """
        outside = list(self.records.items())
        self.records.clear()
        before = 0
        for path, steps in self._loops.items():
            place = self._loop_places[path]
            self.records.update(outside[before:place])
            before = place
            self.records[path] = self._stacked(path, self._loop_axes[path], steps)
        self.records.update(outside[before:])
        self.looped.update(self._loops)
        for collection in (self._loops, self._loop_axes, self._loop_places):
            collection.clear()
        return self

    def _stacked(self, path: str, letter: str, steps: Mapping[int, Record]) -> Record:
        """The steps of one loop as one value."""
        ordered = [steps[i] for i in sorted(steps)]
        if sorted(steps) != list(range(len(steps))):
            raise AxisError(f"{path}: steps {sorted(steps)} of axis {letter!r} were tapped, they must be 0 to n - 1")
        first = ordered[0]
        at = loop_position(first.axes)
        value = torch.stack([r.value for r in ordered], at)
        unedited = None
        if any(r.unedited is not None for r in ordered):
            unedited = torch.stack([r.value if r.unedited is None else r.unedited for r in ordered], at)
        axes = (*first.axes[:at], letter, *first.axes[at:])
        self.check(path, axes, value.shape)
        return Record(path, axes, first.type, value, unedited)

    def check(self, path: str, axes: tuple[str, ...], shape: torch.Size) -> None:
        """Raises AxisError unless every axis of the value has a letter and every letter has one size in this pass."""
        if len(axes) != len(shape):
            raise AxisError(f"{path}: axes {' '.join(axes)!r} name {len(axes)} axes, the value has shape {list(shape)}")
        for letter, size in zip(axes, shape, strict=True):
            if self.sizes.setdefault(letter, size) != size:
                raise AxisError(f"{path}: axis {letter!r} has size {size} here and {self.sizes[letter]} earlier in this pass")

    def keep_gradient(self, path: str, step: Step | None, gradient: Tensor) -> None:
        """The gradient of one recorded value, or of one step of it."""
        if step is None:
            self.reached[path] = gradient.detach()
            return
        steps = self._gradient_steps.get(path)
        if steps is None:
            if path not in self.records:
                raise RuntimeError(f"{path} was tapped in a loop; finish the tape before the backward pass")
            steps = self._gradient_steps[path] = (step[0], {})
            self.reached[path] = gradient
        steps[1][step[1]] = gradient


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
        self._gradients = gradients
        self._prefix = prefix
        self._step = step
        self._children: dict[str, Recorder] = {}

    def __call__(self, name: str, value: Tensor, axes: str, type: SemanticType = "hidden") -> Tensor:
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
        record = Record(path, letters, type, _snapshot(value), unedited, shown)
        if step is None:
            tape.records[path] = record
        else:
            steps = tape._loops.get(path)
            if steps is None:
                steps = tape._loops[path] = {}
                tape._loop_axes[path], tape._loop_places[path] = step[0], len(tape.records)
            steps[step[1]] = record
        if self._gradients and value.requires_grad:
            value.register_hook(partial(tape.keep_gradient, path, step))


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
