"""Everything that the texts print comes out of our own code; what stands on the page is what is held here."""

from __future__ import annotations

import pytest
from torch.testing import assert_close

from app.session.worked import WORKED, printed, worked
from app.session.worked_words import _read_of_the_shipped
from models.parts.read import read


@pytest.mark.parametrize("entry", worked(), ids=lambda entry: entry["name"])
def test_what_a_text_prints_comes_out(entry: dict[str, object]) -> None:
    assert entry["lines"] and entry["agrees"], [line for line in entry["lines"] if not line["agrees"]]  # type: ignore[attr-defined]


def test_every_entry_is_computed() -> None:
    assert printed().keys() == WORKED.keys()


def test_words_have_a_picture_whose_links_are_the_printed_ones() -> None:
    pictures = {entry["name"]: entry["picture"] for entry in worked() if "picture" in entry}
    assert pictures.keys() == {"mlm_example", "teacher_forced_predictions", "alignment_example"}
    hidden = pictures["mlm_example"]
    assert [(hidden["top"][i], hidden["bottom"][j]) for i, j, _ in hidden["links"]] == [("<mask>", "sat"), ("<mask>", "mat")]
    forced = pictures["teacher_forced_predictions"]
    assert [forced["bottom"][j] for _, j, _ in forced["links"]] == printed()["teacher_forced_predictions"]["predicts"]
    thick = [[i, j] for i, j, weight in pictures["alignment_example"]["links"] if weight > 0.5]
    assert sorted(thick) == sorted(printed()["alignment_example"]["links"])


def test_the_read_that_an_alignment_opens_is_the_models_own() -> None:
    """The bench computes it again from q, K and V: the row that writes noir takes most from black."""
    bench = next(entry["picture"]["bench"] for entry in worked() if entry["name"] == "alignment_example")
    found = read(bench["K"], bench["V"], bench["q"], None, bench["mode"], [not hidden for hidden in bench["hidden"]])
    model = _read_of_the_shipped(tuple(bench["names"]))[1]["weights"][0, 2]
    assert_close(found.weights.float(), model)
    assert bench["names"][int(found.weights.argmax())] == "black"
