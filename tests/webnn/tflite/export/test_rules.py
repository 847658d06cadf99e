"""The operators of elementwise operations and activations."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support import each_row
from tests.webnn.tflite.export.litert import check, constant, describe, judge, ramp

X, N = ramp(2, 3, 4), ramp(3, 4, dtype=np.int32)


@each_row(
    ("make", "x", "made"),
    [
        (lambda b, x: b.gelu(x), X, ["GELU"]),
        (lambda b, x: b.hardSwish(x), X, ["HARD_SWISH"]),
        (lambda b, x: b.sigmoid(x), X, ["LOGISTIC"]),
        (lambda b, x: b.elu(x), X, ["ELU"]),
        (lambda b, x: b.elu(x, alpha=0.5), X, ["MAXIMUM", "MINIMUM", "ELU", "MUL", "ADD"]),
        (lambda b, x: b.leakyRelu(x, alpha=0.1), X, ["LEAKY_RELU"]),
        (lambda b, x: b.prelu(x, constant(b, ramp(4))), X, ["PRELU"]),
        (lambda b, x: b.relu(x), X, ["RELU"]),
        (lambda b, x: b.relu(x), N, ["MAXIMUM"]),
        (lambda b, x: b.hardSigmoid(x), X, None),
        (lambda b, x: b.softmax(x, 2), X, ["SOFTMAX"]),
        (lambda b, x: b.softmax(x, 1), X, ["TRANSPOSE", "SOFTMAX", "TRANSPOSE"]),
        (lambda b, x: b.clamp(x, minValue=0, maxValue=6), X, ["RELU6"]),
        (lambda b, x: b.clamp(x, minValue=-1, maxValue=1), X, ["RELU_N1_TO_1"]),
        (lambda b, x: b.clamp(x, minValue=0, maxValue=1), X, ["RELU_0_TO_1"]),
        (lambda b, x: b.clamp(x, minValue=0), X, ["RELU"]),
        (lambda b, x: b.clamp(x, minValue=-0.5, maxValue=1), X, ["MAXIMUM", "MINIMUM"]),
        (lambda b, x: b.clamp(b.relu(x)), X, ["RELU"]),
        (lambda b, x: b.clamp(b.relu(x), minValue=-1), X, ["RELU", "MAXIMUM"]),
        (lambda b, x: b.clamp(b.sigmoid(x), maxValue=0.5), X, ["LOGISTIC", "MINIMUM"]),
        (lambda b, x: b.pow(x, constant(b, np.int32(3))), N, ["MUL", "MUL", "MUL"]),
        (lambda b, x: b.pow(b.abs(x), constant(b, np.float32(1.5))), X, ["ABS", "POW"]),
        (lambda b, x: b.logicalXor(b.cast(x, "uint8"), b.cast(b.abs(x), "uint8")), N, None),
        (lambda b, x: b.logicalNot(b.cast(b.abs(x), "uint8")), N, None),
        (lambda b, x: b.sign(x), X, None),
        (lambda b, x: b.equal(x, x), N, ["EQUAL", "CAST"]),
    ],
)
def test_operators(make: Any, x: Any, made: list[str] | None) -> None:
    found = check(make, x)
    assert made is None or found == made


@each_row(
    ("switch", "make", "inputs", "made"),
    [
        (
            {"averagePool2dPadding": "sameOnly"},
            lambda b, x: b.averagePool2d(x, windowDimensions=[3, 3], padding=[2, 0, 1, 1], layout="nhwc"),
            [ramp(1, 5, 6, 4)],
            ["PAD", "AVERAGE_POOL_2D"],
        ),
        (
            {"l2Pool2dPadding": "sameMean"},
            lambda b, x: b.l2Pool2d(x, windowDimensions=[3, 3], padding=[1, 1, 1, 1], layout="nhwc"),
            [ramp(1, 5, 6, 4)],
            None,
        ),
        (
            {"resample2dTies": "upper"},
            lambda b, x: b.resample2d(x, sizes=[5, 3], axes=[1, 2]),
            [ramp(1, 5, 6, 4)],
            ["RESIZE_NEAREST_NEIGHBOR"],
        ),
        (
            {"scatterDuplicates": "sum"},
            lambda b, x, i, u: b.scatterND(x, i, u),
            [ramp(4), np.array([[1], [2], [1]], np.int32), ramp(3) + 9],
            None,
        ),
        (
            {"maxPool2dEmptyWindow": "zeroUnlessStrided"},
            lambda b, x: b.maxPool2d(x, windowDimensions=[1, 1], padding=[1, 1, 1, 1], layout="nhwc"),
            [ramp(1, 2, 3, 2)],
            ["PADV2", "MAX_POOL_2D", "EQUAL", "SELECT_V2"],
        ),
        (
            {"maxPool2dEmptyWindow": "zeroUnlessStrided"},
            lambda b, x: b.maxPool2d(x, windowDimensions=[1, 1], padding=[1, 1, 1, 1], strides=[2, 2], layout="nhwc"),
            [ramp(1, 2, 3, 2)],
            ["PADV2", "MAX_POOL_2D", "EQUAL", "SELECT_V2"],
        ),
        ({"signNaN": "nan"}, lambda b, x: b.reduceL2(x, axes=[]), [ramp(2, 3)], ["MUL", "SQRT"]),
        ({"signNaN": "nan"}, lambda b, x: b.sign(x), [np.array([np.nan, -2, 0, 3], np.float32)], ["SIGN"]),
        ({"triangularMask": "multiply"}, lambda b, x: b.triangular(x), [np.full((2, 2), np.inf, np.float32)], ["MUL"]),
    ],
)
def test_the_mapping_of_a_browser(switch: dict[str, str], make: Any, inputs: list[Any], made: list[str] | None) -> None:
    found = check(make, *inputs, **switch)
    assert made is None or found == made


def test_an_unsigned_integer_by_zero() -> None:
    """The quotient has all bits set."""
    divisor = np.uint8([0, 2])
    found = judge(*describe(lambda b, x: b.div(x, constant(b, divisor)), np.uint8([6, 6])))
    assert found["y"].tolist() == [255, 3]
