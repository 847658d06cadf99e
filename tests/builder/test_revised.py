"""The values of the operations that 2026-06 changed, against the NumPy reference."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.reference import REFERENCE_NEWEST
from tests.support import CURRENT, run

RNG = np.random.default_rng(0)
FLOATS = ["float32", "float16"]
INTEGERS = ["int32", "uint32", "int64", "uint64", "int8", "uint8"]
INF, NAN = math.inf, math.nan

Array = np.ndarray[Any, np.dtype[Any]]


def random(dtype: str, *shape: int) -> Array:
    """Make elements of the whole range of an integer type, or small floats."""
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        return RNG.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    return RNG.uniform(-4, 4, shape).astype(dtype)


def check(name: str, *arguments: Any, rtol: float = 0, atol: float = 0, **options: Any) -> None:
    """Compare the outputs of an operation with the reference; NaN equals NaN."""
    for constants in (False, True):
        actual = run(name, *arguments, revision=CURRENT, constants=constants, **options)
        expected: Any = REFERENCE_NEWEST[name](*arguments, **options)
        for one, other in zip(actual, expected if isinstance(expected, list) else [expected], strict=True):
            assert one.dtype == other.dtype
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)


# argMin and argMax


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("name", ["argMin", "argMax"])
@pytest.mark.parametrize("outputDataType", ["int32", "int64"])
def test_positions(name: str, dtype: str, outputDataType: str) -> None:
    for shape, axis in (([7], 0), ([3, 4], 0), ([3, 4], 1), ([2, 3, 4, 2], 2), ([2, 1, 2, 2, 1, 2, 1, 3], 7)):
        for keepDimensions in (False, True):
            check(name, random(dtype, *shape), axis, keepDimensions=keepDimensions, outputDataType=outputDataType)


@pytest.mark.parametrize("name", ["argMin", "argMax"])
def test_positions_of_equal_and_special_values(name: str) -> None:
    x = np.array([[1, 1, 1], [NAN, 0, NAN], [-INF, INF, -INF], [INF, -INF, INF], [0, NAN, 0]], np.float32)
    check(name, x, 1)
    check(name, x, 0)


# slice

SLICES: list[tuple[list[int], list[int], list[int], list[int]]] = [
    ([10], [0], [10], [3]),
    ([10], [1], [9], [4]),
    ([10], [2], [7], [7]),
    ([10], [3], [7], [2**32 - 1]),
    ([4, 5, 6], [0, 1, 2], [4, 4, 4], [1, 2, 3]),
    ([4, 5, 6], [0, 0, 0], [4, 5, 6], [1, 1, 1]),
    ([4, 5, 6], [1, 0, 0], [2, 5, 6], [2, 1, 1]),
    ([], [], [], []),
]


@pytest.mark.parametrize(("shape", "starts", "sizes", "strides"), SLICES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "uint64", "int8"])
def test_strides(shape: list[int], starts: list[int], sizes: list[int], strides: list[int], dtype: str) -> None:
    check("slice", random(dtype, *shape), starts, sizes, strides=strides)


# Numbers that the operand's type casts

BOUNDS: list[tuple[float | None, float | None]] = [
    (None, None),
    (-1.5, 2.5),
    (2.5, None),
    (None, 0.5),
    (INF, INF),
    (-INF, INF),
    (-INF, None),
    (None, -INF),
    (NAN, 1),
    (1, NAN),
    (NAN, None),
    (-(2**70), 2**70),
    (2**53 + 1, 2**63 - 1),
    (3.4e39, None),
    (70000, 80000),
]


@pytest.mark.parametrize(("low", "high"), BOUNDS)
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_clamp(low: float | None, high: float | None, dtype: str) -> None:
    bounds = {key: value for key, value in (("minValue", low), ("maxValue", high)) if value is not None}
    if dtype in INTEGERS and low is not None and isinstance(high, float) and math.isnan(high):
        bounds["minValue"] = 0  # NaN is 0 in these types, and the lower bound must not be above it
    check("clamp", random(dtype, 2, 20), **bounds)
    check("clamp", np.array([0, 1, 127], dtype), **bounds)


def test_clamp_keeps_what_no_bound_touches() -> None:
    x = np.array([NAN, INF, -INF, 0.0], np.float32)
    for options in ({}, {"minValue": -INF}, {"maxValue": INF}, {"minValue": -INF, "maxValue": INF}):
        np.testing.assert_array_equal(run("clamp", x, revision=CURRENT, **options)[0], x)


@pytest.mark.parametrize("value", [0, 1.5, 2.5, -0.5, 2**53 + 1, 2**64 - 1, -(2**63), INF, -INF, NAN, 1e5, 10**50])
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_the_constant_of_pad(value: float, dtype: str) -> None:
    check("pad", random(dtype, 2, 3), [1, 0], [0, 2], value=value)


def test_pad_of_a_scalar() -> None:
    for mode in ("constant", "edge", "reflection"):
        check("pad", random("float32"), [], [], mode=mode)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
@pytest.mark.parametrize("mode", ["edge", "reflection"])
def test_pad_modes(mode: str, dtype: str) -> None:
    check("pad", random(dtype, 4, 3), [3, 2], [1, 2], mode=mode)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("elu", {"alpha": 0.3}),
        ("hardSigmoid", {}),
        ("hardSigmoid", {"alpha": 0.123456789, "beta": 1e-3}),
        ("leakyRelu", {}),
        ("leakyRelu", {"alpha": 1 / 3}),
        ("linear", {"alpha": 1 / 3, "beta": 0.7}),
        ("linear", {"alpha": -1e39}),
        ("linear", {"beta": 1e300}),
    ],
)
@pytest.mark.parametrize("dtype", FLOATS)
def test_parameters_are_rounded_to_the_type(name: str, options: dict[str, float], dtype: str) -> None:
    rtol, atol = (1e-6, 3e-7) if dtype == "float32" else (1e-3, 6e-8)
    check(name, random(dtype, 3, 5), rtol=rtol, atol=atol, **options)


@pytest.mark.parametrize("dtype", FLOATS)
def test_epsilon_is_rounded_to_the_type(dtype: str) -> None:
    rtol, atol = (1e-5, 1e-5) if dtype == "float32" else (2e-3, 2e-3)
    x, ones = random(dtype, 2, 3, 4, 4), np.ones(3, dtype)
    # In float16 nothing is left of it.
    for options in ({}, {"epsilon": 0.1}, {"epsilon": 1e-9}):
        check("batchNormalization", x, ones, ones, rtol=rtol, atol=atol, **options)
        check("instanceNormalization", x, rtol=rtol, atol=atol, **options)
        check("layerNormalization", x, rtol=rtol, atol=atol, **options)
    no_variance = np.zeros((1, 1, 2, 2), dtype)
    expected = 0 if dtype == "float32" else NAN
    [actual] = run("layerNormalization", no_variance, revision=CURRENT, epsilon=1e-9, axes=[])
    np.testing.assert_array_equal(actual, np.full_like(no_variance, expected))


@pytest.mark.parametrize("dtype", FLOATS)
def test_gemm(dtype: str) -> None:
    rtol = 1e-5 if dtype == "float32" else 2e-3
    check("gemm", random(dtype, 2, 3), random(dtype, 3, 4), c=random(dtype, 4), alpha=1 / 3, beta=0.7, rtol=rtol, atol=rtol)


# prelu

SLOPES: list[tuple[list[int], list[int]]] = [([2, 3], [2, 3]), ([2, 3], [3]), ([3], [2, 3]), ([2, 1], [4, 1, 3]), ([], [2]), ([2], [])]


@pytest.mark.parametrize(("shape", "slope"), SLOPES)
@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "int64", "int8"])
def test_prelu(shape: list[int], slope: list[int], dtype: str) -> None:
    check("prelu", random(dtype, *shape), random(dtype, *slope), rtol=1e-6 if dtype == "float32" else 1e-3 if dtype == "float16" else 0)


def test_prelu_where_the_slope_does_not_count() -> None:
    x = np.array([NAN, 0.0, 1.0, INF, -INF], np.float32)
    check("prelu", x, np.array([[NAN], [INF], [2]], np.float32))


@pytest.mark.parametrize("dtype", ["int32", "int64", "int8"])
def test_relu(dtype: str) -> None:
    check("relu", random(dtype, 3, 20))


# resample2d


@pytest.mark.parametrize("axes", [[a, b] for a in range(4) for b in range(4) if a != b])
@pytest.mark.parametrize("mode", ["nearest-neighbor", "linear"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_resample_any_two_axes(axes: list[int], mode: str, dtype: str) -> None:
    rtol, atol = (1e-5, 2e-6) if dtype == "float32" else (1e-3, 1e-4)
    for options in ({"sizes": [5, 2]}, {"scales": [1.5, 0.7]}, {"scales": [2, 2]}):
        check("resample2d", random(dtype, 2, 3, 4, 3), mode=mode, axes=axes, rtol=rtol, atol=atol, **options)


@pytest.mark.parametrize("mode", ["nearest-neighbor", "linear"])
@pytest.mark.parametrize("scales", [[1.2, 1.3], [1.5, 1.25], [0.7, 2.6]])
def test_the_quotient_of_the_sizes_maps_positions(mode: str, scales: list[float]) -> None:
    check("resample2d", random("float32", 1, 2, 3, 5), mode=mode, scales=scales, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_resample_integers(dtype: str) -> None:
    x = random(dtype, 2, 3, 4, 5)
    check("resample2d", x, mode="nearest-neighbor", sizes=[7, 3])
    # With halves and quarters the float32 arithmetic is exact, ties too.
    check("resample2d", x, mode="linear", sizes=[8, 10])
    # Otherwise a tie may go either way.
    check("resample2d", x, mode="linear", sizes=[7, 3], axes=[3, 1], atol=1)
    same = np.full((1, 1, 3, 3), 3, dtype)
    check("resample2d", same, mode="linear", sizes=[7, 11])


# Recurrent networks


@pytest.mark.parametrize("name", ["gru", "lstm"])
@pytest.mark.parametrize("activations", [["relu", "sigmoid"], ["tanh", "relu"], None])
def test_activations_by_name(name: str, activations: list[str] | None) -> None:
    steps, batches, size, hidden = 3, 2, 4, 5
    gates = 3 if name == "gru" else 4
    x, w, r = (
        RNG.uniform(-0.5, 0.5, shape).astype(np.float32)
        for shape in ((steps, batches, size), (1, gates * hidden, size), (1, gates * hidden, hidden))
    )
    if activations is not None and name == "lstm":
        activations = [*activations, "sigmoid"]
    options: dict[str, Any] = {} if activations is None else {"activations": activations}
    check(name, x, w, r, steps, hidden, returnSequence=True, rtol=1e-5, atol=1e-6, **options)
    states = [np.zeros((batches, hidden), np.float32)] * (gates - 2)
    check(f"{name}Cell", x[0], w[0], r[0], *states, hidden, rtol=1e-5, atol=1e-6, **options)


# Names


@pytest.mark.parametrize("name", ["averagePool2d", "l2Pool2d", "maxPool2d"])
@pytest.mark.parametrize(("rounding", "size"), [("floor", 2), ("ceil", 3)])
def test_output_shape_rounding(name: str, rounding: str, size: int) -> None:
    x = random("float32", 1, 2, 5, 5)
    window = {"windowDimensions": [2, 2], "strides": [2, 2]}
    [actual] = run(name, x, revision=CURRENT, outputShapeRounding=rounding, **window)
    [former] = run(name, x, roundingType=rounding, **window)
    assert actual.shape == (1, 2, size, size)
    np.testing.assert_array_equal(actual, former)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_where(dtype: str) -> None:
    condition = np.array([[0], [1], [255]], np.uint8)
    check("where", condition, random(dtype, 4), random(dtype, 3, 4))


@pytest.mark.parametrize("target", [*FLOATS, *INTEGERS])
def test_cast(target: str) -> None:
    check("cast", np.array([-1.5, 0, 2.5, 300, NAN], np.float32), target)
