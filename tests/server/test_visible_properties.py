"""Whatever is asked of `POST /api/visibility`: its matrix cell by cell from the words of its preset, its paths row by row."""

from __future__ import annotations

from collections import deque
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from app.server.visible import answer


@st.composite
def questions(draw: st.DrawFn) -> dict[str, Any]:
    n = draw(st.integers(1, 10))
    asked: dict[str, Any] = {"layers": draw(st.integers(1, 6)), "causal": draw(st.booleans())}
    preset = draw(st.sampled_from(["full", "causal", "prefix", "sliding", "documents", "matrix"]))
    if preset == "matrix":
        cells = draw(st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=n, max_size=n))
        return asked | {"matrix": [[seen or i == j for j, seen in enumerate(row)] for i, row in enumerate(cells)]}
    if preset == "documents":
        return asked | {"preset": preset, "lengths": draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))}
    if preset == "sliding":
        asked |= {"radius": draw(st.integers(1, 5)), "dilation": draw(st.integers(1, max(1, n - 1)))}
        asked["global_rows"] = draw(st.lists(st.integers(0, n - 1), max_size=n))
    if preset == "prefix":
        asked["prefix"] = draw(st.integers(0, n))
    return asked | {"preset": preset, "n": n}


def reads(asked: dict[str, Any], i: int, j: int) -> bool:
    """Row i reads row j."""
    if asked["causal"] and j > i:
        return False
    if "matrix" in asked:
        return asked["matrix"][i][j]
    match asked["preset"]:
        case "causal":
            return j <= i
        case "prefix":
            return j <= i or j < asked["prefix"]
        case "sliding":
            steps, off = divmod(abs(i - j), asked["dilation"])
            return (not off and steps <= asked["radius"]) or i in asked["global_rows"] or j in asked["global_rows"]
        case "documents":
            document = [d for d, length in enumerate(asked["lengths"]) for _ in range(length)]
            return document[i] == document[j]
    return True


def ways(matrix: list[list[bool]], i: int, layers: int) -> list[int | None]:
    """The fewest layers from every row to row i."""
    found: list[int | None] = [None] * len(matrix)
    found[i], todo = 0, deque([(i, 0)])
    while todo:
        row, away = todo.popleft()
        for j, seen in enumerate(matrix[row]):
            if seen and found[j] is None and away < layers:
                found[j] = away + 1
                todo.append((j, away + 1))
    return found


@given(questions())
@settings(max_examples=300, deadline=None, derandomize=True)
def test_every_answer_is_what_the_words_say(asked: dict[str, Any]) -> None:
    found = answer(asked)
    n = asked.get("n") or len(asked.get("matrix", ())) or sum(asked["lengths"])
    matrix = [[reads(asked, i, j) for j in range(n)] for i in range(n)]
    path = [ways(matrix, i, asked["layers"]) for i in range(n)]
    longest = max(p for row in path for p in row if p is not None)
    assert found == {"edges": sum(map(sum, matrix)), "matrix": matrix, "path": path, "longest_path": longest}
