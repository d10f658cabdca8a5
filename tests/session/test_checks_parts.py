"""What exchanged parts do, as the page is told of it, measured on a real run."""

from __future__ import annotations

from typing import Any

import pytest

from app.session.commands import Analyse, Step
from app.session.engine import Engine
from app.session.events import Analysis, Check, Checked
from tests.session.driving import SMALL, do, of, opened

TEXT = ["the", "report", "was", "not"]


def engine(requests: int = 1, **parts: Any) -> Engine:
    texts = [{"target": TEXT[: len(TEXT) - i]} for i in range(requests)]
    return opened("decoder_only", task="language_model", config={**SMALL, **parts}, requests=texts)


def check(made: Engine, id: str) -> Check | None:
    return next((c for c in made.checked().checks if c.id == id), None)


def measured(made: Engine, id: str) -> Check:
    return next(c for c in of(do(made, Analyse(name=id)), Checked)[-1].checks if c.id == id)


@pytest.mark.parametrize("id", ["normaliser", "symmetric", "rows_together", "offset_only"])
def test_a_model_with_the_usual_parts_has_none_of_these_checks(id: str) -> None:
    assert check(engine(), id) is None


def test_a_mask_that_is_multiplied_leaves_hidden_keys_in_the_normaliser() -> None:
    made = engine(mask_enters="multiply")
    found = check(made, "normaliser")
    assert found is not None and found.status == "fail" and found.place["row"] == 0, "the first row sees one key of five"
    low, high = (float(n) for n in found.measured.removeprefix("Σ ").split(" to "))
    assert 0 < low < 0.5 and high == 1.0, "the last row may read all keys"
    assert measured(made, "no_future_leak").status == "fail" and "normaliser" in measured(made, "no_future_leak").reason


def test_renormalising_gives_back_what_hidden_keys_took() -> None:
    made = engine(mask_enters="renormalise")
    found, sums = check(made, "normaliser"), check(made, "rows_sum")
    assert found is not None and found.status == "pass" and found.measured.endswith("divided out")
    assert sums is not None and sums.status == "pass"


def test_one_matrix_for_queries_and_keys_makes_scores_symmetric() -> None:
    for position in ("learned", "rope"):
        found = check(engine(projections="one_matrix", position=position), "symmetric")
        assert found is not None and found.status == "pass"
    biased = check(engine(projections="shared_qk", position="bias"), "symmetric")
    assert biased is not None and biased.status == "fail" and "direction" in biased.reason


def test_batch_norm_takes_all_rows_together_and_breaks_what_it_says() -> None:
    made = engine(requests=2, norm_kind="batch")
    found, alone = check(made, "rows_together"), measured(made, "batch_equals_alone")
    assert found is not None and found.measured == "10 rows in one, 1 padding"
    assert alone.status == "fail" and "BatchNorm" in alone.reason


def test_batch_norm_with_one_row_says_that_all_is_lost() -> None:
    made = engine(norm_kind="batch")
    do(made, Step())
    found, finite = check(made, "rows_together"), check(made, "finite")
    assert found is not None and found.measured == "1 row: all is lost" and "2 rows or more" in found.reason
    assert finite is not None and finite.status == "pass"


@pytest.mark.parametrize("scaling", ["none", "dynamic_ntk", "yarn"])
def test_rotated_scores_depend_on_the_offset_alone(scaling: str) -> None:
    made = engine(position="rope", scaling=scaling)
    assert (pending := check(made, "offset_only")) is not None and pending.status == "pending"
    found = measured(made, "offset_only")
    assert found.status == "pass" and found.measured.startswith("max |Δs| ")


def test_offsets_are_not_measured_where_nothing_turns() -> None:
    said = of(do(engine(), Analyse(name="offset_only")), Analysis)[-1].result
    assert said is not None and said["by_move"] == []
