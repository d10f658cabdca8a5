"""That the contract is wide enough: a loop with a fixed-size state, an image as the source, a mask that reads forward.

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
from tests.models.world import LENGTHS, Make, World, maker
from tests.spikes import captioner, lstm


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


def with_image(make: Make) -> Make:
    """The same worlds, their source images of 6, 8 and 4 lines; the padding holds other pixels."""

    def made(dtype: torch.dtype = torch.float64, seed: int = 3) -> World:
        pixels = torch.rand(len(LENGTHS), 8, 6, 1, generator=torch.Generator().manual_seed(9), dtype=torch.float64)
        return replace(make(dtype, seed), source=Rows(pixels.to(dtype), torch.tensor([6, 8, 4])))

    return made


# Places are not lines: which places are real follows from the lines, and the check of masks counts rows of the source given.
IMAGE_CHECKS = [
    c for c in checks(captioner.SPEC) if c.__name__ not in ("reads_obey_visibility", "a_blind_row_is_refused_by_name")
]


@pytest.mark.parametrize("check", IMAGE_CHECKS, ids=lambda check: check.__name__)
def test_captioner_passes_the_contract(check: Check) -> None:
    check(with_image(maker(captioner.SPEC)))


def test_weights_over_places_leave_padded_lines_out() -> None:
    world = with_image(maker(captioner.SPEC))()
    _, tape = record(lambda tap: world.call(world.target, tap=tap))
    weights = tape.records["decoder.cross.weights"]
    assert weights.axes == ("b", "h", "t", "s") and weights.value.shape == (3, 2, 7, 12)
    by_line = weights.value.unflatten(-1, (4, 3)).sum(-1)  # places back to lines
    assert (by_line[0, ..., 3:] == 0).all() and (by_line[2, ..., 2:] == 0).all() and (by_line[1] > 0).all()


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
