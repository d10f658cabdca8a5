"""What exchanged parts do, as the page is told of it, measured on a real run."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from torch import nn

from app.session.commands import Analyse, Back, Step
from app.session.engine import Engine
from app.session.events import Analysis, Check, Checked
from app.session.lineage import Snapshot
from app.session.saving import restore, save
from models.parts.norms import statistics
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


def test_what_is_divided_out_again_rounds_and_is_told_from_a_leak_in_64_bits() -> None:
    rounds = measured(engine(mask_enters="renormalise"), "no_future_leak")
    assert rounds.status == "pass" and rounds.reason.startswith("rounding alone") and not rounds.measured.endswith("Δ 0")
    faint = [{"path": "decoder.layer0.self.output", "action": "scale", "value": 1e-6}]
    everything = [{"relation": "target_self", "program": "full"}]
    leaks = measured(
        opened("decoder_only", config=SMALL, requests=[{"target": TEXT}], masks=everything, edits=faint), "no_future_leak"
    )
    assert leaks.status == "fail" and float(leaks.measured.rpartition(" ")[2]) < 1e-5, "a real leak, as small as rounding"


def test_one_matrix_for_queries_and_keys_makes_scores_symmetric() -> None:
    for position in ("learned", "rope"):
        found = check(engine(projections="one_matrix", position=position), "symmetric")
        assert found is not None and found.status == "pass"
    biased = check(engine(projections="shared_qk", position="bias"), "symmetric")
    assert biased is not None and biased.status == "fail" and "direction" in biased.reason


def test_batch_norm_takes_all_rows_together_and_breaks_what_it_says() -> None:
    made = engine(requests=2, norm_kind="batch", statistics="batch")
    found, alone = check(made, "rows_together"), measured(made, "batch_equals_alone")
    assert found is not None and found.measured == "10 rows in one, 1 padding"
    assert alone.status == "fail" and "BatchNorm" in alone.reason


def test_batch_norm_with_one_row_says_that_all_is_lost() -> None:
    made = engine(norm_kind="batch", statistics="batch")
    do(made, Step())
    found, finite = check(made, "rows_together"), check(made, "finite")
    assert found is not None and found.measured == "1 row: all is lost" and "2 rows or more" in found.reason
    assert finite is not None and finite.status == "pass"


@pytest.mark.parametrize("uses", ["running", "batch"])
def test_what_rows_of_a_batch_norm_do_to_each_other(uses: str) -> None:
    made = engine(requests=2, norm_kind="batch", statistics=uses)
    do(made, Step())
    found = of(do(made, Analyse(name="batch_norm")), Analysis)[-1].result
    check_of = check(made, "batch_norm")
    assert found is not None and check_of is not None and check_of.status == ("pass" if uses == "running" else "fail")
    assert found["batch"]["padding"] > 1e-3 and found["batch"]["alone"] > 1e-3 and found["batch"]["one"] <= 1e-5
    assert found["running"]["padding"] <= 1e-4 and found["running"]["alone"] <= 1e-4 and found["running"]["one"] > 1e-3
    assert found["between"] > 1e-3 and all(n["running"] == 1.0 for n in found["norms"]), "no update yet"
    assert (found["rows"], found["real"]) == (12, 11) and found["uses"] == uses


def test_running_statistics_follow_updates_and_go_back_with_them() -> None:
    made = opened("decoder_only", task="language_model", phase="train", config={**SMALL, "norm_kind": "batch"})
    model = made.learner.model
    history = [statistics_of(model)]
    for _ in range(3):
        do(made, Step())
        history.append(statistics_of(made.learner.model))
    assert all(not torch.equal(a, b) for a, b in itertools.pairwise(history))
    together = check(made, "rows_together")
    assert together is not None and together.status == "fail" and "rows in one" in together.measured
    assert measured(made, "finite_difference").status == "pass", "backward goes through the batch's own mean"
    for expected in (history[2], history[1]):
        do(made, Back())
        assert torch.equal(statistics_of(made.learner.model), expected), "exactly as they were"
    do(made, Step())
    assert torch.equal(statistics_of(made.learner.model), history[2]), "and the same again"
    packed = Snapshot.unpack(made.learner.snapshot().pack()).parameters
    assert "decoder.layer0.self.norm.running_mean" in packed
    again = restore(Engine(made.device), save(made))
    assert torch.equal(statistics_of(again.learner.model), history[2])


def statistics_of(model: nn.Module) -> torch.Tensor:
    return torch.cat([v.flatten() for v in statistics(model).values()])


@pytest.mark.parametrize("scaling", ["none", "dynamic_ntk", "yarn"])
def test_rotated_scores_depend_on_the_offset_alone(scaling: str) -> None:
    made = engine(position="rope", scaling=scaling)
    assert (pending := check(made, "offset_only")) is not None and pending.status == "pending"
    found = measured(made, "offset_only")
    assert found.status == "pass" and found.measured.startswith("max |Δs| ")


@pytest.mark.parametrize("architecture", ["encoder_only", "encoder_decoder", "unified"])
def test_rotated_scores_of_rows_that_are_not_kept_are_measured_too(architecture: str) -> None:
    made = opened(architecture, config={**SMALL, "position": "rope"}, phase="prefill")
    do(made, Step())
    assert measured(made, "offset_only").status == "pass"


def test_offsets_are_not_measured_where_nothing_turns() -> None:
    said = of(do(engine(), Analyse(name="offset_only")), Analysis)[-1].result
    assert said is not None and said["by_move"] == []


def test_what_lies_outside_a_window_of_the_architecture_counts_as_hidden() -> None:
    """The first row of local-m reads source rows 0 and 1 of 5 where D is 1."""
    source = ["the", "black", "cat", "sleeps", "."]
    made = opened("luong", phase="prefill", config={"alignment": "local_m", "D": 1, "width": 8}, requests=[{"source": source}])
    do(made, Step())
    found = check(made, "hidden_zero")
    assert found is not None and (found.status, found.measured) == ("pass", "3 of 3")
