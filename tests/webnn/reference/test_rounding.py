"""Results that the reference accepts beside those within the tolerances of operations."""

from __future__ import annotations

import numpy as np

import webnn
from tests.support import each_row
from webnn.reference.rounding import find_wrong

#: Linear interpolation between two numbers in four places, what may come, and what may not.
RESAMPLED = [
    # the numbers, results that are right, results that are wrong
    ([0, 2], ([0, 0, 2, 2], [0, 1, 1, 2], [0, 0, 1, 2]), ([0, 2, 2, 2], [1, 1, 2, 2])),
    ([0, 8], ([0, 2, 6, 8],), ([0, 3, 6, 8], [0, 2, 5, 8])),
]


@each_row(("numbers", "right", "wrong"), RESAMPLED)
def test_of_two_integers_that_are_equally_near_either_may_come(
    numbers: list[int], right: tuple[list[int]], wrong: tuple[list[int]]
) -> None:
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06+browsers").createContextSync())
    x = builder.input("x", {"dataType": "uint8", "shape": [1, 1, 1, 2]})
    description = webnn.describe({"y": builder.resample2d(x, mode="linear", sizes=[1, 4])})
    [operator] = description.operators
    [[_, _, given]], [made] = operator.named_values(), operator.outputs

    def judge(result: list[int]) -> str:
        values = {given: np.uint8(numbers).reshape(1, 1, 1, 2), made: np.uint8(result).reshape(1, 1, 1, 4)}
        return find_wrong(operator, description.draft, description.descriptors(), values)

    assert [judge(each) for each in right] == [""] * len(right)
    assert all("is right" in judge(each) for each in wrong)
