"""Element-wise unary operations: `#api-mlgraphbuilder-unary`.

Every output has the input's type and shape.
"""

from __future__ import annotations

import math

import numpy as np

from webnn.reference.numbers import Array, elementwise

__all__ = ["abs_", "ceil", "cos", "erf", "exp", "floor", "identity", "log", "neg", "reciprocal", "roundEven", "sign", "sin", "sqrt", "tan"]


def abs_(input: Array) -> Array:
    """Compute |x|; the most negative integer wraps to itself."""
    return elementwise(np.abs, input)


def ceil(input: Array) -> Array:
    """Compute the least integer not below x."""
    return elementwise(np.ceil, input)


def cos(input: Array) -> Array:
    """Compute the cosine of x radians."""
    return elementwise(np.cos, input)


def erf(input: Array) -> Array:
    """Compute the error function, 2 / sqrt(pi) * integral from 0 to x of exp(-t^2)."""
    return elementwise(np.vectorize(math.erf, otypes=[np.float64]), input)


def exp(input: Array) -> Array:
    """Compute e^x."""
    return elementwise(np.exp, input)


def floor(input: Array) -> Array:
    """Compute the greatest integer not above x."""
    return elementwise(np.floor, input)


def identity(input: Array) -> Array:
    """Copy the input, bit for bit."""
    return input.copy()


def log(input: Array) -> Array:
    """Compute the natural logarithm; -inf at zero, NaN below."""
    return elementwise(np.log, input)


def neg(input: Array) -> Array:
    """Compute -x: flips the sign of zero; the most negative integer wraps to itself."""
    return elementwise(np.negative, input)


def reciprocal(input: Array) -> Array:
    """Compute 1 / x."""
    return elementwise(lambda x: 1 / x, input)


def roundEven(input: Array) -> Array:
    """Compute the nearest integer, the even one of two; keeps the sign of zero and of what becomes zero."""
    return elementwise(np.rint, input)


def sign(input: Array) -> Array:
    """Return 1 above zero, -1 below, 0 for zero and NaN."""
    return elementwise(lambda x: 1 * (x > 0) - 1 * (x < 0), input)


def sin(input: Array) -> Array:
    """Compute the sine of x radians."""
    return elementwise(np.sin, input)


def sqrt(input: Array) -> Array:
    """Compute the square root; NaN below zero."""
    return elementwise(np.sqrt, input)


def tan(input: Array) -> Array:
    """Compute the tangent of x radians."""
    return elementwise(np.tan, input)
