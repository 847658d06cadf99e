"""How far a number may be from the reference: web-platform-tests' tolerance of each operation, and what rounding makes of its operands.

Web-platform-tests count units in the last place of the result. That is enough for their own numbers, and too little where terms cancel:
there a number may also be as far away as the result moves when each operand moves by some units of its own last place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from webnn.builder.description import OperatorDescription
from webnn.builder.semantics import DEFAULT_SEMANTICS, Semantics
from webnn.reference.computation import Prepared
from webnn.reference.ulp import ulp_distance
from webnn.reference.wpt_tolerances import find_own
from webnn.validation.descriptor import FLOAT_FORMATS, OperandDescriptor, is_float

__all__ = ["PARTIAL", "find_wrong", "round_off"]

Array = np.ndarray[Any, np.dtype[Any]]
Descriptors = Mapping[str, "OperandDescriptor"]

#: How many units of its last place each operand may have moved, and how often that is tried.
_UNITS, _TRIALS = 16.0, 10
#: Operations whose intermediate numbers may be too large for float32 where the result is not, from such operands on (docs/numerics.md).
PARTIAL = frozenset(
    {
        *("averagePool2d", "conv2d", "convTranspose2d", "gemm", "instanceNormalization", "l2Pool2d", "layerNormalization", "matmul"),
        *("reduceL2", "reduceLogSum", "reduceMean", "reduceProduct", "reduceSumSquare"),
    }
)
_LARGE = 1e18
#: Operations with a factor as a parameter, which is cast to the type.
_SCALED = frozenset({"elu", "hardSigmoid", "leakyRelu"})
#: Types with fewer significant bits are as far apart as web-platform-tests' absolute distances.
_ROUGH = 11
#: Operations that add a number to 1, take 1 from it, or take the logarithm of a number near 1: what is small is what is left of that.
_NEAR_ONE = frozenset({"elu", "gelu", "reduceLogSumExp"})


def find_wrong(
    operator: OperatorDescription, draft: str, known: Descriptors, values: Mapping[str, Array], semantics: Semantics = DEFAULT_SEMANTICS
) -> str:
    """Say which result of an operator differs from the reference, and how; empty if none does."""
    prepared = Prepared(operator, draft, known, semantics)
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
    allowed = find_own(operator, known)
    floating = is_float(dataType)
    if not floating or allowed.metric == "ULP":
        distance = ulp_distance(actual, exact, dataType)
    else:
        numbers = actual.astype(np.float64)
        distance = np.where((np.isnan(numbers) & np.isnan(exact)) | (numbers == exact), 0.0, np.abs(numbers - exact))
        if FLOAT_FORMATS[dataType].bits < _ROUGH:
            # A type whose rounding alone may be more than that distance.
            distance = np.where(ulp_distance(actual, exact, dataType) <= 1, 0.0, distance)
    # Half a unit is the rounding of the reference itself.
    wrong = ~(distance <= allowed.value + 0.5)
    if floating and wrong.any() and allowed.value > 0:
        wrong &= ~_explained(operator, known, prepared, values, position, actual, exact)
    if operator.operation == "maxPool2d" and floating:
        # A window without elements gives the lowest number or the infinity below it; that is carried by float32.
        lowest = -FLOAT_FORMATS[dataType].largest
        wrong &= ~((exact == -np.inf) & (actual.astype(np.float64) == lowest))
    if operator.operation in PARTIAL and floating and _is_large(operator, known, values):
        wrong &= np.isfinite(actual.astype(np.float64))
    if operator.operation in _SCALED and floating:
        # The product of a zero and a parameter that became infinite is not specified.
        given = [each for each in operator.options.values() if isinstance(each, int | float)]
        wrong &= ~(np.isnan(exact) & any(abs(each) > FLOAT_FORMATS[dataType].largest for each in given))
    if operator.operation == "resample2d" and not floating:
        # Which one of two integers comes that are equally near is not specified; what is interpolated is a number of float32.
        numbers = prepared.evaluate({name: array.astype(np.float64) for name, array in values.items()}, exact=True)[position]
        wrong &= np.abs(actual - numbers) > round_off(numbers)
    if operator.operation == "quantizeLinear":
        # The integer of a quotient that is NaN is not specified.
        wrong &= ~np.isnan(_quotient(operator, values, wrong.shape))
    if not wrong.any():
        return ""
    at = tuple(int(index) for index in np.argwhere(wrong)[0])
    operands = ", ".join(known[value].dataType for _, _, value in operator.named_values())
    shown = f"{operator.operation} of {operands}: {name}{list(at)} is {actual[at]!s}, and {exact[at]!s} is right"
    return f"{shown} ({np.count_nonzero(wrong)} of {wrong.size} elements differ, {allowed.metric} {allowed.value:g} allowed)"


def round_off(numbers: Array) -> Array:
    """Return how far integers may be from numbers of float32 that they are rounded from: either of two that are equally near will do."""
    return np.asarray(0.5 + 2.0**-20 * np.maximum(1, np.abs(numbers)))


def _cancelled(operator: OperatorDescription, values: Mapping[str, Array]) -> float:
    """Return by how much a normalization makes the rounding of the mean grow: the largest number over the least deviation."""
    x, options = values[str(operator.inputs["input"])].astype(np.float64), operator.options
    layout = options.get("layout", "nchw")
    spatial = (layout.index("h"), layout.index("w"))
    axes = spatial if operator.operation == "instanceNormalization" else tuple(options.get("axes", range(1, x.ndim)))
    scale = values[operator.operands["scale"]] if "scale" in operator.operands else np.ones(1)
    deviation = math.sqrt(x.var(axis=axes).min() + options.get("epsilon", 1e-5))
    return float(np.abs(x).max() * np.abs(scale).max() / deviation)


def _is_large(operator: OperatorDescription, known: Descriptors, values: Mapping[str, Array]) -> bool:
    """Tell whether some finite number of an operand is large."""
    arrays = [values[value].astype(np.float64) for _, _, value in operator.named_values() if is_float(known[value].dataType)]
    return any(np.any(np.isfinite(array) & (np.abs(array) > _LARGE)) for array in arrays)


def _quotient(operator: OperatorDescription, values: Mapping[str, Array], shape: tuple[int, ...]) -> Array:
    scale = values[str(operator.inputs["scale"])].astype(np.float64)
    for axis, size in enumerate(shape):
        scale = np.repeat(scale, size // scale.shape[axis], axis)
    return values[str(operator.inputs["input"])].astype(np.float64) / scale


def _explained(
    operator: OperatorDescription,
    known: Descriptors,
    prepared: Prepared,
    values: Mapping[str, Array],
    position: int,
    actual: Array,
    exact: Array,
) -> Array:
    """Tell for each element whether operands that moved a little explain it."""
    form = FLOAT_FORMATS[known[operator.outputs[position]].dataType]
    unit, actual = 2.0 ** (1 - form.bits), actual.astype(np.float64)
    rng = np.random.default_rng(0)

    def moved(array: Array) -> Array:
        return np.asarray(array * (1 + unit * _UNITS * rng.choice([-1.0, 1.0], array.shape)))

    reach = np.zeros(exact.shape)
    for _ in range(_TRIALS):
        shaken = {name: moved(array.astype(np.float64)) if is_float(known[name].dataType) else array for name, array in values.items()}
        reach = np.maximum(reach, np.abs(np.asarray(prepared.evaluate(shaken, exact=True)[position]) - exact))
    # Near the largest number of the type an infinity is a rounding, and below the smallest normal one a processor may see zero.
    small = np.maximum(reach, 2.0**form.smallest)
    if operator.operation in ("layerNormalization", "instanceNormalization"):
        small = np.maximum(small, 4 * unit * _cancelled(operator, values))
    if operator.operation in _NEAR_ONE:
        [(_, _, value)] = prepared.operands
        x = np.abs(values[value].astype(np.float64))
        small = np.maximum(small, 4 * unit * np.maximum(1, x if x.shape == exact.shape else x.max()))
    beyond = np.abs(exact) + reach >= form.largest
    near: Array = (np.abs(actual - exact) <= small) | (beyond & np.isinf(actual)) | (np.isnan(actual) & np.isnan(reach))
    return near
