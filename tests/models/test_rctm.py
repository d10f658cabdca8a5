"""RCTM I worked by hand from the paper's recursion."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from models import Inputs, Rows
from models.parts.tap import OFF, Recorder
from models.rctm import RCTM, WIDEST, Config

SQUASHES = {"tanh": torch.tanh, "sigmoid": torch.sigmoid}


def model(squash: str = "tanh") -> RCTM:
    torch.manual_seed(6)
    return RCTM(Config(squash, d_token=5, width=6), 17, 19).double()


def by_hand(one: RCTM, ids: list[int]) -> Tensor:
    """Columns by explicit sums: widths 2, 3, ... while more than that are left, then one kernel over all that are left."""
    squash = SQUASHES[one.config.squash]
    columns = [one.encoder.token.weight[i] for i in ids]
    for i in range(2, WIDEST + 1):
        if len(columns) <= i:
            break
        K = one.encoder.K[i - 2]
        columns = [squash(sum(K[:, j] * columns[a + j] for j in range(i))) for a in range(len(columns) - i + 1)]
    if len(columns) == 1:
        return columns[0]
    L = one.encoder.L[len(columns) - 2]
    return squash(sum(L[:, j] * c for j, c in enumerate(columns)))


@pytest.mark.parametrize("squash", SQUASHES)
@pytest.mark.parametrize("lengths", [(1, 2, 3, 4), (5, 9, 1, 20), (128, 3, 60, 2)])
def test_source_model_by_hand(lengths: tuple[int, ...], squash: str) -> None:
    one = model(squash)
    values = torch.randint(0, 17, (len(lengths), max(lengths)))
    found = one.encoder(Rows(values, torch.tensor(lengths)), OFF)
    expected = torch.stack([by_hand(one, values[b, :n].tolist()) for b, n in enumerate(lengths)])
    assert_close(found, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("squash", SQUASHES)
def test_target_model_by_hand(squash: str) -> None:
    one, recorder = model(squash), Recorder()
    source, target = Rows(torch.tensor([[4, 5, 6]]), torch.tensor([3])), Rows(torch.tensor([[1, 7, 8]]), torch.tensor([3]))
    out, state = one(Inputs(target, source), one.initial_state(1), recorder)
    e, h = by_hand(one, [4, 5, 6]), torch.zeros(6, dtype=torch.float64)
    for t, y in enumerate((1, 7, 8)):
        h = SQUASHES[squash](one.R.weight @ h + one.I.weight @ one.target.weight[y] + one.I.bias + one.S.weight @ e)
        assert_close(out.values[0, t], one.O.weight @ h + one.O.bias, atol=1e-12, rtol=0)
    assert_close(state.hidden[0], h, atol=1e-12, rtol=0)
    assert recorder.tape.finish().records["decoder.hidden"].axes == ("b", "t", "n")
