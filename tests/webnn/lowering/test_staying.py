"""Constants in float16: numbers beyond its range, and below its normal range."""

from __future__ import annotations

import math

import numpy as np
import pytest

from webnn.lowering.staying import LEAST, round_constant

#: The numbers, those of float16, how many are beyond the range, how many vanish, and whether none is normal.
CASES: list[tuple[list[float], list[float], int, int, bool]] = [
    ([1, -0.5, 0], [1, -0.5, 0], 0, 0, False),
    ([65504, -65504, 65519], [65504, -65504, 65504], 0, 0, False),
    ([65520, -1e9, math.inf, -math.inf], [65504, -65504, math.inf, -math.inf], 2, 0, False),
    ([1e-9, -1e-9, 1], [0, 0, 1], 0, 2, False),
    ([3e-5, 0], [3e-5, 0], 0, 0, True),
    ([1e-12], [LEAST], 0, 1, True),
    ([-1e-12], [-LEAST], 0, 1, True),
    ([0, 0], [0, 0], 0, 0, False),
    ([math.nan, 2], [math.nan, 2], 0, 0, False),
]


@pytest.mark.parametrize(("numbers", "wanted", "overflows", "vanishes", "subnormal"), CASES)
def test_a_constant_is_rounded(numbers: list[float], wanted: list[float], overflows: int, vanishes: int, subnormal: bool) -> None:
    found = round_constant(np.array(numbers, np.float32))
    assert found.array.dtype == np.float16
    np.testing.assert_array_equal(found.array, np.array(wanted, np.float16))
    assert (found.overflows, found.vanishes, found.subnormal) == (overflows, vanishes, subnormal)


def test_a_scalar_stays_an_array() -> None:
    for number in (1e-12, 1e9, 1.0):
        assert isinstance(round_constant(np.array(number, np.float32)).array, np.ndarray)
