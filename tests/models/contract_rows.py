"""The part of the contract (`contract.py`) about rows and requests: what they depend on, and what the state makes of them."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch.testing import assert_close

from models import Rows
from models.parts.select import join, select, trimmed
from tests.models.world import LENGTHS, WORDS, Make, World, kept, owned, padded


def prefill_equals_decode_steps(make: Make) -> None:
    world = make()
    whole, after = world.call(world.target)
    for cuts in world.cuts:
        state, outputs, begin = world.start(), [], 0
        for size in cuts:
            out, state = world.call(world.part(begin, begin + size), state, source=False)
            outputs.append(out.values)
            begin += size
        assert_close(world.real(torch.cat(outputs, 1)), world.real(whole.values), atol=1e-12, rtol=0)
        assert_close(state.lengths, world.target.lengths)
        for path, (value, axes, _) in state.kept().items():
            expected = after.kept()[path][0]
            there = [owned(axes, v, "t'", world.target.lengths) for v in (value, expected)]
            assert_close({path: there[0]}, {path: there[1]}, atol=1e-12, rtol=0)


def earlier_logits_do_not_see_later_tokens(make: Make) -> None:
    world = make()
    before = world.logits()
    for t in (1, 4):
        values = world.target.values.clone()
        values[1, t] = 4 + (values[1, t] - 3) % (WORDS - 4)
        after = replace(world, target=Rows(values, world.target.lengths)).logits()
        assert_close(after[1, :t], before[1, :t], atol=1e-12, rtol=0)
        assert (after[1, t] - before[1, t]).abs().max() > 1e-12, "the row of the changed token did not see the change"


def requests_are_independent(make: Make) -> None:
    world = make()
    together = world.logits()
    for b, length in enumerate(LENGTHS):
        alone = Rows(world.target.values[b : b + 1], world.target.lengths[b : b + 1])
        source = world.source and Rows(world.source.values[b : b + 1], world.source.lengths[b : b + 1])
        one = replace(world, target=alone, source=source).logits()
        assert_close(one[0, :length], together[b, :length], atol=1e-12, rtol=0)


def padding_changes_nothing(make: Make) -> None:
    world = make()
    source = world.source and padded(world.source, 3, 5)
    wide = replace(world, target=padded(world.target, 2, 6), source=source)
    assert not torch.equal(wide.target.values[:, :7], world.target.values), "the padding should differ"
    assert_close(wide.real(wide.logits()), world.real(world.logits()), atol=1e-12, rtol=0)


def state_is_not_mutated(make: Make) -> None:
    world = make()
    state = world.call(world.part(0, 4))[1]
    before = kept(state)
    first = world.call(world.part(4, 6), state, source=False)[0].values
    assert_close(kept(state), before, atol=0, rtol=0)
    again = world.call(world.part(4, 6), state, source=False)[0].values
    assert torch.equal(first, again)


def requests_of_a_state_can_be_picked(make: Make) -> None:
    """What beam search does: row i goes on from what row `rows[i]` kept."""
    world = make()
    rows = torch.tensor([2, 0, 0, 1])
    state = world.call(world.part(0, 4))[1]
    together, after = world.call(world.part(4, 6), state, source=False)
    part = world.part(4, 6)
    picked = replace(world, target=Rows(part.values[rows], part.lengths[rows]))
    values, later = picked.call(picked.target, select(state, rows), source=False)
    assert_close(values.values, together.values[rows], atol=1e-12, rtol=0)
    assert_close(kept(later), kept(select(after, rows)), atol=1e-12, rtol=0)


def requests_join_and_leave(make: Make) -> None:
    """A request that was read on its own joins two that are on their way; one leaves; each says what it says alone."""
    world = make()
    two, third = (_of(world, rows) for rows in ([0, 1], [2]))
    state = two.call(two.part(0, 4))[1]
    state = join(state, third.call(third.part(0, 2))[1])
    going = torch.tensor([1, 2])
    state = trimmed(select(state, going))
    together, _ = world.call(_next(world, [(1, 4), (2, 2)]), state, source=False)
    for i, b in enumerate(going.tolist()):
        alone = _of(world, [b]).logits()
        row = int(state.lengths[i])
        assert_close(together.values[i, 0], alone[0, row], atol=1e-12, rtol=0)


def _of(world: World, rows: list[int]) -> World:
    """These requests alone, as wide as they need."""
    return replace(world, target=_narrow(world.target, rows), source=world.source and _narrow(world.source, rows))


def _narrow(rows: Rows, which: list[int]) -> Rows:
    lengths = rows.lengths[which]
    return Rows(rows.values[which, : int(lengths.max())], lengths)


def _next(world: World, places: list[tuple[int, int]]) -> Rows:
    """Of each (request, row) that one row."""
    values = torch.stack([world.target.values[b, row : row + 1] for b, row in places])
    return Rows(values, torch.ones(len(places), dtype=torch.int64))
