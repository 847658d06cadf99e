"""Activations: element-wise functions with fixed parameters, `prelu`, and `softmax`.

Every output has the input's type and shape. The functions of floats also accept float64, which passes through
unrounded: `recurrent.py` uses them that way for its gates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from webnn.builder.elementwise import FUNCTIONS
from webnn.reference.numbers import Array, Operation, each_element, elementwise, idl_float, named, typed, wide
from webnn.validation.numbers import integer_bounds

__all__ = ["ACTIVATIONS", "OPERATIONS"]

_ERFC = np.vectorize(math.erfc, otypes=[np.float64])


def clamp(input: Array, *, minValue: float | None = None, maxValue: float | None = None) -> Array:
    """Compute min(max(x, minValue), maxValue): `#api-mlgraphbuilder-clamp`.

    NaN stays NaN. The bounds are IDL floats whatever the input's type. For integers the comparison is exact,
    in real numbers: x is held between ceil(minValue) and floor(maxValue), the upper bound applied last; a
    bound beyond the type's range has no effect or pins x to the range's end.
    """
    low, high = (None if bound is None else idl_float(bound) for bound in (minValue, maxValue))
    if input.dtype.kind == "f":
        least, most = -math.inf if low is None else low, math.inf if high is None else high
    else:
        least, most = integer_bounds(low, high, input.dtype.name)
    return elementwise(lambda x: np.minimum(np.maximum(x, least), most), input)


def elu(input: Array, *, alpha: float = 1) -> Array:
    """Compute max(0, x) + alpha * (exp(min(0, x)) - 1): `#api-mlgraphbuilder-elu`."""
    factor = idl_float(alpha)
    # `expm1` returns -0 as it is, where exp(-0) - 1 is +0.
    return elementwise(lambda x: np.maximum(0, x) + factor * (np.expm1(np.minimum(0, x)) + 0.0) + 0.0, input)


def hardSigmoid(input: Array, *, alpha: float = 0.2, beta: float = 0.5) -> Array:
    """Compute max(0, min(1, alpha * x + beta)): `#api-mlgraphbuilder-hard-sigmoid`."""
    factor, offset = idl_float(alpha), idl_float(beta)
    return elementwise(lambda x: np.maximum(0, np.minimum(1, factor * x + offset)), input)


def leakyRelu(input: Array, *, alpha: float = 0.01) -> Array:
    """Compute max(0, x) + alpha * min(0, x): `#api-mlgraphbuilder-leakyrelu`."""
    return elementwise(lambda x: np.maximum(0, x) + idl_float(alpha) * np.minimum(0, x), input)


def linear(input: Array, *, alpha: float = 1, beta: float = 0) -> Array:
    """Compute alpha * x + beta: `#api-mlgraphbuilder-linear`."""
    factor, offset = idl_float(alpha), idl_float(beta)
    return elementwise(lambda x: factor * x + offset, input)


def prelu(input: Array, slope: Array) -> Array:
    """Compute max(0, x) + slope * min(0, x): `#api-mlgraphbuilder-prelu`.

    The slope is broadcast to the input's shape. Where x >= 0 the slope does not count, even if it is infinite
    or NaN (the expression taken literally would give NaN there). Integers wrap modulo 2^bits.
    """

    def function(x: Any, factor: Any) -> Any:
        return np.where(x < 0, factor * x, x)

    return elementwise(function, input, slope)


def softmax(input: Array, axis: int) -> Array:
    """Compute exp(x - m) / sum(exp(x - m)) along an axis: `#api-mlgraphbuilder-softmax-method`.

    m is the maximum along the axis.
    """
    x = wide(input)
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True, initial=-np.inf))
    return typed(exponentials / exponentials.sum(axis=axis, keepdims=True), input.dtype)


#: The operations that recurrent networks have, too.
ACTIVATIONS: Mapping[str, Callable[..., Any]] = {
    **named(elu, hardSigmoid, leakyRelu, linear),
    # 0.5 * x * (1 + erf(x / sqrt(2))). 1 + erf(z) is evaluated as erfc(-z), which keeps its digits where the sum is close to zero.
    "gelu": each_element(lambda x: 0.5 * x * _ERFC(-x / math.sqrt(2))),
    "hardSwish": each_element(lambda x: x * np.maximum(0, np.minimum(6, x + 3)) / 6),
    # NaN stays NaN.
    "relu": each_element(lambda x: np.maximum(0, x)),
    "sigmoid": each_element(FUNCTIONS["sigmoid"]),
    # ln(1 + exp(x)), evaluated as max(0, x) + ln(1 + exp(-|x|)), which is the same number and does not overflow
    "softplus": each_element(lambda x: np.maximum(0, x) + np.log1p(np.exp(-np.abs(x)))),
    "softsign": each_element(lambda x: x / (1 + np.abs(x))),
    "tanh": each_element(FUNCTIONS["tanh"]),
}
OPERATIONS: Mapping[str, Operation] = {**ACTIVATIONS, **named(clamp, prelu, softmax)}
