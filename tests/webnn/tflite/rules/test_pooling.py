from __future__ import annotations

import pytest

from tests.webnn.tflite.cases import FAMILIES
from tests.webnn.tflite.makers import f, ints, one
from tests.webnn.tflite.support import check, refusals


@pytest.mark.parametrize("name", FAMILIES["pooling"])
def test_results(name: str) -> None:
    check(name)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (one("RESIZE_BILINEAR", [f(4, 4), ints(2, 2)], [f()]), "the input must have 4 dimensions, got [4, 4]"),
        (one("RESIZE_BILINEAR", [f(1, 4, 4, 1), ints(2, 0)], [f()]), "the sizes must be 2 numbers of at least 1, got [2, 0]"),
        (
            one("RESIZE_BILINEAR", [f(1, 4, 4, 1), ints(2, 2)], [f()], "ResizeBilinearOptions", AlignCorners=True, HalfPixelCenters=True),
            "AlignCorners and HalfPixelCenters must not both be set",
        ),
        (one("MAX_POOL_2D", [f(4, 4)], [f()], "Pool2DOptions", FilterHeight=1, FilterWidth=1), "the input must have 4 dimensions"),
    ],
)
def test_refusals(model: bytes, reason: str) -> None:
    assert reason in refusals(model)[0][1]
