"""The values of logical operations, against the NumPy reference."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import REFERENCE
from tests.support import run

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
