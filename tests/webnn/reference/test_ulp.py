"""Distances in units of the last place, worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from webnn.reference import ulp_distance

INF, NAN = math.inf, math.nan

#: Data type, the computed number, the exact one, and their distance.
CASES: list[tuple[str, float, float, float]] = [
    ("float32", 1.0, 1.0, 0),
    # From 1 to 2 the numbers are 2^-23 apart, below 1 they are 2^-24 apart.
    ("float32", 1 + 2**-23, 1.0, 1),
    ("float32", 1 - 2**-24, 1.0, 0.5),
    ("float32", 1 - 2**-24, 1 - 2**-23, 1),
    ("float32", 1.0, 1 + 2**-25, 0.25),
    ("float32", -3.0, 3.0, 6 * 2**22),
    ("float16", 2050, 2048, 1),
    ("float16", 2048, 2049, 0.5),
    ("float16", 0.5, 0.5 + 2**-12, 0.5),
    # Below the smallest normal number the distance of neighbours stays the same.
    ("float32", 2**-149, 0.0, 1),
    ("float32", 0.0, 2**-150, 0.5),
    ("float32", 0.0, 2**-127, 2**22),
    ("float32", 2**-126, 2**-126 - 2**-149, 1),
    ("float16", 2**-24, 3 * 2**-24, 2),
    ("float16", 0.0, 1e-300, 1e-300 * 2**24),
    # Zeros.
    ("float32", -0.0, 0.0, 0),
    ("float32", -0.0, 2**-149, 1),
    # NaN and infinities; a number that rounds to infinity counts as it.
    ("float32", NAN, NAN, 0),
    ("float32", NAN, 1.0, INF),
    ("float32", 1.0, NAN, INF),
    ("float32", NAN, INF, INF),
    ("float32", INF, NAN, INF),
    ("float32", INF, INF, 0),
    ("float32", -INF, INF, INF),
    ("float32", 3e38, INF, INF),
    ("float32", INF, 3e38, INF),
    ("float32", INF, 1e39, 0),
    ("float32", -INF, 1e39, INF),
    ("float16", INF, 65520, 0),
    ("float16", 65504, 65520, INF),
    ("float16", 65504, 65519, 15 / 32),
    ("float16", INF, 65519, INF),
    ("float16", INF, -INF, INF),
    # Integers.
    ("int32", -3, 4, 7),
    ("uint8", 255, 0, 255),
    ("uint8", 3, 2.5, 0.5),
    ("int4", -8, 7, 15),
    ("int32", 0, NAN, INF),
]


@pytest.mark.parametrize(("dataType", "actual", "expected", "distance"), CASES)
def test_distances(dataType: Any, actual: float, expected: float, distance: float) -> None:
    computed = np.array([actual], dataType.replace("4", "8") if dataType == "int4" else dataType)
    [found] = ulp_distance(computed, np.array([expected]), dataType)
    assert found == distance


def test_64_bits() -> None:
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    found = ulp_distance(np.array([low, high, high]), np.array([high, high - 1, high]), "int64")
    np.testing.assert_array_equal(found, [2.0**64, 1, 0], strict=True)
    assert ulp_distance(np.uint64(2**64 - 1), np.uint64(0), "uint64") == 2.0**64


def test_shapes() -> None:
    found = ulp_distance(np.ones((2, 3), np.float32), np.ones(3), "float32")
    np.testing.assert_array_equal(found, np.zeros((2, 3)), strict=True)
    assert ulp_distance(np.float32(1), 1.0, "float32").shape == ()
    with pytest.raises(ValueError, match="broadcast"):
        ulp_distance(np.ones(2, np.float32), np.ones(3), "float32")


def test_the_type_is_known() -> None:
    with pytest.raises(ValueError, match=r"dataType must be one of float32, .*, got 'float64'"):
        ulp_distance(1.0, 1.0, "float64")


@pytest.mark.parametrize("dataType", ["float32", "float16"])
def test_the_nearest_number_is_at_most_half_a_unit_away(dataType: Any) -> None:
    rng = np.random.default_rng(0)
    exact = rng.choice([-1.0, 1.0], 1000) * np.exp2(rng.uniform(np.finfo(dataType).minexp - 12, np.finfo(dataType).maxexp - 1, 1000))
    assert ulp_distance(exact.astype(dataType), exact, dataType).max() <= 0.5
    assert ulp_distance(np.nextafter(exact.astype(dataType), np.array(INF, dataType)), exact, dataType).min() > 0.4
