"""Causal convolutions against torch.nn.Conv1d with copied weights, and the receptive field against gradients."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from models import Inputs, Rows
from models.catalogue import read_config
from models.convolution import SPEC, Config, Convolution, dilations, reach, span
from models.parts.tap import OFF, Recorder

WORDS = 19
CONFIGS = [
    Config(),
    Config(growth=1, kernel=3, layers=4),
    Config(layers=7, cycle=3, kernel=3),
    Config(growth=3, layers=3, cycle=3),
    Config(unit="plain", output="last", layers=3),
    Config(kernel=1, layers=2),
]


def model(config: Config) -> Convolution:
    torch.manual_seed(4)
    return Convolution(config, WORDS).double()


def conv1d(weight: Tensor, bias: Tensor, rows: Tensor, kernel: int, dilation: int) -> Tensor:
    """torch's own convolution, padded on the left; our weight holds the places of a window side by side."""
    d = rows.shape[-1]
    module = torch.nn.Conv1d(d, len(weight), kernel, dilation=dilation).double()
    with torch.no_grad():
        module.weight.copy_(weight.view(len(weight), kernel, d).transpose(1, 2))
        module.bias.copy_(bias)  # type: ignore[union-attr]
        return module(F.pad(rows.transpose(1, 2), ((kernel - 1) * dilation, 0))).transpose(1, 2)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_every_layer_equals_conv1d(config: Config) -> None:
    one, recorder = model(config), Recorder()
    ids = torch.randint(0, WORDS, (2, 21))
    out, _ = one(Inputs(Rows(ids, torch.tensor([21, 21]))), one.initial_state(2), recorder)
    x, total = one.token(ids).detach(), torch.zeros(2, 21, config.width).double()
    layers: list[Any] = list(one.layers)
    for layer, r in zip(layers, dilations(config), strict=True):
        unit = layer.unit
        z = conv1d(unit.W.weight, unit.W.bias, x, config.kernel, r)
        z = z.tanh() * conv1d(unit.V.weight, unit.V.bias, x, config.kernel, r).sigmoid() if config.unit == "gated" else z.relu()
        total = total + layer.S(z).detach() if layer.S is not None else total
        x = x + layer.R(z).detach() if layer.R is not None else x
    expected = one.head(one.H((total if config.output == "skips" else x).relu()).relu())
    assert_close(out.values, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_the_field_by_formula_is_the_field_by_gradient(config: Config) -> None:
    """Rows whose token vector moves the last row's logits: those that `reach` names, and no other; holes stay holes."""
    one, count = model(config), span(config) + 3
    rows = Rows(torch.randint(0, WORDS, (1, count)), torch.tensor([count]))
    found: list[Tensor] = []

    class Watching:
        def __call__(self, name: str, value: Tensor, axes: str, type: str = "hidden") -> Tensor:
            if name == "token":
                found.append(value.detach().requires_grad_())
                return found[0]
            return value

        def __truediv__(self, name: str) -> object:
            return OFF

    out, _ = one(Inputs(rows), one.initial_state(1), Watching())
    (gradient,) = torch.autograd.grad(out.values[0, -1].sum(), found[0])
    moved = {count - 1 - int(t) for t in gradient[0].abs().amax(-1).nonzero()[:, 0]}
    assert moved == set(reach(config))
    assert max(moved) == span(config) - 1


def test_spans_and_holes_as_in_the_text() -> None:
    """000 0x05B: six contiguous blocks of width five see 25 rows; width two with dilations 1, 2, 4, 8 sees 16."""
    assert span(Config(layers=6, kernel=5, growth=1)) == 25
    assert span(Config(layers=4, kernel=2, growth=2)) == 16 == len(reach(Config(layers=4, kernel=2, growth=2)))
    assert dilations(Config(layers=7, cycle=3)) == (1, 2, 4, 1, 2, 4, 1)
    assert reach(Config(layers=2, growth=3, kernel=2)) == (0, 1, 3, 4)  # 2 is a hole


def test_what_is_kept_is_what_the_field_needs() -> None:
    one = model(Config(layers=4, kernel=3))
    assert [b.shape[1] for b in one.initial_state(1).buffers] == [2, 4, 8, 16]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"kernel": 0}, "from 1 to 8"),
        ({"kernel": 8, "layers": 12, "cycle": 12, "growth": 4}, "at most 513 rows"),
        ({"cycle": 0}, "from 1 to 12"),
    ],
)
def test_a_field_that_cannot_be_is_refused(given: dict[str, int], says: str) -> None:
    config, problems = read_config(SPEC, given)
    assert config is None and says in problems[0][2]


def test_a_kernel_wider_than_the_input_reads_zeros() -> None:
    one = model(Config(kernel=8, layers=2))
    out, _ = one(Inputs(Rows(torch.tensor([[5]]), torch.tensor([1]))), one.initial_state(1), OFF)
    assert out.values.isfinite().all()
