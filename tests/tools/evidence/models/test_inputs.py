"""The inputs that entries describe."""

from __future__ import annotations

import numpy as np

from tools.evidence.models.catalog import Input, load_catalog
from tools.evidence.models.inputs import make_inputs


def test_inputs_are_those_of_the_seed() -> None:
    for name, model in load_catalog().items():
        first, again, other = (make_inputs(model.inputs, seed) for seed in (0, 0, 1))
        for key, value in first.items():
            assert value.shape == tuple(model.inputs[key].shape), name
            made = model.inputs[key]
            assert value.dtype == (made.dtype or (np.int32 if made.values in ("integers", "mask") else np.float32)), name
            assert value.flags.c_contiguous, name
            assert np.array_equal(value, again[key]), name
            # One row of a mask, and one value below 1, are the same for all seeds.
            assert np.array_equal(value, other[key]) == (
                (made.values == "mask" and value.ndim == 2 and len(value) == 1) or made.below == 1
            ), name


def test_images_show_digits() -> None:
    given = {"x": Input(shape=[1, 3, 48, 96], values="digits", paper=1, ink=-1, scale=3)}
    (image,) = make_inputs(given, 0)["x"]
    assert (image == image[0]).all()
    assert (image.min(), image.max()) == (-1, 1)
    # One line of four digits in the middle.
    assert (image[0, :12] == 1).all()
    assert (image[0, 36:] == 1).all()
    assert [(image[0, :, left : left + 24] < 0).any() for left in range(0, 96, 24)] == [True] * 4


def test_masks_and_sounds() -> None:
    given = {
        "mask": Input(shape=[5, 9], values="mask", dtype="bool"),
        "sound": Input(shape=[1, 400], values="voice", gain=1000),
    }
    values = make_inputs(given, 0)
    assert values["mask"][0].all()
    # Each row is ones, and zeros behind them.
    assert (np.diff(values["mask"].astype(int)) <= 0).all()
    assert values["mask"][:, 0].all()
    assert 400 < np.abs(values["sound"]).max() < 600
