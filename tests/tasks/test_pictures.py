"""Captions and strips: what is drawn is what is said, the splits differ in their digits, and nothing is out of range."""

from __future__ import annotations

import numpy as np
import pytest

from models.tasks import EOS, captions, digits, strips
from models.tasks.captions import PLACE, SIDE


def _picture(example: object) -> np.ndarray:
    return np.array(example.features)  # type: ignore[attr-defined]


def test_a_caption_names_the_quarters_that_hold_ink() -> None:
    for index in range(40):
        example = captions.TASK.example(7, "train", index)
        pixels = _picture(example)
        halves = {"top": slice(0, 12), "bottom": slice(12, 24), "left": slice(0, 12), "right": slice(12, 24)}
        inked = [f"{v} {h}" for v in ("top", "bottom") for h in ("left", "right") if pixels[halves[v], halves[h]].any()]
        said = " ".join(example.target).split(" and ")
        assert [p.rsplit(" ", 1)[0] for p in said] == inked or (not inked and said == ["nothing"])
        assert pixels.shape == (SIDE, SIDE) and pixels.min() >= 0 and pixels.max() <= 1


def test_gold_links_lead_to_places_with_ink() -> None:
    example = captions.TASK.example(7, "train", 0)
    pixels = _picture(example)
    per_line = SIDE // PLACE
    assert example.alignment
    for place, word in example.alignment:
        y, x = place // per_line * PLACE, place % per_line * PLACE
        assert pixels[y : y + PLACE, x : x + PLACE].any() and example.target[word] != "and"


def test_a_strip_holds_its_digits_in_order_and_no_frame_too_few() -> None:
    lengths = []
    for index in range(40):
        example = strips.TASK.example(7, "train", index)
        frames = _picture(example)
        lengths.append(len(frames))
        assert frames.shape[1] == strips.BANDS and len(frames) <= strips.MOST and 3 <= len(example.target) <= 5
        assert frames.min() >= 0 and frames.max() <= 1
        loud = frames.max(1) > strips.NOISE  # digits are parted by silence
        assert np.flatnonzero(np.diff(loud.astype(int)) == 1).size + bool(loud[0]) >= len(example.target)
    assert len(set(lengths)) > 5


def test_the_longest_strip_fits() -> None:
    assert strips.MOST >= 5 * 10 + 6 * 3  # five of the widest digits between the widest gaps


@pytest.mark.parametrize("task", [captions.TASK, strips.TASK])
def test_an_example_is_a_function_of_its_numbers_and_splits_share_no_digit(task: object) -> None:
    make = task.example  # type: ignore[attr-defined]
    assert make(7, "train", 3) == make(7, "train", 3) != make(8, "train", 3)
    assert make(7, "train", 3) != make(7, "held_out", 3)
    assert not set(digits.indices("train")) & set(digits.indices("held_out"))


def test_presets_and_stamps_can_be_read() -> None:
    for task in (captions.TASK, strips.TASK):
        assert len(task.stamps) == 10 and all(len(lines) == digits.SIZE for lines in task.stamps.values())
        for preset in task.presets:
            assert preset.features is not None and all(w in task.target.words for w in preset.target)
    assert captions.TASK.target.words[EOS] == "<eos>"
