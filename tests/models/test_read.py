"""The single read: the numbers that the texts print, its derivative against autograd, and what it refuses."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from models.parts.read import ReadError, read

WORKED = json.loads((Path(__file__).parents[2] / "models" / "worked_numbers.json").read_text())
H, Q = WORKED["dot_read"]["H"], WORKED["dot_read"]["q"]


def fp64(values: Any) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_weighted_read_with_supplied_weights() -> None:
    worked = WORKED["weighted_read_supplied_weights"]
    for alpha, context in zip(worked["alpha"], worked["context"], strict=True):
        found = read(worked["H"], None, None, [math.log(a) for a in alpha], "supplied", None)  # softmax(log a) = a
        assert_close(found.weights, fp64(alpha), atol=worked["atol"], rtol=0)
        assert_close(found.context, fp64(context), atol=worked["atol"], rtol=0)


def test_a_fixed_context_is_the_read_that_sees_the_last_row_alone() -> None:
    worked = WORKED["weighted_read_supplied_weights"]
    last = [False] * (len(worked["H"]) - 1) + [True]
    assert_close(read(worked["H"], None, [0.3, 0.1, 0.2], None, "dot", last).context, fp64(worked["fixed_context"]))


def test_dot_read() -> None:
    worked = WORKED["dot_read"]
    found = read(H, None, Q, None, "dot", None)
    for name in ("scores", "weights", "context"):
        assert_close(getattr(found, name), fp64(worked[name]), atol=worked["atol"], rtol=0)


def test_qkv_read() -> None:
    worked = WORKED["qkv_read"]
    found = read(None, worked["V"], None, worked["scores"], "supplied", None)
    assert_close(found.weights, fp64(worked["weights"]), atol=worked["atol"], rtol=0)
    assert_close(found.context, fp64(worked["output"]), atol=worked["atol"], rtol=0)


def test_scaled_dot_divides_by_the_root_of_the_key_width() -> None:
    plain, scaled = (read(H, None, Q, None, score, None) for score in ("dot", "scaled_dot"))
    assert_close(scaled.scores, plain.scores / math.sqrt(2))


@pytest.mark.parametrize("visible", [None, [True, False, True, True]])
def test_the_derivative_is_autograds(visible: list[bool] | None) -> None:
    def context(scores: torch.Tensor) -> torch.Tensor:
        hidden = torch.zeros(4, dtype=torch.bool) if visible is None else ~torch.tensor(visible)
        return torch.softmax(scores.masked_fill(hidden, -math.inf), 0) @ fp64(H)

    found = read(H, None, Q, None, "dot", visible)
    jacobian = torch.autograd.functional.jacobian(context, found.scores)
    assert_close(found.context_grad_scores, jacobian.T)


def test_hidden_rows_weigh_exactly_nothing_and_keep_their_score() -> None:
    found = read(H, None, Q, None, "dot", [True, False, False, True])
    assert found.weights[1:3].tolist() == [0.0, 0.0] and found.context_grad_scores[1:3].abs().sum() == 0
    assert_close(found.weights.sum(), fp64(1.0))
    assert_close(found.scores, fp64(WORKED["dot_read"]["scores"]))


def test_a_mask_that_is_multiplied_leaves_hidden_rows_in_the_sum() -> None:
    """Worked by hand: scores log 1, log 2, log 3, log 4 share 1/10, 2/10, 3/10, 4/10; rows 1 and 2 are hidden."""
    values, scores, visible = [[1.0], [2.0], [3.0], [-4.0]], [math.log(i) for i in (1, 2, 3, 4)], [True, False, False, True]
    found = read(None, values, None, scores, "supplied", visible, "multiply")
    assert_close(found.weights, fp64([0.1, 0.0, 0.0, 0.4]))
    assert_close(found.context, fp64([-1.5]))  # .1 x 1 + .4 x -4
    # .1 (1 + 1.5), .2 (0 + 1.5), .3 (0 + 1.5), .4 (-4 + 1.5): a hidden score moves what is read
    assert_close(found.context_grad_scores, fp64([[0.25], [0.3], [0.45], [-1.0]]))
    whole, additive = (read(None, values, None, scores, "supplied", visible, m) for m in ("renormalise", "additive"))
    assert_close(whole.weights, fp64([0.2, 0.0, 0.0, 0.8]))
    assert torch.equal(whole.context, additive.context) and torch.equal(whole.context_grad_scores, additive.context_grad_scores)


@pytest.mark.parametrize(
    ("change", "field", "given", "allowed"),
    [
        ({"mask": "after"}, "mask", "after", "one of additive, multiply, renormalise"),
        ({"score": "cosine"}, "score", "cosine", "one of dot, scaled_dot, supplied"),
        ({"keys": None}, "keys", "nothing", "at least one row"),
        ({"keys": []}, "keys", "empty", "at least one row"),
        ({"keys": [[]]}, "keys", "empty", "at least one number"),
        ({"keys": [[1, 2], [3]]}, "keys.1", "1 numbers", "2 numbers, as in row 0"),
        ({"keys": [[1, math.nan]]}, "keys.0.1", math.nan, "a finite number"),
        ({"keys": [[1, True]]}, "keys.0.1", True, "a finite number"),
        ({"keys": [[1, 10**400]]}, "keys.0.1", 10**400, "a finite number"),
        ({"values": [[1.0]]}, "keys", "4 rows", "1 rows, as many as values"),
        ({"values": [[math.inf]] * 4}, "values.0.0", math.inf, "a finite number"),
        ({"query": None}, "query", "nothing", "2 numbers, the width of a key"),
        ({"query": [1.0]}, "query", "1 numbers", "2 numbers"),
        ({"keys": [[1e200]], "query": [1e200]}, "query", "a score that is not finite", "smaller numbers"),
        ({"score": "supplied"}, "scores", "nothing", "4 numbers, one for each row"),
        ({"visible": [True]}, "visible", "1 values", "4 booleans"),
        ({"visible": [1, 0, 1, 1]}, "visible", "4 values", "4 booleans"),
        ({"visible": [False] * 4}, "visible", "no visible row", "at least one visible row"),
    ],
)
def test_what_is_refused(change: dict[str, Any], field: str, given: Any, allowed: str) -> None:
    fields = {"keys": H, "values": None, "query": Q, "scores": None, "score": "dot", "visible": None} | change
    with pytest.raises(ReadError) as caught:
        read(**fields)
    error = caught.value
    assert error.field == field and (error.given is given or error.given == given) and allowed in error.allowed
    assert field in str(error) and error.allowed in str(error)
