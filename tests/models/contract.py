"""The contract that every architecture passes, as checks of a `World`. `test_contract.py` runs them over the catalogue.

A check takes a function that makes its world anew, in the dtype and with the seed that it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from models import AXES, Outputs, Rows, Spec, State
from models.parts.select import join, select, trimmed
from models.parts.tap import OFF, Edit, Editor, Recorder, Tap, Tape
from models.parts.visibility import Cell, NoVisibleKey, Visibility
from models.tasks.objective import mean_loss, row_losses
from tests.models.world import LENGTHS, SOURCE_WORDS, WORDS, Make, World, ids, kept, owned, padded

Check = Callable[[Make], None]
Call = Callable[[Tap], tuple[Outputs, State]]


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


def recording_changes_nothing(make: Make) -> None:
    world = make(torch.float32)
    results = []
    first, second = Recorder(gradients=True), Recorder(gradients=True)
    for tap in (OFF, first, Editor({}), Editor({}, second)):
        world.model.zero_grad()
        out, state = world.call(world.target, tap=tap)
        first.tape.finish()
        second.tape.finish()
        row_losses(out.values, world.target.values)[world.target.valid].mean().backward()
        results.append((out.values, kept(state), [p.grad for p in world.model.parameters()]))
    for other in results[1:]:
        assert_close(other, results[0], atol=0, rtol=0)


def two_calls(world: World) -> tuple[Call, Call]:
    """A prefill with its source, and a later call on what it left."""
    after = world.call(world.part(0, 5))[1]

    def prefill(tap: Tap) -> tuple[Outputs, State]:
        return world.call(world.part(0, 5), tap=tap)

    def decode(tap: Tap) -> tuple[Outputs, State]:
        return world.call(world.part(5, 7), after, tap, source=False)

    return prefill, decode


def record(call: Call, edits: Mapping[str, Edit] | None = None) -> tuple[Tensor, Tape]:
    recorder = Recorder()
    out, _ = call(Editor(edits, recorder) if edits else recorder)
    return out.values, recorder.tape.finish()


def _tapped(world: World, tap: Tap) -> tuple[Outputs, State]:
    return world.call(world.target, tap=tap)


def every_length_has_the_same_taps(make: Make) -> None:
    """A page hears once what there is to see, before it knows how long a text will be."""
    world, heard = make(), []
    if world.source is None or world.source.values.dim() != 2:
        return  # a picture has one size
    for length in (1, 40):
        _, tape = record(partial(_tapped, replace(world, source=ids((length,) * len(LENGTHS), SOURCE_WORDS, 2))))
        heard.append(list(tape.records))
    assert heard[0] == heard[1]


def nudge(value: Tensor, axes: tuple[str, ...], step: tuple[str, int] | None) -> Tensor:
    """Some other value: not a constant, which a softmax or a norm would take out again."""
    return value + torch.randn(value.shape, generator=torch.Generator().manual_seed(1), dtype=value.dtype)


def every_editable_tap_is_live(make: Make) -> None:
    for call in two_calls(make()):
        plain, tape = record(call)
        editable = [path for path, r in tape.records.items() if r.editable]
        assert editable
        for path in editable:
            changed, edited = record(call, {path: nudge})
            assert not torch.equal(changed, plain), f"{call.__name__}: {path} was changed and nothing came of it"
            unedited = edited.records[path].unedited
            assert unedited is not None and not torch.equal(unedited, edited.records[path].value), path


def axis_letters_are_known_and_typed(make: Make) -> None:
    """That a letter has one size a pass is what the Recorder asserts; here it must be a letter of the vocabulary."""
    for call in two_calls(make()):
        _, tape = record(call)
        assert {letter.rstrip("'") for letter in tape.sizes} <= AXES.keys()
        for r in tape.records.values():
            assert r.value.dtype == {"ids": torch.int64, "mask": torch.bool}.get(r.type, torch.float64), r.path


def one_batch_loss_falls(make: Make) -> None:
    world = make(torch.float32)
    optimizer = torch.optim.AdamW(world.model.parameters(), 3e-3)
    losses = []
    for _ in range(30):
        out, _ = world.call(world.part(0, 6))
        loss = mean_loss(row_losses(out.values, world.target.values[:, 1:7]), world.target.valid[:, 1:7])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0], losses


def same_seed_same_numbers(make: Make) -> None:
    first, second, other = make(torch.float32), make(torch.float32), make(torch.float32, seed=4)
    assert torch.equal(first.logits(), second.logits())
    assert_close(first.model.state_dict(), second.model.state_dict(), atol=0, rtol=0)
    assert not torch.equal(first.logits(), other.logits())


def source_is_encoded_once(make: Make) -> None:
    world = make()
    encoded = world.start()
    assert encoded.lengths.tolist() == [0] * len(LENGTHS)
    at_once, after = world.call(world.target)
    recorder = Recorder()
    later, _ = world.call(world.target, encoded, recorder, source=False)
    assert_close(later.values, at_once.values, atol=1e-12, rtol=0)
    assert not any("s" in r.axes[1:2] and r.type == "hidden" for r in recorder.tape.records.values()), "source computed again"
    same = {path: v for path, (v, axes, _) in encoded.kept().items() if path.startswith("encoder.") or "s" in axes.split()}
    assert_close({path: after.kept()[path][0] for path in same}, same, atol=0, rtol=0)
    if not same:  # the source left its trace in the decoder's own state, and nothing else
        empty = world.model.initial_state(len(LENGTHS)).kept()  # type: ignore[operator]
        assert any(not torch.equal(v, empty[path][0]) for path, (v, _, _) in encoded.kept().items())
    with pytest.raises(ValueError, match="source"):
        world.call(world.target, source=False)


def what_grows_says_so(make: Make) -> None:
    world = make()
    state = world.start()
    for begin, end in ((0, 3), (3, 7)):
        earlier, (_, state) = state.kept(), world.call(world.part(begin, end), state, source=False)
        for path, (value, axes, grows) in state.kept().items():
            assert value.dim() == len(axes.split()), path
            assert (value.numel() > earlier[path][0].numel()) == grows, path
    assert state.lengths.tolist() == list(LENGTHS)


def _read_with(world: World, visible: dict[str, tuple[Visibility, ...]], tap: Tap) -> tuple[Outputs, State]:
    return world.call(world.target, tap=tap, visible=visible)


def reads_obey_visibility(make: Make) -> None:
    """In every relation and layer: weights sum to 1 over what may be read and are exactly 0 elsewhere, padding included."""
    world = make()
    layers = world.spec.layers(world.config)
    cells = (Cell(0, 1, False), Cell(2, 0, False), Cell(3, 0, True))
    for relation in world.spec.relations:
        query, key = ({"t": world.target, "s": world.places()}[owner] for owner in (relation.query, relation.key))
        assert query is not None and key is not None
        visible = relation.default.with_cells(cells)
        _, tape = record(partial(_read_with, world, {relation.name: (visible,) * layers}))
        places = [torch.arange(rows.valid.shape[1]) for rows in (query, key)]
        allowed = visible.allows(places[0][:, None], places[1], world.border) & key.valid[:, None, :]
        for layer in range(layers):
            scope = relation.path.format(layer=layer)
            assert torch.equal(tape.records[f"{scope}.mask"].value, allowed)
            record_of = tape.records[f"{scope}.weights"]
            weights = record_of.value.transpose(1, 2)[query.valid]
            assert (weights[~allowed[query.valid][:, None].expand_as(weights)] == 0).all()
            if record_of.type == "coefficients":  # an envelope after the softmax: a row may sum to less
                assert (weights.sum(-1) <= 1 + 1e-12).all() and (weights.sum(-1) > 0).any()
            else:
                some = allowed[query.valid].any(-1, keepdim=True)  # the first row of a read of earlier rows has none
                assert_close(weights.sum(-1), some.to(weights.dtype).expand_as(weights[..., 0]))


def a_blind_row_is_refused_by_name(make: Make) -> None:
    world = make()
    layers = world.spec.layers(world.config)
    for relation in world.spec.relations:
        blind = relation.default.with_cells(Cell(1, key, False) for key in range(64))
        with pytest.raises(NoVisibleKey, match=f"row 1 of request 0 may read no key in relation '{relation.name}'"):
            world.call(world.target, visible={relation.name: (relation.default,) * (layers - 1) + (blind,)})


def nothing_becomes_nan(make: Make) -> None:
    """Padded rows that may read nothing, a request without a new row, a request without any row: no NaN, no NaN gradient."""
    world = make()
    layers = world.spec.layers(world.config)
    own = [r for r in world.spec.relations if r.query == r.key]
    visible = {r.name: (Visibility("sliding", int(r.default.program == "past")),) * layers for r in own}
    target = Rows(world.target.values, torch.tensor([5, 7, 0]))
    recorder = Recorder(gradients=True)
    first, state = world.call(target, tap=recorder, visible=visible)
    finished = Rows(target.values[:, :1], torch.tensor([1, 0, 0]))
    second, _ = world.call(finished, state, source=False)
    tape = recorder.tape.finish()
    (first.values[target.valid].sum() + second.values[0].sum()).backward()
    finite = [first.values, second.values, *(p.grad for p in world.model.parameters() if p.grad is not None)]
    assert all(v.isfinite().all() for v in (*finite, *tape.gradients.values()))
    assert all(r.value.isfinite().all() for r in tape.records.values())


def it_holds_as_many_rows_as_it_says(make: Make) -> None:
    world = make()
    most = world.spec.capabilities.largest_rows
    with torch.no_grad():
        out, state = world.call(ids((2, most, 3), WORDS, 8))
    assert out.values.shape == (3, most, WORDS) and state.lengths.tolist() == [2, most, 3]


ALWAYS: tuple[Check, ...] = (
    prefill_equals_decode_steps,
    requests_are_independent,
    padding_changes_nothing,
    state_is_not_mutated,
    requests_of_a_state_can_be_picked,
    requests_join_and_leave,
    recording_changes_nothing,
    every_editable_tap_is_live,
    axis_letters_are_known_and_typed,
    same_seed_same_numbers,
    what_grows_says_so,
    reads_obey_visibility,
    a_blind_row_is_refused_by_name,
    nothing_becomes_nan,
    it_holds_as_many_rows_as_it_says,
)


PROMISES: dict[Check, str] = {
    requests_are_independent: "alone",
    requests_of_a_state_can_be_picked: "picked",
    requests_join_and_leave: "alone",
    padding_changes_nothing: "padding",
    prefill_equals_decode_steps: "cached",
    earlier_logits_do_not_see_later_tokens: "causal",
}


def checks(spec: Spec) -> tuple[Check, ...]:
    """Those that apply to what the Spec declares."""
    can = spec.capabilities
    extra = ((can.causal, earlier_logits_do_not_see_later_tokens), (can.trainable, one_batch_loss_falls))
    return (
        *ALWAYS,
        *(check for applies, check in extra if applies),
        *((source_is_encoded_once, every_length_has_the_same_taps) if can.has_source else ()),
    )
