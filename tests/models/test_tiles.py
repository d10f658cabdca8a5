"""Attention in tiles against the dense form and against torch's own, and its running values by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from models.parts.tap import Recorder
from models.parts.tiles import tiled
from models.parts.visibility import Visibility


@pytest.mark.parametrize("tile", [1, 2, 3, 5, 7, 64])
@pytest.mark.parametrize("program", ["full", "causal", "sliding"])
def test_tiles_give_what_torch_gives(tile: int, program: str) -> None:
    torch.manual_seed(1)
    q, k, v = (torch.randn(2, 3, 7, 4, dtype=torch.float64) * 3 for _ in range(3))
    mask = Visibility(program, 2 if program == "sliding" else 0).dense(7, 7).expand(2, 7, 7)
    theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None])
    assert_close(tiled(q @ k.transpose(-1, -2) / 2, v, mask, tile), theirs, atol=1e-12, rtol=0)


def test_running_values_by_hand() -> None:
    scores, values = torch.tensor([[[[1.0, 3.0, 2.0]]]]), torch.tensor([[[[1.0], [10.0], [100.0]]]])
    recorder = Recorder()
    output = tiled(scores, values, torch.ones(1, 1, 3, dtype=torch.bool), 2, recorder)
    tape = recorder.tape.finish().records
    assert tape["maximum"].value.flatten().tolist() == [3.0, 3.0] and tape["maximum"].axes == ("b", "h", "k", "t")
    first, second = math.exp(-2) + 1, math.exp(-2) + 1 + math.exp(-1)
    assert_close(tape["sum"].value.flatten(), torch.tensor([first, second]))
    assert_close(tape["running"].value.flatten()[0], torch.tensor(math.exp(-2) * 1 + 10))
    assert_close(output.flatten(), ((math.exp(-2) + 10 + 100 * math.exp(-1)) / torch.tensor([second])))


def test_large_scores_do_not_overflow_and_a_blind_row_reads_nothing() -> None:
    scores, values = torch.tensor([[[[800.0, 900.0], [1.0, 2.0]]]]), torch.tensor([[[[1.0], [2.0]]]])
    mask = torch.tensor([[[True, True], [False, False]]])
    assert tiled(scores, values, mask, 1).flatten().tolist() == [2.0, 0.0]


def test_a_tile_of_no_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="tile was given 0; allowed: 1 or more rows"):
        tiled(torch.zeros(1, 1, 1, 1), torch.zeros(1, 1, 1, 1), torch.ones(1, 1, 1, dtype=torch.bool), 0)
