"""The values of activation functions, clamp, prelu and softmax, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import Case, check_cases, each_row, equal, run, shared_context
from webnn import MLGraphBuilder
from webnn.reference.operations import REFERENCE

Array = np.ndarray[Any, np.dtype[Any]]

RNG = np.random.default_rng(0)
SHAPES: list[tuple[int, ...]] = [(), (1,), (7,), (2, 3, 5), (1, 2, 1, 2, 3, 1, 2, 2)]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, -2.99, 3.0, -6.0, 20.0, -20.0, 60.0, -60.0, 100.0, 6e4, -6e4, 1e-4, np.nan, np.inf, -np.inf]

# The operation, its options, and the accuracy expected in float32: relative and absolute. The absolute one covers the difference of
# two numbers of the size of the options, as in exp(x) - 1.
FLOATS: list[tuple[str, dict[str, float], float, float]] = [
    ("clamp", {}, 0, 0),
    ("clamp", {"minValue": -0.3}, 0, 0),
    ("clamp", {"maxValue": 2.1}, 0, 0),
    ("clamp", {"minValue": -1e30, "maxValue": 1e30}, 0, 0),
    ("clamp", {"minValue": 1, "maxValue": 1}, 0, 0),
    ("elu", {}, 4e-7, 1e-7),
    ("elu", {"alpha": 0.36}, 4e-7, 1e-7),
    ("elu", {"alpha": -3.5}, 4e-7, 4e-7),
    ("elu", {"alpha": 0}, 0, 0),
    ("gelu", {}, 4e-7, 1e-6),
    ("hardSigmoid", {}, 4e-7, 1e-7),
    ("hardSigmoid", {"alpha": -0.75}, 4e-7, 2e-7),
    ("hardSigmoid", {"beta": -0.4}, 4e-7, 2e-7),
    ("hardSigmoid", {"alpha": 0, "beta": 2}, 0, 0),
    ("hardSwish", {}, 4e-7, 0),
    ("leakyRelu", {}, 2e-7, 0),
    ("leakyRelu", {"alpha": 0}, 0, 0),
    ("leakyRelu", {"alpha": -97.7}, 2e-7, 0),
    ("linear", {}, 0, 0),
    ("linear", {"alpha": 7.4}, 2e-7, 0),
    ("linear", {"alpha": -7.4, "beta": 5.9}, 2e-7, 2e-6),
    ("relu", {}, 0, 0),
    ("sigmoid", {}, 4e-7, 0),
    ("softplus", {}, 4e-7, 0),
    ("softsign", {}, 4e-7, 0),
    ("tanh", {}, 6e-7, 0),
]


def check(actual: Array, expected: Any, rtol: float, atol: float) -> None:
    if actual.dtype == np.float16:
        # Computed in float32 and rounded once: at most one unit more.
        rtol, atol = (2**-10, max(atol, 2**-24)) if rtol > 0 else (0, 0)
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol, strict=True)


@pytest.mark.parametrize(("name", "options", "rtol", "atol"), FLOATS)
def test_floats(name: str, options: dict[str, float], rtol: float, atol: float) -> None:
    arrays = [np.array(SPECIAL), *(np.asarray(RNG.uniform(-8, 8, shape)) for shape in SHAPES)]
    check_cases(
        [Case(name, values.astype(dtype), **options) for values in arrays for dtype in ("float32", "float16")],
        lambda _, actual, expected: check(actual, expected, rtol, atol),
    )


#: Fractions, bounds beyond the type's range, and no bound.
BOUNDS: list[dict[str, float]] = [
    {},
    {"minValue": 0.5},
    {"maxValue": 99.5},
    {"minValue": -2.5, "maxValue": 2.5},
    {"minValue": 0.25, "maxValue": 0.75},
    {"minValue": -1e20, "maxValue": 1e20},
    {"minValue": 1e20},
    {"maxValue": -1e20},
    {"minValue": 2.0**63},
    {"maxValue": 2.0**24},
]


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "int8", "uint8"])
def test_clamp_of_integers(dtype: str) -> None:
    info = np.iinfo(dtype)
    ends = np.array([info.min, info.min + 1, 0, 1, 2, 3, 99, 100, info.max - 1, info.max], dtype)
    cases = []
    for options in BOUNDS:
        many = RNG.integers(info.min, info.max, (1, 2, 1, 2, 3, 1, 2, 2), dtype, endpoint=True)
        cases += [Case("clamp", x, **options) for x in (ends, np.array(info.max, dtype), many)]
    check_cases(cases, equal)


@pytest.mark.parametrize("dtype", ["int32", "int8"])
def test_relu_of_integers(dtype: str) -> None:
    info = np.iinfo(dtype)
    check_cases([Case("relu", x) for x in (np.array([info.min, -1, 0, 1, info.max], dtype), np.array(-3, dtype))], equal)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int8"])
def test_clamp_behind_relu(dtype: str) -> None:
    # The engine merges the two, and refuses integers.
    context = shared_context("2024-06")
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType=dtype, dimensions=[5])  # type: ignore[arg-type]  # a parameter of the test
    graph = builder.buildSync({"y": builder.clamp(builder.relu(x), minValue=-3, maxValue=2)})
    inputs = {"x": np.array([-7, -1, 0, 1, 6], dtype)}
    result = context.computeSync(graph, inputs, {"y": np.zeros(5, dtype)})
    assert result["outputs"]["y"].tolist() == [0, 0, 0, 1, 2]


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int8"])
def test_prelu(dtype: str) -> None:
    cases: list[tuple[Any, Any]] = [
        (RNG.uniform(-9, 9, shape), RNG.uniform(-9, 9, slope))
        for shape, slope in [
            ((), ()),
            ((5,), ()),
            ((3, 2, 5), (5,)),
            ((3, 2, 5), (2, 1)),
            ((3, 2, 5), (3, 2, 5)),
            ((1, 2, 1, 2, 3, 1, 2, 2), (2, 3, 1, 1, 2)),
        ]
    ]
    if dtype.startswith("float"):
        x = np.array(SPECIAL)
        cases += [(x, np.array(slope)) for slope in (0.0, -2.0, np.inf, np.nan)]
        # Values that are not negative are independent of the slope.
        cases += [(np.array([0.0, -0.0, 2.0, np.inf]), np.array([np.inf, np.nan, np.nan, np.nan]))]
    else:
        info = np.iinfo(dtype)
        cases += [(np.array([info.min, info.min, -1, 0, info.max]), np.array([-1, info.min, info.min, info.min, info.min]))]
    check_cases([Case("prelu", np.asarray(x, dtype), np.asarray(slope, dtype)) for x, slope in cases], equal)


# The input and the axis.
SOFTMAXES: list[tuple[Any, int]] = [
    (RNG.uniform(-4, 4, (7,)), 0),
    (RNG.uniform(-4, 4, (1,)), 0),
    (RNG.uniform(-4, 4, (3, 4)), 1),
    (RNG.uniform(-4, 4, (3, 4)), 0),
    (RNG.uniform(-4, 4, (2, 3, 4, 5)), 1),
    (RNG.uniform(-4, 4, (1, 2, 3, 1, 2, 2, 1, 2)), 2),
    (np.array([[6e4, 6e4, 0], [-6e4, -6e4, -6e4], [0, np.nan, 1], [-np.inf, 0, 0], [np.inf, 0, 1], [-np.inf] * 3]), 1),
]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_softmax(dtype: str) -> None:
    cases = [Case("softmax", values.astype(dtype), axis) for values, axis in SOFTMAXES]
    check_cases(cases, lambda _, actual, expected: check(actual, expected, 1e-6, 0))


@each_row("constants", [False, True])
@each_row("dtype", ["float32", "float16"])
def test_softmax_takes_an_axis_modulo_two_to_the_32(dtype: str, *, constants: bool) -> None:
    x = RNG.uniform(-4, 4, (3, 4)).astype(dtype)
    [actual] = run("softmax", x, 2**32, constants=constants)
    check(actual, REFERENCE["softmax"](x, 0), 1e-6, 0)


def test_hard_swish_near_its_zero() -> None:
    # Relative to the value, which the engine's own operator misses by 255 units in the last place.
    x = (-3 + np.arange(1, 4096) * 2.0**-20).astype(np.float32)
    check_cases([Case("hardSwish", x)], lambda _, actual, expected: check(actual, expected, 2.5e-7, 0), constants=[False])
