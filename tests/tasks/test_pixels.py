"""Sequential digits: 64 rows of one number each, as the image has them."""

from __future__ import annotations

import numpy as np

from models.tasks.digits import images, indices
from models.tasks.pixels import TASK, pixels


def test_rows_are_the_pixels_of_an_image_line_by_line() -> None:
    rows = np.array(pixels(4))
    assert rows.shape == (64, 1)
    np.testing.assert_array_equal(rows.reshape(8, 8) * 16, images()[0][4])


def test_an_example_has_the_class_of_its_image_and_held_out_images_are_never_trained_on() -> None:
    def known(split: str) -> dict[object, str]:
        return {pixels(i): str(images()[1][i]) for i in indices(split)}

    train, held_out = known("train"), known("held_out")
    assert not train.keys() & held_out.keys()
    for i in range(200):
        for split, images_of in (("train", train), ("held_out", held_out)):
            example = TASK.example(7, split, i)  # type: ignore[arg-type]
            assert images_of[example.features] == example.target[0]
    assert len({TASK.example(7, "train", i).target for i in range(200)}) == 10


def test_presets_are_held_out_images_of_the_digit_that_they_name() -> None:
    held_out = {pixels(i): str(images()[1][i]) for i in indices("held_out")}
    assert [held_out[p.features] for p in TASK.presets if p.features] == [p.target[0] for p in TASK.presets]
