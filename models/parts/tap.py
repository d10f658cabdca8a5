"""The tap: how anything that a model computes is seen or changed.

A model calls `value = tap(name, value, axes)` and uses what comes back. Nobody listening: the value comes straight back.
A `Recorder` keeps it. An `Editor` hands back something else and lets the recorder behind it keep both. What the model does not
need, but who looks wants to see (the weights of a read that never had them all at once), it offers by `tap.show(...)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from torch import Tensor

from models.parts.tape import FIXED_TYPES, AxisError, Loop, Record, SemanticType, Tape, TapeFull

Step = tuple[str, int]  # a loop's axis letter and the index of this step


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
        if tape.shapes.get(axes) != shape:
            tape.check(path, letters, shape)
            tape.shapes[axes] = shape
        tape.room -= value.nbytes
        if tape.room < 0:
            raise TapeFull(path)
        if step is None:
            tape.records[path] = Record(path, letters, type, _snapshot(value), unedited, shown)
            if self._gradients:
                tape.await_gradients(path, (value,))
            return
        loop = tape.loops.get(path)
        if loop is None:
            loop = tape.loops[path] = Loop(step[0], letters, type, len(tape.records), self._gradients)
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
