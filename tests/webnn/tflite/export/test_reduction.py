"""Reductions, running sums, and the positions of extreme values."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support import FIRST, each_row
from tests.webnn.tflite.export.litert import check, ramp

X = np.array([[3, 1, 3], [-2, 5, 5]], np.float32)


@each_row(
    ("make", "x", "made"),
    [
        (lambda b, x: b.reduceMean(x, axes=[1]), X, ["MEAN"]),
        (lambda b, x: b.reduceSum(x), X, ["SUM"]),
        (lambda b, x: b.reduceSum(x), ramp(3, dtype=np.uint32), ["CAST", "SUM", "CAST"]),
        (lambda b, x: b.reduceMax(x, axes=[0], keepDimensions=True), X, ["REDUCE_MAX"]),
        (lambda b, x: b.reduceProduct(x, axes=[0]), X, ["REDUCE_PROD"]),
        (lambda b, x: b.reduceL1(x, axes=[0]), X, ["ABS", "SUM"]),
        (lambda b, x: b.reduceLogSumExp(x, axes=[0]), X, None),
        (lambda b, x: b.reduceMean(x, axes=[]), X, ["RESHAPE"]),
        (lambda b, x: b.argMax(x, 1, outputDataType="int64"), X, ["ARG_MAX"]),
        (lambda b, x: b.argMin(x, 0, keepDimensions=True), X, ["ARG_MIN", "RESHAPE"]),
        (lambda b, x: b.cumulativeSum(x, 1, exclusive=True, reversed=True), X, ["CUMSUM"]),
    ],
)
def test_operators(make: Any, x: Any, made: list[str] | None) -> None:
    found = check(make, x)
    assert made is None or found == made


def test_means_of_normalizations() -> None:
    """As in Chromium, an operator takes the means: a sum and a division would round in another way."""
    image = ramp(1, 2, 3, 4)
    for make, x in ((lambda b, x: b.layerNormalization(x), image), (lambda b, x: b.instanceNormalization(x), image)):
        found = check(make, x)
        assert found.count("MEAN") == 2
        assert "SUM" not in found


def test_the_last_of_equal_elements() -> None:
    """The draft of 2024 counts several axes as one, and can ask for the last one."""
    draft = FIRST.of_graphs
    assert "REVERSE_V2" in check(lambda b, x: b.argMax(x, axes=[1], selectLastIndex=True), X, draft=draft)
    check(lambda b, x: b.argMax(x, axes=[0, 1], selectLastIndex=True), X, draft=draft)
    check(lambda b, x: b.argMin(x, axes=[0, 2]), ramp(2, 3, 2), draft=draft)
