"""Mask programs against the printed masks, cells in absolute rows, and the row that may read nothing."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch

from models.parts.attention import readable
from models.parts.visibility import PROGRAMS, Cell, NoVisibleKey, Visibility, read_mask

WORKED = json.loads((Path(__file__).parents[2] / "models" / "worked_numbers.json").read_text())


@pytest.mark.parametrize(
    ("visibility", "name", "queries", "keys"),
    [
        (Visibility("full"), "full_5", 5, 5),
        (Visibility("causal"), "causal_5", 5, 5),
        (Visibility("full"), "cross_T4_S3", 4, 3),
        (Visibility("prefix", 3), "prefix_P3_T5", 5, 5),
    ],
)
def test_printed_masks(visibility: Visibility, name: str, queries: int, keys: int) -> None:
    assert visibility.dense(queries, keys).int().tolist() == WORKED["masks"][name]


def test_sliding_window_edges() -> None:
    for case in WORKED["sliding_window_edges"]["cases"]:
        assert int(Visibility("sliding", case["r"]).dense(case["T"], case["T"]).sum()) == case["edges"]


def test_the_past_is_what_is_causal_but_the_row_itself() -> None:
    assert torch.equal(Visibility("past").dense(5, 5), Visibility("causal").dense(5, 5) & ~torch.eye(5, dtype=torch.bool))


def test_causal_sliding_is_causal_and_sliding() -> None:
    both = Visibility("causal").dense(9, 9) & Visibility("sliding", 2).dense(9, 9)
    assert torch.equal(Visibility("causal_sliding", 2).dense(9, 9), both)


@pytest.mark.parametrize(("program", "causal"), [("sliding", False), ("causal_sliding", True)])
def test_a_dilated_window_with_global_rows_cell_by_cell(program: str, causal: bool) -> None:
    """Longformer: r rows each side, every second one; global rows read all and are read by all. A causal one stays causal."""
    mask = Visibility(program, 3, every=2, global_rows=(0, 7)).dense(12, 12)
    for query in range(12):
        for key in range(12):
            distance = query - key
            window = abs(distance) <= 6 and distance % 2 == 0
            expected = (window or {query, key} & {0, 7} != set()) and (key <= query or not causal)
            assert bool(mask[query, key]) == expected, (query, key)


def test_blocks_read_themselves() -> None:
    mask = Visibility("block", 3).dense(7, 7)
    assert int(mask.sum()) == 9 + 9 + 1
    assert torch.equal(Visibility("causal_block", 3).dense(7, 7), mask & Visibility("causal").dense(7, 7))


def test_a_rectangle_is_its_cells() -> None:
    whole = Visibility("full").with_cells([Cell(2, 1, False, 3, 2), Cell(3, 2, True)])
    cells = [Cell(q, k, False) for q in range(2, 5) for k in range(1, 3)]
    assert torch.equal(whole.dense(8, 8), Visibility("full").with_cells([*cells, Cell(3, 2, True)]).dense(8, 8))
    assert whole.dense(8, 8)[5:].all() and whole.dense(8, 8)[3, 2]


@pytest.mark.parametrize("program", PROGRAMS)
def test_later_rows_follow_the_program(program: str) -> None:
    """Rows computed one at a time, in absolute numbers, give the rows of the whole mask."""
    visibility = Visibility(program, 2).with_cells([Cell(4, 1, False), Cell(1, 4, True)])
    whole = visibility.dense(6, 6)
    for row in range(6):
        assert torch.equal(visibility.allows(torch.tensor([[row]]), torch.arange(6)[None, :])[0], whole[row])


def test_cells_overrule_and_the_last_word_wins() -> None:
    visibility = Visibility("causal").with_cells([Cell(2, 0, False), Cell(0, 3, True)]).with_cells([Cell(2, 0, True)])
    difference = visibility.dense(5, 5) ^ Visibility("causal").dense(5, 5)
    assert difference.nonzero().tolist() == [[0, 3]] and len(visibility.cells) == 2
    assert Visibility("causal", 0, (Cell(1, 1, False), Cell(1, 1, True))).dense(2, 2)[1, 1]


def test_cells_outside_the_rows_touch_nothing() -> None:
    visibility = Visibility("causal").with_cells([Cell(9, 9, False), Cell(1, 9, True), Cell(9, 1, True)])
    assert torch.equal(visibility.dense(5, 5), Visibility("causal").dense(5, 5))
    assert torch.equal(Visibility("full").with_cells([Cell(2, 1, False)]).dense(6, 6)[3:], torch.ones(3, 6, dtype=torch.bool))


def test_equal_masks_are_one_key() -> None:
    one, other = (Visibility("prefix", 3).with_cells([Cell(0, 1, False)]) for _ in range(2))
    one.dense(3, 3)
    assert one == other and len({one, other, Visibility("prefix", 2)}) == 2


def test_sees_later() -> None:
    assert Visibility("full").sees_later(3, 3) and not Visibility("causal").sees_later(3, 3)
    assert Visibility("causal").with_cells([Cell(0, 2, True)]).sees_later(3, 3)
    assert not Visibility("causal").with_cells([Cell(0, 2, True)]).sees_later(2, 2), "row 2 is not there yet"


def test_wrong_programs_are_refused() -> None:
    with pytest.raises(ValueError, match="'diagonal' is unknown; allowed: full, causal"):
        Visibility("diagonal")
    with pytest.raises(ValueError, match="was given -1; allowed: 0 or more"):
        Visibility("sliding", -1)
    with pytest.raises(ValueError, match="'block' was given 0; allowed: 1 or more"):
        Visibility("block")
    with pytest.raises(ValueError, match="every 0; allowed: 1 or more"):
        Visibility("full", every=0)


ROWS = torch.arange(3).expand(2, 3)
VALID = torch.tensor([[True, True, True], [True, True, False]])


def test_read_mask_is_structure_and_key_validity() -> None:
    mask = read_mask("target_self", Visibility("full"), ROWS, VALID, VALID)
    assert mask.int().tolist() == [[[1, 1, 1]] * 3, [[1, 1, 0]] * 3]


def test_an_active_row_without_a_key_is_refused_by_name() -> None:
    hidden = Visibility("causal").with_cells([Cell(1, 0, False), Cell(1, 1, False)])
    with pytest.raises(NoVisibleKey, match="row 1 of request 0 may read no key in relation 'cross'") as caught:
        read_mask("cross", hidden, ROWS, VALID, VALID)
    assert (caught.value.relation, caught.value.request, caught.value.row) == ("cross", 0, 1)


def test_the_row_is_named_by_its_absolute_number() -> None:
    hidden = Visibility("causal").with_cells(Cell(7, key, False) for key in range(8))
    with pytest.raises(NoVisibleKey, match="row 7 of request 1"):
        read_mask("target_self", hidden, torch.tensor([[3], [7]]), torch.ones(2, 1, dtype=torch.bool), torch.ones(2, 8).bool())


def test_a_padded_row_without_a_key_is_not_refused() -> None:
    last = Visibility("causal").with_cells(Cell(2, key, False) for key in range(3))
    mask = read_mask("target_self", last, ROWS[1:], VALID[1:], VALID[1:])
    assert mask[0].any(-1).tolist() == [True, True, False]


def test_a_blind_padded_row_has_weights_of_exactly_zero_and_finite_gradients() -> None:
    mask = torch.tensor([[[True, False], [False, False]]])
    scores = torch.randn(1, 2, 2, 2, generator=torch.Generator().manual_seed(0), requires_grad=True)
    weights = readable(mask, torch.float32).softmax(scores)
    assert weights[0, :, 1].abs().sum() == 0 and weights[0, :, 0].tolist() == [[1.0, 0.0]] * 2
    (gradient,) = torch.autograd.grad(weights.square().sum() + weights.sum(), scores)
    assert gradient.isfinite().all() and gradient[0, :, 1].abs().sum() == 0


def test_the_bias_is_zero_or_minus_infinity() -> None:
    bias = readable(torch.tensor([[[True, False]]]), torch.float64).bias
    assert bias.dtype == torch.float64 and bias.flatten().tolist() == [0.0, -math.inf]
