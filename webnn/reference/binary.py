"""Element-wise binary operations: `#api-mlgraphbuilder-binary`.

The shapes are broadcast in both directions. The output has the inputs' type; integers wrap modulo 2^bits.
"""

from __future__ import annotations

import operator

import numpy as np

from webnn.reference.numbers import Array, elementwise, is_float

__all__ = ["add", "div", "max_", "min_", "mul", "pow_", "sub"]


def add(a: Array, b: Array) -> Array:
    """Compute a + b."""
    return elementwise(operator.add, a, b)


def sub(a: Array, b: Array) -> Array:
    """Compute a - b."""
    return elementwise(operator.sub, a, b)


def mul(a: Array, b: Array) -> Array:
    """Compute a * b."""
    return elementwise(operator.mul, a, b)


def div(a: Array, b: Array) -> Array:
    """Compute a / b.

    Floats as IEEE 754 says. Integers truncate towards zero; by zero: all bits set (-1 or the largest
    unsigned value); MIN / -1 wraps to MIN.
    """
    if is_float(a):
        return elementwise(np.divide, a, b)
    return elementwise(np.frompyfunc(_divide, 2, 1), a, b)


def max_(a: Array, b: Array) -> Array:
    """Select the greater value; NaN if either is."""
    return elementwise(np.maximum, a, b)


def min_(a: Array, b: Array) -> Array:
    """Select the lesser value; NaN if either is."""
    return elementwise(np.minimum, a, b)


def pow_(a: Array, b: Array) -> Array:
    """Compute a to the power b.

    Integers: the exact power modulo 2^bits, pow(0, 0) = 1. A negative exponent gives the reciprocal of the
    power truncated to an integer: only 1 and -1 have one that is not zero, and for a = 0 all bits are set,
    as by `div`.
    """
    if is_float(a):
        return elementwise(np.power, a, b)
    modulus = 2 ** (8 * a.dtype.itemsize)

    def power(base: int, exponent: int) -> int:
        if exponent >= 0:
            return int(pow(base, exponent, modulus))
        if base == -1:
            return 1 if exponent % 2 == 0 else -1
        return _divide(1, base)  # 1 for 1, all bits set for 0, otherwise 0

    return elementwise(np.frompyfunc(power, 2, 1), a, b)


def _divide(a: int, b: int) -> int:
    """Divide integers, truncating towards zero; by zero: -1, that is all bits set."""
    if b == 0:
        return -1
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient
