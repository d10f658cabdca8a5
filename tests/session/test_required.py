"""Bounds that a checkpoint must keep."""

from __future__ import annotations

import pytest

from app.session import required
from app.session.events import Refused

METRICS = {"exact": 0.98, "exact_by_clauses": {1: 0.96, "3": 0.1}}


def test_bounds_are_read_and_kept() -> None:
    wanted = required.read(["exact=0.97", "exact_by_clauses.1=0.95"], ["exact_by_clauses.3=0.5"])
    assert wanted == {
        "exact": {"at_least": 0.97},
        "exact_by_clauses.1": {"at_least": 0.95},
        "exact_by_clauses.3": {"at_most": 0.5},
    }
    assert required.missed(METRICS, wanted) == []


def test_what_is_missed_is_said_with_both_numbers() -> None:
    wanted = required.read(["exact=0.99"], ["exact_by_clauses.3=0.05"])
    assert required.missed(METRICS, wanted) == [
        "exact is 0.98, at least 0.99 is required",
        "exact_by_clauses.3 is 0.1, at most 0.05 is allowed",
    ]


@pytest.mark.parametrize("text", ["exact", "exact=much"])
def test_a_bound_without_a_number_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="METRIC=NUMBER"):
        required.read([text], [])


def test_a_metric_that_there_is_not_is_named() -> None:
    with pytest.raises(Refused, match=r"there is no metric .exact\.2."):
        required.reached(METRICS, "exact.2")
