"""Recorded values to pieces on their way out: match a selector, slice, reduce; arrays.py casts and copies.

What no selector asks for is never copied.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import groupby

import torch
from torch import Tensor, nn
from torch.nn import functional

from app.session.arrays import array
from app.session.commands import Selector
from app.session.describing import kernels, parameter_axes
from app.session.reading import Call
from app.session.shown import Piece
from models.parts.tape import Record, Tape

MOST_BYTES = 64 << 20
OWNERS = frozenset("bsthgv")


@lru_cache(maxsize=4096)
def matches(pattern: str, path: str) -> bool:
    """Whether a dotted path fits a glob; `*` crosses dots."""
    return fnmatchcase(path, pattern)


def pieces(
    tape: Tape,
    watch: Sequence[Selector],
    starts: Sequence[int],
    lengths: Sequence[int],
    requests: Sequence[int] | None = None,
    *,
    gradients_only: bool = False,
) -> list[Piece]:
    """What these selectors take from one call. At place b of its batch rows begin at target row
    `starts[b]`, and `lengths[b]` of them are real. requests: whose number stands at each place; left out, its own.

    Where requests begin at different rows, or are not those from 0 on, a piece is made for each of them. One without a row in a
    decode call is left out.
    """
    whose = range(len(starts)) if requests is None else requests
    wanted = ((n, s) for n, s in enumerate(watch) if s.side == "gradient" or not gradients_only)
    sides = ((n, s, side) for n, s in wanted for side in _sides(tape, s))
    return _bounded(p for n, s, side in sides for p in _placed(n, s, *side, starts, lengths, whose))


def _bounded(found: Iterable[Piece]) -> list[Piece]:
    """As many as fit into `MOST_BYTES`: far more than any connection is sent, and no more than a server can bear to copy."""
    out, total = [], 0
    for piece in found:
        out.append(piece)
        total += len(piece.array.data)
        if total > MOST_BYTES:
            break
    return out


def _sides(tape: Tape, selector: Selector) -> Iterable[tuple[str, tuple[str, ...], Tensor]]:
    for path, record in tape.records.items():
        if matches(selector.path, path):
            value = _side(tape, record, selector)
            if value is not None:
                yield path, record.axes, value


def _side(tape: Tape, record: Record, selector: Selector) -> Tensor | None:
    match selector.side:
        case "value":
            return record.value
        case "unedited":
            return record.unedited
        case "gradient":
            return tape.gradients.get(record.path)


def _placed(
    number: int,
    selector: Selector,
    path: str,
    axes: tuple[str, ...],
    value: Tensor,
    starts: Sequence[int],
    lengths: Sequence[int],
    whose: Sequence[int],
) -> Iterable[Piece]:
    fixed, rows = selector.index.get("b"), "t" in axes
    if "b" not in axes:
        return [*_piece(number, selector, path, axes, value, {})]
    alike = not rows or (fixed is None and len(set(starts)) == 1 and min(lengths) > 0)
    if alike and [*whose] == [*range(len(whose))]:
        start = {"t": starts[0]} if rows and starts[0] else {}
        return [*_piece(number, selector, path, axes, value, start)]
    out: list[Piece] = []
    for at, b in enumerate(whose):
        if fixed not in (None, b) or (rows and lengths[at] == 0 and value.shape[axes.index("t")] <= 1):
            continue
        out += _of_one(number, selector, path, axes, value.narrow(axes.index("b"), at, 1), b, starts[at] if rows else 0)
    return out


def _of_one(
    number: int, selector: Selector, path: str, axes: tuple[str, ...], value: Tensor, request: int, first: int = 0
) -> Iterator[Piece]:
    """What this selector takes from the rows of one request, the first of which is target row `first`."""
    one = selector if selector.index.get("b") == 0 else selector.model_copy(update={"index": {**selector.index, "b": 0}})
    for piece in _piece(number, one, path, axes, value, {"t": first} if first else {}):
        yield replace(piece, start={**piece.start, "b": request} if request else piece.start)


def joined(calls: Sequence[Call], watch: Sequence[Selector]) -> list[Piece]:
    """What these selectors take from all calls of a run together: the rows of each request one after another. What belongs to no
    target row is that of the newest call that its request took part in."""
    if len(calls) == 1:
        return pieces(calls[0].tape, watch, calls[0].starts, calls[0].lengths, calls[0].requests)
    paths = dict.fromkeys(p for c in calls for p in c.tape.records)
    wanted = ((n, s, path) for n, s in enumerate(watch) for path in paths if matches(s.path, path))
    return _bounded(p for n, s, path in wanted for p in _joined(n, s, path, [c for c in calls if path in c.tape.records]))


def _joined(number: int, selector: Selector, path: str, calls: Sequence[Call]) -> Iterable[Piece]:
    axes = calls[-1].tape.records[path].axes
    values = [_side(c.tape, c.tape.records[path], selector) for c in calls]
    if values[-1] is None:
        return []
    whose = sorted({b for c in calls for b in c.requests})
    same = all(c.requests == calls[-1].requests for c in calls)
    if len(calls) == 1 or axes[:1] != ("b",) or (same and "t" not in axes):
        newest = calls[-1]
        found = pieces(_only(newest.tape, path), [selector], newest.starts, newest.lengths, newest.requests)
        return [replace(p, selector=number) for p in found]
    out: list[Piece] = []
    for b in whose if selector.index.get("b") is None else [selector.index["b"]]:
        own = [(c, v, c.requests.index(b)) for c, v in zip(calls, values, strict=True) if v is not None and b in c.requests]
        if not own:
            continue
        if "t" in axes:
            at = axes.index("t")
            value = _stacked([v[i : i + 1].narrow(at, 0, c.lengths[i]) for c, v, i in own], at)
        else:
            _, newest_value, i = own[-1]
            value = newest_value[i : i + 1]
        out += _of_one(number, selector, path, axes, value, b)
    return out


def _only(tape: Tape, path: str) -> Tape:
    return Tape({path: tape.records[path]})


def packed(calls: Sequence[Call]) -> list[Call]:
    """Reads that follow each other with the same requests as one: the rows of each request one after another. Few large tensors
    take far less memory than many small ones."""
    return [_as_one([*several]) for _, several in groupby(calls, lambda c: c.requests)]


def _as_one(calls: Sequence[Call]) -> Call:
    tape = Tape()
    for path, newest in calls[-1].tape.records.items():
        at = newest.axes.index("t") if newest.axes[0] == "b" and "t" in newest.axes else None
        if at is None:
            tape.records[path] = newest
            continue
        records = [c.tape.records[path] for c in calls]
        value = _packed([r.value for r in records], calls, at)
        edited = any(r.unedited is not None for r in records)
        unedited = _packed([r.value if r.unedited is None else r.unedited for r in records], calls, at) if edited else None
        tape.records[path] = newest._replace(value=value, unedited=unedited)
    lengths = tuple(sum(c.lengths[b] for c in calls) for b in range(len(calls[0].lengths)))
    return replace(calls[0], tape=tape, lengths=lengths, ms=sum(c.ms for c in calls))


def _packed(values: Sequence[Tensor], calls: Sequence[Call], at: int) -> Tensor:
    def rows(b: int) -> list[Tensor]:
        return [v[b : b + 1].narrow(at, 0, c.lengths[b]) for v, c in zip(values, calls, strict=True)]

    found = [_stacked(rows(b), at) for b in range(values[0].shape[0])]
    return found[0] if len(found) == 1 else _stacked(found, 0)


def _stacked(rows: Sequence[Tensor], at: int) -> Tensor:
    """Parts one after another along an axis; where one is longer along another axis (more keys), the others end in zeros."""
    shape = [max(r.shape[i] for r in rows) for i in range(rows[0].ndim)]
    if all(r.shape[i] == n for r in rows for i, n in enumerate(shape) if i != at):
        return torch.cat(list(rows), at)
    shape[at] = sum(r.shape[at] for r in rows)
    out = rows[0].new_zeros(shape)
    begin = 0
    for r in rows:
        view = out.narrow(at, begin, r.shape[at])
        for i, size in enumerate(r.shape):
            view = view.narrow(i, 0, size)
        view.copy_(r)
        begin += r.shape[at]
    return out


def _piece(
    number: int, selector: Selector, path: str, axes: tuple[str, ...], value: Tensor, start: dict[str, int]
) -> Iterator[Piece]:
    """The one piece of this value, or none where an index or a span of the selector is not in it."""
    start = dict(start)
    for letter, (first, end) in _picked(selector, axes).items():
        place, offset = axes.index(letter), start.get(letter, 0)
        low, high = max(first - offset, 0), min(end - offset, value.shape[place])
        if low >= high:
            return
        value = value.narrow(place, low, high - low)
        if low + offset:
            start[letter] = low + offset
    if selector.reduce == "norm":
        widths = [i for i, letter in enumerate(axes) if letter.rstrip("'") not in OWNERS]
        if widths:
            value = value.float().norm(dim=widths)
            axes = tuple(a for i, a in enumerate(axes) if i not in widths)
    if selector.bin > 1:
        value, start = binned(value, axes, start, selector.bin)
    yield Piece(number, path, selector.side, axes, start, array(value, selector.dtype), selector.bin)


def _picked(selector: Selector, axes: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    """Which places of which axes, from the first known: an index is a span of one."""
    wanted = {**selector.span, **{letter: (at, at + 1) for letter, at in selector.index.items()}}
    return {letter: span for letter, span in wanted.items() if letter in axes}


def binned(value: Tensor, axes: tuple[str, ...], start: dict[str, int], size: int) -> tuple[Tensor, dict[str, int]]:
    """The largest value of each square of `size` rows and keys; squares lie where row 0 begins, so the first and the last may be
    cut. NaN wins over every number. Returns it with `start` in squares."""
    start = dict(start)
    lowest = False if value.dtype == torch.bool else -math.inf if value.is_floating_point() else torch.iinfo(value.dtype).min
    for place, letter in enumerate(axes):
        if letter.rstrip("'") not in ("s", "t") or not value.shape[place]:
            continue
        first, count = start.get(letter, 0), value.shape[place]
        before, after = first % size, -(first + count) % size
        pads = [0] * (2 * (value.ndim - 1 - place)) + [before, after]
        value = functional.pad(value, pads, value=lowest).unflatten(place, (-1, size)).amax(place + 1)
        if first // size:
            start[letter] = first // size
        else:
            start.pop(letter, None)
    return value, start


def parameters(model: nn.Module, watch: Sequence[Selector], sides: Collection[str] = ("value", "gradient")) -> list[Piece]:
    """Parameters ("parameter.NAME"), kernels made of them, and gradients, as far as these selectors ask and `sides` lets them."""
    out: list[Piece] = []
    wanted = [(n, s) for n, s in enumerate(watch) if s.path.startswith("parameter.") and s.side in sides]
    axes = parameter_axes(model) if wanted else {}
    named = {**dict(model.named_parameters()), **kernels(model)} if wanted else {}
    for number, selector in wanted:
        for name, p in named.items():
            value = p.grad if selector.side == "gradient" else p
            if value is not None and matches(selector.path, f"parameter.{name}"):
                out += _piece(number, selector, f"parameter.{name}", axes[name], value.detach(), {})
    return out
