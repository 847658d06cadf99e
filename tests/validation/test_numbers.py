"""*Cast*: numbers of a program in an operand's type."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.casting import cast_number
from webnn.validation.descriptor import DATA_TYPES, DataType
from webnn.validation.numbers import cast, cast_as_browsers

INF, NAN = math.inf, math.nan

CASES: list[tuple[float, DataType, float]] = [
    (0.1, "float32", float(np.float32(0.1))),
    (0.1, "float16", float(np.float16(0.1))),
    (1e39, "float32", INF),
    (-1e39, "float32", -INF),
    (65519.99, "float16", 65504.0),
    (65520, "float16", INF),
    (10**400, "float32", INF),
    (-(10**400), "float16", -INF),
    (-INF, "float16", -INF),
    (2**53 + 1, "int64", 2**53 + 1),
    (2**64, "uint64", 2**64 - 1),
    (-1, "uint64", 0),
    (2**31, "int32", 2**31 - 1),
    (2**31, "uint32", 2**31),
    (10**400, "int8", 127),
    (INF, "int64", 2**63 - 1),
    (-INF, "int8", -128),
    (NAN, "int32", 0),
    # A tie goes to the even one.
    (0.5, "int8", 0),
    (1.5, "int8", 2),
    (-2.5, "int8", -2),
    (-0.5, "uint8", 0),
    (254.5, "uint8", 254),
    # Rounded once: by way of a double, the tie of single precision would be one no more.
    (2**60 + 2**36 + 1, "float32", float(2**60 + 2**37)),
    (2**60 + 2**36, "float32", float(2**60)),
    (-(2**60) - 2**36 - 1, "float32", -float(2**60 + 2**37)),
]


@pytest.mark.parametrize(("number", "dataType", "expected"), CASES)
def test_cast(number: float, dataType: DataType, expected: float) -> None:
    result = cast(number, dataType)
    assert result == expected
    assert type(result) is (float if dataType.startswith("float") else int)


@pytest.mark.parametrize("dataType", DATA_TYPES)
def test_cast_of_random_numbers(dataType: DataType) -> None:
    rng = np.random.default_rng(0)
    numbers = [*(rng.uniform(-1, 1, 300) * 10.0 ** rng.integers(-45, 40, 300)).tolist(), *(rng.integers(-9, 300, 100) / 4).tolist()]
    numbers += [int(number) * 2**shift + 1 for number in rng.integers(-(2**30), 2**30, 100) for shift in (0, 30, 60)]
    for number in numbers:
        assert cast(number, dataType) == cast_number(number, dataType), number


def test_special_values() -> None:
    assert math.isnan(cast(NAN, "float16"))
    assert math.copysign(1, cast(-0.0, "float32")) == -1
    assert math.copysign(1, cast(-1e-60, "float16")) == -1


@pytest.mark.parametrize("dataType", ["float32", "float16"])
def test_all_sizes_round_as_numpy_rounds(dataType: DataType) -> None:
    """Numbers of all exponents, ties and their neighbours, the smallest and the largest ones."""
    dtype = np.dtype(dataType)
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2 ** (8 * dtype.itemsize), 20_000, dtype=np.uint64).astype(f"u{dtype.itemsize}")
    finite = bits.view(dtype)[np.isfinite(bits.view(dtype))]
    exact = finite.astype(np.float64)
    ties = (exact + np.nextafter(finite, dtype.type(0)).astype(np.float64)) / 2
    doubles = rng.integers(0, 2**64, 20_000, dtype=np.uint64).view(np.float64)
    values = np.concatenate([exact, ties, np.nextafter(ties, INF), np.nextafter(ties, -INF), doubles[~np.isnan(doubles)]])
    with np.errstate(all="ignore"):
        expected = values.astype(dtype).astype(np.float64)
    actual = np.array([cast(value, dataType) for value in values.tolist()])
    np.testing.assert_array_equal(actual, expected)
    np.testing.assert_array_equal(np.signbit(actual), np.signbit(expected))
    assert math.isnan(cast(NAN, dataType))


@pytest.mark.parametrize(
    ("number", "dataType", "expected"),
    [
        # The nearest float32 is the largest finite one.
        (3.4028235e38, "float32", INF),
        (-3.4028235e38, "float32", -INF),
        (3.4028234663852886e38, "float32", 3.4028234663852886e38),
        (-3.4028234663852886e38, "float32", -3.4028234663852886e38),
        (1e39, "float16", INF),
        (7e-46, "float32", 0.0),
        (1e-45, "float32", 2.0**-149),
        (65519, "float16", 65504.0),
        # By way of float32, where it is 65520.
        (65519.999, "float16", INF),
        (3e-8, "float16", 2.0**-24),
        (NAN, "int32", 0),
        (INF, "int8", 127),
        (-INF, "int32", -(2**31)),
        (-3.4028235e38, "int64", -(2**63)),
        (1.5, "int32", 1),
        (254.9, "uint8", 254),
        (-1.5, "int8", -1),
        (-0.9, "uint8", 0),
        (2147483647.5, "int32", 2**31 - 1),
        (10**40, "int64", 2**63 - 1),
        (2**53 + 1, "int64", 2**53 + 1),
    ],
)
def test_cast_as_browsers(number: float, dataType: DataType, expected: float) -> None:
    """The results of Chromium 153 on Linux."""
    result = cast_as_browsers(number, dataType)
    assert result == expected
    assert type(result) is (float if dataType.startswith("float") else int)


def test_special_values_as_browsers() -> None:
    assert math.isnan(cast_as_browsers(NAN, "float16"))
    assert math.copysign(1, cast_as_browsers(-0.0, "float32")) == -1
