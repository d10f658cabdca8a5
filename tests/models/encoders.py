"""The contract of an architecture on a task of which nothing is written: masked tokens, classes, CTC. `test_contract.py` runs it.

Such a model is given source rows alone, all in one call. Requests have unequal lengths, so every check also sees padding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from models import AXES, Inputs, Outputs, Rows, Spec, State
from models.parts.tap import OFF, Editor, Recorder, Tap
from models.parts.visibility import Cell, NoVisibleKey, Visibility
from models.tasks import KINDS, Features, Objective, Task
from models.tasks.objective import Lesson, pad, total_loss
from tests.models.contract import nudge, record
from tests.models.world import SOURCE_WORDS, WORDS, Visible, ids, kept, objectives, padded, source, typed


@dataclass(frozen=True)
class Encoder:
    """A model on one objective and the source that it reads."""

    spec: Spec
    task: Task
    config: Any
    model: nn.Module
    source: Rows

    def call(self, tap: Tap = OFF, *, visible: Visible | None = None) -> tuple[Outputs, State]:
        count = len(self.source.lengths)
        return self.model(Inputs(pad([()] * count), self.source, visible or {}), self.model.initial_state(count), tap)  # type: ignore

    def real(self, outputs: Outputs) -> list[Tensor]:
        """What is said of each request, without padding."""
        if outputs.kind == "class":
            return list(outputs.values)
        lengths = self.source.lengths if outputs.lengths is None else outputs.lengths
        return [row[:n] for row, n in zip(outputs.values, lengths.tolist(), strict=True)]

    def valid(self, owner: str) -> Tensor:
        """Which rows of an owner are real `[b, n]`."""
        if owner != "s":
            return torch.ones(len(self.source.lengths), self.spec.rows_of(self.config)[owner], dtype=torch.bool)
        width = self.source.values.shape[2] if self.source.values.dim() == 3 else 1
        own = torch.tensor([math.prod(self.spec.source_shape(self.config, n, width)) for n in self.source.lengths.tolist()])
        return torch.arange(int(own.max())) < own[:, None]

    def lesson(self) -> Lesson:
        """Something to learn from these rows."""
        draw, count = torch.Generator().manual_seed(9), len(self.source.lengths)
        match self.task.objective:
            case "masked":
                labels = torch.randint(4, SOURCE_WORDS, self.source.values.shape[:2], generator=draw)
                return Lesson(pad([()] * count), labels, self.source.valid, self.source, became=labels)
            case "ctc":
                labels, two = torch.tensor([[1, 2]] * count), torch.tensor([2] * count)
                return Lesson(pad([()] * count), labels, two[:, None] > 0, self.source, two)
            case _:
                labels = torch.randint(0, WORDS, (count, 1), generator=draw)
                return Lesson(pad([()] * count), labels, labels >= 0, self.source)


Make = Callable[..., Encoder]
Check = Callable[[Make], None]


def encoder(spec: Spec, objective: Objective, **changes: Any) -> Make:
    """Models of one architecture on one objective, with the default Config but for `changes`."""

    def make(dtype: torch.dtype = torch.float64, seed: int = 3) -> Encoder:
        task, config = objectives(spec)[objective], spec.config(**changes)
        kind, rows = source(spec, task, 2)
        assert rows is not None
        torch.manual_seed(seed)
        words = SOURCE_WORDS if objective == "masked" else WORDS
        model = spec.build(config, kind, words).to(dtype).eval()
        given = typed(rows, dtype)
        assert given is not None
        return Encoder(spec, task, config, model, given)

    return make


def it_says_what_its_task_asks(make: Make) -> None:
    world = make()
    outputs, state = world.call()
    assert outputs.kind == KINDS[world.task.objective] and outputs.values.shape[-1] in (WORDS, SOURCE_WORDS)
    assert outputs.values.dim() == (2 if outputs.kind == "class" else 3)
    assert all(value.dim() == len(axes.split()) for value, axes, _ in state.kept().values())
    with pytest.raises(ValueError, match="source"):
        world.model(Inputs(pad([()])), world.model.initial_state(1), OFF)  # type: ignore[operator]


def requests_are_independent(make: Make) -> None:
    world = make()
    together = world.real(world.call()[0])
    for b, length in enumerate(world.source.lengths.tolist()):
        alone = Rows(world.source.values[b : b + 1, :length], world.source.lengths[b : b + 1])
        one = replace(world, source=alone)
        assert_close(one.real(one.call()[0])[0], together[b], atol=1e-12, rtol=0)


def padding_changes_nothing(make: Make) -> None:
    world = make()
    if isinstance(world.task.source, Features) and world.task.source.what == "picture":
        return  # pictures have one size
    wide = replace(world, source=padded(world.source, 3, 5))
    assert_close(wide.real(wide.call()[0]), world.real(world.call()[0]), atol=1e-12, rtol=0)


def recording_changes_nothing(make: Make) -> None:
    world, results = make(torch.float32), []
    first, second = Recorder(gradients=True), Recorder(gradients=True)
    for tap in (OFF, first, Editor({}), Editor({}, second)):
        world.model.zero_grad()
        outputs, state = world.call(tap)
        first.tape.finish()
        second.tape.finish()
        total_loss(outputs, world.lesson())[1].backward()
        results.append((outputs.values, kept(state), [p.grad for p in world.model.parameters()]))
    for other in results[1:]:
        assert_close(other, results[0], atol=0, rtol=0)


def every_editable_tap_is_live(make: Make) -> None:
    world = make()
    plain, tape = record(world.call)
    editable = [path for path, r in tape.records.items() if r.editable]
    assert editable
    for path in editable:
        changed, edited = record(world.call, {path: nudge})
        assert not torch.equal(changed, plain), f"{path} was changed and nothing came of it"
        unedited = edited.records[path].unedited
        assert unedited is not None and not torch.equal(unedited, edited.records[path].value), path


def axis_letters_are_known_and_typed(make: Make) -> None:
    _, tape = record(make().call)
    assert {letter.rstrip("'") for letter in tape.sizes} <= AXES.keys()
    for r in tape.records.values():
        assert r.value.dtype == {"ids": torch.int64, "mask": torch.bool}.get(r.type, torch.float64), r.path


def same_seed_same_numbers(make: Make) -> None:
    first, second, other = (world.call()[0].values for world in (make(), make(), make(seed=4)))
    assert torch.equal(first, second) and not torch.equal(first, other)


def reads_obey_visibility(make: Make) -> None:
    """In every relation and layer: weights sum to 1 over what may be read and are exactly 0 elsewhere, padding included."""
    world = make()
    layers = world.spec.layers(world.config)
    for relation in world.spec.relations:
        query, key = world.valid(relation.query), world.valid(relation.key)
        visible = relation.default.with_cells((Cell(0, 1, False), Cell(2, 0, False), Cell(3, 0, True)))
        _, tape = record(partial(_read_with, world, {relation.name: (visible,) * layers}))
        allowed = visible.dense(query.shape[1], key.shape[1]) & key[:, None, :]
        for layer in range(layers):
            scope = relation.path.format(layer=layer)
            assert torch.equal(tape.records[f"{scope}.mask"].value, allowed)
            found = tape.records[f"{scope}.weights"]
            weights = found.value.transpose(1, 2)[query]
            assert (weights[~allowed[query][:, None].expand_as(weights)] == 0).all()
            if found.type == "coefficients":  # a mask that is multiplied after the softmax: a row may sum to less
                assert (weights.sum(-1) <= 1 + 1e-12).all()
            else:
                assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))


def _read_with(world: Encoder, visible: Visible, tap: Tap) -> tuple[Outputs, State]:
    return world.call(tap, visible=visible)


def a_blind_row_is_refused_by_name(make: Make) -> None:
    world = make()
    layers = world.spec.layers(world.config)
    for relation in world.spec.relations:
        blind = relation.default.with_cells([Cell(1, 0, False, 1, 513)])
        with pytest.raises(NoVisibleKey, match=f"row 1 of request 0 may read no key in relation '{relation.name}'"):
            world.call(visible={relation.name: (relation.default,) * (layers - 1) + (blind,)})


def nothing_becomes_nan(make: Make) -> None:
    """The shortest sources, and of features blank ones and full ones: no NaN, no NaN gradient."""
    world = make()
    own = {r.name: (Visibility("sliding"),) * world.spec.layers(world.config) for r in world.spec.relations if r.query == r.key}
    short, count = world.source.lengths.clone(), world.source.values.shape[1]
    pictures = isinstance(world.task.source, Features) and world.task.source.what == "picture"
    short[0] = count if pictures else 3 if world.task.objective == "ctc" else 1
    for values in (world.source.values, world.source.values * 0, world.source.values * 0 + 1):
        one = replace(world, source=Rows(values, short))
        recorder = Recorder(gradients=True)
        outputs, _ = one.call(recorder, visible=own)
        tape = recorder.tape.finish()
        sum(row.sum() for row in one.real(outputs)).backward()  # type: ignore[union-attr]
        finite = [*one.real(outputs), *(p.grad for p in one.model.parameters() if p.grad is not None)]
        assert all(v.isfinite().all() for v in (*finite, *tape.gradients.values()))
        assert all(r.value.isfinite().all() for r in tape.records.values())
        one.model.zero_grad()


def one_batch_loss_falls(make: Make) -> None:
    world, found = make(torch.float32), list[float]()
    optimizer = torch.optim.AdamW(world.model.parameters(), 3e-3)
    while not found or found[-1] >= 0.7 * found[0]:
        assert len(found) < 40, found
        loss = total_loss(world.call()[0], world.lesson())[1]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())


def it_holds_as_many_rows_as_it_says(make: Make) -> None:
    world = make()
    kind, most = world.task.source, world.spec.capabilities.largest_source
    most = min(most, kind.most) if isinstance(kind, Features) else most
    if isinstance(kind, Features):
        rows = Rows(torch.rand(1, most, kind.width, dtype=torch.float64), torch.tensor([most]))
    else:
        rows = ids((most,), SOURCE_WORDS, 8)
    one = replace(world, source=rows)
    assert one.real(one.call()[0])[0].isfinite().all()


ENCODER_CHECKS: tuple[Check, ...] = (
    it_says_what_its_task_asks,
    requests_are_independent,
    padding_changes_nothing,
    recording_changes_nothing,
    every_editable_tap_is_live,
    axis_letters_are_known_and_typed,
    same_seed_same_numbers,
    reads_obey_visibility,
    a_blind_row_is_refused_by_name,
    nothing_becomes_nan,
    one_batch_loss_falls,
    it_holds_as_many_rows_as_it_says,
)

ENCODER_PROMISES: dict[Check, str] = {
    requests_are_independent: "alone",
    padding_changes_nothing: "padding",
    every_editable_tap_is_live: "live",
}
