from __future__ import annotations

import pytest

from tests.webnn.tflite.cases import FAMILIES
from tests.webnn.tflite.makers import c, f, i, ints, one
from tests.webnn.tflite.support import check, refusals
from webnn.importing.windows import Window
from webnn.tflite.rules.convolution import place, trim


@pytest.mark.parametrize("name", [*FAMILIES["convolution"], *FAMILIES["matrices"], *FAMILIES["pooling"]])
def test_results(name: str) -> None:
    check(name)


CONV = {"StrideH": 1, "StrideW": 1, "Padding": 1}


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (one("CONV_2D", [f(1, 4, 4, 3), c(2, 2, 2, 2)], [f()], "Conv2DOptions", **CONV), "must divide those of the input, 3, got 2"),
        (one("CONV_2D", [f(4, 4, 3), c(2, 2, 2, 3)], [f()], "Conv2DOptions", **CONV), "must have 4 dimensions, got [4, 4, 3]"),
        (
            one("CONV_2D", [f(1, 4, 4, 3), c(2, 5, 2, 3)], [f()], "Conv2DOptions", **CONV),
            "the window must fit into the padded input, [4, 4], got [5, 2]",
        ),
        (
            one("TRANSPOSE_CONV", [i(4), c(2, 2, 2, 3), f(1, 4, 4, 3)], [f()], "TransposeConvOptions", **CONV),
            "the shape of the output must be known",
        ),
        (
            one("TRANSPOSE_CONV", [ints(4, 4), c(2, 2, 2, 3), f(1, 4, 4, 3)], [f()], "TransposeConvOptions", **CONV),
            "must have 4 dimensions, got [4, 4]",
        ),
        (one("CONV_3D", [f(1, 4, 4, 4, 3), c(2, 2, 2, 2, 2)], [f()], "Conv3DOptions", StrideD=1, **CONV), "must divide those of the input"),
        (one("FULLY_CONNECTED", [f(2, 5), c(3, 4)], [f()]), "of which the last one divides 10 elements, got [3, 4]"),
        (one("FULLY_CONNECTED", [f(2, 4), c(3, 4)], [f()], "FullyConnectedOptions", WeightsFormat=1), "shuffled weights are not supported"),
        (one("BATCH_MATMUL", [f(4), f(4, 2)], [f()]), "the matrices must have at least 2 dimensions, got [4]"),
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


@pytest.mark.parametrize(
    ("window", "padding", "edges"),
    [
        (Window(size=7, count=3, stride=2), "SAME", (1, 1)),
        (Window(size=6, count=3, stride=2), "SAME", (0, 1)),
        (Window(size=6, count=3, dilation=2), "SAME", (2, 2)),
        (Window(size=6, count=1, stride=4), "SAME", (0, 0)),
        (Window(size=7, count=3, stride=2), "VALID", (0, 0)),
    ],
)
def test_padding(window: Window, padding: str, edges: tuple[int, int]) -> None:
    placed = place(window, padding)
    assert (placed.low, placed.high) == edges


def test_transposed_windows() -> None:
    assert trim(Window(size=6, count=3, stride=2), "SAME", 3) == (0, 1)
    assert trim(Window(size=8, count=2, stride=3), "VALID", 3) == (0, 0)
    assert trim(Window(size=9, count=2, stride=3), "VALID", 3) == (0, -1)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"FilterHeight": 0}, "FilterHeight must be at least 1, got 0"),
        ({"StrideW": 0}, "StrideW must be at least 1, got 0"),
        ({"Padding": 7}, "Padding must be SAME or VALID, got 7"),
        ({"FilterHeight": 9}, "the window must fit into the padded input"),
        ({"FusedActivationFunction": 5}, "the fused activation SIGN_BIT is not supported"),
    ],
)
def test_windows_that_do_not_fit(changed: dict[str, int], reason: str) -> None:
    fields = {"FilterHeight": 2, "FilterWidth": 2, "StrideH": 1, "StrideW": 1, "Padding": 1, **changed}
    assert reason in refusals(one("MAX_POOL_2D", [f(1, 4, 4, 1)], [f()], "Pool2DOptions", **fields))[0][1]
