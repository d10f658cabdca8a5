"""Norms against torch's own, and what only BatchNorm does."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.testing import assert_close
from transformers.models.t5.modeling_t5 import T5LayerNorm

from models.parts.norms import BatchNorm, BatchNormNow, NoNorm, RMSNorm, norm_of, settle, teaching
from models.parts.tap import OFF, Recorder


def rows(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(2)) * 3 + 1


def test_rms_norm_is_torchs_and_t5s() -> None:
    ours, theirs, t5 = RMSNorm(12), nn.RMSNorm(12, eps=1e-6), T5LayerNorm(12)
    for norm in (ours, theirs, t5):
        norm.weight.data = rows(12)
    assert_close(ours(rows(2, 5, 12)), theirs(rows(2, 5, 12)), atol=2e-6, rtol=0)
    assert_close(ours(rows(2, 5, 12)), t5(rows(2, 5, 12)), atol=2e-6, rtol=0)


def test_batch_norm_is_torchs_in_training() -> None:
    ours, now, theirs = BatchNorm(12), BatchNormNow(12), nn.BatchNorm1d(12)
    for norm in (ours, now, theirs):
        norm.weight.data, norm.bias.data = rows(12), rows(12) - 1
    for update in range(3):  # taught: by the batch, and the running statistics follow
        x = rows(2, 5 + update, 12) * (update + 1)
        with teaching(ours) as seen:
            found = ours(x)
        settle(seen)
        expected = theirs(x.flatten(0, 1)).view(x.shape)
        assert_close(found, expected, atol=2e-6, rtol=0)
        assert_close(now(x), expected, atol=2e-6, rtol=0)
        assert_close(ours.running_mean, theirs.running_mean, atol=2e-6, rtol=0)
        assert_close(ours.running_variance, theirs.running_var, atol=1e-5, rtol=1e-6)
    theirs.eval()
    assert_close(ours(x), theirs(x.flatten(0, 1)).view(x.shape), atol=2e-6, rtol=0)
    assert ours.seen is None and len(seen) == 1


def test_in_use_a_row_does_not_see_the_others() -> None:
    x, norm = rows(2, 5, 12), BatchNorm(12)
    norm.running_mean = rows(12)
    assert_close(norm(x)[:1, :2], norm(x[:1, :2]), atol=0, rtol=0)


def test_under_batch_norm_one_row_becomes_the_shift_whatever_it_was() -> None:
    norm = BatchNorm(12)
    with teaching(norm) as seen:
        assert_close(norm(rows(1, 1, 12)), torch.zeros(1, 1, 12), atol=0, rtol=0)
    settle(seen)
    assert_close(norm.running_variance, torch.ones(12), atol=0, rtol=0)  # of one row there is none


@pytest.mark.parametrize(("residual", "expected"), [(True, 3.0), (False, 1.0)])
def test_without_a_residual_the_row_itself_is_lost(residual: bool, expected: float) -> None:
    pre, recorder = norm_of("pre", "none", residual)(2), Recorder()
    assert pre.leave(torch.full((1, 1, 2), 2.0), torch.ones(1, 1, 2), "b t d", recorder).tolist() == [[[expected] * 2]]
    assert pre.enter(torch.ones(1, 1, 2), "b t d", OFF).tolist() == [[[1.0, 1.0]]] and isinstance(pre, NoNorm)


def test_post_norm_normalises_the_sum() -> None:
    post = norm_of("post", "rms")(12)
    left = post.leave(rows(1, 3, 12), torch.ones(1, 3, 12), "b t d", OFF)
    assert_close(left, nn.functional.rms_norm(rows(1, 3, 12) + 1, (12,), eps=1e-6), atol=2e-6, rtol=0)
