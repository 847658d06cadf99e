"""How exact web-platform-tests want the result of an operator: the tolerances of their conformance tests as of March 2025."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from webnn.builder.description import OperatorDescription
from webnn.validation import unary
from webnn.validation.descriptor import OperandDescriptor, is_float

__all__ = ["SHARED", "Tolerance", "find_own"]

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
        sizes = [shape[axis] for axis in axes]
        return math.prod(sizes) * factor + more

    return count


#: What the function `getPrecisionTolerance` of ``webnn/resources/utils.js`` knows; it takes 0 for all other operations.
SHARED: Mapping[str, _Row] = MappingProxyType(
    {
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
)
#: The tolerances of the operations' own test files in ULP. Operations without a row are exact.
_ULP: Mapping[str, _Row] = MappingProxyType(
    {
        **SHARED,
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
)
#: Unary operations that round nothing.
_EXACT = frozenset({"abs", "ceil", "floor", "identity", "neg", "roundEven", "sign"})
#: Those in absolute distance.
_ATOL: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        **{row.name: (1 / 1024, 1 / 512) for row in unary.OPERATIONS if row.name not in {*_ULP, *_EXACT}},
        "tanh": (1 / 1024, 1 / 512),
        "log": (1 / 1024, 1 / 1024),
    }
)
#: Their test files use relu alone, which is exact. What the default activations, sigmoid and tanh, add is what tanh may be off, each step.
_RECURRENT = frozenset({"gru", "gruCell", "lstm", "lstmCell"})
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
