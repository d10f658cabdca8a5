"""Attention in tiles against the dense form and against torch's own, and its running values by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from models import Inputs, Rows
from models.parts.tap import Recorder
from models.parts.tape import Record
from models.parts.tiles import tiled, whole
from models.parts.visibility import Visibility
from models.transformer import DecoderOnly, DecoderOnlyConfig


@pytest.mark.parametrize("tile", [1, 2, 3, 5, 7, 64])
@pytest.mark.parametrize("program", ["full", "causal", "sliding"])
def test_tiles_give_what_torch_gives(tile: int, program: str) -> None:
    torch.manual_seed(1)
    q, k, v = (torch.randn(2, 3, 7, 4, dtype=torch.float64) * 3 for _ in range(3))
    mask = Visibility(program, 2 if program == "sliding" else 0).dense(7, 7).expand(2, 7, 7)
    theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None])
    assert_close(tiled(whole(q @ k.transpose(-1, -2) / 2), v, mask, tile).mixed, theirs, atol=1e-12, rtol=0)


def test_running_values_by_hand() -> None:
    scores, values = torch.tensor([[[[1.0, 3.0, 2.0]]]]), torch.tensor([[[[1.0], [10.0], [100.0]]]])
    recorder = Recorder()
    output = tiled(whole(scores), values, torch.ones(1, 1, 3, dtype=torch.bool), 2, recorder)
    tape = recorder.tape.finish().records
    assert tape["maximum"].value.flatten().tolist() == [3.0, 3.0] and tape["maximum"].axes == ("b", "h", "i", "t")
    first, second = math.exp(-2) + 1, math.exp(-2) + 1 + math.exp(-1)
    assert_close(tape["sum"].value.flatten(), torch.tensor([first, second]))
    assert_close(tape["running"].value.flatten()[0], torch.tensor(math.exp(-2) * 1 + 10))
    assert_close(output.mixed.flatten(), ((math.exp(-2) + 10 + 100 * math.exp(-1)) / torch.tensor([second])))


def test_large_scores_do_not_overflow_and_a_blind_row_reads_nothing() -> None:
    scores, values = torch.tensor([[[[800.0, 900.0], [1.0, 2.0]]]]), torch.tensor([[[[1.0], [2.0]]]])
    mask = torch.tensor([[[True, True], [False, False]]])
    assert tiled(whole(scores), values, mask, 1).mixed.flatten().tolist() == [2.0, 0.0]


def test_a_tile_of_no_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="tile was given 0; allowed: 1 or more rows"):
        tiled(whole(torch.zeros(1, 1, 1, 1)), torch.zeros(1, 1, 1, 1), torch.ones(1, 1, 1, dtype=torch.bool), 0)


def read_by(**parts: Any) -> tuple[Tensor, Tensor, dict[str, Record]]:
    """Logits and gradients of a decoder on two requests, and what was recorded."""
    torch.manual_seed(3)
    model = DecoderOnly(DecoderOnlyConfig(d_model=16, d_ff=32, heads=2, **parts), 11).double()
    rows = Inputs(Rows(torch.randint(4, 11, (2, 9), generator=torch.Generator().manual_seed(1)), torch.tensor([9, 5])))
    recorder = Recorder(gradients=True)
    logits = model(rows, model.initial_state(2), recorder)[0].values[rows.target.valid]
    tape = recorder.tape.finish().records
    logits.square().sum().backward()
    return logits.detach(), torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]), tape


@pytest.mark.parametrize("position", ["learned", "bias", "rope"])
@pytest.mark.parametrize("tile", [1, 4, 512])
def test_a_model_in_tiles_is_the_dense_one_backward_too(position: str, tile: int) -> None:
    logits, gradients, tape = read_by(position=position)
    tiled_logits, tiled_gradients, own = read_by(position=position, mask_enters="tiles", tile=tile)
    assert_close(tiled_logits, logits, atol=1e-12, rtol=0)
    assert_close(tiled_gradients, gradients, atol=1e-11, rtol=0)
    at = "decoder.layer1.self"
    assert own[f"{at}.tile.maximum"].value.shape == (2, 2, -(-9 // tile), 9)
    for name in ("scores", "weights"):  # what is made again for who looks
        assert_close(own[f"{at}.{name}"].value, tape[f"{at}.{name}"].value, atol=1e-12, rtol=0)
        assert not own[f"{at}.{name}"].editable and tape[f"{at}.{name}"].editable
    last = (own[f"{at}.tile.{n}"].value[:, :, -1] for n in ("running", "sum"))
    mixed, total = last
    assert_close((mixed / total[..., None])[0], own[f"{at}.mixed"].value[0], atol=1e-12, rtol=0)


def test_hidden_tiles_are_not_scored() -> None:
    asked: list[tuple[int, int]] = []

    def score(rows: slice, keys: slice) -> Tensor:
        asked.append((rows.start, keys.start))
        return torch.zeros(1, 1, min(rows.stop, 7) - rows.start, min(keys.stop, 7) - keys.start)

    tiled(score, torch.ones(1, 1, 7, 2), torch.ones(1, 7, 7, dtype=torch.bool).tril(), 3)
    assert asked == [(0, 0), (3, 0), (6, 0), (3, 3), (6, 3), (6, 6)]
