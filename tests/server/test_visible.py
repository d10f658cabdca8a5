"""What `POST /api/visibility` answers and refuses, without the socket (`test_http.py` asks once over HTTP)."""

from __future__ import annotations

from typing import Any

import pytest

from app.server.visible import answer
from app.session.events import Refused


def test_causal() -> None:
    found = answer({"preset": "causal", "n": 3, "layers": 2})
    assert found == {
        "edges": 6,
        "matrix": [[True, False, False], [True, True, False], [True, True, True]],
        "path": [[0, None, None], [1, 0, None], [1, 1, 0]],
        "longest_path": 1,
    }


def test_prefix_and_full() -> None:
    assert answer({"preset": "full", "n": 4})["edges"] == 16
    assert answer({"preset": "prefix", "n": 3, "prefix": 2})["matrix"] == [[True, True, False], [True, True, False], [True] * 3]
    assert answer({"preset": "prefix", "n": 3, "prefix": 3})["matrix"] == [[True] * 3] * 3
    assert answer({"preset": "prefix", "n": 3, "prefix": 0})["matrix"] == answer({"preset": "causal", "n": 3})["matrix"]


def test_sliding_dilated_with_a_global_row() -> None:
    found = answer({"preset": "sliding", "n": 7, "radius": 1, "dilation": 2, "global_rows": [6], "layers": 2})
    assert [j for j, seen in enumerate(found["matrix"][3]) if seen] == [1, 3, 5, 6]
    assert all(found["matrix"][6]) and all(row[6] for row in found["matrix"])
    assert found["longest_path"] == 2
    lower = answer({"preset": "sliding", "n": 7, "radius": 1, "dilation": 2, "global_rows": [6], "layers": 2, "causal": True})
    assert not any(lower["matrix"][i][j] for i in range(7) for j in range(i + 1, 7))


def test_packed_documents_never_reach_each_other() -> None:
    found = answer({"preset": "documents", "lengths": [2, 1], "causal": True, "layers": 5})
    assert found["matrix"] == [[True, False, False], [True, True, False], [False, False, True]]
    assert found["path"][2] == [None, None, 0]


def test_a_matrix_is_taken_as_it_is() -> None:
    found = answer({"matrix": [[True, False], [True, False]], "layers": 3})
    assert (found["edges"], found["path"]) == (2, [[0, None], [1, 0]])


def test_one_row_reads_itself() -> None:
    assert answer({"preset": "sliding", "n": 1, "radius": 4})["path"] == [[0]]


@pytest.mark.parametrize(
    "body, field",
    [
        ([], "body"),
        ({}, "preset"),
        ({"preset": "causal", "matrix": [[True]]}, "preset"),
        ({"preset": "strided", "n": 3}, "preset"),
        ({"preset": "causal"}, "n"),
        ({"preset": "causal", "n": 0}, "n"),
        ({"preset": "causal", "n": 513}, "n"),
        ({"preset": "causal", "n": 3, "layers": 0}, "layers"),
        ({"preset": "prefix", "n": 3, "prefix": 4}, "prefix"),
        ({"preset": "prefix", "n": 3, "prefix": -1}, "prefix"),
        ({"preset": "sliding", "n": 3}, "radius"),
        ({"preset": "sliding", "n": 3, "radius": 0}, "radius"),
        ({"preset": "sliding", "n": 3, "radius": 1, "dilation": 0}, "dilation"),
        ({"preset": "sliding", "n": 3, "radius": 1, "dilation": 3}, "dilation"),
        ({"preset": "sliding", "n": 3, "radius": 1, "global_rows": [1, 3]}, "global_rows.1"),
        ({"preset": "documents"}, "lengths"),
        ({"preset": "documents", "n": 4, "lengths": [2, 1]}, "lengths"),
        ({"preset": "documents", "lengths": [512, 1]}, "lengths"),
        ({"matrix": [[True, True], [True]]}, "matrix.1"),
        ({"matrix": [[1]]}, "matrix.0.0"),
        ({"matrix": [[True]], "n": 2}, "n"),
        ({"matrix": [[False]]}, "matrix"),
        ({"preset": "causal", "n": 3, "window": 2}, "window"),
    ],
)
def test_what_cannot_be_is_refused_by_name(body: Any, field: str) -> None:
    with pytest.raises(Refused) as refusal:
        answer(body)
    problem = refusal.value.problems[0]
    assert problem.field == field and problem.allowed and problem.message
