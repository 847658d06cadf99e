"""The values of logical operations, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.reference import REFERENCE, REFERENCE_NEWEST
from tests.support import CURRENT, run

Array = np.ndarray[Any, np.dtype[Any]]

RNG = np.random.default_rng(0)
COMPARISONS = ["equal", "greater", "greaterOrEqual", "lesser", "lesserOrEqual"]
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((), ()),
    ((2, 3), ()),
    ((), (1, 1)),
    ((2, 1, 4), (3, 1)),
    ((2, 1, 2, 1, 2, 1, 2, 1), (1, 3, 1, 2, 1, 2, 1, 5)),
]
SPECIAL = {
    "float32": [0.0, -0.0, 1.0, np.nextafter(np.float32(1), np.float32(2)), np.nan, np.inf, -np.inf],
    "float16": [0.0, -0.0, 1.0, np.nextafter(np.float16(1), np.float16(2)), np.nan, np.inf, -np.inf],
    "int32": [-(2**31), -1, 0, 1, 2**24, 2**24 + 1, 2**31 - 1],
    "uint32": [0, 1, 2**24, 2**24 + 1, 2**31, 2**32 - 1],
    "int64": [-(2**63), -1, 0, 2**53, 2**53 + 1, 2**63 - 1],
    "uint64": [0, 1, 2**53, 2**53 + 1, 2**63, 2**64 - 1],
    "int8": [-128, -1, 0, 1, 127],
    "uint8": [0, 1, 127, 128, 255],
}


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("dtype", SPECIAL)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name: str, dtype: str, *, constants: bool) -> None:
    values = np.array(SPECIAL[dtype], dtype)
    cases = [(values[:, None], values), *((RNG.choice(values, a), RNG.choice(values, b)) for a, b in SHAPES)]
    for a, b in cases:
        a, b = np.asarray(a), np.asarray(b)  # noqa: PLW2901 (a choice of one is no array)
        [actual] = run(name, a, b, constants=constants)
        np.testing.assert_array_equal(actual, REFERENCE[name](a, b), strict=True)


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("shape", [(), (256,), (1, 2, 1, 2, 1, 2, 1, 2)])
def test_logicalNot(shape: tuple[int, ...], *, constants: bool) -> None:
    a = np.resize(np.arange(256), shape).astype(np.uint8)
    [actual] = run("logicalNot", a, constants=constants)
    np.testing.assert_array_equal(actual, REFERENCE["logicalNot"](a), strict=True)


# Since 2026-06

#: Every NaN, infinity, zero, subnormal and normal number of float16; of float32 those at the ends of each exponent's range.
NUMBERS = {
    "float16": np.arange(2**16, dtype=np.uint16).view(np.float16),
    "float32": (np.arange(2**9, dtype=np.uint32)[:, None] * 2**23 + np.array([0, 1, 2**22, 2**23 - 1], np.uint32)).view(np.float32),
}


def check(name: str, *operands: Array, constants: bool) -> None:
    [actual] = run(name, *operands, constants=constants, revision=CURRENT)
    np.testing.assert_array_equal(actual, REFERENCE_NEWEST[name](*operands), strict=True)


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize(
    ("name", "dtype"),
    [*(("notEqual", dtype) for dtype in SPECIAL), ("logicalAnd", "uint8"), ("logicalOr", "uint8"), ("logicalXor", "uint8")],
)
def test_two_operands(name: str, dtype: str, *, constants: bool) -> None:
    values = np.array(SPECIAL[dtype], dtype)
    check(name, values[:, None], values, constants=constants)
    for a, b in SHAPES:
        check(name, np.asarray(RNG.choice(values, a)), np.asarray(RNG.choice(values, b)), constants=constants)


@pytest.mark.parametrize("name", ["logicalAnd", "logicalOr", "logicalXor"])
def test_every_truth(name: str) -> None:
    values = np.arange(256, dtype=np.uint8)
    check(name, values[:, None], values, constants=False)


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", ["isInfinite", "isNaN"])
def test_classes(name: str, dtype: str, *, constants: bool) -> None:
    check(name, NUMBERS[dtype], constants=constants)
    for shape in [(), (1,), (2, 3), (1, 2, 1, 2, 3, 1, 2, 2)]:
        check(name, np.asarray(RNG.choice(np.array(SPECIAL[dtype], dtype), shape)), constants=constants)
