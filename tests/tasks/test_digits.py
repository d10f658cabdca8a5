"""The digits: what was shipped is what scikit-learn has, and the two splits share no image."""

from __future__ import annotations

import hashlib

import numpy as np

from models.tasks.digits import INK, images, indices


def test_the_file_holds_1797_digits_of_ten_classes() -> None:
    pixels, classes = images()
    assert pixels.shape == (1797, 8, 8) and pixels.max() == INK
    assert np.bincount(classes).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]  # the counts UCI publishes


def test_the_pixels_are_those_of_load_digits() -> None:
    digest = hashlib.sha256(np.ascontiguousarray(images()[0]).tobytes()).hexdigest()
    assert digest == "8f26b2bd9d135c256808f68f14fdabddde6d9c7f869ae419704b051f0f14b3b3"  # of load_digits().images as bytes
    assert images()[0][0, 0].tolist() == [0, 0, 5, 13, 9, 1, 0, 0]  # the first line that its documentation prints


def test_no_digit_is_in_both_splits() -> None:
    train, held_out = indices("train"), indices("held_out")
    assert sorted(train + held_out) == list(range(1797))
    assert sorted(i for digit in range(10) for i in indices("held_out", digit)) == list(held_out)
