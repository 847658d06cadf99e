"""The values of pooling, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import Array, Case, check_cases

RNG = np.random.default_rng(0)
NAMES = ["averagePool2d", "l2Pool2d", "maxPool2d"]
INTEGERS = ["int32", "uint32", "int64", "uint64", "int8", "uint8"]
#: A few roundings of float32 for the average and the root; one of float16.
TOLERANCE = {"float32": (2e-6, 1e-6), "float16": (1e-3, 1e-3)}
LOWEST = np.finfo(np.float32).min

#: Input as [batches, channels, height, width], and the options.
CASES: list[tuple[list[int], dict[str, Any]]] = [
    ([2, 3, 5, 7], {}),
    ([1, 2, 5, 4], {"windowDimensions": [5, 4], "strides": [3, 9]}),
    ([1, 1, 1, 6], {"windowDimensions": [1, 6], "dilations": [4, 1]}),
    ([1, 2, 6, 6], {"windowDimensions": [3, 2]}),
    # The window is the whole height, or the whole width.
    ([1, 2, 5, 6], {"windowDimensions": [5, 4]}),
    ([1, 2, 6, 5], {"windowDimensions": [4, 5]}),
    ([1, 2, 6, 6], {"windowDimensions": [1, 1], "strides": [2, 3]}),
    ([2, 2, 6, 7], {"windowDimensions": [3, 3], "padding": [1, 0, 2, 1], "strides": [2, 1]}),
    ([1, 2, 9, 9], {"windowDimensions": [3, 2], "dilations": [2, 3], "padding": [1, 1, 1, 0]}),
    ([1, 1, 5, 5], {"padding": [1, 0, 0, 1]}),
    ([1, 1, 11, 9], {"windowDimensions": [5, 7], "strides": [2, 2]}),
    # Rounded down, the end of the input is left out; rounded up, the last window begins inside it, or reaches over the padding.
    ([1, 1, 7, 7], {"windowDimensions": [2, 2], "strides": [3, 4], "padding": [0, 0, 1, 0]}),
    ([1, 1, 6, 8], {"windowDimensions": [3, 3], "strides": [2, 2], "roundingType": "ceil"}),
    ([1, 1, 5, 5], {"windowDimensions": [3, 3], "padding": [1, 0, 0, 1], "strides": [2, 2], "roundingType": "ceil"}),
    ([1, 1, 5, 5], {"windowDimensions": [3, 3], "padding": [1, 0, 0, 1], "strides": [2, 2], "outputSizes": [3, 3]}),
    ([1, 1, 5, 5], {"windowDimensions": [3, 3], "padding": [1, 0, 0, 1], "strides": [2, 2], "roundingType": "ceil", "outputSizes": [2, 2]}),
    ([1, 1, 5, 5], {"windowDimensions": [6, 5], "strides": [2, 1], "roundingType": "ceil"}),
    # Paddings that the engine refuses, and windows that lie in the padding as a whole.
    ([1, 2, 4, 4], {"windowDimensions": [2, 2], "padding": [2, 3, 0, 2]}),
    ([1, 1, 4, 5], {"windowDimensions": [2, 2], "padding": [2, 0, 0, 0]}),
    ([1, 1, 5, 4], {"windowDimensions": [2, 2], "padding": [0, 0, 0, 2]}),
    ([1, 1, 4, 5], {"windowDimensions": [2, 2], "dilations": [3, 1], "padding": [2, 0, 0, 0]}),
    ([1, 1, 5, 4], {"windowDimensions": [2, 2], "dilations": [1, 3], "padding": [0, 0, 0, 2]}),
    ([1, 1, 4, 4], {"windowDimensions": [1, 1], "strides": [2, 2], "roundingType": "ceil"}),
    ([1, 1, 4, 4], {"windowDimensions": [2, 2], "strides": [3, 3], "padding": [1, 1, 1, 1], "roundingType": "ceil"}),
    ([1, 1, 3, 4], {"windowDimensions": [2, 3], "dilations": [3, 2], "padding": [2, 3, 4, 4]}),
    ([1, 1, 1, 1], {"windowDimensions": [2, 2], "dilations": [2, 2], "padding": [1, 1, 1, 1]}),
    ([1, 1, 2, 2], {"windowDimensions": [2, 2], "padding": [5, 0, 0, 6], "strides": [3, 2]}),
]


def compare(case: Case, actual: Array, expected: Array) -> None:
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    if case.name == "maxPool2d":
        # Of nothing but padding, the maximum is the lowest finite value or negative infinity.
        if actual.dtype == np.float32:
            actual, expected = (np.where(value == LOWEST, -np.inf, value) for value in (actual, expected))
            # Of a window with a NaN, it is any element of the window, or what it is of padding.
            unspecified = np.isnan(expected)
            assert set(actual[unspecified & ~np.isnan(actual)]) <= {*case.arguments[0].ravel(), -np.inf}
            actual = np.where(unspecified, np.nan, actual)
        np.testing.assert_array_equal(actual, expected)
    else:
        np.testing.assert_allclose(actual, expected, *TOLERANCE[actual.dtype.name])


def pool(name: str, input: Array, layout: str, options: dict[str, Any]) -> Case:
    """Make a case in a layout, of an input in "nchw"."""
    if layout == "nhwc":
        input = np.ascontiguousarray(input.transpose(0, 2, 3, 1))
    return Case(name, input, layout=layout, **options)


def floats(dataType: str, shape: list[int]) -> Any:
    return RNG.uniform(-2, 2, shape).astype(dataType)


def integers(dataType: str, shape: list[int]) -> Any:
    limits = np.iinfo(dataType)
    values = RNG.integers(limits.min, limits.max, shape, dtype=dataType, endpoint=True)
    # Neighbours that only exact arithmetic tells apart.
    values[RNG.uniform(size=shape) < 0.3] = limits.max - 1
    values[RNG.uniform(size=shape) < 0.1] = limits.max
    values[..., 0] = limits.min
    return values


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("name", NAMES)
def test_floats(name: str, layout: str) -> None:
    check_cases([pool(name, floats("float32", shape), layout, options) for shape, options in CASES], compare)
    check_cases([pool(name, floats("float16", shape), layout, options) for shape, options in CASES], compare, constants=[False])


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("dataType", INTEGERS)
def test_integers(dataType: str, layout: str) -> None:
    check_cases([pool("maxPool2d", integers(dataType, shape), layout, options) for shape, options in CASES], compare)


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"windowDimensions": [2, 3]},
        {"windowDimensions": [5, 5], "padding": [2, 2, 2, 2]},
        {"windowDimensions": [2, 2], "dilations": [2, 2], "strides": [2, 1]},
        {"windowDimensions": [2, 2], "padding": [2, 0, 0, 3]},
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_special_values(name: str, options: dict[str, Any], layout: str) -> None:
    cases = []
    for value in (np.nan, np.inf, -np.inf):
        for share in (0.1, 0.5, 1):
            input = floats("float32", [1, 2, 8, 9])
            input[RNG.uniform(size=input.shape) < share] = value
            cases.append(pool(name, input, layout, options))
    check_cases(cases, compare, constants=[False])


def test_large_values_overflow_once() -> None:
    cases = [
        Case("l2Pool2d", np.full([1, 1, 2, 2], 30000, np.float16)),
        Case("averagePool2d", np.full([1, 1, 2, 2], 60000, np.float16), windowDimensions=[2, 2], padding=[1, 1, 1, 1]),
    ]
    check_cases(cases, compare, constants=[False])
