"""The values of the current draft's logical operations, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.builder.test_logical import SHAPES, SPECIAL
from tests.reference import REFERENCE_2026
from tests.support import CURRENT, run

Array = np.ndarray[Any, np.dtype[Any]]

RNG = np.random.default_rng(0)
#: Every NaN, infinity, zero, subnormal and normal number of float16; of float32 those at the ends of each exponent's range.
FLOATS = {
    "float16": np.arange(2**16, dtype=np.uint16).view(np.float16),
    "float32": (np.arange(2**9, dtype=np.uint32)[:, None] * 2**23 + np.array([0, 1, 2**22, 2**23 - 1], np.uint32)).view(np.float32),
}


def check(name: str, *operands: Array, constants: bool) -> None:
    [actual] = run(name, *operands, constants=constants, revision=CURRENT)
    np.testing.assert_array_equal(actual, REFERENCE_2026[name](*operands), strict=True)


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
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["isInfinite", "isNaN"])
def test_classes(name: str, dtype: str, *, constants: bool) -> None:
    check(name, FLOATS[dtype], constants=constants)
    for shape in [(), (1,), (2, 3), (1, 2, 1, 2, 3, 1, 2, 2)]:
        check(name, np.asarray(RNG.choice(np.array(SPECIAL[dtype], dtype), shape)), constants=constants)
