"""Functions of known elements, compared with Python's integers, which have no bounds."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from webnn.builder.elementwise import FUNCTIONS, divide, power, saturate, total_order, wrap

INTEGERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]


def edges(dtype: str) -> list[int]:
    """Return the ends of a type, and small integers."""
    info = np.iinfo(dtype)
    return sorted({int(info.min), int(info.min) + 1, int(info.max) - 1, int(info.max), *range(max(info.min, -3), 8)})


def wrapped(number: int, dtype: str) -> int:
    bits = 8 * np.dtype(dtype).itemsize
    number %= 2**bits
    return number - 2**bits if dtype.startswith("int") and number >= 2 ** (bits - 1) else number


def quotient(a: int, b: int) -> int:
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def pairs(dtype: str) -> tuple[Any, Any]:
    a, b = zip(*itertools.product(edges(dtype), repeat=2), strict=True)
    return np.array(a, dtype), np.array(b, dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap(dtype: str) -> None:
    a, b = pairs(dtype)
    with np.errstate(all="ignore"):
        found = {"divide": divide(a, b), "mul": FUNCTIONS["mul"](a, b), "sub": FUNCTIONS["sub"](a, b)}
    numbers = list(zip(a.tolist(), b.tolist(), strict=True))
    assert found["divide"].tolist() == [wrapped(quotient(*each), dtype) for each in numbers]
    assert found["mul"].tolist() == [wrapped(x * y, dtype) for x, y in numbers]
    assert found["sub"].tolist() == [wrapped(x - y, dtype) for x, y in numbers]
    assert all(each.dtype == a.dtype for each in found.values())


@pytest.mark.parametrize("dtype", INTEGERS)
def test_powers_wrap(dtype: str) -> None:
    a, b = pairs(dtype)
    modulus = 2 ** (8 * np.dtype(dtype).itemsize)

    def expected(x: int, y: int) -> int:
        if y >= 0:
            return int(pow(x, y, modulus))
        return (1 if y % 2 == 0 else -1) if x == -1 else quotient(1, x)

    with np.errstate(all="ignore"):
        found = power(a, b)
    assert found.dtype == a.dtype
    assert found.tolist() == [wrapped(expected(x, y), dtype) for x, y in zip(a.tolist(), b.tolist(), strict=True)]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_numbers_saturate(dtype: str) -> None:
    info = np.iinfo(dtype)
    numbers = [0.9, -0.9, 1.5, -1.5, float(info.min), float(info.max), 2.0 * info.max, -1e30, math.inf, -math.inf, math.nan]
    expected = [0 if math.isnan(each) else math.trunc(min(max(each, info.min), info.max)) for each in numbers]
    found = saturate(np.array(numbers), np.dtype(dtype))
    assert (found.dtype, found.tolist()) == (np.dtype(dtype), expected)


def test_integers_in_a_smaller_type() -> None:
    numbers = np.arange(-300, 300)
    for dtype in INTEGERS[:2] + INTEGERS[4:6]:
        assert wrap(numbers, np.dtype(dtype)).tolist() == [wrapped(each, dtype) for each in numbers.tolist()]
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name, low in (("int4", -8), ("uint4", 0), ("int2", -2), ("uint2", 0)):
        found = wrap(numbers, np.dtype(getattr(ml_dtypes, name))).astype(np.int64)
        size = 2 ** int(name[-1])
        assert found.tolist() == [(each - low) % size + low for each in numbers.tolist()]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_total_order(dtype: str) -> None:
    ordered = np.array([-math.nan, -math.inf, -1, -0.0, 0.0, 1e-5, 1, math.inf, math.nan], dtype)
    ordered = np.copysign(ordered, [-1, -1, -1, -1, 1, 1, 1, 1, 1]).astype(dtype)
    numbers = total_order(ordered).tolist()
    assert numbers == sorted(set(numbers))
    assert total_order(ordered[3]).shape == ()
