"""The values of reductions, argMin and argMax, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.reference import REFERENCE
from tests.support import run

RNG = np.random.default_rng(0)
FLOATS = ["float32", "float16"]
WIDE = ["int32", "uint32", "int64", "uint64"]
INTEGERS = [*WIDE, "int8", "uint8"]
#: Relative and absolute tolerance: sums of up to a hundred elements, in the output's type.
TOLERANCE = {"float32": (2e-6, 1e-6), "float16": (1e-3, 1e-3)}
NAN, INF = np.nan, np.inf

FLOAT_OPERATIONS = [
    "reduceL1",
    "reduceL2",
    "reduceLogSum",
    "reduceLogSumExp",
    "reduceMax",
    "reduceMean",
    "reduceMin",
    "reduceProduct",
    "reduceSum",
    "reduceSumSquare",
]
EXACT_OPERATIONS = ["reduceL1", "reduceProduct", "reduceSum", "reduceSumSquare"]
POSITIONS = ["argMin", "argMax"]
EXTREMES = ["reduceMax", "reduceMin", *POSITIONS]

#: Shape and axes: all ranks, no axis, single and several ones, with and without gaps, in any order.
SHAPES: list[tuple[list[int], list[int] | None]] = [
    ([], None),
    ([], []),
    ([7], None),
    ([3, 5], []),
    ([3, 5], [0]),
    ([9, 7], [1]),
    ([4, 3, 5], [2, 0]),
    ([4, 3, 5], [1, 0]),
    ([2, 3, 4, 5], [3, 1]),
    ([2, 3, 4, 5], None),
    ([2, 1, 3, 2, 3], [0, 2, 3]),
    ([2, 1, 2, 2, 1, 3], [5, 0]),
    ([2, 1, 2, 2, 1, 2, 3], [6, 4, 3]),
    ([2, 1, 2, 2, 1, 2, 1, 2], [7, 0, 3]),
    ([2, 1, 2, 2, 1, 2, 1, 2], []),
]

SPECIAL: list[list[float]] = [
    [NAN, 1, 3],
    [1, NAN, 3],
    [1, 3, NAN],
    [NAN, NAN, NAN],
    [1, NAN, NAN],
    [INF, NAN, -INF],
    [NAN, INF, 1],
    [INF, -INF, NAN],
    [-INF, NAN, -INF],
    [INF, 1, 2],
    [-INF, 1, 2],
    [INF, -INF, 1],
    [-INF, -INF, -INF],
    [INF, INF, INF],
    [0, INF, 2],
    [-0.0, 0.0, -0.0],
    [-1, -2, -3],
    [60000, 60000, -60000],
    [1000, 1000, 999],
    [-1000, -1001, -1000],
]


def values(dataType: str, shape: list[int]) -> Any:
    """Return random values: positive floats, or integers of the whole range."""
    if dataType in FLOATS:
        return np.asarray(RNG.uniform(0.5, 1.5, shape)).astype(dataType)
    limits = np.iinfo(dataType)
    return np.asarray(RNG.integers(limits.min, limits.max, shape, dtype=dataType, endpoint=True))


def ties(dataType: str, shape: list[int]) -> Any:
    """Return few different values, the type's extreme ones among them."""
    limits = np.finfo(dataType) if dataType in FLOATS else np.iinfo(dataType)
    return np.asarray(RNG.choice(np.array([limits.min, 0, 1, limits.max], dataType), shape))


def check(name: str, input: Any, *, constants: bool = False, **options: Any) -> None:
    [actual] = run(name, input, constants=constants, **options)
    expected = REFERENCE[name](input, **options)
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)  # type: ignore[union-attr]
    if actual.dtype.kind == "f" and name not in EXTREMES:
        rtol, atol = TOLERANCE[actual.dtype.name]
        np.testing.assert_allclose(actual, expected, rtol, atol)
    else:
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize(("shape", "axes"), SHAPES)
@pytest.mark.parametrize("name", [*FLOAT_OPERATIONS, *POSITIONS])
def test_shapes(name: str, shape: list[int], axes: list[int] | None, *, constants: bool) -> None:
    check(name, values("float32", shape), constants=constants, axes=axes)
    check(name, values("float16", shape), constants=constants, axes=axes, keepDimensions=True)


@pytest.mark.parametrize("keepDimensions", [False, True])
@pytest.mark.parametrize("axes", [None, [], [0], [1], [0, 2], [1, 2]])
@pytest.mark.parametrize("dataType", WIDE)
@pytest.mark.parametrize("name", EXACT_OPERATIONS)
def test_integers_wrap(name: str, dataType: str, axes: list[int] | None, *, keepDimensions: bool) -> None:
    input = values(dataType, [5, 4, 7])
    if name == "reduceProduct":
        input |= 1
    input[0, 0, 0] = np.iinfo(dataType).min
    check(name, input, axes=axes, keepDimensions=keepDimensions)
    check(name, input, constants=True, axes=axes, keepDimensions=keepDimensions)


@pytest.mark.parametrize("dataType", WIDE)
@pytest.mark.parametrize("name", ["reduceL1", "reduceSum"])
def test_large_sums_are_exact(name: str, dataType: str) -> None:
    input = np.full([70_001, 3], np.iinfo(dataType).max, dataType)
    input[1, 1] = 0
    [actual] = run(name, input, axes=[0])
    np.testing.assert_array_equal(actual, input.sum(0, dtype=dataType))


@pytest.mark.parametrize("axes", [None, [], [0], [1], [2, 0]])
@pytest.mark.parametrize("dataType", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("name", EXTREMES)
def test_extremes(name: str, dataType: str, axes: list[int] | None) -> None:
    check(name, values(dataType, [5, 4, 7]), axes=axes)
    check(name, ties(dataType, [5, 4, 7]), axes=axes, keepDimensions=True)
    check(name, ties(dataType, [5, 4, 7]), axes=axes, constants=True)


@pytest.mark.parametrize("selectLastIndex", [False, True])
@pytest.mark.parametrize("axes", [None, [0], [1], [2, 0], [1, 2]])
@pytest.mark.parametrize("dataType", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("name", POSITIONS)
def test_positions(name: str, dataType: str, axes: list[int] | None, *, selectLastIndex: bool) -> None:
    check(name, ties(dataType, [5, 4, 7]), axes=axes, selectLastIndex=selectLastIndex)


@pytest.mark.parametrize("dataType", FLOATS)
@pytest.mark.parametrize("name", [*FLOAT_OPERATIONS, *POSITIONS])
def test_special_values(name: str, dataType: str) -> None:
    rows = np.array(SPECIAL, dataType)
    check(name, rows, axes=[1])
    check(name, rows.T, axes=[0])
    check(name, rows, axes=[1], constants=True)
    check(name, rows, axes=[])
    # Behind a long row of ordinary values, where the engine takes another path.
    wide = np.concatenate([values(dataType, [len(SPECIAL), 40]), rows, values(dataType, [len(SPECIAL), 40])], 1)
    check(name, wide, axes=[1])
    check(name, np.ascontiguousarray(wide.T), axes=[0])
    for row in SPECIAL:
        check(name, np.array(row, dataType))
    if name in POSITIONS:
        check(name, wide, axes=[1], selectLastIndex=True)
        check(name, rows.T, axes=[0], selectLastIndex=True)


@pytest.mark.parametrize("name", ["reduceL1", "reduceSum", "reduceSumSquare", "reduceL2", "reduceMean"])
def test_float16_accumulates_in_float32(name: str) -> None:
    check(name, np.full([4000], 0.1, np.float16))
