"""How far a number may be from the reference: web-platform-tests' tolerance of each operation, and what rounding makes of its operands.

Web-platform-tests count units in the last place of the result. That is enough for their own numbers, and too little where terms cancel:
there a number may also be as far away as the result moves when each operand moves by some units of its own last place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.reference import ulp_distance
from webnn.reference.computation import Prepared

if TYPE_CHECKING:
    from webnn import OperatorDescription
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["find_wrong", "tolerance"]

Array = np.ndarray[Any, np.dtype[Any]]
Descriptors = Mapping[str, "OperandDescriptor"]
_Size = Callable[["OperatorDescription", tuple[int, ...], tuple[int, ...]], float]

#: How many units of its last place each operand may have moved, and how often that is tried.
_UNITS, _TRIALS = 16.0, 10


def _reduced(operator: OperatorDescription, shape: tuple[int, ...], _: tuple[int, ...]) -> float:
    axes = operator.options.get("axes", range(len(shape)))
    return float(math.prod(shape[axis] for axis in axes))


def _window(operator: OperatorDescription, shape: tuple[int, ...], _: tuple[int, ...]) -> float:
    layout = operator.options.get("layout", "nchw")
    return float(math.prod(operator.options.get("windowDimensions", [shape[layout.index(axis)] for axis in "hw"])) + 2)


def _convolved(operator: OperatorDescription, _: tuple[int, ...], filter: tuple[int, ...]) -> float:
    order = operator.options.get("filterLayout", "oihw" if operator.operation == "conv2d" else "iohw")
    return 2 * math.prod(size for size, axis in zip(filter, order, strict=True) if axis != "o")


#: Units in the last place for float32 and float16; or what computes them from the operator and the shapes of its first two operands.
_ULP: Mapping[str, tuple[float, float] | _Size] = MappingProxyType(
    {
        **dict.fromkeys(("add", "sub", "mul", "cast", "dequantizeLinear", "quantizeLinear", "prelu", "sqrt"), (1, 1)),
        "div": (2, 2),
        "reciprocal": (2, 2),
        "exp": (32, 1),
        "pow": (32, 2),
        "batchNormalization": (6, 6),
        "instanceNormalization": (840, 8400),
        "layerNormalization": (14, 14),
        "elu": (18, 18),
        "gelu": (18, 18),
        "hardSigmoid": (2, 2),
        "hardSwish": (4, 4),
        "leakyRelu": (1, 2),
        "linear": (2, 2),
        "sigmoid": (34, 10),
        "softplus": (18, 18),
        "softsign": (3, 3),
        "gru": (6, 6),
        "gruCell": (3, 3),
        "lstm": (3, 3),
        "lstmCell": (1, 1),
        "resample2d": (84, 10),
        "softmax": lambda operator, shape, _: 3 * shape[operator.arguments["axis"]] + 3,
        "cumulativeSum": lambda operator, shape, _: shape[operator.arguments["axis"]] - 1,
        "matmul": lambda _, shape, __: 2 * shape[-1],
        "gemm": lambda operator, shape, _: 2 * shape[0 if operator.options.get("aTranspose") else 1] + 3,
        **dict.fromkeys(("conv2d", "convTranspose2d"), _convolved),
        **dict.fromkeys(("averagePool2d", "l2Pool2d"), _window),
        **dict.fromkeys(("reduceL1", "reduceProduct", "reduceSum"), _reduced),
        "reduceL2": lambda *given: 2 * _reduced(*given) + 1,
        "reduceLogSum": lambda *given: _reduced(*given) + 18,
        "reduceLogSumExp": lambda *given: 2 * _reduced(*given) + 18,
        "reduceMean": lambda *given: _reduced(*given) + 2,
        "reduceSumSquare": lambda *given: 2 * _reduced(*given),
    }
)
#: Operations that add a number to 1, take 1 from it, or take the logarithm of a number near 1: what is small is what is left of that.
_NEAR_ONE = frozenset({"elu", "gelu", "reduceLogSumExp"})
#: Absolute differences, for float32 and float16.
_ATOL: Mapping[str, tuple[float, float]] = MappingProxyType(
    {**dict.fromkeys(("cos", "erf", "sin", "tan", "tanh"), (1 / 1024, 1 / 512)), "log": (1 / 1024, 1 / 1024)}
)


def tolerance(operator: OperatorDescription, known: Descriptors, dataType: str) -> tuple[str, float]:
    """Return web-platform-tests' tolerance for a result of an operator: the metric, ``"ULP"`` or ``"ATOL"``, and the number."""
    column = 1 if dataType == "float16" else 0
    if operator.operation in _ATOL:
        return "ATOL", _ATOL[operator.operation][column]
    row = _ULP.get(operator.operation, (0, 0))
    if not callable(row):
        return "ULP", row[column]
    operands = [known[value].dimensions for _, _, value in operator.named_values()]
    return "ULP", float(row(operator, operands[0], operands[1] if len(operands) > 1 else ()))


def find_wrong(operator: OperatorDescription, draft: str, known: Descriptors, values: Mapping[str, Array]) -> str:
    """Say which result of an operator differs from the reference, and how; empty if none does.

    Args:
        operator: The operator.
        draft: The draft.
        known: The types and shapes of all values.
        values: The arrays of its operands, and of those results that are judged.
    """
    prepared = Prepared(operator, draft, known)
    with np.errstate(all="ignore"):
        exact = prepared.evaluate(values, exact=operator.operation != "cast")
        for position, name in enumerate(operator.outputs):
            if name in values:
                text = _compare(operator, known, prepared, values, position, np.asarray(exact[position]))
                if text:
                    return text
    return ""


def _compare(
    operator: OperatorDescription, known: Descriptors, prepared: Prepared, values: Mapping[str, Array], position: int, exact: Array
) -> str:
    name = operator.outputs[position]
    actual, dataType = values[name], known[name].dataType
    metric, allowed = tolerance(operator, known, dataType)
    if actual.dtype.kind != "f" or metric == "ULP":
        distance = ulp_distance(actual, exact, dataType)
    else:
        same = (np.isnan(actual) & np.isnan(exact)) | (actual == exact)
        distance = np.where(same, 0.0, np.abs(actual.astype(np.float64) - exact))
    # Half a unit is the rounding of the reference itself.
    wrong = ~(distance <= allowed + 0.5)
    if actual.dtype.kind == "f" and wrong.any() and (operator.operation in _ULP or operator.operation in _ATOL):
        wrong &= ~_explained(operator, prepared, values, position, actual, exact)
    if operator.operation == "maxPool2d" and actual.dtype.kind == "f":
        # A window without elements gives the lowest number or the infinity below it.
        wrong &= ~((exact == -np.inf) & (actual == np.finfo(actual.dtype).min))
    if operator.operation == "quantizeLinear":
        # What a quotient that is NaN becomes is not specified.
        wrong &= ~np.isnan(_quotient(operator, values, wrong.shape))
    if not wrong.any():
        return ""
    at = tuple(int(index) for index in np.argwhere(wrong)[0])
    operands = ", ".join(known[value].dataType for _, _, value in operator.named_values())
    shown = f"{operator.operation} of {operands}: {name}{list(at)} is {actual[at]!s}, and {exact[at]!s} is right"
    return f"{shown} ({np.count_nonzero(wrong)} of {wrong.size} elements differ, {metric} {allowed:g} allowed)"


def _cancelled(operator: OperatorDescription, values: Mapping[str, Array]) -> float:
    """Return by how much a normalization makes the rounding of the mean grow: the largest number over the least deviation."""
    x, options = values[str(operator.inputs["input"])].astype(np.float64), operator.options
    layout = options.get("layout", "nchw")
    spatial = (layout.index("h"), layout.index("w"))
    axes = spatial if operator.operation == "instanceNormalization" else tuple(options.get("axes", range(1, x.ndim)))
    scale = values[operator.operands["scale"]] if "scale" in operator.operands else np.ones(1)
    deviation = math.sqrt(x.var(axis=axes).min() + options.get("epsilon", 1e-5))
    return float(np.abs(x).max() * np.abs(scale).max() / deviation)


def _quotient(operator: OperatorDescription, values: Mapping[str, Array], shape: tuple[int, ...]) -> Array:
    scale = values[str(operator.inputs["scale"])].astype(np.float64)
    for axis, size in enumerate(shape):
        scale = np.repeat(scale, size // scale.shape[axis], axis)
    return values[str(operator.inputs["input"])].astype(np.float64) / scale


def _explained(
    operator: OperatorDescription, prepared: Prepared, values: Mapping[str, Array], position: int, actual: Array, exact: Array
) -> Array:
    """Tell for each element whether operands that moved a little explain it."""
    unit = float(np.finfo(actual.dtype).eps)
    rng = np.random.default_rng(0)

    def moved(array: Array) -> Array:
        return np.asarray(array * (1 + unit * _UNITS * rng.choice([-1.0, 1.0], array.shape)))

    reach = np.zeros(exact.shape)
    for _ in range(_TRIALS):
        shaken = {name: moved(array.astype(np.float64)) if array.dtype.kind == "f" else array for name, array in values.items()}
        reach = np.maximum(reach, np.abs(np.asarray(prepared.evaluate(shaken, exact=True)[position]) - exact))
    # Near the largest number of the type an infinity is a rounding, and below the smallest normal one a processor may see zero.
    small = np.maximum(reach, float(np.finfo(actual.dtype).smallest_normal))
    if operator.operation in ("layerNormalization", "instanceNormalization"):
        small = np.maximum(small, 4 * unit * _cancelled(operator, values))
    if operator.operation in _NEAR_ONE:
        [(_, _, value)] = prepared.operands
        x = np.abs(values[value].astype(np.float64))
        small = np.maximum(small, 4 * unit * np.maximum(1, x if x.shape == exact.shape else x.max()))
    beyond = np.abs(exact) + reach >= float(np.finfo(actual.dtype).max)
    near: Array = (np.abs(actual.astype(np.float64) - exact) <= small) | (beyond & np.isinf(actual)) | (np.isnan(actual) & np.isnan(reach))
    return near
