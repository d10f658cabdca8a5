"""Everything that the texts print comes out of our own code; what stands on the page is what is held here."""

from __future__ import annotations

import pytest

from app.session.worked import WORKED, printed, worked


@pytest.mark.parametrize("entry", worked(), ids=lambda entry: entry["name"])
def test_what_a_text_prints_comes_out(entry: dict[str, object]) -> None:
    assert entry["lines"] and entry["agrees"], [line for line in entry["lines"] if not line["agrees"]]  # type: ignore[attr-defined]


def test_what_is_no_number_is_left_to_the_tasks_and_nothing_else_is() -> None:
    words = {"mlm_example", "teacher_forced_predictions", "alignment_example"}
    assert printed().keys() - WORKED.keys() == words and WORKED.keys() <= printed().keys()
