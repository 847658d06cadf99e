"""The values of ``cumulativeSum``, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.reference import REFERENCE_NEWEST
from tests.support import CURRENT, run

Array = np.ndarray[Any, np.dtype[Any]]

RNG = np.random.default_rng(0)
INTEGERS = ["int32", "uint32", "int64", "uint64"]
NAN, INF = np.nan, np.inf
SHAPES: list[list[int]] = [
    [1],
    [7],
    [3, 5],
    [4, 1, 3],
    [2, 3, 4, 5],
    [2, 1, 3, 2, 3],
    [2, 1, 2, 2, 1, 3],
    [2, 1, 2, 2, 1, 2, 3],
    [2, 1, 2, 3] * 2,
]
WAYS = [{}, {"exclusive": True}, {"reversed": True}, {"exclusive": True, "reversed": True}]
SPECIAL: list[list[float]] = [
    [1, NAN, 3, 4],
    [1, INF, 3, 4],
    [1, INF, -INF, 4],
    [-INF, 1, NAN, INF],
    [0.0, -0.0, 0.0, -0.0],
    # Denormal in float16, which is computed in float32, and exact in any order.
    [2**-20, 2**-20, -(2**-19), 2**-24],
]


def check(input: Array, axis: int, *, constants: bool = False, rtol: float = 0, atol: float = 0, **options: Any) -> None:
    [actual] = run("cumulativeSum", input, axis, constants=constants, revision=CURRENT, **options)
    np.testing.assert_allclose(actual, REFERENCE_NEWEST["cumulativeSum"](input, axis, **options), rtol, atol, strict=True)


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape: list[int], options: dict[str, Any], *, constants: bool) -> None:
    for axis in range(len(shape)):
        check(RNG.uniform(-1, 1, shape).astype(np.float32), axis, constants=constants, rtol=1e-6, atol=1e-6, **options)
        check(RNG.uniform(-1, 1, shape).astype(np.float16), axis, constants=constants, rtol=1e-3, atol=1e-6, **options)


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap(dtype: str, options: dict[str, Any], *, constants: bool) -> None:
    limits = np.iinfo(dtype)
    values = RNG.integers(limits.min, limits.max, [5, 4, 7], dtype, endpoint=True)
    values[0, 0, :2] = limits.min, limits.max
    for axis in range(3):
        check(values, axis, constants=constants, **options)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_sums_beyond_double_precision_are_exact(dtype: str) -> None:
    check(np.array([2**53, 1, 1, 2**62, 3, 2**62, 1], dtype), 0)
    values = np.full([70_001], np.iinfo(dtype).max, dtype)
    [actual] = run("cumulativeSum", values, 0, revision=CURRENT)
    np.testing.assert_array_equal(actual, np.cumsum(values, dtype=dtype), strict=True)


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_special_values(dtype: str, options: dict[str, Any]) -> None:
    rows = np.array(SPECIAL, dtype)
    check(rows, 1, **options)
    check(np.ascontiguousarray(rows.T), 0, constants=True, **options)


def test_float16_accumulates_in_float32() -> None:
    # The sums leave float16's range and come back; only what is returned is rounded.
    check(np.array([60000, 60000, -60000, -60000], np.float16), 0)
    # In float16 each sum would stop at 256: the next 0.1 is less than half a unit.
    check(np.full([4000], 0.1, np.float16), 0, rtol=2**-10)
