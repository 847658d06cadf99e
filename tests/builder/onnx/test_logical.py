"""The values of logical operations, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT, Case, check_cases, equal

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


def pairs(dtype: str) -> list[tuple[Array, Array]]:
    """Return every pair of the special values, and pairs of tensors of the shapes above."""
    values = np.array(SPECIAL[dtype], dtype)
    # A choice of one is not an array.
    return [(values[:, None], values), *((np.asarray(RNG.choice(values, a)), np.asarray(RNG.choice(values, b))) for a, b in SHAPES)]


@pytest.mark.parametrize("dtype", SPECIAL)
def test_comparisons(dtype: str) -> None:
    check_cases([Case(name, *operands) for name in COMPARISONS for operands in pairs(dtype)], equal)


def test_logicalNot() -> None:
    shapes: list[tuple[int, ...]] = [(), (256,), (1, 2, 1, 2, 1, 2, 1, 2)]
    check_cases([Case("logicalNot", np.resize(np.arange(256), shape).astype(np.uint8)) for shape in shapes], equal)


# Since 2026-06

#: Every NaN, infinity, zero, subnormal and normal number of float16; of float32 those at the ends of each exponent's range.
NUMBERS = {
    "float16": np.arange(2**16, dtype=np.uint16).view(np.float16),
    "float32": (np.arange(2**9, dtype=np.uint32)[:, None] * 2**23 + np.array([0, 1, 2**22, 2**23 - 1], np.uint32)).view(np.float32),
}


@pytest.mark.parametrize(
    ("name", "dtype"),
    [*(("notEqual", dtype) for dtype in SPECIAL), ("logicalAnd", "uint8"), ("logicalOr", "uint8"), ("logicalXor", "uint8")],
)
def test_two_operands(name: str, dtype: str) -> None:
    check_cases([Case(name, *operands) for operands in pairs(dtype)], equal, revision=CURRENT)


@pytest.mark.parametrize("name", ["logicalAnd", "logicalOr", "logicalXor"])
def test_every_truth(name: str) -> None:
    values = np.arange(256, dtype=np.uint8)
    check_cases([Case(name, values[:, None], values)], equal, revision=CURRENT, constants=[False])


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", ["isInfinite", "isNaN"])
def test_classes(name: str, dtype: str) -> None:
    shapes: list[tuple[int, ...]] = [(), (1,), (2, 3), (1, 2, 1, 2, 3, 1, 2, 2)]
    cases = [Case(name, np.asarray(RNG.choice(np.array(SPECIAL[dtype], dtype), shape))) for shape in shapes]
    check_cases([Case(name, NUMBERS[dtype]), *cases], equal, revision=CURRENT)
