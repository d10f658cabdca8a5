"""The leading terms against what the text prints, and their crossovers against themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models.parts.terms import crossovers, terms

WORKED = json.loads((Path(__file__).parents[2] / "models" / "worked_numbers.json").read_text())["selected_terms"]


@pytest.mark.parametrize("case", WORKED["cases"], ids=str)
def test_the_printed_terms(case: dict[str, int]) -> None:
    found = terms(case["n"], case["d"], 3, 8)
    assert case["pairs"] == case["n"] ** 2
    assert {name: found[name] for name in ("self_attention", "recurrent")} == {
        n: case[n] for n in ("self_attention", "recurrent")
    }


def test_terms_cross_where_it_is_said() -> None:
    for name, at in crossovers(64, 3, 17).items():
        assert terms(at, 64, 3, 17)[name] == terms(at, 64, 3, 17)["self_attention"]
        assert terms(at + 1, 64, 3, 17)[name] < terms(at + 1, 64, 3, 17)["self_attention"]


def test_nothing_below_one() -> None:
    with pytest.raises(ValueError, match="k was given 0; allowed: 1 or more"):
        terms(8, 8, 0, 1)
