"""The values of the operations that 2026-06 changed, against the NumPy reference."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT, Case, check_cases, each_row, near, run, shared_context
from webnn import MLGraphBuilder

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


def check(*cases: Case, rtol: float = 0, atol: float = 0) -> None:
    check_cases(cases, near(rtol, atol), revision=CURRENT)


# argMin and argMax


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("name", ["argMin", "argMax"])
def test_positions(name: str, dtype: str) -> None:
    shapes: list[tuple[list[int], int]] = [([7], 0), ([3, 4], 0), ([3, 4], 1), ([2, 3, 4, 2], 2), ([2, 1, 2, 2, 1, 2, 1, 3], 7)]
    check(
        *(
            Case(name, random(dtype, *shape), axis, keepDimensions=keepDimensions, outputDataType=outputDataType)
            for shape, axis in shapes
            for keepDimensions in (False, True)
            for outputDataType in ("int32", "int64")
        )
    )


@pytest.mark.parametrize("name", ["argMin", "argMax"])
def test_positions_of_equal_and_special_values(name: str) -> None:
    x = np.array([[1, 1, 1], [NAN, 0, NAN], [-INF, INF, -INF], [INF, -INF, INF], [0, NAN, 0]], np.float32)
    check(Case(name, x, 1), Case(name, x, 0))


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


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint64", "int8"])
def test_strides(dtype: str) -> None:
    check(*(Case("slice", random(dtype, *shape), starts, sizes, strides=strides) for shape, starts, sizes, strides in SLICES))


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


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_clamp(dtype: str) -> None:
    cases = []
    for low, high in BOUNDS:
        bounds = {key: value for key, value in (("minValue", low), ("maxValue", high)) if value is not None}
        if dtype in INTEGERS and low is not None and isinstance(high, float) and math.isnan(high):
            bounds["minValue"] = 0  # NaN is 0 in these types, and the lower bound must not be above it
        cases += [Case("clamp", random(dtype, 2, 20), **bounds), Case("clamp", np.array([0, 1, 127], dtype), **bounds)]
    check(*cases)


def test_clamp_keeps_what_no_bound_touches() -> None:
    x = np.array([NAN, INF, -INF, 0.0], np.float32)
    for options in ({}, {"minValue": -INF}, {"maxValue": INF}, {"minValue": -INF, "maxValue": INF}):
        np.testing.assert_array_equal(run("clamp", x, revision=CURRENT, **options)[0], x)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_the_constant_of_pad(dtype: str) -> None:
    numbers = [0, 1.5, 2.5, -0.5, 2**53 + 1, 2**64 - 1, -(2**63), INF, -INF, NAN, 1e5, 10**50]
    check(*(Case("pad", random(dtype, 2, 3), [1, 0], [0, 2], value=value) for value in numbers))


def test_pad_of_a_scalar() -> None:
    check(*(Case("pad", random("float32"), [], [], mode=mode) for mode in ("constant", "edge", "reflection")))


def test_pad_modes() -> None:
    every = [(dtype, mode) for dtype in ("float32", "float16", "int64") for mode in ("edge", "reflection")]
    check(*(Case("pad", random(dtype, 4, 3), [3, 2], [1, 2], mode=mode) for dtype, mode in every))


@pytest.mark.parametrize("dtype", FLOATS)
def test_parameters_are_rounded_to_the_type(dtype: str) -> None:
    rtol, atol = (1e-6, 3e-7) if dtype == "float32" else (1e-3, 6e-8)
    parameters: list[tuple[str, dict[str, float]]] = [
        ("elu", {"alpha": 0.3}),
        ("hardSigmoid", {}),
        ("hardSigmoid", {"alpha": 0.123456789, "beta": 1e-3}),
        ("leakyRelu", {}),
        ("leakyRelu", {"alpha": 1 / 3}),
        ("linear", {"alpha": 1 / 3, "beta": 0.7}),
        ("linear", {"alpha": -1e39}),
        ("linear", {"beta": 1e300}),
    ]
    check(*(Case(name, random(dtype, 3, 5), **options) for name, options in parameters), rtol=rtol, atol=atol)


@pytest.mark.parametrize("options", [{}, {"alpha": 0.3, "beta": 0.7}])
def test_parameters_of_one_call_are_not_those_of_the_next(options: dict[str, float]) -> None:
    """Without options, all calls have one dictionary: the numbers for one type must not stay in it."""
    builder = MLGraphBuilder(shared_context(CURRENT))
    found: list[Any] = []
    types: list[Any] = ["float16", "float32", "float16"]
    for dtype in types:
        y = builder.hardSigmoid(builder.input(f"x{len(found)}", dataType=dtype, shape=[2]), **options)
        assert y._operator is not None
        found.append(y._operator.options)
    for dtype, made in zip(types, found, strict=True):
        wanted = np.array([options.get("alpha", 0.2), options.get("beta", 0.5)], dtype)
        assert [made.alpha, made.beta] == wanted.tolist()


@pytest.mark.parametrize("dtype", FLOATS)
def test_epsilon_is_rounded_to_the_type(dtype: str) -> None:
    rtol, atol = (1e-5, 1e-5) if dtype == "float32" else (2e-3, 2e-3)
    x, ones = random(dtype, 2, 3, 4, 4), np.ones(3, dtype)
    # In float16 nothing is left of it.
    cases = []
    for options in ({}, {"epsilon": 0.1}, {"epsilon": 1e-9}):
        cases.append(Case("batchNormalization", x, ones, ones, **options))
        cases += [Case(name, x, **options) for name in ("instanceNormalization", "layerNormalization")]
    check(*cases, rtol=rtol, atol=atol)
    no_variance = np.zeros((1, 1, 2, 2), dtype)
    expected = 0 if dtype == "float32" else NAN
    [actual] = run("layerNormalization", no_variance, revision=CURRENT, epsilon=1e-9, axes=[])
    np.testing.assert_array_equal(actual, np.full_like(no_variance, expected))


@pytest.mark.parametrize("dtype", FLOATS)
def test_gemm(dtype: str) -> None:
    rtol = 1e-5 if dtype == "float32" else 2e-3
    check(Case("gemm", random(dtype, 2, 3), random(dtype, 3, 4), c=random(dtype, 4), alpha=1 / 3, beta=0.7), rtol=rtol, atol=rtol)


# prelu

SLOPES: list[tuple[list[int], list[int]]] = [([2, 3], [2, 3]), ([2, 3], [3]), ([3], [2, 3]), ([2, 1], [4, 1, 3]), ([], [2]), ([2], [])]


@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "int64", "int8"])
def test_prelu(dtype: str) -> None:
    rtol = 1e-6 if dtype == "float32" else 1e-3 if dtype == "float16" else 0
    check(*(Case("prelu", random(dtype, *shape), random(dtype, *slope)) for shape, slope in SLOPES), rtol=rtol)


def test_prelu_where_the_slope_does_not_count() -> None:
    x = np.array([NAN, 0.0, 1.0, INF, -INF], np.float32)
    check(Case("prelu", x, np.array([[NAN], [INF], [2]], np.float32)))


def test_relu() -> None:
    check(*(Case("relu", random(dtype, 3, 20)) for dtype in ("int32", "int64", "int8")))


# resample2d


@pytest.mark.parametrize("mode", ["nearest-neighbor", "linear"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_resample_any_two_axes(mode: str, dtype: str) -> None:
    rtol, atol = (1e-5, 2e-6) if dtype == "float32" else (1e-3, 1e-4)
    ways: list[dict[str, Any]] = [{"sizes": [5, 2]}, {"scales": [1.5, 0.7]}, {"scales": [2, 2]}]
    check(
        *(
            Case("resample2d", random(dtype, 2, 3, 4, 3), mode=mode, axes=[a, b], **options)
            for a in range(4)
            for b in range(4)
            for options in ways
            if a != b
        ),
        rtol=rtol,
        atol=atol,
    )


@pytest.mark.parametrize("mode", ["nearest-neighbor", "linear"])
def test_the_quotient_of_the_sizes_maps_positions(mode: str) -> None:
    scales = [[1.2, 1.3], [1.5, 1.25], [0.7, 2.6]]
    cases = [Case("resample2d", random("float32", 1, 2, 3, 5), mode=mode, scales=pair) for pair in scales]
    check(*cases, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_resample_integers(dtype: str) -> None:
    x = random(dtype, 2, 3, 4, 5)
    same = np.full((1, 1, 3, 3), 3, dtype)
    check(
        Case("resample2d", x, mode="nearest-neighbor", sizes=[7, 3]),
        # With halves and quarters the float32 arithmetic is exact, ties too.
        Case("resample2d", x, mode="linear", sizes=[8, 10]),
        Case("resample2d", same, mode="linear", sizes=[7, 11]),
    )
    # Otherwise a tie may go either way.
    check(Case("resample2d", x, mode="linear", sizes=[7, 3], axes=[3, 1]), atol=1)


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
    states = [np.zeros((batches, hidden), np.float32)] * (gates - 2)
    check(
        Case(name, x, w, r, steps, hidden, returnSequence=True, **options),
        Case(f"{name}Cell", x[0], w[0], r[0], *states, hidden, **options),
        rtol=1e-5,
        atol=1e-6,
    )


# Names


@each_row("name", ["averagePool2d", "l2Pool2d", "maxPool2d"])
@each_row(("rounding", "size"), [("floor", 2), ("ceil", 3)])
def test_output_shape_rounding(name: str, rounding: str, size: int) -> None:
    x = random("float32", 1, 2, 5, 5)
    window = {"windowDimensions": [2, 2], "strides": [2, 2]}
    [actual] = run(name, x, revision=CURRENT, outputShapeRounding=rounding, **window)
    [former] = run(name, x, roundingType=rounding, **window)
    assert actual.shape == (1, 2, size, size)
    np.testing.assert_array_equal(actual, former)


def test_where() -> None:
    condition = np.array([[0], [1], [255]], np.uint8)
    check(*(Case("where", condition, random(dtype, 4), random(dtype, 3, 4)) for dtype in (*FLOATS, *INTEGERS)))


def test_cast() -> None:
    check(*(Case("cast", np.array([-1.5, 0, 2.5, 300, NAN], np.float32), target) for target in (*FLOATS, *INTEGERS)))
