"""How exact web-platform-tests want results: the tolerances of their conformance tests as of March 2025.

A graph of one operator has the tolerance of that operator's own test file. For graphs of several, ``webnn/resources/utils.js`` adds up
what its function `getPrecisionTolerance` knows. Where that leaves operators out, a tolerance is derived from the graph and its inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from webnn.builder.description import GraphDescription, OperatorDescription
from webnn.reference.computation import evaluate
from webnn.validation import unary
from webnn.validation.descriptor import FLOAT_TYPES, SMALL_TYPES, OperandDescriptor, integer_range, is_float, pack, unpack

__all__ = ["Tolerance", "distance", "elements_of", "find_own", "find_tolerance", "is_shared"]

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
_Descriptors: TypeAlias = Mapping[str, OperandDescriptor]
#: A number of ULP for both floating-point types, or one for each of float32 and float16, or a function of an operator.
_Row: TypeAlias = "float | tuple[float, float] | Callable[[OperatorDescription, _Descriptors], float]"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a result may be from its expectation: in units in the last place (``"ULP"``), or in absolute distance (``"ATOL"``)."""

    metric: Literal["ULP", "ATOL"]
    value: float


def _shape(operator: OperatorDescription, argument: str, known: _Descriptors) -> tuple[int, ...]:
    value = operator.inputs[argument]
    assert isinstance(value, str)  # only concat takes a sequence
    return tuple(known[value].shape)


def _conv(operator: OperatorDescription, known: _Descriptors) -> float:
    """Count the products and sums of an output element."""
    channel = 3 if operator.options.get("inputLayout") == "nhwc" else 1
    layout = operator.options.get("filterLayout", "oihw")
    filter = _shape(operator, "filter", known)
    groups: int = operator.options.get("groups", 1)
    window: int = filter[layout.index("h")] * filter[layout.index("w")]
    return window * _shape(operator, "input", known)[channel] / groups * 2


def _gemm(operator: OperatorDescription, known: _Descriptors) -> float:
    options = operator.options
    width = _shape(operator, "a", known)[0 if options.get("aTranspose") else 1]
    alpha: float = options.get("alpha", 1)
    beta: float = options.get("beta", 1) if "c" in operator.operands else 0
    return width * 2 + (alpha != 1) + (beta != 0) + (beta not in (0, 1))


def _matmul(operator: OperatorDescription, known: _Descriptors) -> float:
    return _shape(operator, "a", known)[-1] * 2


def _softmax(operator: OperatorDescription, known: _Descriptors) -> float:
    axis: int = operator.arguments["axis"]
    return _shape(operator, "input", known)[axis] * 3 + 3


def _cumulative(operator: OperatorDescription, known: _Descriptors) -> float:
    axis: int = operator.arguments["axis"]
    return _shape(operator, "input", known)[axis] - 1


def _pooling(operator: OperatorDescription, known: _Descriptors) -> float:
    shape = _shape(operator, "input", known)
    window: tuple[int, ...] = shape[1:3] if operator.options.get("layout") == "nhwc" else shape[2:4]
    window = operator.options.get("windowDimensions", window)
    return math.prod(window) + 2


def _resampling(operator: OperatorDescription, known: _Descriptors) -> float:
    if operator.options.get("mode") != "linear":
        return 0
    return 84 if known[operator.outputs[0]].dataType == "float32" else 10


def _reduction(factor: int, more: int) -> Callable[[OperatorDescription, _Descriptors], float]:
    def count(operator: OperatorDescription, known: _Descriptors) -> float:
        shape = _shape(operator, "input", known)
        axes: Iterable[int] = operator.options.get("axes", range(len(shape)))
        return math.prod([shape[axis] for axis in axes]) * factor + more

    return count


#: The rows of the function `getPrecisionTolerance` of ``webnn/resources/utils.js``; it takes 0 for all other operations.
_SHARED: Mapping[str, _Row] = {
    "batchNormalization": 6,
    "clamp": 0,
    "conv2d": _conv,
    "convTranspose2d": _conv,
    "elu": 18,
    "gelu": 18,
    "gemm": _gemm,
    "hardSigmoid": 2,
    "hardSwish": 4,
    "leakyRelu": (1, 2),
    "linear": 2,
    "prelu": 1,
    "relu": 0,
    "reshape": 0,
    "sigmoid": (34, 10),
    "softmax": _softmax,
    "softplus": 18,
    "softsign": 3,
}
#: The tolerances of the operations' own test files in ULP. Operations without a row are exact.
_ULP: Mapping[str, _Row] = {
    **_SHARED,
    "add": 1,
    "averagePool2d": _pooling,
    "cast": 1,
    "cumulativeSum": _cumulative,
    "dequantizeLinear": 1,
    "div": 2,
    "exp": (32, 1),
    "gru": 6,
    "gruCell": 3,
    "instanceNormalization": (840, 8400),
    "l2Pool2d": _pooling,
    "layerNormalization": 14,
    "lstm": 3,
    "lstmCell": 1,
    "matmul": _matmul,
    "max": 1,
    "mul": 1,
    "pow": (32, 2),
    "quantizeLinear": 1,
    "reciprocal": 2,
    "reduceL1": _reduction(1, 0),
    "reduceL2": _reduction(2, 1),
    "reduceLogSum": _reduction(1, 18),
    "reduceLogSumExp": _reduction(2, 18),
    "reduceMean": _reduction(1, 2),
    "reduceProduct": _reduction(1, 0),
    "reduceSum": _reduction(1, 0),
    "reduceSumSquare": _reduction(2, 0),
    "resample2d": _resampling,
    "sqrt": 1,
    "sub": 1,
}
#: Unary operations that round nothing.
_EXACT = frozenset({"abs", "ceil", "floor", "identity", "neg", "roundEven", "sign"})
#: The tolerances in absolute distance.
_ATOL: Mapping[str, tuple[float, float]] = {
    **{row.name: (1 / 1024, 1 / 512) for row in unary.OPERATIONS if row.name not in {*_ULP, *_EXACT}},
    "tanh": (1 / 1024, 1 / 512),
    "log": (1 / 1024, 1 / 1024),
}
#: Their test files use relu alone, which is exact. The default activations, sigmoid and tanh, add the tolerance of tanh with each step.
_RECURRENT = frozenset({"gru", "gruCell", "lstm", "lstmCell"})
#: These ask for the expectation's type in `getPrecisionTolerance`, and give no number for integers.
_OF_FLOATS = frozenset({"conv2d", "convTranspose2d", "gemm", "softmax"})
#: How often a graph is computed with disturbed results, and by how much more than found a tolerance is larger.
_ROUNDS, _MARGIN = 4, 2
#: Where more ULP than this are needed, numbers cancel, and the absolute distance tells more.
_MOST_ULP = 1024
#: The integers that these make depend on a rounding.
_ROUNDED = frozenset({"quantizeLinear"})


def find_own(operator: OperatorDescription, known: _Descriptors) -> Tolerance:
    """Return the tolerance of an operation's own tests."""
    dataType = known[operator.outputs[0]].dataType
    # Types of low precision, which its tests do not have, take that of float16: they are rounded once, too.
    column = 0 if dataType == "float32" else 1
    if operator.operation in _RECURRENT and set(operator.options.get("activations", ("tanh",))) != {"relu"}:
        return Tolerance("ATOL", _ATOL["tanh"][column] * operator.arguments.get("steps", 1))
    if operator.operation in _ATOL:
        return Tolerance("ATOL", _ATOL[operator.operation][column])
    if not is_float(dataType):
        return Tolerance("ULP", 1 if operator.operation in _ROUNDED else 0)
    row = _ULP.get(operator.operation, 0)
    if callable(row):
        return Tolerance("ULP", row(operator, known))
    return Tolerance("ULP", row[column] if isinstance(row, tuple) else row)


def is_shared(graph: GraphDescription) -> bool:
    """Tell whether `getPrecisionTolerance` gives the tolerance of a graph with descriptors: it knows what is not exact."""
    known = graph.descriptors()
    types = {known[value].dataType for value in graph.outputs.values()}
    if len(types) > 1 or (not types <= set(FLOAT_TYPES) and any(each.operation in _OF_FLOATS for each in graph.operators)):
        return False
    return all(each.operation in _SHARED or find_own(each, known) == Tolerance("ULP", 0) for each in graph.operators)


def find_tolerance(graph: GraphDescription, inputs: Mapping[str, Array]) -> Tolerance:
    """Return the tolerance of web-platform-tests for a graph with descriptors, or derive one.

    A derived one is twice what the outputs move when the result of each operator moves by that operator's own tolerance, up or down at
    random, in float64. It is a power of two, in ULP, or in absolute distance where numbers cancel.
    """
    known = graph.descriptors()
    if len(graph.operators) == 1:
        return find_own(graph.operators[0], known)
    if is_shared(graph):
        return Tolerance("ULP", sum(find_own(each, known).value for each in graph.operators if each.operation in _SHARED))
    return _derive(graph, inputs)


def _derive(graph: GraphDescription, inputs: Mapping[str, Array]) -> Tolerance:
    known = graph.descriptors()
    exact = _compute(graph, inputs, known, None)
    ulp = atol = 0.0
    for seed in range(_ROUNDS):
        moved = _compute(graph, inputs, known, np.random.default_rng(seed))
        for name, value in graph.outputs.items():
            dtype = np.dtype(known[value].dataType) if known[value].dataType in FLOAT_TYPES else exact[name].dtype
            with np.errstate(over="ignore", invalid="ignore"):
                found, wanted = (array.astype(dtype).ravel() for array in (moved[name], exact[name]))
                ulp = max(ulp, float(distance(found, wanted, "ULP").max(initial=0)))
                difference = np.abs(moved[name].astype(np.float64) - exact[name].astype(np.float64))
            atol = max(atol, float(difference[np.isfinite(difference)].max(initial=0)))
    if ulp * _MARGIN <= _MOST_ULP:
        return Tolerance("ULP", _power_of_two(ulp * _MARGIN))
    return Tolerance("ATOL", _power_of_two(atol * _MARGIN))


def _power_of_two(value: float) -> float:
    """Return the least power of two that is not smaller; 0 for 0."""
    return 0 if value == 0 else 2.0 ** math.ceil(math.log2(value))


def _compute(
    graph: GraphDescription, inputs: Mapping[str, Array], known: _Descriptors, generator: np.random.Generator | None
) -> dict[str, Array]:
    """Compute a graph in float64; with a generator, move each result by its operator's tolerance."""
    values: dict[str, Array] = {**inputs, **{name: constant.value for name, constant in graph.constants.items()}}
    for operator in graph.operators:
        results = evaluate(operator, graph.draft, values, descriptors=known, exact=True)
        for name, result in zip(operator.outputs, results, strict=True):
            values[name] = result if generator is None else _move(result, known[name], find_own(operator, known), generator)
    return {name: elements_of(values[value], known[value]) for name, value in graph.outputs.items()}


def elements_of(array: Array, descriptor: OperandDescriptor) -> Array:
    """Return the elements of an operand, one number for each."""
    return unpack(array, descriptor.dataType, descriptor.shape)


def _move(result: Array, descriptor: OperandDescriptor, tolerance: Tolerance, generator: np.random.Generator) -> Array:
    dataType = descriptor.dataType
    if tolerance.value == 0:
        return result
    if dataType not in FLOAT_TYPES:
        moved = elements_of(result, descriptor).astype(np.int64)
        moved = np.clip(moved + generator.integers(-1, 2, moved.shape), *integer_range(dataType))
        return pack(moved) if dataType in SMALL_TYPES else moved.astype(result.dtype)
    signs = generator.choice([-1.0, 1.0], result.shape)
    if tolerance.metric == "ATOL":
        return np.asarray(result + tolerance.value * signs)
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.abs(np.spacing(result.astype(dataType))).astype(np.float64)
    return np.asarray(result + np.where(np.isfinite(steps), steps, 0) * tolerance.value * signs)


def distance(actual: Array, expected: Array, metric: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Measure how far each element is from its expectation, both 1-D and of one type (for ``"ATOL"`` float64 serves every float).

    In ``"ULP"`` that is the number of representable values between the two (the difference, for integers), in ``"ATOL"`` the absolute
    difference; 0 where both are NaN, infinity where one is.
    """
    if metric == "ATOL" and actual.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            result = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    elif actual.dtype.itemsize == 8:
        # Python's integers: the difference of two 64-bit ones needs 65 bits.
        difference = _ordered(actual).astype(object) - _ordered(expected).astype(object)
        result = np.array([float(abs(each)) for each in difference], np.float64)
    else:
        result = np.abs(_ordered(actual).astype(np.int64) - _ordered(expected).astype(np.int64)).astype(np.float64)
    # Equal elements (both zeros, too) have the distance 0; a NaN is near only to a NaN.
    result[actual == expected] = 0.0
    if actual.dtype.kind == "f":
        result[np.isnan(actual) != np.isnan(expected)] = math.inf
        result[np.isnan(actual) & np.isnan(expected)] = 0.0
    return result


def _ordered(values: Array) -> Array:
    """Map floating-point numbers to integers in the same order, neighbours to neighbours; integers are unchanged."""
    if values.dtype.kind != "f":
        return values
    bits = values.view(f"int{8 * values.dtype.itemsize}").astype(np.int64)
    lowest = -(1 << (8 * values.dtype.itemsize - 1))
    return np.where(bits < 0, lowest - bits, bits)
