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
from models.parts.tap import OFF, Edit, Editor, Recorder, Tap
from models.parts.tape import Tape
from models.parts.visibility import Cell, NoVisibleKey, Visibility
from models.tasks.objective import mean_loss, row_losses
from tests.models.contract_rows import (
    earlier_logits_do_not_see_later_tokens,
    padding_changes_nothing,
    prefill_equals_decode_steps,
    requests_are_independent,
    requests_join_and_leave,
    requests_of_a_state_can_be_picked,
    state_is_not_mutated,
)
from tests.models.world import LENGTHS, SOURCE_WORDS, WORDS, Make, World, ids, kept

Check = Callable[[Make], None]
Call = Callable[[Tap], tuple[Outputs, State]]


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
    losses: list[float] = []
    while not losses or losses[-1] >= 0.7 * losses[0]:
        assert len(losses) < 30, losses
        out, _ = world.call(world.part(0, 6))
        loss = mean_loss(row_losses(out.values, world.target.values[:, 1:7]), world.target.valid[:, 1:7])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())


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
