"""Translations and references with the semantics of other backends: what each value of each switch makes of its case."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.builder.onnx.accumulation_cases import CASES as ACCUMULATIONS
from tests.builder.onnx.accumulation_cases import COUNT, STOP
from tests.support import compute_directly
from webnn import ML, MLGraphBuilder, reference
from webnn.builder.graph import collect
from webnn.builder.numerics import Numerics
from webnn.builder.onnx.translate import TRANSLATIONS, translate
from webnn.builder.onnx.variants import CHANGES, vary
from webnn.builder.semantics import DEFAULT_SEMANTICS, SWITCHES, convert_semantics
from webnn.reference.numbers import Array
from webnn.reference.variants import CHANGES as REFERENCE_CHANGES
from webnn.validation.revision import RevisionName

NAN, INF = np.nan, np.inf
LOWEST = np.finfo(np.float32).min
REVISION: RevisionName = "2026-06"
#: A call of the builder.
Make = Callable[..., Any]

POOL: Any = {"windowDimensions": [3, 3], "strides": [3, 3], "padding": [1, 1, 1, 1], "outputShapeRounding": "ceil"}
ROWS = [[NAN, 1, 3, 2], [3, 1, NAN, 2], [NAN] * 4, [NAN, -INF, -INF, NAN], [INF, NAN, INF, INF]]
NUMBERS = [NAN, INF, -INF, 1e20, 300, -300, 1.5, -1, 3e9]
BOUNDS = [-INF, -2, 0, 2, INF, NAN]


def f32(values: Any) -> Array:
    return np.array(values, np.float32)


def i32(values: Any) -> Array:
    return np.array(values, np.int32)


#: A value of a switch, a call, its operands, and the result. Where Chromium 153 has the value, the result is the one measured there.
CASES: list[tuple[str, str, Make, list[Array], Any]] = [
    *[
        ("accumulation", value, lambda b, *x, make=make: b.reshape(make(b, *x), [1]), arrays, [np.float16(result(count))])
        for value, count in (("float32", COUNT), ("float16", STOP))
        for _, make, arrays, result in ACCUMULATIONS
    ],
    ("argMinMaxNaN", "extreme", lambda b, x: b.argMax(x, 1), [f32(ROWS)], [0, 2, 0, 0, 1]),
    ("argMinMaxNaN", "ignore", lambda b, x: b.argMax(x, 1), [f32(ROWS)], [2, 0, 0, 1, 0]),
    ("argMinMaxNaN", "ignore", lambda b, x: b.argMin(x, 1), [f32(ROWS)], [1, 1, 0, 1, 0]),
    ("argMinMaxNaN", "ignore", lambda b, x: b.argMax(x, 0, outputDataType="int64"), [f32(ROWS)], [4, 0, 4, 4]),
    ("argMinMaxNaN", "ignore", lambda b, x: b.argMax(b.transpose(x), 0), [f32(ROWS)], [2, 0, 0, 1, 0]),
    ("argMinMaxNaN", "ignore", lambda b, x: b.argMax(x, 0), [i32([3, 5, 5])], 1),
    *[
        (
            "maxPool2dEmptyWindow",
            value,
            lambda b, x: b.maxPool2d(x, **POOL),
            [f32(np.arange(25)).reshape(1, 1, 5, 5) - 60],
            [[[row, row2, last]]],
        )
        for value, row, row2, last in (
            ("infinity", [-54, -51, -INF], [-39, -36, -INF], [-INF] * 3),
            ("zero", [-54, -51, 0], [-39, -36, 0], [0] * 3),
        )
    ],
    *[
        (
            "maxPool2dEmptyWindow",
            "zeroUnlessStrided",
            lambda b, x, strides=strides, window=window: b.maxPool2d(x, windowDimensions=window, strides=strides, padding=[1, 1, 1, 1]),
            [np.full([1, 1, 2, 2], -5, dtype)],
            y,
        )
        for dtype, window, strides, y in (
            (np.float32, [1, 1], [1, 1], [[[[0] * 4, [0, -5, -5, 0], [0, -5, -5, 0], [0] * 4]]]),
            (np.float32, [1, 2], [2, 2], [[[[LOWEST] * 2, [-5, -5]]]]),
            (np.float16, [1, 2], [2, 2], [[[[-INF] * 2, [-5, -5]]]]),
        )
    ],
    (
        "maxPool2dEmptyWindow",
        "zero",
        lambda b, x: b.maxPool2d(x, **POOL, layout="nhwc"),
        [f32(np.full([1, 4, 4, 2], -1))],
        [[[[-1, -1]] * 2] * 2],
    ),
    (
        "averagePool2dPadding",
        "sameOnly",
        lambda b, x: b.averagePool2d(x, windowDimensions=[3, 3], strides=[3, 3], outputShapeRounding="ceil"),
        [f32(np.arange(1, 17)).reshape(1, 1, 4, 4)],
        [[[[6, 24 / 9], [42 / 9, 16 / 9]]]],
    ),
    (
        "averagePool2dPadding",
        "sameOnly",
        lambda b, x: b.averagePool2d(x, windowDimensions=[2, 2], padding=[1, 0, 1, 0], strides=[2, 2], layout="nhwc"),
        [f32(np.arange(1, 10)).reshape(1, 3, 3, 1)],
        [[[[0.25], [1.25]], [[2.75], [7]]]],
    ),
    (
        "averagePool2dPadding",
        "sameOnly",
        lambda b, x: b.averagePool2d(x, windowDimensions=[3, 3], padding=[1, 1, 1, 1]),
        [f32(np.arange(1, 10)).reshape(1, 1, 3, 3)],
        [[[[3, 3.5, 4], [4.5, 5, 5.5], [6, 6.5, 7]]]],
    ),
    (
        "averagePool2dPadding",
        "sameOnly",
        lambda b, x: b.averagePool2d(x, windowDimensions=[2, 2], strides=[2, 2], outputShapeRounding="ceil"),
        [np.ones([1, 1, 3, 3], np.float32)],
        [[[[1, 0.5], [0.5, 0.25]]]],
    ),
    (
        "l2Pool2dPadding",
        "sameMean",
        lambda b, x: b.l2Pool2d(x, windowDimensions=[2, 2], strides=[2, 2], outputShapeRounding="ceil"),
        [np.ones([1, 1, 3, 3], np.float32)],
        [[[[2, math.sqrt(2)], [math.sqrt(2), 1]]]],
    ),
    # A window of two, of which one is inside, has the square of that one twice.
    *[
        (
            "l2Pool2dPadding",
            value,
            lambda b, x, padding=padding: b.l2Pool2d(x, windowDimensions=[1, 2], padding=[0, 0, *padding]),
            [f32([[[[3, 4]]]])],
            [[[y]]],
        )
        for value, padding, y in (
            ("zero", [0, 1], [5, 4]),
            ("sameMean", [0, 1], [5, math.sqrt(32)]),
            ("sameMean", [1, 0], [3, 5]),
        )
    ],
    (
        "l2Pool2dPadding",
        "sameMean",
        lambda b, x: b.l2Pool2d(x, windowDimensions=[3, 3], padding=[1, 1, 1, 1], layout="nhwc"),
        [np.ones([1, 3, 3, 2], np.float16)],
        np.full([1, 3, 3, 2], 3),
    ),
    ("castNaN", "largest", lambda b, x: b.cast(x, "int32"), [f32(NUMBERS[:4])], [2**31 - 1, 2**31 - 1, -(2**31), 2**31 - 1]),
    ("castNaN", "largest", lambda b, x: b.cast(x, "uint64"), [f32(NUMBERS[:2])], [2**64 - 1, 2**64 - 1]),
    ("castNaN", "smallest", lambda b, x: b.cast(x, "int8"), [f32(NUMBERS[:2])], [-128, 127]),
    ("castNaN", "largest", lambda b, x: b.cast(x, "float16"), [f32(NUMBERS[:3])], [NAN, INF, -INF]),
    ("castOutOfRange", "lowBits", lambda b, x: b.cast(x, "uint8"), [f32(NUMBERS)], [0, 0, 0, 0, 44, 212, 1, 255, 0]),
    ("castOutOfRange", "lowBits", lambda b, x: b.cast(x, "int32"), [f32(NUMBERS)], [0, *[-(2**31)] * 3, 300, -300, 1, -1, -(2**31)]),
    ("castOutOfRange", "lowBits", lambda b, x: b.cast(x, "uint32"), [f32(NUMBERS)], [0, 0, 0, 0, 300, 2**32 - 300, 1, 2**32 - 1, int(3e9)]),
    ("clampNaN", "nan", lambda b, x: b.clamp(x, minValue=NAN), [f32(BOUNDS)], [NAN] * 6),
    ("clampNaN", "ignore", lambda b, x: b.clamp(x, minValue=NAN), [f32(BOUNDS)], BOUNDS),
    ("clampNaN", "ignore", lambda b, x: b.clamp(x, minValue=-1, maxValue=NAN), [f32(BOUNDS)], [-1, -1, 0, 2, INF, NAN]),
    ("clampNaN", "maxValue", lambda b, x: b.clamp(x, minValue=NAN), [f32(BOUNDS)], [INF] * 6),
    ("clampNaN", "maxValue", lambda b, x: b.clamp(x, minValue=NAN, maxValue=1), [f32(BOUNDS)], [1] * 6),
    ("clampNaN", "maxValue", lambda b, x: b.clamp(x, minValue=-1, maxValue=NAN), [f32(BOUNDS)], [-1, -1, 0, 2, INF, NAN]),
    ("clampNaN", "ignore", lambda b, x: b.clamp(x, minValue=NAN), [i32([-1, 2])], [0, 2]),
    ("gatherOutOfRange", "clamp", lambda b, x, i: b.gather(x, i), [f32([10, 20, 30]), i32([1, 3, -3, -9])], [20, 30, 10, 10]),
    ("gatherOutOfRange", "zero", lambda b, x, i: b.gather(x, i), [f32([10, 20, 30]), i32([1, 3, -3, -9])], [20, 0, 10, 0]),
    ("gatherOutOfRange", "zero", lambda b, x, i: b.gather(x, i, axis=1), [f32([[1, 2], [3, 4]]), i32(2)], [0, 0]),
    ("gatherOutOfRange", "zero", lambda b, x, i: b.gatherElements(x, i), [f32([10, 20]), i32([-1, 2])], [20, 0]),
    (
        "gatherOutOfRange",
        "zero",
        lambda b, *x: b.gatherND(*x),
        [f32([[1, 2], [3, 4]]), i32([[1, -1], [0, 2], [2, 0], [-3, 0]])],
        [4, 0, 0, 0],
    ),
    ("integerNegativePower", "truncate", lambda b, x, y: b.pow(x, y), [i32([7, 1, 3]), i32([-2, -1, 2])], [0, 1, 9]),
    ("integerNegativePower", "zeros", lambda b, x, y: b.pow(x, y), [i32([7, 1, 3]), i32([-2, -1, 2])], [0, 0, 0]),
    ("integerNegativePower", "zeros", lambda b, x, y: b.pow(x, y), [i32([7, 1, 3]), i32([2, 0, 2])], [49, 1, 9]),
    ("integerNegativePower", "zeros", lambda b, x, y: b.pow(x, y), [f32([2, 3]), f32([-1, 2])], [0.5, 9]),
    ("integerDivByZero", "allBits", lambda b, x, y: b.div(x, y), [i32([7, 8, 9]), i32([2, 0, 3])], [3, -1, 3]),
    ("integerDivByZero", "zeros", lambda b, x, y: b.div(x, y), [i32([7, 8, 9]), i32([2, 0, 3])], [0, 0, 0]),
    ("integerDivByZero", "zeros", lambda b, x, y: b.div(x, y), [i32([7, 8, 9]), i32([2, 1, 3])], [3, 8, 3]),
    ("integerDivByZero", "zeros", lambda b, x, y: b.div(x, y), [f32([7, 8]), f32([2, 0])], [3.5, INF]),
    ("minMaxNaN", "nan", lambda b, x, y: b.max(x, y), [f32([NAN, 1, 2]), f32([1, NAN, 3])], [NAN, NAN, 3]),
    ("minMaxNaN", "second", lambda b, x, y: b.max(x, y), [f32([NAN, 1, 2]), f32([1, NAN, 3])], [1, NAN, 3]),
    ("minMaxNaN", "second", lambda b, x, y: b.min(x, y), [f32([NAN, 1, 2]), f32([1, NAN, 3])], [1, NAN, 2]),
    ("minMaxNaN", "second", lambda b, x, y: b.max(x, y), [f32([[1], [2]]), f32([[NAN, 3]])], [[1, 3], [2, 3]]),
    ("minMaxNaN", "second", lambda b, x, y: b.max(x, y), [f32(NAN), f32([1, 2])], [NAN, NAN]),
    ("resample2dTies", "lower", lambda b, x: b.resample2d(x, sizes=[1, 2]), [f32([[[[0, 1, 2, 3]]]])], [[[[0, 2]]]]),
    ("resample2dTies", "upper", lambda b, x: b.resample2d(x, sizes=[1, 2]), [f32([[[[0, 1, 2, 3]]]])], [[[[1, 3]]]]),
    ("resample2dTies", "upper", lambda b, x: b.resample2d(x, sizes=[1, 6]), [f32([[[[0, 1, 2, 3]]]])], [[[[0, 1, 1, 2, 3, 3]]]]),
    ("resample2dTies", "upper", lambda b, x: b.resample2d(x, sizes=[1, 2], mode="linear"), [f32([[[[0, 1, 2, 3]]]])], [[[[0.5, 2.5]]]]),
    *[
        ("scatterDuplicates", value, lambda b, *x: b.scatterND(*x), [f32([100] * 4), i32([[1], [1], [2], [-3]]), f32([1, 2, 3, 4])], y)
        for value, y in (("last", [100, 4, 3, 100]), ("first", [100, 1, 3, 100]), ("sum", [100, 7, 3, 100]))
    ],
    *[
        (
            "scatterDuplicates",
            value,
            lambda b, x, i, u: b.scatterElements(x, i, u, axis=1),
            [f32([[9] * 3] * 2), i32([[0, 0, 1], [2, 2, 2]]), f32([[1, 2, 3], [4, 5, 6]])],
            y,
        )
        for value, y in (("last", [[2, 3, 9], [9, 9, 6]]), ("first", [[1, 3, 9], [9, 9, 4]]), ("sum", [[3, 3, 9], [9, 9, 15]]))
    ],
    ("scatterDuplicates", "sum", lambda b, x, i, u: b.scatterElements(x, i, u), [f32([NAN, INF]), i32([0, 0]), f32([1, 2])], [3, INF]),
    # Each sum is rounded to float32: 2^12 + 2^-12 is 2^12.
    (
        "scatterDuplicates",
        "sum",
        lambda b, x, i, u: b.scatterElements(x, i, u),
        [f32([1]), i32([0] * 4), f32([2**12, 2**-12, 2**-12, -(2**12)])],
        [0],
    ),
    ("signNaN", "zero", lambda b, x: b.sign(x), [f32([NAN, -2, 2])], [0, -1, 1]),
    ("signNaN", "nan", lambda b, x: b.sign(x), [f32([NAN, -2, 2])], [NAN, -1, 1]),
    ("signNaN", "nan", lambda b, x: b.sign(x), [i32([0, -2, 2])], [0, -1, 1]),
    ("triangularMask", "select", lambda b, x: b.triangular(x), [f32([[1, INF], [INF, 2]])], [[1, INF], [0, 2]]),
    ("triangularMask", "multiply", lambda b, x: b.triangular(x), [f32([[1, INF], [INF, 2]])], [[1, INF], [NAN, 2]]),
    ("triangularMask", "multiply", lambda b, x: b.triangular(x), [i32([[1, 3], [4, 2]])], [[1, 3], [0, 2]]),
]
IDS = [f"{index}-{name}-{value}" for index, (name, value, *_) in enumerate(CASES)]


def computed(
    name: str,
    value: str,
    make: Make,
    arrays: list[Array],
    numerics: Numerics,
    *,
    constants: bool = False,
    revision: RevisionName = REVISION,
) -> list[Array]:
    """Compute with the engine, and with the reference."""
    builder = MLGraphBuilder(ML(revision=revision, semantics={name: value}, numerics=numerics).createContextSync())  # type: ignore[misc]
    inputs = {f"x{index}": array for index, array in enumerate(arrays)}
    operands: list[Any] = []
    for each, array in inputs.items():
        descriptor: Any = {"dataType": array.dtype.name, "shape": array.shape}
        # An operation of constants alone is no less a graph.
        operands.append(builder.constant(descriptor, array) if constants else builder.input(each, descriptor))
    graph = builder.buildSync({"y": make(builder, *operands)})
    inputs = {} if constants else inputs
    [y] = compute_directly(graph, inputs)
    exact = reference.compute(graph.description, inputs, semantics=graph._state.semantics)
    return [y, exact["y"]]


@pytest.mark.parametrize(("name", "value", "make", "arrays", "wanted"), CASES, ids=IDS)
def test_case(name: str, value: str, make: Make, arrays: list[Array], wanted: Any) -> None:
    policies: tuple[Numerics, ...] = ("exact",) if name.startswith("cast") or value == "extreme" else ("exact", "fast")
    for numerics in policies:
        for y in computed(name, value, make, arrays, numerics):
            if y.dtype.kind == "f":
                np.testing.assert_allclose(y, np.array(wanted, y.dtype), rtol=1e-6)
            else:
                np.testing.assert_array_equal(y, np.array(wanted, y.dtype))


@pytest.mark.parametrize(("name", "value", "make", "arrays", "wanted"), CASES, ids=IDS)
def test_case_in_float16_and_of_constants(name: str, value: str, make: Make, arrays: list[Array], wanted: Any) -> None:
    halves = [
        array.astype(np.float16) if array.dtype == np.float32 and np.all(np.abs(array[np.isfinite(array)]) < 1e4) else array
        for array in arrays
    ]
    for given, constants in ((halves, False), (arrays, True)):
        y, exact = computed(name, value, make, given, "exact", constants=constants)
        if y.dtype.kind == "f":
            with np.errstate(over="ignore"):  # the lowest number of float32 is -Infinity in float16
                expected = np.array(wanted, y.dtype)
            np.testing.assert_allclose(y, expected, rtol=2e-3)
        np.testing.assert_allclose(y, exact, rtol=2e-3)


@pytest.mark.parametrize(("name", "value", "make", "arrays", "wanted"), CASES, ids=IDS)
def test_case_of_a_proposal_with_translations_of_its_own(name: str, value: str, make: Make, arrays: list[Array], wanted: Any) -> None:
    for y in computed(name, value, make, arrays, "exact", revision="2026-06+zero-size"):
        np.testing.assert_allclose(y, np.array(wanted, y.dtype), rtol=1e-6)


#: Calls whose operands, or some of them, have no elements.
EMPTY: list[tuple[Make, list[tuple[int, ...]]]] = [
    (lambda b, x: b.argMax(x, 1), [(0, 3)]),
    (lambda b, x: b.averagePool2d(x, windowDimensions=[1, 1], padding=[1, 1, 1, 1]), [(0, 1, 2, 2)]),
    (lambda b, x: b.cast(x, "int32"), [(0,)]),
    (lambda b, x: b.clamp(x, minValue=NAN), [(2, 0)]),
    (lambda b, x: b.gather(x, b.cast(x, "int32")), [(0,)]),
    (lambda b, x, y: b.div(b.cast(x, "int32"), b.cast(y, "int32")), [(0, 1), (3,)]),
    (lambda b, x: b.maxPool2d(x, windowDimensions=[1, 1], padding=[1, 1, 1, 1]), [(0, 1, 2, 2)]),
    (lambda b, x, y: b.max(x, y), [(0,), ()]),
    (lambda b, x: b.resample2d(x, sizes=[4, 4]), [(0, 1, 2, 2)]),
    (lambda b, x, y: b.scatterElements(x, b.cast(y, "int32"), y), [(2,), (0,)]),
    (lambda b, x: b.sign(x), [(0,)]),
    (lambda b, x: b.triangular(x), [(0, 2, 2)]),
]


@pytest.mark.parametrize(("make", "shapes"), EMPTY, ids=[str(index) for index in range(len(EMPTY))])
def test_without_elements(make: Make, shapes: list[tuple[int, ...]]) -> None:
    for name, switch in SWITCHES.items():
        for value in list(switch.values)[1:]:
            y, exact = computed(name, value, make, [f32(np.ones(shape)) for shape in shapes], "exact", revision="2026-06+zero-size")
            np.testing.assert_array_equal(y, exact)


def test_every_value_has_cases_and_functions() -> None:
    values = {(name, value) for name, switch in SWITCHES.items() for value in switch.values if value != switch.default}
    assert CHANGES.keys() == REFERENCE_CHANGES.keys() == values
    assert values <= {(name, value) for name, value, *_ in CASES}


def test_updates_of_many_slices_are_added_in_order() -> None:
    """More than one thread of the engine would take them in any order."""
    rng = np.random.default_rng(1)
    places, updates = rng.integers(0, 50, [4000, 1]).astype(np.int32), rng.integers(-9, 9, [4000, 16]).astype(np.float32)
    for value in ("sum", "first"):
        y, exact = computed("scatterDuplicates", value, lambda b, *x: b.scatterND(*x), [f32(np.zeros([50, 16])), places, updates], "exact")
        np.testing.assert_array_equal(y, exact)


def test_without_a_switch_the_model_is_the_same() -> None:
    """Also the parts of it that a switch is not about."""
    every = convert_semantics({name: list(switch.values)[-1] for name, switch in SWITCHES.items()}, "here")
    defaults = convert_semantics({name: switch.default for name, switch in SWITCHES.items()}, "here")
    changed = {operation for switch in SWITCHES.values() for operation in switch.operations}
    assert vary(TRANSLATIONS, every).keys() == changed
    assert not vary(TRANSLATIONS, defaults)
    seen = set()
    for _, _, make, arrays, _ in CASES:
        builder = MLGraphBuilder(ML(revision=REVISION).createContextSync())
        operands: Any = [
            builder.input(f"x{index}", {"dataType": array.dtype.name, "shape": array.shape})  # type: ignore[typeddict-item]
            for index, array in enumerate(arrays)
        ]
        for outputs in ({"y": make(builder, *operands)}, {"y": builder.softplus(builder.cast(operands[0], "float32"))}):
            graph = collect(outputs)
            plain = translate(graph).proto.SerializeToString()
            assert plain == translate(graph, semantics=DEFAULT_SEMANTICS).proto.SerializeToString()
            assert plain == translate(graph, semantics=defaults).proto.SerializeToString()
            if translate(graph, semantics=every).proto.SerializeToString() != plain:
                seen |= {operator.operation.name for operator in graph.operators}
    assert seen - {"transpose", "softplus", "reshape"} == changed
