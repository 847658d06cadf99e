"""Sums in float16, term by term. NumPy's scalars of float16, which round after each operation, are the model."""

from __future__ import annotations

import numpy as np
import pytest

from webnn.reference.accumulation import accumulate_in_float16, add_in_float16, multiply_in_float16


def test_an_accumulator_stops_where_one_is_less_than_half_a_unit() -> None:
    np.testing.assert_array_equal(add_in_float16(np.ones([2, 4096])), [2048, 2048])
    assert multiply_in_float16(np.ones([1, 4096]), np.ones([4096, 1])) == 2048


@pytest.mark.parametrize("seed", range(3))
def test_random_numbers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (rng.normal(size=size).astype(np.float16) for size in ((2, 3, 50), (50, 4)))
    expected = np.zeros([2, 3, 4], np.float16)
    for position in np.ndindex(*expected.shape):
        for index in range(50):
            expected[position] += a[(*position[:2], index)] * b[index, position[2]]
    np.testing.assert_array_equal(multiply_in_float16(a.astype(np.float64), b.astype(np.float64)), expected)


def test_operands_and_terms_are_rounded_and_the_total_goes_on() -> None:
    assert add_in_float16(np.array([[1 + 2.0**-12, 2.0**-12]])) == 1
    assert multiply_in_float16(np.array([[1 + 2.0**-12]]), np.array([[2048.0]])) == 2048
    total = accumulate_in_float16(np.array([[2047.0]]), np.array([[1.0, 1.0]]), np.array([[1.0], [1.0]]))
    assert total == 2048
    with np.errstate(over="ignore"):
        assert multiply_in_float16(np.array([[300.0]]), np.array([[300.0]])) == np.inf
