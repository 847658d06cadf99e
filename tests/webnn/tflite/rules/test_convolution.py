from __future__ import annotations

import pytest

from tests.webnn.tflite.cases import FAMILIES
from tests.webnn.tflite.makers import c, f, i, ints, one
from tests.webnn.tflite.support import check, refusals


@pytest.mark.parametrize("name", [*FAMILIES["convolution"], *FAMILIES["matrices"]])
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
    ],
)
def test_refusals(model: bytes, reason: str) -> None:
    assert reason in refusals(model)[0][1]
