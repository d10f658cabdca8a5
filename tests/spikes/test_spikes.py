"""That the contract is wide enough: a loop with a fixed-size state, a mask that reads forward.

What these changed is written in docs/decisions/0001-contract-spikes.md.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from models import Rows
from models.catalogue import architectures
from models.parts.tap import Editor, Recorder
from models.parts.visibility import Visibility
from tests.models.contract import Check, checks, record
from tests.models.world import maker
from tests.spikes import lstm


@pytest.mark.parametrize("check", checks(lstm.SPEC), ids=lambda check: check.__name__)
def test_lstm_passes_the_contract(check: Check) -> None:
    check(maker(lstm.SPEC))


def test_lstm_equals_torch() -> None:
    world = maker(lstm.SPEC)()
    assert isinstance(world.model, lstm.LSTM)
    expected = lstm.logits_of(world.model, lstm.torch_twin(world.model), world.target.values)
    assert_close(world.real(world.logits()), world.real(expected.detach()), atol=1e-12, rtol=0)


def test_a_loop_is_one_tape_with_its_gradients() -> None:
    world = maker(lstm.SPEC)()
    recorder = Recorder(gradients=True)
    out, _ = world.call(world.target, tap=recorder)
    tape = recorder.tape.finish()
    out.values[0, 2].sum().backward()
    hidden, gradient = tape.records["recurrence.hidden"], tape.gradients["recurrence.hidden"]
    assert hidden.axes == ("b", "t", "n") and hidden.value.shape == gradient.shape == (3, 7, 24)
    assert (gradient[0, :3].norm(dim=-1) > 0).all(), "row 2 depends on the steps up to it"
    assert (gradient[0, 3:] == 0).all() and (gradient[1:] == 0).all()


def test_an_edit_at_one_step_changes_what_follows() -> None:
    world = maker(lstm.SPEC)()

    def forget_at_2(value: torch.Tensor, axes: tuple[str, ...], step: tuple[str, int] | None) -> torch.Tensor:
        assert axes == ("b", "n")
        return torch.zeros_like(value) if step == ("t", 2) else value.clone()

    plain = world.logits()
    edited, tape = record(lambda tap: world.call(world.target, tap=tap), {"recurrence.forget": forget_at_2})
    assert torch.equal(edited[:, :2], plain[:, :2])
    assert ((edited - plain)[1, 2:].abs().amax(-1) > 0).all()
    forget = tape.records["recurrence.forget"]
    assert forget.unedited is not None and forget.unedited.shape == forget.value.shape
    assert ((forget.value != forget.unedited).flatten(2).any(-1).any(0)).nonzero().flatten().tolist() == [2]


PREFIX = {"target_self": (Visibility("prefix", 3),) * 2}


def test_prefix_rows_read_each_other_and_later_rows_stay_causal() -> None:
    world = maker(architectures()["decoder_only"])()
    causal, (prefix, _) = world.logits(), world.call(world.target, visible=PREFIX)
    changed = (prefix.values - causal).abs().amax(-1) > 1e-9
    assert changed[world.target.valid].all(), "every row, because rows 0 and 1 now read row 2 and all later rows read them"
    other = world.target.values.clone()
    other[1, 5] = 4
    later, _ = replace(world, target=Rows(other, world.target.lengths)).call(Rows(other, world.target.lengths), visible=PREFIX)
    assert_close(later.values[1, :5], prefix.values[1, :5], atol=1e-12, rtol=0)


def test_cached_equals_full_prefix_only_once_the_prefix_is_known() -> None:
    world = maker(architectures()["decoder_only"])()
    whole, _ = world.call(world.target, visible=PREFIX)

    def in_two_calls(first: int) -> torch.Tensor:
        one, state = world.call(world.part(0, first), visible=PREFIX)
        two, _ = world.call(world.part(first, 7), state, visible=PREFIX)
        return torch.cat((one.values, two.values), 1)

    assert_close(world.real(in_two_calls(3)), world.real(whole.values), atol=1e-12, rtol=0)
    assert (in_two_calls(2) - whole.values)[1].abs().max() > 1e-3, "rows 0 and 1 could not read row 2 when they were computed"
    assert Visibility("prefix", 3).sees_later(7, 7) and not Visibility("prefix", 1).sees_later(7, 7)


def test_an_editor_without_a_recorder_still_edits() -> None:
    world = maker(architectures()["decoder_only"])()
    out, _ = world.call(world.target, tap=Editor({"logits": lambda value, axes, step: value + 1.0}))
    assert_close(out.values, world.logits() + 1.0)
