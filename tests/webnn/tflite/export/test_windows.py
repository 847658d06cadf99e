"""Convolutions, pooling and resampling."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support import FIRST, each_row
from tests.webnn.tflite.export.litert import check, constant, ramp

X = ramp(1, 5, 6, 4)
NHWC = {"inputLayout": "nhwc"}


def conv(b: Any, x: Any, *shape: int, **options: Any) -> Any:
    return b.conv2d(x, constant(b, ramp(*shape)), filterLayout="ohwi", **NHWC, **options)


def back(b: Any, x: Any, *shape: int, **options: Any) -> Any:
    return b.convTranspose2d(x, constant(b, ramp(*shape)), filterLayout="ohwi", **NHWC, **options)


@each_row(
    ("make", "made"),
    [
        (lambda b, x: conv(b, x, 3, 2, 2, 4), ["CONV_2D"]),
        (lambda b, x: conv(b, x, 3, 3, 3, 4, padding=[1, 1, 1, 1]), ["CONV_2D"]),
        (lambda b, x: conv(b, x, 3, 3, 3, 4, padding=[0, 2, 1, 1]), ["PAD", "CONV_2D"]),
        (lambda b, x: conv(b, x, 3, 3, 3, 4, strides=[2, 1], dilations=[1, 2]), ["CONV_2D"]),
        (lambda b, x: conv(b, x, 6, 3, 3, 2, groups=2), ["CONV_2D"]),
        (lambda b, x: conv(b, x, 4, 3, 3, 1, groups=4, bias=constant(b, ramp(4))), ["DEPTHWISE_CONV_2D"]),
        (lambda b, x: conv(b, x, 8, 3, 3, 1, groups=4), ["DEPTHWISE_CONV_2D"]),
        (lambda b, x: back(b, x, 3, 2, 2, 4), ["TRANSPOSE_CONV"]),
        (lambda b, x: back(b, x, 3, 3, 3, 4, strides=[2, 2], padding=[1, 0, 1, 1]), ["TRANSPOSE_CONV", "SLICE"]),
        (lambda b, x: back(b, x, 3, 2, 2, 4, strides=[2, 3], outputPadding=[1, 2], bias=constant(b, ramp(3))), ["TRANSPOSE_CONV", "ADD"]),
        (lambda b, x: back(b, x, 3, 2, 2, 4, dilations=[2, 3]), ["TRANSPOSE_CONV"]),
        (lambda b, x: back(b, x, 3, 2, 2, 4, groups=2), None),
        (lambda b, x: b.averagePool2d(x, windowDimensions=[2, 3], layout="nhwc"), ["AVERAGE_POOL_2D"]),
        (lambda b, x: b.averagePool2d(x, windowDimensions=[3, 3], padding=[1, 1, 1, 1], layout="nhwc"), ["AVERAGE_POOL_2D"]),
        # Other padding does not count.
        (lambda b, x: b.averagePool2d(x, windowDimensions=[3, 3], padding=[2, 0, 1, 1], layout="nhwc"), ["PAD", "AVERAGE_POOL_2D", "MUL"]),
        (lambda b, x: b.averagePool2d(x, windowDimensions=[2, 2], dilations=[2, 2], padding=[1, 0, 0, 0], layout="nhwc"), None),
        (lambda b, x: b.l2Pool2d(x, windowDimensions=[2, 2], layout="nhwc"), ["MUL", "AVERAGE_POOL_2D", "MUL", "SQRT"]),
        (lambda b, x: b.maxPool2d(x, windowDimensions=[2, 2], strides=[2, 2], layout="nhwc"), ["MAX_POOL_2D"]),
        (lambda b, x: b.maxPool2d(x, windowDimensions=[3, 2], padding=[2, 0, 0, 0], layout="nhwc"), ["PADV2", "MAX_POOL_2D"]),
        (lambda b, x: b.maxPool2d(x, windowDimensions=[2, 2], dilations=[2, 2], layout="nhwc"), None),
        (lambda b, x: b.resample2d(x, sizes=[10, 12], axes=[1, 2]), ["RESIZE_NEAREST_NEIGHBOR"]),
        (lambda b, x: b.resample2d(x, sizes=[7, 9], axes=[1, 2], mode="linear"), ["RESIZE_BILINEAR"]),
        (lambda b, x: b.resample2d(x, sizes=[9, 7], axes=[2, 1], mode="linear"), ["RESIZE_BILINEAR"]),
        # Of two that are equally near the kernel takes the upper one.
        (lambda b, x: b.resample2d(x, sizes=[5, 3], axes=[1, 2]), ["GATHER", "GATHER"]),
    ],
)
def test_operators(make: Any, made: list[str] | None) -> None:
    found = check(make, X)
    assert made is None or found == made


def test_integers_are_pooled() -> None:
    x = ramp(1, 4, 4, 1, dtype=np.int8)
    assert check(lambda b, x: b.maxPool2d(x, windowDimensions=[2, 2], layout="nhwc"), x) == ["MAX_POOL_2D"]
    padded = check(lambda b, x: b.maxPool2d(x, windowDimensions=[2, 2], padding=[1, 0, 0, 0], layout="nhwc"), x - 50)
    assert padded == ["PADV2", "MAX_POOL_2D"]
    check(lambda b, x: b.maxPool2d(x, windowDimensions=[2, 2], layout="nhwc"), ramp(1, 4, 4, 1, dtype=np.int64))


def test_outputs_that_are_rounded_up() -> None:
    def make(b: Any, x: Any) -> Any:
        return b.averagePool2d(x, windowDimensions=[2, 2], strides=[2, 2], layout="nhwc", roundingType="ceil")

    check(make, X, draft=FIRST.of_graphs)
