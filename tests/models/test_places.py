"""Where rows stand, as a read sees it, against independent implementations."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close
from transformers import T5Config
from transformers.models.t5.modeling_t5 import T5Attention

from models.parts.places import RelativeBias, Where, bucket
from models.parts.tap import OFF


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize(("buckets", "largest"), [(8, 20), (16, 64), (32, 128)])
def test_relative_bias_is_t5s(both: bool, buckets: int, largest: int) -> None:
    sizes = {"relative_attention_num_buckets": buckets, "relative_attention_max_distance": largest}
    oracle = T5Attention(T5Config(d_model=16, num_heads=4, is_decoder=not both, **sizes), has_relative_attention_bias=True)
    ours = RelativeBias(4, both, buckets, largest)
    ours.table.weight.data = oracle.relative_attention_bias.weight.data
    rows = torch.arange(150)
    found = ours.bias(150, Where(rows.expand(1, -1), torch.tensor([150])), ("t", "t'"), OFF)
    assert_close(found, oracle.compute_bias(150, 150), atol=0, rtol=0)
    distance = rows - rows[:, None]
    assert_close(
        bucket(distance, both, buckets, largest), T5Attention._relative_position_bucket(distance, both, buckets, largest)
    )


def test_a_later_query_gets_the_row_of_the_whole_bias() -> None:
    ours = RelativeBias(2, True)
    rows = torch.arange(9)
    whole = ours.bias(9, Where(rows.expand(1, -1), torch.tensor([9])), ("t", "t'"), OFF)
    last = ours.bias(9, Where(rows[None, 8:], torch.tensor([9])), ("t", "t'"), OFF)
    assert_close(last, whole[:, :, 8:])


def test_buckets_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="given 16 buckets up to distance 2; allowed: 4 buckets or more"):
        RelativeBias(2, True, 16, 2)
