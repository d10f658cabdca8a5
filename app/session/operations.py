"""The operations of a pass, as a page steps through them: the scopes of its taps, in the order in which they work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from models.parts.tape import Tape

MOST_TILES = 32  # of a read that is told tile by tile; more of them are one operation


def ops(tape: Tape, paths: Iterable[str] | None = None) -> tuple[str, ...]:
    """The scopes that recorded something, in order: "decoder.layer0.self", ... What runs tile by tile is one operation a tile,
    before the read that they make: "decoder.layer0.self.tile.0", ... paths: of these alone, in an order of their own.

    A scope that works inside a loop stands where it does so: a mask that is laid out before the loop reads nothing yet. One that
    was given no target row, as where a source alone is encoded, did not work."""
    idle = {scope(p) for p, r in tape.records.items() if "t" in r.axes and not r.value.shape[r.axes.index("t")]}
    found = _in_order(tape, [p for p in (tape.records if paths is None else paths) if scope(p) not in idle])
    tiles = {scope(p): r.value.shape[r.axes.index(a)] for p, r in tape.records.items() for a in r.axes if a in ("i", "j")}
    tiles = {own: count for own, count in tiles.items() if count <= MOST_TILES}
    if not tiles:
        return found
    inside = {own.rpartition(".")[0]: [f"{own}.{i}" for i in range(count)] for own, count in tiles.items()}
    backward = paths is not None
    ordered = ([o, *reversed(inside.get(o, []))] if backward else [*inside.get(o, []), o] for o in found if o not in tiles)
    return tuple(o for some in ordered for o in some)


def _in_order(tape: Tape, paths: Sequence[str]) -> tuple[str, ...]:
    """Scopes by their first path, of those with paths inside a loop by the first of these."""
    places: dict[str, tuple[bool, int]] = {}
    for place, path in enumerate(paths):
        own, outside = scope(path), path not in tape.looped
        places[own] = min(places.get(own, (True, place)), (outside, place))
    return tuple(sorted(places, key=lambda own: places[own][1]))


def scope(path: str) -> str:
    """The operation that a tap belongs to."""
    return path.rpartition(".")[0] or path
