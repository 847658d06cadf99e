"""The values of ``cumulativeSum``, against the NumPy reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT, Case, check_cases, near, run

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


def scan(input: Array, axis: int, **options: Any) -> Case:
    return Case("cumulativeSum", input, axis, **options)


def check(cases: list[Case], rtol: float = 0, atol: float = 0, constants: Sequence[bool] = (False, True)) -> None:
    check_cases(cases, near(rtol, atol), revision=CURRENT, constants=constants)


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 1e-6), ("float16", 1e-3)])
def test_shapes(dtype: str, rtol: float, options: dict[str, Any]) -> None:
    cases = [scan(RNG.uniform(-1, 1, shape).astype(dtype), axis, **options) for shape in SHAPES for axis in range(len(shape))]
    check(cases, rtol, 1e-6)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap(dtype: str) -> None:
    limits = np.iinfo(dtype)
    values = RNG.integers(limits.min, limits.max, [5, 4, 7], dtype, endpoint=True)
    values[0, 0, :2] = limits.min, limits.max
    check([scan(values, axis, **options) for axis in range(3) for options in WAYS])


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_sums_beyond_double_precision_are_exact(dtype: str) -> None:
    check([scan(np.array([2**53, 1, 1, 2**62, 3, 2**62, 1], dtype), 0)], constants=[False])
    values = np.full([70_001], np.iinfo(dtype).max, dtype)
    [actual] = run("cumulativeSum", values, 0, revision=CURRENT)
    np.testing.assert_array_equal(actual, np.cumsum(values, dtype=dtype), strict=True)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_special_values(dtype: str) -> None:
    rows = np.array(SPECIAL, dtype)
    check([scan(rows, 1, **options) for options in WAYS], constants=[False])
    check([scan(np.ascontiguousarray(rows.T), 0, **options) for options in WAYS], constants=[True])


def test_float16_accumulates_in_float32() -> None:
    # The sums leave float16's range and come back; only what is returned is rounded.
    check([scan(np.array([60000, 60000, -60000, -60000], np.float16), 0)], constants=[False])
    # In float16 each sum would stop at 256: the next 0.1 is less than half a unit.
    check([scan(np.full([4000], 0.1, np.float16), 0)], rtol=2**-10, constants=[False])
