"""Keyed draws, the optimizers, the clip, and the batch of an update."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from app.session.keyed import generator, number
from app.session.methods import Training
from app.session.training import clip, draw, make_optimizer
from models.tasks import Example, Task
from models.tasks.translation import TASK


def parameters(*gradients: list[float]) -> list[nn.Parameter]:
    """Parameters of ones with these gradients."""
    made = [nn.Parameter(torch.ones(len(g))) for g in gradients]
    for parameter, gradient in zip(made, gradients, strict=True):
        parameter.grad = torch.tensor(gradient)
    return made


def test_the_same_key_draws_the_same_numbers() -> None:
    first, again = (torch.rand(5, generator=generator(-3, "sample", 4, 1)) for _ in range(2))
    torch.testing.assert_close(first, again, rtol=0, atol=0)


def test_every_part_of_the_key_counts() -> None:
    keys = [
        (7, "a", ()),
        (8, "a", ()),
        (7, "b", ()),
        (7, "a", (0,)),
        (7, "a", (1,)),
        (7, "a", (0, 1)),
        (7, "a", (1, 0)),
        (-7, "a", ()),
    ]
    assert len({number(seed, purpose, *step) for seed, purpose, step in keys}) == len(keys)


def test_a_key_means_the_same_on_every_machine() -> None:
    assert number(7, "init") == 3369199470124936819


def test_sgd_goes_against_the_gradient() -> None:
    (parameter,) = parameters([2.0, -4.0])
    make_optimizer(Training(optimizer="sgd", learning_rate=0.5), [parameter]).step()
    torch.testing.assert_close(parameter.data, torch.tensor([0.0, 3.0]))


def test_the_first_adamw_step_is_as_by_hand() -> None:
    """m / (1 - b1) = g and v / (1 - b2) = g^2 in the first step, so it is lr * sign(g), after the decay by lr * 0.01."""
    (parameter,) = parameters([2.0, -4.0])
    make_optimizer(Training(optimizer="adamw", learning_rate=0.1), [parameter]).step()
    torch.testing.assert_close(parameter.data, torch.tensor([0.999 - 0.1, 0.999 + 0.1]))


def test_clipping_scales_all_gradients_to_the_limit() -> None:
    made = parameters([3.0], [0.0, 4.0])
    assert clip(made, 2.5) == (5.0, 0.5)
    torch.testing.assert_close(made[0].grad, torch.tensor([1.5]))
    torch.testing.assert_close(made[1].grad, torch.tensor([0.0, 2.0]))


@pytest.mark.parametrize("limit", [5.0, 6.0, None])
def test_a_norm_within_the_limit_is_left_alone(limit: float | None) -> None:
    made = parameters([3.0], [0.0, 4.0])
    assert clip(made, limit) == (5.0, 1.0)
    torch.testing.assert_close(made[1].grad, torch.tensor([0.0, 4.0]))


def test_clipping_agrees_with_torch() -> None:
    values = torch.randn(50, generator=generator(0, "test")).tolist()
    ours, theirs = parameters(values), parameters(values)
    norm, _ = clip(ours, 1.0)
    torch.testing.assert_close(norm, float(nn.utils.clip_grad_norm_(theirs, 1.0)))
    torch.testing.assert_close(ours[0].grad, theirs[0].grad)


def test_without_gradients_there_is_nothing_to_clip() -> None:
    assert clip([nn.Parameter(torch.ones(2))], 1.0) == (0.0, 1.0)


def test_a_batch_is_a_pure_function_and_updates_share_no_example() -> None:
    assert draw(TASK, 1, 5, 3) == draw(TASK, 1, 5, 3) != draw(TASK, 2, 5, 3)
    assert draw(TASK, 1, 5, 64)[:2] == draw(TASK, 1, 5, 3)[:2]
    assert len({e.source for update in range(20) for e in draw(TASK, 1, update, 2)}) == 40


def test_a_batch_of_two_or_more_holds_different_lengths() -> None:
    for update in range(300):
        assert len({len(e.target) for e in draw(TASK, 0, update, 2)}) == 2


class OneLength(Task):
    """A task whose targets are all alike in length, as rows of an image are."""

    def example(self, seed: int, split: str, index: int) -> Example:
        return Example(None, ("a", "b"))


def test_a_task_of_one_length_gives_a_batch_all_the_same() -> None:
    assert len(draw(OneLength(), 0, 0, 4)) == 4  # type: ignore[abstract]
