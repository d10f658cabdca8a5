"""Residual stacks against torch.nn.Conv1d and equations 1 and 2 of He et al. 2016, worked block by block."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from models import Inputs, Rows
from models.parts.tap import Recorder
from models.residual import SHORTCUTS, Config, ResidualStack, widths

WORDS = 19
ROWS = Rows(torch.tensor([[1, 7, 3, 9, 4, 5], [1, 8, 8, 2, 6, 3]]), torch.tensor([6, 6]))


def model(config: Config) -> ResidualStack:
    torch.manual_seed(8)
    return ResidualStack(config, WORDS).double()


def by_hand(one: ResidualStack, config: Config) -> Tensor:
    """Eq. 1: y = F(x) + x; eq. 2: y = F(x) + W_s x; option A pads with zeros. F's first map is torch's own convolution."""
    x = one.token(ROWS.values)
    blocks: list[Any] = list(one.blocks)
    for i, block in enumerate(blocks):
        width, k = widths(config)[i + 1], config.kernel
        conv = torch.nn.Conv1d(x.shape[2], width, k).double()
        conv.weight.data = block.W_1.weight.detach().view(width, k, -1).transpose(1, 2)
        conv.bias.data = block.W_1.bias.detach()  # type: ignore[union-attr]
        inner = conv(F.pad(x.transpose(1, 2), (k - 1, 0))).transpose(1, 2).relu()
        branch = inner @ block.W_2.weight.T + block.W_2.bias
        grown = width != x.shape[2]
        if config.shortcut == "none":
            x = branch.relu()
        elif config.shortcut == "projections" or (config.shortcut == "projection" and grown):
            x = (x @ block.shortcut.P.weight.T + config.scale * branch).relu()
        else:
            zeros = torch.zeros(*x.shape[:2], width - x.shape[2]).double()
            x = (torch.cat((x, zeros), 2) + config.scale * branch).relu()
    mean, deviation = x.mean(-1, keepdim=True), (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
    return one.head((x - mean) / deviation * one.norm.weight + one.norm.bias)


@pytest.mark.parametrize("doubles", [False, True])
@pytest.mark.parametrize("shortcut", SHORTCUTS)
def test_every_block_by_hand(shortcut: str, doubles: bool) -> None:
    config = Config(blocks=5, shortcut=shortcut, doubles=doubles, scale=0.7, kernel=3, width=8)
    one = model(config)
    out, _ = one(Inputs(ROWS), one.initial_state(2), Recorder())
    assert_close(out.values, by_hand(one, config), atol=1e-12, rtol=0)


def test_the_width_doubles_once_half_way() -> None:
    assert widths(Config(blocks=4, doubles=True, width=8)) == (8, 8, 8, 16, 16)
    assert widths(Config(blocks=2, width=8)) == (8, 8, 8)


def gradients(config: Config) -> list[float]:
    """The norm of the loss's gradient at each block's output."""
    one, recorder = model(config), Recorder(gradients=True)
    out, _ = one(Inputs(ROWS), one.initial_state(2), recorder)
    tape = recorder.tape.finish()
    F.cross_entropy(out.values.flatten(0, 1), ROWS.values.flatten()).backward()
    return [float(tape.gradients[f"block{i}.output"].norm()) for i in range(config.blocks)]


def test_with_a_branch_of_zero_the_whole_gradient_reaches_every_block() -> None:
    """000 0x06C: the identity's term alone; after the first rectifier all rows are positive, so no later one takes anything."""
    found = gradients(Config(blocks=6, scale=0.0))
    assert_close(torch.tensor(found[1:-1]), torch.full((4,), found[0]), atol=1e-9, rtol=0)


@pytest.mark.parametrize("shortcut", SHORTCUTS)
def test_a_gradient_reaches_every_block(shortcut: str) -> None:
    assert all(g > 0 for g in gradients(Config(blocks=8, shortcut=shortcut)))
