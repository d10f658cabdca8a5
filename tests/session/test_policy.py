"""The policy alone: what temperature, top-k and top-p leave of a distribution worked by hand, and what is drawn from it."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch
from torch.testing import assert_close

from app.session.methods import Policy
from app.session.policy import choose, cut, tempered

PLAIN = [0.125, 0.5, 0.25, 0.125]


@pytest.mark.parametrize(
    ("fields", "left"),
    [
        ({}, PLAIN),
        ({"top_k": 2}, [0, 2 / 3, 1 / 3, 0]),
        ({"top_k": 3}, [1 / 7, 4 / 7, 2 / 7, 0]),  # of two alike the earlier stays
        ({"top_k": 9}, PLAIN),
        ({"top_p": 0.75}, [0, 2 / 3, 1 / 3, 0]),  # the sum reaches it exactly: no third one
        ({"top_p": 0.76}, [1 / 7, 4 / 7, 2 / 7, 0]),
        ({"top_p": 1e-6}, [0, 1, 0, 0]),  # never nothing
        ({"top_p": 0.76, "top_k": 1}, [0, 1, 0, 0]),
    ],
    ids=str,
)
def test_what_a_cut_leaves_is_renormalised(fields: dict[str, float], left: list[float]) -> None:
    found = cut(torch.tensor(PLAIN, dtype=torch.float64), Policy(kind="sample", **fields))  # type: ignore[arg-type]
    assert_close(found, torch.tensor(left, dtype=torch.float64))
    assert [p == 0 for p in found.tolist()] == [p == 0 for p in left], "what is cut off is exactly 0"


def test_greedy_keeps_the_first_of_the_largest() -> None:
    assert cut(torch.tensor([0.2, 0.4, 0.4]), Policy()).tolist() == [0, 1, 0]
    assert choose(torch.tensor([1.0, 3.0, 3.0]), Policy(temperature=100), 7, 0, 0) == 1


@pytest.mark.parametrize(("temperature", "left"), [(1, 4 / 5), (2, 2 / 3), (0.5, 16 / 17)])
def test_a_temperature_divides_the_logits(temperature: float, left: float) -> None:
    found = tempered(torch.tensor([math.log(4), 0.0]), Policy(temperature=temperature))
    assert_close(found, torch.tensor([left, 1 - left], dtype=torch.float64), rtol=0, atol=1e-7)  # the logits have 32 bits


def test_draws_follow_what_is_left_and_are_keyed() -> None:
    """4000 draws lie within 4 standard deviations of their share, which the fixed seed makes the same each time."""
    logits, policy = torch.tensor([0.0, 2 * math.log(4), 2 * math.log(2), -9.0]), Policy(kind="sample", temperature=2, top_k=3)
    draws = [choose(logits, policy, 7, step, 0) for step in range(4000)]
    shares = Counter(draws)
    for id, share in enumerate((1 / 7, 4 / 7, 2 / 7, 0)):
        assert abs(shares[id] / 4000 - share) <= 4 * math.sqrt(share * (1 - share) / 4000)
    assert draws[:50] == [choose(logits, policy, 7, step, 0) for step in range(50)]
    others = [[choose(logits, policy, seed, step, request) for step in range(50)] for seed, request in ((8, 0), (7, 1))]
    assert draws[:50] not in others and others[0] != others[1]
