"""Activations: element-wise functions with fixed parameters, `prelu`, and `softmax`.

Every output has the input's type and shape. The functions of floats also accept float64, which passes through
unrounded: `recurrent.py` uses them that way for its gates.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from webnn.reference.numbers import Array, elementwise, exact, idl_float, typed, wide

__all__ = [
    "clamp",
    "elu",
    "gelu",
    "hardSigmoid",
    "hardSwish",
    "leakyRelu",
    "linear",
    "prelu",
    "relu",
    "sigmoid",
    "softmax",
    "softplus",
    "softsign",
    "tanh",
]


def clamp(input: Array, *, minValue: float | None = None, maxValue: float | None = None) -> Array:
    """Compute min(max(x, minValue), maxValue): `#api-mlgraphbuilder-clamp`.

    NaN stays NaN. The bounds are IDL floats whatever the input's type. For integers the comparison is exact,
    in real numbers: x is held between ceil(minValue) and floor(maxValue), the upper bound applied last; a
    bound beyond the type's range has no effect or pins x to the range's end.
    """
    low = -math.inf if minValue is None else idl_float(minValue)
    high = math.inf if maxValue is None else idl_float(maxValue)
    if input.dtype.kind == "f":
        return typed(np.minimum(np.maximum(wide(input), low), high), input.dtype)
    info = np.iinfo(input.dtype)
    # First the type's range, so that an infinite bound never meets ceil or floor.
    lowest = math.ceil(min(max(low, info.min), info.max))
    highest = math.floor(min(max(high, info.min), info.max))
    # One Python number at a time: NumPy would turn a 0-D result above 2^63 into a float.
    return typed(np.frompyfunc(lambda x: min(max(x, lowest), highest), 1, 1)(exact(input)), input.dtype)


def elu(input: Array, *, alpha: float = 1) -> Array:
    """Compute max(0, x) + alpha * (exp(min(0, x)) - 1): `#api-mlgraphbuilder-elu`."""
    factor = idl_float(alpha)
    # `expm1` returns -0 as it is, where exp(-0) - 1 is +0.
    return elementwise(lambda x: np.maximum(0, x) + factor * (np.expm1(np.minimum(0, x)) + 0.0) + 0.0, input)


def gelu(input: Array) -> Array:
    """Compute 0.5 * x * (1 + erf(x / sqrt(2))): `#api-mlgraphbuilder-gelu-method`.

    1 + erf(z) is evaluated as erfc(-z), which keeps its digits where the sum is close to zero.
    """
    erfc = np.vectorize(math.erfc, otypes=[np.float64])
    return elementwise(lambda x: 0.5 * x * erfc(-x / math.sqrt(2)), input)


def hardSigmoid(input: Array, *, alpha: float = 0.2, beta: float = 0.5) -> Array:
    """Compute max(0, min(1, alpha * x + beta)): `#api-mlgraphbuilder-hard-sigmoid`."""
    factor, offset = idl_float(alpha), idl_float(beta)
    return elementwise(lambda x: np.maximum(0, np.minimum(1, factor * x + offset)), input)


def hardSwish(input: Array) -> Array:
    """Compute x * max(0, min(6, x + 3)) / 6: `#api-mlgraphbuilder-hard-swish`."""
    return elementwise(lambda x: x * np.maximum(0, np.minimum(6, x + 3)) / 6, input)


def leakyRelu(input: Array, *, alpha: float = 0.01) -> Array:
    """Compute max(0, x) + alpha * min(0, x): `#api-mlgraphbuilder-leakyrelu`."""
    factor = idl_float(alpha)
    return elementwise(lambda x: np.maximum(0, x) + factor * np.minimum(0, x), input)


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


def relu(input: Array) -> Array:
    """Compute max(0, x): `#api-mlgraphbuilder-relu-method`; NaN stays NaN."""
    return elementwise(lambda x: np.maximum(0, x), input)


def sigmoid(input: Array) -> Array:
    """Compute 1 / (exp(-x) + 1): `#api-mlgraphbuilder-sigmoid-method`."""
    return elementwise(lambda x: 1 / (np.exp(-x) + 1), input)


def softmax(input: Array, axis: int) -> Array:
    """Compute exp(x - m) / sum(exp(x - m)) along an axis: `#api-mlgraphbuilder-softmax-method`.

    m is the maximum along the axis.
    """
    x = wide(input)
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True, initial=-np.inf))
    return typed(exponentials / exponentials.sum(axis=axis, keepdims=True), input.dtype)


def softplus(input: Array) -> Array:
    """Compute ln(1 + exp(x)): `#api-mlgraphbuilder-softplus-method`.

    Evaluated as max(0, x) + ln(1 + exp(-|x|)), which is the same number and does not overflow.
    """
    return elementwise(lambda x: np.maximum(0, x) + np.log1p(np.exp(-np.abs(x))), input)


def softsign(input: Array) -> Array:
    """Compute x / (1 + |x|): `#api-mlgraphbuilder-softsign-method`."""
    return elementwise(lambda x: x / (1 + np.abs(x)), input)


def tanh(input: Array) -> Array:
    """Compute (exp(2 * x) - 1) / (exp(2 * x) + 1): `#api-mlgraphbuilder-tanh-method`."""
    return elementwise(np.tanh, input)
