"""What holds of a read under any mask: rows sum to 1, hidden keys weigh exactly 0, and the order of keys does not matter."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from models import Inputs, Rows
from models.longformer import ALONE, GLOBAL, Config, Longformer
from models.parts.attention import KeysValues, SourceSelfAttention, readable
from models.parts.bert import BertConfig
from models.parts.norms import PreNorm
from models.parts.tap import Recorder
from models.parts.visibility import Cell, NoVisibleKey, Visibility
from models.unified import Unified

SEEDS = st.integers(0, 100_000)
MANY = settings(max_examples=80, deadline=None, derandomize=True)


def mask_of(seed: int, queries: int, keys: int) -> Tensor:
    """Random, from nearly nothing to nearly all; some rows read nothing."""
    draw = torch.Generator().manual_seed(seed)
    share = torch.rand((), generator=draw)
    return torch.rand(2, queries, keys, generator=draw) < share


def numbers(seed: int, *shape: int, scale: float = 1.0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * scale


@given(SEEDS, st.integers(1, 9), st.integers(1, 9), st.sampled_from([1e-3, 1.0, 300.0]))
@MANY
def test_rows_sum_to_one_and_hidden_keys_weigh_nothing(seed: int, queries: int, keys: int, scale: float) -> None:
    mask = mask_of(seed, queries, keys)
    weights = readable(mask, torch.float64).softmax(numbers(seed, 2, 3, queries, keys, scale=scale))
    everywhere = mask[:, None].expand_as(weights)
    assert (weights[~everywhere] == 0).all() and (weights >= 0).all()
    assert_close(weights.sum(-1), mask.any(-1)[:, None].expand(2, 3, queries).double())


@given(SEEDS, st.integers(1, 8), st.integers(1, 8))
@MANY
def test_keys_may_be_permuted_with_their_values(seed: int, queries: int, keys: int) -> None:
    torch.manual_seed(3)
    read = SourceSelfAttention(8, 2, PreNorm).double()
    rows, mask = numbers(seed, 2, queries, 8), mask_of(seed, queries, keys)
    both = KeysValues(numbers(seed + 1, 2, 2, keys, 4), numbers(seed + 2, 2, 2, keys, 4))
    order = torch.randperm(keys, generator=torch.Generator().manual_seed(seed))
    moved = KeysValues(both.keys[:, :, order], both.values[:, :, order])
    found = [
        read.read(rows, kept, readable(seen, torch.float64), Recorder())
        for kept, seen in ((both, mask), (moved, mask[:, :, order]))
    ]
    assert_close(found[0], found[1], atol=1e-12, rtol=0)


PROGRAMS = st.builds(
    Visibility,
    st.sampled_from(["full", "causal", "prefix", "source_target", "sliding", "causal_sliding"]),
    st.integers(0, 8),
    every=st.integers(1, 4),
    global_rows=st.lists(st.integers(0, 9), max_size=3).map(tuple),
)
CELLS = st.lists(st.builds(Cell, st.integers(0, 6), st.integers(0, 6), st.booleans()), max_size=12)


@given(PROGRAMS, CELLS, st.sampled_from(["unified", "longformer", "window"]))
@settings(max_examples=50, deadline=None, derandomize=True)
@torch.no_grad()
def test_whatever_a_person_masks_a_model_obeys(seen: Visibility, cells: list[Cell], which: str) -> None:
    """Every layer's weights, padding included; a row that may read nothing is refused by its number."""
    torch.manual_seed(3)
    visible, target = seen.with_cells(cells), which == "unified"
    ids, lengths = torch.randint(5, 20, (2, 7)), torch.tensor([7, 5])
    rows, none = Rows(ids, lengths), Rows(ids[:, :0], torch.zeros(2, dtype=torch.int64))
    model = _model(which)
    layers = (visible, visible)
    inputs = Inputs(rows if target else none, None if target else rows, {"target_self" if target else "source_self": layers})
    recorder, here = Recorder(), torch.arange(7)
    mask = visible.allows(here[:, None], here) & rows.valid[:, None, :]
    if not bool(mask.any(-1)[rows.valid].all()):
        with pytest.raises(NoVisibleKey, match=r"row \d of request \d may read no key"):
            model(inputs, model.initial_state(2), recorder)  # type: ignore[operator]
        return
    model(inputs, model.initial_state(2), recorder)  # type: ignore[operator]
    for path, record in recorder.tape.finish().records.items():
        if record.type == "weights":
            weights = record.value.transpose(1, 2)[rows.valid]
            assert (weights[~mask[rows.valid][:, None].expand_as(weights)] == 0).all(), path
            assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))


def _model(which: str) -> torch.nn.Module:
    match which:
        case "unified":
            return Unified(BertConfig(), 20)
        case "longformer":
            return Longformer(Config(), GLOBAL, 20, 3)
    return Longformer(Config(projections="shared"), ALONE, 20, 3)
