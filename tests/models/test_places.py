"""Where rows stand, as a read sees it, against independent implementations."""

from __future__ import annotations

import math

import pytest
import torch
from rotary_embedding_torch import RotaryEmbedding
from torch.testing import assert_close
from transformers import LlamaConfig, T5Config
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb
from transformers.models.t5.modeling_t5 import T5Attention

from models.parts.places import Half, Interleaved, RelativeBias, Rotary, Where, bucket
from models.parts.rates import NTK, SCALINGS, Linear, Plain
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


@pytest.mark.parametrize(("both", "buckets", "largest", "least"), [(True, 16, 4, 4), (True, 3, 64, 4), (False, 16, 8, 2)])
def test_buckets_that_do_not_fit_are_refused(both: bool, buckets: int, largest: int, least: int) -> None:
    wrong = f"given {buckets} buckets up to distance {largest}; allowed: {least} buckets or more, up to a distance above"
    with pytest.raises(ValueError, match=wrong):
        RelativeBias(2, both, buckets, largest)
    RelativeBias(2, both, 16, 16 // least + 1)


def llama(kind: str, width: int = 16, factor: float = 4.0) -> LlamaRotaryEmbedding:
    names = {"none": "default", "linear": "linear", "dynamic_ntk": "dynamic", "yarn": "yarn"}
    rope = {"rope_type": names[kind], "rope_theta": 1e4, **({"factor": factor} if kind != "none" else {})}
    if kind in ("yarn",):
        rope["original_max_position_embeddings"] = 64
    sizes = {"hidden_size": 4 * width, "num_attention_heads": 4, "max_position_embeddings": 256 if kind == "yarn" else 64}
    return LlamaRotaryEmbedding(LlamaConfig(**sizes, rope_parameters=rope))


@pytest.mark.parametrize("rows", [40, 200])
@pytest.mark.parametrize("kind", ["none", "linear", "dynamic_ntk", "yarn"])
def test_rotations_in_halves_are_llamas(kind: str, rows: int) -> None:
    place = Rotary(SCALINGS[kind](16, 4.0, 64))
    q, keys, at = torch.randn(2, 4, rows, 16), torch.randn(2, 4, rows, 16), torch.arange(rows).expand(2, -1)
    cos, sin = llama(kind)(q, at)
    theirs = apply_rotary_pos_emb(q, keys, cos, sin)
    ours = place.turn(q, keys, Where(at, torch.tensor([rows, rows])), ("t", "t'"), OFF)
    rates = place.rates.rates(torch.tensor([rows]))[0]
    assert_close(rates.float(), llama_rates(kind, rows), atol=1e-7, rtol=1e-6)
    assert place.rates.stretch == pytest.approx(llama(kind).attention_scaling)
    exact = [by_complex_numbers(x, rates) * place.rates.stretch for x in (q, keys)]
    for mine, other, right in zip(ours, theirs, exact, strict=True):
        assert_close(mine.double(), right, atol=2e-6, rtol=0)
        # their angles are made in fp32: 200 rows times a rounding of 6e-8 is 1e-5, so that they are the side that is off
        off, theirs_off = ((x.double() - right).abs().max() for x in (mine, other))
        assert off <= theirs_off <= 5e-5


def by_complex_numbers(x: torch.Tensor, rates: torch.Tensor) -> torch.Tensor:
    """Su et al. 2021, equation 13, in fp64: a pair is one complex number, and row m multiplies it by e^(i m w)."""
    first, second = x.double().chunk(2, -1)
    angles = torch.arange(x.shape[2]).double()[:, None] * rates
    turned = torch.complex(first, second) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat((turned.real, turned.imag), -1)


def llama_rates(kind: str, rows: int) -> torch.Tensor:
    oracle = llama(kind)
    oracle(torch.zeros(1), torch.arange(rows)[None])
    return oracle.inv_freq


def test_rotations_of_neighbours_are_those_of_rotary_embedding_torch() -> None:
    oracle = RotaryEmbedding(16)
    q, keys, at = torch.randn(2, 4, 30, 16), torch.randn(2, 4, 30, 16), torch.arange(30).expand(2, -1)
    place = Rotary(Plain(16), Interleaved)
    ours = place.turn(q, keys, Where(at, torch.tensor([30, 30])), ("t", "t'"), OFF)
    assert_close(ours, tuple(oracle.rotate_queries_or_keys(x) for x in (q, keys)), atol=2e-6, rtol=0)


def test_the_two_layouts_are_one_rotation_of_permuted_places() -> None:
    x, angles = torch.randn(1, 2, 5, 8), torch.randn(1, 5, 4)
    order = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])
    half, neighbours = Rotary(Plain(8)), Rotary(Plain(8), Interleaved)
    assert_close(neighbours.turned(x, angles)[..., order], half.turned(x[..., order], angles))


def test_worked_rotations() -> None:
    """002: d_k = 4 has rates 1 and 0.01, row 2 turns by 2 and 0.02; at d_k = 128, s = 8 the base becomes 82,684.62."""
    known = torch.tensor([3])
    assert_close(Plain(4).rates(known), torch.tensor([[1.0, 0.01]], dtype=torch.float64))
    turned = Rotary(Plain(4), Interleaved).turned(torch.eye(4)[None, None, 2:3], torch.tensor([[[2.0, 0.02]]]))
    assert_close(turned[0, 0, 0], torch.tensor([0.0, 0.0, math.cos(0.02), math.sin(0.02)]))
    ntk = NTK(128, 8.0)
    assert float(ntk.scaled(torch.tensor(8.0, dtype=torch.float64))) == pytest.approx(82684.62, rel=1e-6)
    assert_close(ntk.rates(known)[0, -1] * 8, Plain(128).rates(known)[0, -1])  # the slowest pair as under linear scaling
    assert_close(ntk.rates(known)[0, 0], Plain(128).rates(known)[0, 0])


@pytest.mark.parametrize("pairs", [Half, Interleaved])
@pytest.mark.parametrize("kind", list(SCALINGS))
def test_scores_depend_on_the_offset_alone(kind: str, pairs: type[Half] | type[Interleaved]) -> None:
    place = Rotary(SCALINGS[kind](8, 4.0, 16), pairs)
    q, keys = (torch.randn(1, 2, 6, 8, dtype=torch.float64) for _ in range(2))
    rates = place.rates.rates(torch.tensor([20]))[:, None]
    here, there = ((torch.arange(6)[None, :, None] + begin) * rates for begin in (0, 1000))
    scores = [place.turned(q, at) @ place.turned(keys, at).transpose(-2, -1) for at in (here, there)]
    assert_close(scores[0], scores[1], atol=1e-10, rtol=0)


def test_what_cannot_turn_is_refused() -> None:
    with pytest.raises(ValueError, match="heads of width 5; allowed: an even width"):
        Plain(5)
    with pytest.raises(ValueError, match="scaling factor of 0; allowed: a number above 0"):
        Linear(8, 0)
    with pytest.raises(ValueError, match="width 2; allowed: 4 or more"):
        NTK(2, 2.0)
