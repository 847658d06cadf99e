"""The values of reductions, argMin and argMax, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import Array, Case, check_cases, run

RNG = np.random.default_rng(0)
FLOATS = ["float32", "float16"]
WIDE = ["int32", "uint32", "int64", "uint64"]
INTEGERS = [*WIDE, "int8", "uint8"]
#: Relative and absolute tolerance: sums of up to a hundred elements, in the output's type.
TOLERANCE = {"float32": (2e-6, 1e-6), "float16": (1e-3, 1e-3)}
NAN, INF = np.nan, np.inf

FLOAT_OPERATIONS = [
    *("reduceL1", "reduceL2", "reduceLogSum", "reduceLogSumExp", "reduceMax", "reduceMean", "reduceMin", "reduceProduct", "reduceSum"),
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


def compare(case: Case, actual: Array, expected: Array) -> None:
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    if actual.dtype.kind == "f" and case.name not in EXTREMES:
        rtol, atol = TOLERANCE[actual.dtype.name]
        np.testing.assert_allclose(actual, expected, rtol, atol)
    else:
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("name", [*FLOAT_OPERATIONS, *POSITIONS])
def test_shapes(name: str) -> None:
    cases = [Case(name, values("float32", shape), axes=axes) for shape, axes in SHAPES]
    cases += [Case(name, values("float16", shape), axes=axes, keepDimensions=True) for shape, axes in SHAPES]
    check_cases(cases, compare)


@pytest.mark.parametrize("dataType", WIDE)
@pytest.mark.parametrize("name", EXACT_OPERATIONS)
def test_integers_wrap(name: str, dataType: str) -> None:
    cases = []
    for axes in (None, [], [0], [1], [0, 2], [1, 2]):
        for keepDimensions in (False, True):
            input = values(dataType, [5, 4, 7])
            if name == "reduceProduct":
                input |= 1
            input[0, 0, 0] = np.iinfo(dataType).min
            cases.append(Case(name, input, axes=axes, keepDimensions=keepDimensions))
    check_cases(cases, compare)


@pytest.mark.parametrize("dataType", WIDE)
@pytest.mark.parametrize("name", ["reduceL1", "reduceSum"])
def test_large_sums_are_exact(name: str, dataType: str) -> None:
    input = np.full([70_001, 3], np.iinfo(dataType).max, dataType)
    input[1, 1] = 0
    [actual] = run(name, input, axes=[0])
    np.testing.assert_array_equal(actual, input.sum(0, dtype=dataType))


@pytest.mark.parametrize("dataType", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("name", EXTREMES)
def test_extremes(name: str, dataType: str) -> None:
    every: list[list[int] | None] = [None, [], [0], [1], [2, 0]]
    cases = [Case(name, values(dataType, [5, 4, 7]), axes=axes) for axes in every]
    cases += [Case(name, ties(dataType, [5, 4, 7]), axes=axes, keepDimensions=keep) for axes in every for keep in (False, True)]
    check_cases(cases, compare)


@pytest.mark.parametrize("dataType", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("name", POSITIONS)
def test_positions(name: str, dataType: str) -> None:
    cases = [
        Case(name, ties(dataType, [5, 4, 7]), axes=axes, selectLastIndex=selectLastIndex)
        for axes in (None, [0], [1], [2, 0], [1, 2])
        for selectLastIndex in (False, True)
    ]
    check_cases(cases, compare, constants=[False])


@pytest.mark.parametrize("dataType", FLOATS)
@pytest.mark.parametrize("name", [*FLOAT_OPERATIONS, *POSITIONS])
def test_special_values(name: str, dataType: str) -> None:
    rows = np.array(SPECIAL, dataType)
    check_cases([Case(name, rows, axes=[1])], compare, constants=[True])
    # Behind a long row of ordinary values, where the engine takes another path.
    wide = np.concatenate([values(dataType, [len(SPECIAL), 40]), rows, values(dataType, [len(SPECIAL), 40])], 1)
    cases = [
        Case(name, rows, axes=[1]),
        Case(name, rows.T, axes=[0]),
        Case(name, rows, axes=[]),
        Case(name, wide, axes=[1]),
        Case(name, np.ascontiguousarray(wide.T), axes=[0]),
        *(Case(name, np.array(row, dataType)) for row in SPECIAL),
    ]
    if name in POSITIONS:
        cases += [Case(name, wide, axes=[1], selectLastIndex=True), Case(name, rows.T, axes=[0], selectLastIndex=True)]
    check_cases(cases, compare, constants=[False])


@pytest.mark.parametrize("name", ["reduceL1", "reduceSum", "reduceSumSquare", "reduceL2", "reduceMean"])
def test_float16_accumulates_in_float32(name: str) -> None:
    check_cases([Case(name, np.full([4000], 0.1, np.float16))], compare, constants=[False])
