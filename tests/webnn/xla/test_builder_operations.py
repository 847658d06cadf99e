"""Each operation against NumPy in float64."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT
from tests.webnn.xla.programs import DRAFTS, Build, compute, counting_loop, scalars, shape_of
from webnn.xla import (
    F16,
    F32,
    PRED,
    S8,
    S32,
    S64,
    U8,
    U32,
    Computation,
    ComputationBuilder,
    LiteralUtil,
    MakeShape,
    Padding,
    PaddingConfigDimension,
    PrimitiveType,
)

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(2, 3)).astype(np.float32)
Y = RANDOM.normal(size=(2, 3)).astype(np.float32)
#: No two elements are equal, and none of them is 0.
WIDE = (RANDOM.permutation(60) - 29.5).astype(np.float32).reshape(2, 5, 6)
INTEGERS = np.array([[7, -7, 3], [-8, 5, -1]], np.int32)
DIVISORS = np.array([[2, 2, -5], [3, -3, 4]], np.int32)
COUNTS = np.array([0, 1, 200, 4_000_000_000], np.uint32)
SPECIAL = np.array([np.inf, -np.inf, np.nan, -0.0, 0.0, 1.5, -2.5, 3e38], np.float32)
TRUTH, DOUBT = np.array([True, True, False, False]), np.array([True, False, True, False])
IMAGE = RANDOM.normal(size=(2, 3, 7, 6)).astype(np.float32)
KERNEL = RANDOM.normal(size=(4, 3, 3, 2)).astype(np.float32)
SCALE, OFFSET, MEAN = (RANDOM.normal(size=3).astype(np.float32) for _ in range(3))
VARIANCE = RANDOM.uniform(0.5, 2, 3).astype(np.float32)
GRADIENT = RANDOM.normal(size=(2, 3, 7, 6)).astype(np.float32)


@dataclass(frozen=True)
class Case:
    """A program, and what it must return.

    Attributes:
        operation: The operation.
        build: The program.
        arrays: The values of its parameters.
        truth: Returns the result from the arrays, those of floating-point numbers in float64.
        tolerance: The largest relative and absolute error.
    """

    operation: str
    build: Build
    arrays: tuple[Array, ...]
    truth: Callable[..., Any]
    tolerance: float = 0.0
    name: str = ""


def _binary(name: str, function: Callable[..., Any], one: Array = X, other: Array = Y, tolerance: float = 0.0) -> Case:
    return Case(name, lambda b, x, y: getattr(b, name)(x, y), (one, other), function, tolerance, str(one.dtype))


def _unary(name: str, function: Callable[..., Any], array: Array = X, tolerance: float = 0.0) -> Case:
    return Case(name, lambda b, x: getattr(b, name)(x), (array,), function, tolerance, str(array.dtype))


def _convert(array: Array, element_type: PrimitiveType, wanted: Any) -> Case:
    name = f"{array.dtype} to {element_type.value}"
    return Case("ConvertElementType", lambda b, x: b.ConvertElementType(x, element_type), (array,), lambda x: np.asarray(wanted), name=name)


def _convolve(
    x: Array,
    kernel: Array,
    strides: tuple[int, int],
    padding: tuple[tuple[int, int], tuple[int, int]] = ((0, 0), (0, 0)),
    lhs_dilation: tuple[int, int] = (1, 1),
    rhs_dilation: tuple[int, int] = (1, 1),
) -> Array:
    """The formula of the page, with the zeros that padding and dilation put in."""

    def spread(array: Array, factors: tuple[int, int]) -> Array:
        (height, width), (down, right) = array.shape[2:], factors
        found = np.zeros((*array.shape[:2], (height - 1) * down + 1, (width - 1) * right + 1))
        found[:, :, ::down, ::right] = array
        return found

    area, window = spread(x, lhs_dilation), spread(kernel, rhs_dilation)
    for axis, (low, high) in enumerate(padding, 2):
        area = area[tuple([slice(None)] * axis + [slice(max(-low, 0), area.shape[axis] - max(-high, 0))])]
        area = np.pad(area, [(max(low, 0), max(high, 0)) if each == axis else (0, 0) for each in range(4)])
    views = np.lib.stride_tricks.sliding_window_view(area, window.shape[2:], (2, 3))[:, :, :: strides[0], :: strides[1]]
    return np.asarray(np.einsum("biyxhw,oihw->boyx", views, window))


def _windows(x: Array, window: tuple[int, ...], strides: tuple[int, ...], fill: float, same: bool) -> Array:
    """Return the elements of all windows in a last dimension."""
    if same:
        totals = [max((-(-size // step) - 1) * step + width - size, 0) for size, width, step in zip(x.shape, window, strides, strict=True)]
        x = np.pad(x, [(total // 2, total - total // 2) for total in totals], constant_values=fill)
    views = np.lib.stride_tricks.sliding_window_view(x, window)[tuple(slice(None, None, step) for step in strides)]
    return views.reshape(*views.shape[: x.ndim], -1)


def _scatter_to_greatest(x: Array, source: Array, initial: Array) -> Array:
    """Windows of 2 x 3 that do not overlap: each element of the source at the place of the greatest element."""
    found = np.full(x.shape, float(initial))
    for row, column in np.ndindex(*source.shape):
        part = x[2 * row : 2 * row + 2, 3 * column : 3 * column + 3]
        down, right = np.unravel_index(int(np.argmax(part)), part.shape)
        found[2 * row + down, 3 * column + right] += source[row, column]
    return found


def _pad(b: ComputationBuilder, x: Any, value: Any) -> Any:
    return b.Pad(x, value, [PaddingConfigDimension(1, 2, 1), PaddingConfigDimension(-1, 0, 2)])


def _padded(x: Array, value: Array) -> Array:
    wide = np.full((3, 7), float(value))
    wide[::2, ::3] = x
    return np.pad(wide, [(1, 2), (0, 0)], constant_values=float(value))[:, 1:]


def _normalize(x: Array, scale: Array, offset: Array, mean: Array, variance: Array) -> Array:
    at = (slice(None), None, None)
    return np.asarray(scale[at] * (x - mean[at]) / np.sqrt(variance[at] + 0.01) + offset[at])


def _train(x: Array, scale: Array, offset: Array) -> tuple[Array, Array, Array]:
    mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
    return _normalize(x, scale, offset, mean, variance), mean, variance


def _gradients(x: Array, scale: Array, gradient: Array) -> tuple[Array, Array, Array]:
    """The gradients of `_train`, where the mean and the variance follow from x: operand, offset, scale."""
    at = (slice(None), None, None)
    count = x.size // 3
    mean, deviation = x.mean((0, 2, 3)), np.sqrt(x.var((0, 2, 3)) + 0.01)
    normal = (x - mean[at]) / deviation[at]
    offsets, scales = gradient.sum((0, 2, 3)), (gradient * normal).sum((0, 2, 3))
    inputs = (scale / deviation)[at] * (gradient - offsets[at] / count - normal * scales[at] / count)
    return inputs, offsets, scales


def _gradients_program(b: ComputationBuilder, x: Any, scale: Any, gradient: Any) -> Any:
    trained = b.BatchNormTraining(x, scale, b.ConstantLiteral([0.0] * 3), 0.01, 1)
    return b.BatchNormGrad(x, scale, b.GetTupleElement(trained, 1), b.GetTupleElement(trained, 2), gradient, 0.01, 1)


def _affine() -> Computation:
    """Return a computation of two scalars and a vector: ``x * y + sum(vector)``."""
    builder = ComputationBuilder("affine")
    x, y = (builder.Parameter(number, MakeShape(F32)) for number in (0, 1))
    total = builder.Reduce(builder.Parameter(2, MakeShape(F32, [3])), builder.ConstantLiteral(0.0), scalars("Add", F32), [0])
    builder.Add(builder.Mul(x, y), total)
    return builder.Build()


def _while_program(b: ComputationBuilder, x: Any) -> Any:
    condition, body = counting_loop(MakeShape(F32, [2, 3]), lambda inner, each: inner.Mul(each, inner.ConstantLiteral(2.0)), 5)
    return b.While(condition, body, b.Tuple(b.ConstantLiteral(0), x))


def _reduce(operation: str, element_type: PrimitiveType, first: Any, dimensions: list[int]) -> Build:
    return lambda b, x: b.Reduce(x, b.ConstantLiteral(first), scalars(operation, element_type), dimensions)


def _window(operation: str, first: Any, padding: Padding) -> Build:
    return lambda b, x: b.ReduceWindow(x, b.ConstantLiteral(first), scalars(operation, F32), [1, 3, 2], [1, 2, 1], padding)


def _scatter_program(b: ComputationBuilder, x: Any, source: Any, initial: Any) -> Any:
    return b.SelectAndScatter(x, scalars("Ge", F32), [2, 3], [2, 3], Padding.kValid, source, initial, scalars("Add", F32))


def _both(one: Array, other: Array) -> Array:
    return one & other


CASES = [
    _unary("Abs", np.abs),
    _unary("Abs", np.abs, INTEGERS),
    _unary("Abs", np.abs, COUNTS),
    _binary("Add", np.add, tolerance=1e-6),
    _binary("Add", np.add, INTEGERS, DIVISORS),
    Case("BatchNormGrad", _gradients_program, (IMAGE, SCALE, GRADIENT), _gradients, 1e-4),
    Case(
        "BatchNormInference",
        lambda b, x, *vectors: b.BatchNormInference(x, *vectors, 0.01, 1),
        (IMAGE, SCALE, OFFSET, MEAN, VARIANCE),
        _normalize,
        1e-5,
    ),
    Case("BatchNormTraining", lambda b, x, s, o: b.BatchNormTraining(x, s, o, 0.01, 1), (IMAGE, SCALE, OFFSET), _train, 1e-5),
    Case("Broadcast", lambda b, x: b.Broadcast(x, [4, 1]), (X,), lambda x: np.broadcast_to(x, (4, 1, 2, 3))),
    Case("Call", lambda b, x, y, v: b.Call(_affine(), x, y, v), (X[0, 0], Y[0, 0], SCALE), lambda x, y, v: x * y + v.sum(), 1e-6),
    _unary("Ceil", np.ceil),
    Case("Clamp", lambda b, x, low, high: b.Clamp(x, low, high), (X, Y - 1, Y + 1), np.clip, 1e-7),
    Case(
        "Clamp",
        lambda b, x: b.Clamp(x, b.ConstantLiteral(5), b.ConstantLiteral(2)),
        (INTEGERS,),
        lambda x: np.full_like(x, 2),
        name="between bounds in the wrong order",
    ),
    Case("Collapse", lambda b, x: b.Collapse(x, [1, 2]), (WIDE,), lambda x: x.reshape(2, 30)),
    Case("Collapse", lambda b, x: b.Collapse(x, []), (WIDE,), lambda x: x, name="nothing"),
    Case("ConcatInDim", lambda b, *x: b.ConcatInDim(x, 1), (X, Y, X), lambda *x: np.concatenate(x, 1)),
    Case("Concatenate", lambda b, *x: b.Concatenate(x, 0), (X, Y), lambda *x: np.concatenate(x)),
    Case("Conv", lambda b, x, k: b.Conv(x, k, [1, 1], Padding.kValid), (IMAGE, KERNEL), lambda x, k: _convolve(x, k, (1, 1)), 1e-5),
    Case(
        "Conv",
        lambda b, x, k: b.Conv(x, k, [2, 1], Padding.kSame),
        (IMAGE, KERNEL),
        lambda x, k: _convolve(x, k, (2, 1), ((1, 1), (0, 1))),
        1e-5,
        "same",
    ),
    Case(
        "Conv",
        lambda b, x, k: b.Conv(x, k, [1, 1], Padding.kSame, rhs_dilation=[2, 1]),
        (IMAGE, KERNEL),
        lambda x, k: _convolve(x, k, (1, 1), ((2, 2), (0, 1)), rhs_dilation=(2, 1)),
        1e-5,
        "same and dilated",
    ),
    Case(
        "ConvWithGeneralPadding",
        lambda b, x, k: b.ConvWithGeneralPadding(x, k, [2, 3], [(1, -1), (2, 0)], [2, 1], [1, 2]),
        (IMAGE, KERNEL),
        lambda x, k: _convolve(x, k, (2, 3), ((1, -1), (2, 0)), (2, 1), (1, 2)),
        1e-5,
    ),
    _convert(np.array([-1.9, 1.9, 0.0], np.float32), S32, np.int32([-1, 1, 0])),
    _convert(np.array([-1, 0, 2], np.int32), PRED, [True, False, True]),
    _convert(TRUTH, F32, np.float32([1, 1, 0, 0])),
    _convert(np.array([0.1, -65504], np.float32), F16, np.float16([0.1, -65504])),
    _convert(np.array([-1, 127], np.int8), S64, np.int64([-1, 127])),
    _unary("Cos", np.cos, tolerance=1e-6),
    _binary("Div", np.divide, tolerance=1e-6),
    _binary("Div", lambda x, y: np.trunc(x / y), INTEGERS, DIVISORS),
    Case("Dot", lambda b, x, y: b.Dot(x, y), (SCALE, OFFSET), np.dot, 1e-6, "vectors"),
    Case("Dot", lambda b, x, y: b.Dot(x, y), (X, SCALE), np.dot, 1e-6, "matrix and vector"),
    Case("Dot", lambda b, x, y: b.Dot(x, y), (X[:, 0], Y), np.dot, 1e-6, "vector and matrix"),
    Case("Dot", lambda b, x, y: b.Dot(x, y), (X, Y.T.copy()), np.dot, 1e-6, "matrices"),
    Case(
        "DynamicSlice",
        lambda b, x, s: b.DynamicSlice(x, s, [1, 3, 2]),
        (WIDE, np.array([-3, 1, 99], np.int32)),
        lambda x, s: x[0:1, 1:4, 4:6],
    ),
    Case(
        "DynamicUpdateSlice",
        lambda b, x, u, s: b.DynamicUpdateSlice(x, u, s),
        (X, np.float32([[5, 6]]), np.array([7, 1], np.int32)),
        lambda x, u, s: np.array([x[0], [x[1, 0], 5, 6]]),
        1e-7,
    ),
    _binary("Eq", np.equal, INTEGERS, np.where(INTEGERS > 0, INTEGERS, 0).astype(np.int32)),
    _unary("Exp", np.exp, tolerance=1e-6),
    _unary("Floor", np.floor),
    _binary("Ge", np.greater_equal, INTEGERS, INTEGERS[::-1].copy()),
    Case("GetTupleElement", lambda b, x, y: b.GetTupleElement(b.Tuple(b.Tuple(x, y), y), 0), (X, Y), lambda x, y: (x, y)),
    _binary("Gt", np.greater),
    _unary("IsFinite", np.isfinite, SPECIAL),
    _binary("Le", np.less_equal),
    _unary("Log", np.log, np.abs(X), 1e-6),
    _binary("LogicalAnd", _both, TRUTH, DOUBT),
    _unary("LogicalNot", np.logical_not, TRUTH),
    _binary("LogicalOr", lambda x, y: x | y, TRUTH, DOUBT),
    _binary("Lt", np.less),
    _binary("Lt", np.less, TRUTH, DOUBT),
    Case(
        "Map",
        lambda b, x, y, v: b.Map([x, y], _affine(), [0, 1], [v]),
        (X, Y, SCALE),
        lambda x, y, v: x * y + v.sum(),
        1e-6,
        "with a static operand",
    ),
    Case("Map", lambda b, x, y: b.Map([x, y], scalars("Lt", F32)), (X, Y), np.less),
    _binary("Max", np.maximum),
    _binary("Max", np.maximum, TRUTH, DOUBT),
    _binary("Min", np.minimum),
    _binary("Mul", np.multiply, tolerance=1e-6),
    _binary("Ne", np.not_equal, SPECIAL, SPECIAL),
    _unary("Neg", np.negative),
    _unary("Neg", np.negative, COUNTS),
    Case("Pad", _pad, (X, np.array(9, np.float32)), _padded),
    Case("Reduce", _reduce("Add", F32, 0.0, [2, 0]), (WIDE,), lambda x: x.sum((0, 2))),
    Case("Reduce", _reduce("Max", F32, -np.inf, [1]), (WIDE,), lambda x: x.max(1), name="maximum"),
    Case("Reduce", _reduce("Mul", S32, 1, [0, 1]), (INTEGERS,), np.prod, name="product of integers"),
    Case("Reduce", _reduce("LogicalAnd", PRED, True, [0]), (TRUTH,), np.all, name="and"),
    Case("Reduce", _reduce("Add", F32, 0.0, []), (WIDE,), lambda x: x, name="nothing"),
    Case(
        "ReducePrecision",
        lambda b, x: b.ReducePrecision(x, 10, 5),
        (np.array([0.1, -1.0009765625, 65520.0, -1e30, 0.0], np.float32),),
        lambda x: x.astype(np.float16).astype(np.float64),
    ),
    Case("ReduceWindow", _window("Add", 0.0, Padding.kSame), (WIDE,), lambda x: _windows(x, (1, 3, 2), (1, 2, 1), 0, True).sum(-1)),
    Case(
        "ReduceWindow",
        _window("Max", LiteralUtil.MinValue(F32), Padding.kValid),
        (WIDE,),
        lambda x: _windows(x, (1, 3, 2), (1, 2, 1), 0, False).max(-1),
        name="maximum",
    ),
    _binary("Rem", np.fmod, INTEGERS, DIVISORS),
    _binary("Rem", np.fmod, X, Y, 1e-6),
    Case("Reshape", lambda b, x: b.Reshape(x, [6, 1]), (X,), lambda x: x.reshape(6, 1)),
    Case("Rev", lambda b, x: b.Rev(x, [2, 0]), (WIDE,), lambda x: x[::-1, :, ::-1]),
    Case("Select", lambda b, p, x, y: b.Select(p, b.Tuple(x, y), b.Tuple(y, x)), (np.array(False), X, Y), lambda p, x, y: (y, x)),
    Case("SelectAndScatter", _scatter_program, (WIDE[0, :4], X[:, :2], np.array(0.5, np.float32)), _scatter_to_greatest, 1e-6),
    _unary("Sign", np.sign),
    Case("Sign", lambda b, x: b.Sign(x), (SPECIAL,), np.sign, name="special numbers"),
    _unary("Sign", np.sign, INTEGERS),
    _unary("Sign", np.sign, COUNTS),
    Case("Slice", lambda b, x: b.Slice(x, [1, 0, 2], [2, 4, 3]), (WIDE,), lambda x: x[1:2, :4, 2:3]),
    Case("Sort", lambda b, x: b.Sort(x), (WIDE,), np.sort),
    Case("Sort", lambda b, x: b.Sort(x), (INTEGERS,), np.sort, name="integers"),
    Case("Sort", lambda b, x: b.Sort(x), (SPECIAL,), np.sort, name="special numbers"),
    _binary("Sub", np.subtract, tolerance=1e-6),
    _unary("Tanh", np.tanh, tolerance=1e-6),
    Case("Transpose", lambda b, x: b.Transpose(x, [2, 0, 1]), (WIDE,), lambda x: x.transpose(2, 0, 1)),
    Case("Tuple", lambda b, x, y: b.Tuple(y, b.Tuple(), b.Tuple(x)), (X, Y), lambda x, y: (y, (), (x,))),
    Case("While", _while_program, (X,), lambda x: (5, x * 32)),
]
IDS = [f"{case.operation} {case.name}".strip() for case in CASES]

#: Shapes that broadcast, and the broadcast dimensions of the lower rank.
BROADCASTS: list[tuple[tuple[int, ...], tuple[int, ...], list[int] | None]] = [
    ((), (2, 3), None),
    ((2, 3), (), []),
    ((3,), (2, 3), [1]),
    ((2, 3), (2,), [0]),
    ((2, 3), (1, 3), None),
    ((2, 1), (1, 3), [0, 1]),
    ((2, 4), (2, 3, 4), [0, 2]),
    ((5,), (2, 1), [1]),
]


def in_float64(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def check(found: Any, wanted: Any, tolerance: float) -> None:
    if isinstance(wanted, tuple):
        assert isinstance(found, tuple)
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            check(one, other, tolerance)
    else:
        assert found.shape == np.shape(wanted)
        np.testing.assert_allclose(in_float64(found), wanted, tolerance, tolerance)


@pytest.mark.parametrize("case", CASES, ids=IDS)
@pytest.mark.parametrize(("draft", "known"), [*((draft, False) for draft in DRAFTS), (CURRENT, True)])
def test_an_operation(case: Case, draft: str, known: bool) -> None:
    with np.errstate(all="ignore"):
        wanted = case.truth(*map(in_float64, case.arrays))
    check(compute(case.build, *case.arrays, draft=draft, known=known), wanted, case.tolerance)


def test_there_is_a_case_for_each_operation() -> None:
    tested = {case.operation for case in CASES}
    assert tested == operations() - {"Parameter", "ConstantLiteral", "Build"} - set(REFUSED)
    assert len(tested) == 56  # 55 operations, one of them by two names


def operations() -> set[str]:
    """Return the public methods of the builder."""
    return {name for name, _ in inspect.getmembers(ComputationBuilder, inspect.isfunction) if not name.startswith("_")}


REFUSED = ("CrossReplicaSum", "CustomCall", "Infeed", "Recv", "RecvDone", "RngBernoulli", "RngNormal", "RngUniform", "Send", "SendDone")


@pytest.mark.parametrize(("one", "other", "dimensions"), BROADCASTS)
@pytest.mark.parametrize("operation", ["Sub", "Gt"])
def test_broadcasting(operation: str, one: tuple[int, ...], other: tuple[int, ...], dimensions: list[int] | None) -> None:
    x, y = (np.arange(np.prod(shape), dtype=np.float32).reshape(shape) - 2 for shape in (one, other))
    rank = max(len(one), len(other))

    def expand(array: Array) -> Array:
        places = list(range(rank)) if array.ndim == rank else dimensions or []
        return array.reshape([array.shape[places.index(axis)] if axis in places else 1 for axis in range(rank)])

    wanted = (np.subtract if operation == "Sub" else np.greater)(expand(x), expand(y))
    found = compute(lambda b, p, q: getattr(b, operation)(p, q, dimensions), x, y)
    assert found.shape == wanted.shape
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("element_type", [S8, U8, U32, S64, F16], ids=str)
def test_element_types(element_type: PrimitiveType) -> None:
    array = np.array([1, 2, 100], element_type.dtype)
    found = compute(lambda b, x: b.Add(x, b.ConstantLiteral(np.ones((), element_type.dtype))), array, draft=CURRENT)
    assert found.dtype == element_type.dtype
    assert found.tolist() == [2, 3, 101]
    assert shape_of(found) == MakeShape(element_type, [3])
