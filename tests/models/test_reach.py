"""Paths between rows against brute force: which rows the powers of the mask reach."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from models.parts import reach
from models.parts.visibility import Visibility


@st.composite
def masks(draw: st.DrawFn) -> Tensor:
    n = draw(st.integers(1, 7))
    return torch.tensor(draw(st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=n, max_size=n)))


def brute(mask: Tensor, layers: int) -> Tensor:
    """The least power of (mask or identity) in which row j stands for row i."""
    n = mask.shape[0]
    found = torch.full((n, n), -1)
    seen = torch.eye(n, dtype=torch.bool)
    for layer in range(layers + 1):
        found[(found < 0) & seen] = layer
        seen = seen | ((seen.double() @ mask.double()) > 0)
    return found


@settings(max_examples=200, deadline=None, derandomize=True)
@given(masks(), st.integers(1, 8))
def test_paths_are_the_powers_of_the_mask(mask: Tensor, layers: int) -> None:
    assert torch.equal(reach.paths(mask, layers), brute(mask, layers))
    assert torch.equal(reach.paths_through([mask] * layers), brute(mask, layers))


def test_layers_with_masks_of_their_own_are_taken_in_their_order() -> None:
    """Row 0 reaches row 1 in the lower layer alone, row 1 row 2 in the upper one: only that order carries 0 to 2."""
    low, high = torch.zeros(3, 3, dtype=torch.bool), torch.zeros(3, 3, dtype=torch.bool)
    low[1, 0], high[2, 1] = True, True
    assert int(reach.paths_through([low, high])[2, 0]) == 2
    assert int(reach.paths_through([high, low])[2, 0]) == -1


def test_a_window_needs_a_layer_for_every_radius() -> None:
    path = reach.paths(reach.sliding(20, 3).tril(), 7)
    assert [int(path[19, j]) for j in (19, 18, 16, 15, 0)] == [0, 1, 1, 2, 7]
    assert reach.longest(path) == 7


def test_a_global_row_leaves_two_layers_between_any_two() -> None:
    path = reach.paths(reach.sliding(256, 8, 1, [5]), 2)
    assert int(path.min()) == 0 and reach.longest(path) == 2


def test_edges_of_a_dilated_window_are_counted_one_by_one() -> None:
    n, radius, dilation, rows = 17, 2, 3, {4}
    near = [abs(i - j) % dilation == 0 and abs(i - j) <= radius * dilation for i in range(n) for j in range(n)]
    either = [i in rows or j in rows for i in range(n) for j in range(n)]
    assert reach.edges(reach.sliding(n, radius, dilation, [4])) == sum(a or b for a, b in zip(near, either, strict=True))


def test_it_is_the_window_that_a_run_uses() -> None:
    assert torch.equal(reach.sliding(19, 2, 3, [4, 7]), Visibility("sliding", 2, (), 3, (4, 7)).dense(19, 19))
