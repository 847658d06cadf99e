"""Functions that WebNN does not have, or not near enough: inverse trigonometric, hyperbolic, and those that lose digits near 0.

Near 0 each odd function is x + x**3 * p(x**2). The polynomial p makes a relative error below 6e-9, so that rounding counts more. The rest
of the range is mapped to it, or is far enough from 0 for logarithms and exponentials. All are computed in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from webnn.builder.operand import MLOperand
    from webnn.importing.steps import Steps

__all__ = ["FUNCTIONS", "Calculator", "atan2", "find_power"]

# Least-squares fits with weights that make the largest error small, from the lowest power.
#: Up to tan(pi / 8).
_ATAN = (-0.333333155, 0.199984894, -0.142438487, 0.105960014, -0.0608345303)
#: Up to 0.5.
_ASIN = (0.166667539, 0.0749524177, 0.0454770989, 0.0241476011, 0.0422185665)
#: Up to 0.5.
_ATANH = (0.333332988, 0.200025877, 0.142214871, 0.118339601, 0.0509855181, 0.177196469)
#: Up to 1.
_ASINH = (-0.166666309, 0.0749874443, -0.0444905416, 0.0294676954, -0.0192078209, 0.0104625238, -0.00385852753, 0.000679125503)
#: Up to 1.
_SINH = (0.166666665, 0.0083333506, 0.000198360663, 2.81743952e-06)
#: Of acosh(1 + x) / sqrt(2 * x), up to 1, in powers of x, after 1.
_ACOSH = (-0.0833330972, 0.0187451503, -0.00554678927, 0.00178923391, -0.000507731738, 8.30970314e-05)

#: Of exp(x**2) * erfc(x), from 0.5 to 10, in powers of 1 / (x + 1.5), times that.
_ERFC = (0.564204733, 0.845445167, 1.00593738, 0.417040708, 0.944526536, -7.89538858, 10.5570796, -4.66144296)

#: A part of pi / 4 that has few digits, so that small multiples of it are exact, and the rest.
_QUARTER_PI = 0.78515625
_QUARTER_PI_REST = math.pi / 4 - _QUARTER_PI
#: The rest of pi / 2 that float32 does not hold.
_HALF_PI_REST = math.pi / 2 - float(np.float32(math.pi / 2))
#: From here on 1 is nothing beside the square.
_LARGE = 16384.0
#: From here on the exponential function of the number would overflow soon.
_LARGE_EXPONENT = 80.0


class Calculator:
    """Arithmetic with numbers and operands of float32."""

    def __init__(self, steps: Steps) -> None:
        self.builder = steps.builder
        self._steps = steps

    def number(self, value: float) -> MLOperand:
        """Return a constant."""
        return self._steps.scalar(value, "float32")

    def polynomial(self, z: MLOperand, coefficients: Sequence[float]) -> MLOperand:
        """Return z times the polynomial of z."""
        result = self.number(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            result = self.builder.add(self.builder.mul(result, z), self.number(coefficient))
        return self.builder.mul(result, z)

    def series(self, x: MLOperand, z: MLOperand, coefficients: Sequence[float]) -> MLOperand:
        """Return x + x * z * p(z)."""
        return self.builder.add(x, self.builder.mul(x, self.polynomial(z, coefficients)))

    def square(self, x: MLOperand) -> MLOperand:
        """Return x**2."""
        return self.builder.mul(x, x)

    def like(self, x: MLOperand, magnitude: MLOperand) -> MLOperand:
        """Return a magnitude with the sign of x, and x itself if it is 0 or NaN."""
        b, zero = self.builder, self.number(0)
        return b.where(b.lesser(x, zero), b.neg(magnitude), b.where(b.greater(x, zero), magnitude, x))

    def keep_zero(self, x: MLOperand, result: MLOperand) -> MLOperand:
        """Return a result, and x itself if it is 0: a series with a negative coefficient loses its sign."""
        return self.builder.where(self.builder.equal(x, self.number(0)), x, result)

    def with_sign(self, magnitude: MLOperand, x: MLOperand) -> MLOperand:
        """Return a number with the sign of another one, which is not 0."""
        return self.builder.mul(magnitude, self.builder.sign(x))


def _atan(c: Calculator, x: MLOperand) -> MLOperand:
    """Map to atan(t) + k * pi / 4 with t = x, (x - 1) / (x + 1) or -1 / x."""
    b = c.builder
    a, sign, one = b.abs(x), b.sign(x), c.number(1)
    is_large, is_medium = b.greater(a, c.number(1 + math.sqrt(2))), b.greater(a, c.number(math.sqrt(2) - 1))
    medium = b.div(b.sub(x, sign), b.add(a, one))
    t = b.where(is_large, b.neg(b.reciprocal(x)), b.where(is_medium, medium, x))
    near = c.series(t, c.square(t), _ATAN)
    # Add the remainders of both constants to the low part.
    rest = b.where(is_large, c.number(_HALF_PI_REST), c.number(_HALF_PI_REST / 2))
    offset = b.where(is_large, c.number(math.pi / 2), c.number(math.pi / 4))
    return c.keep_zero(x, b.where(is_medium, b.add(b.mul(sign, offset), b.add(near, b.mul(sign, rest))), near))


def _arc(c: Calculator, x: MLOperand) -> tuple[MLOperand, MLOperand]:
    """Return whether the magnitude of x is above 0.5, and asin of x, or then of sqrt((1 - magnitude) / 2)."""
    b = c.builder
    a, half = b.abs(x), c.number(0.5)
    is_large = b.greater(a, half)
    z = b.where(is_large, b.mul(half, b.sub(c.number(1), a)), c.square(x))
    return is_large, c.series(b.where(is_large, b.sqrt(z), x), z, _ASIN)


def _complement(c: Calculator, x: MLOperand) -> MLOperand:
    """Return pi / 2 - x."""
    b = c.builder
    return b.sub(c.number(math.pi / 2), b.sub(x, c.number(_HALF_PI_REST)))


def _asin(c: Calculator, x: MLOperand) -> MLOperand:
    """Above 0.5, asin(x) = pi / 2 - 2 * asin(sqrt((1 - x) / 2))."""
    b = c.builder
    is_large, arc = _arc(c, x)
    return b.where(is_large, c.with_sign(_complement(c, b.add(arc, arc)), x), arc)


def _acos(c: Calculator, x: MLOperand) -> MLOperand:
    """Above 0.5, acos(x) = 2 * asin(sqrt((1 - x) / 2)); below -0.5, pi less that of -x; else pi / 2 - asin(x)."""
    b = c.builder
    is_large, arc = _arc(c, x)
    complement = _complement(c, arc)
    twice = b.where(b.lesser(x, c.number(0)), complement, arc)
    return b.where(is_large, b.add(twice, twice), complement)


def _asinh(c: Calculator, x: MLOperand) -> MLOperand:
    """Above 1, log(x + sqrt(x**2 + 1)); where the square might overflow, log(x) + log(2)."""
    b = c.builder
    a = b.abs(x)
    one = c.number(1)
    return c.keep_zero(x, b.where(b.greater(a, one), c.with_sign(_log_sum(c, a, one), x), c.series(x, c.square(x), _ASINH)))


def _acosh(c: Calculator, x: MLOperand) -> MLOperand:
    """Up to 2, sqrt(2 * (x - 1)) times a polynomial; above, log(x + sqrt(x**2 - 1)) or log(x) + log(2)."""
    b = c.builder
    d = b.sub(x, c.number(1))
    root = b.sqrt(b.add(d, d))
    near = b.add(root, b.mul(root, c.polynomial(d, _ACOSH)))
    return b.where(b.greater(x, c.number(2)), _log_sum(c, x, c.number(-1)), near)


def _log_sum(c: Calculator, a: MLOperand, addend: MLOperand) -> MLOperand:
    """Return log(a + sqrt(a**2 + addend))."""
    b = c.builder
    is_large = b.greater(a, c.number(_LARGE))
    root = b.sqrt(b.add(c.square(a), addend))
    log = b.log(b.where(is_large, a, b.add(a, root)))
    return b.where(is_large, b.add(log, c.number(math.log(2))), log)


def _atanh(c: Calculator, x: MLOperand) -> MLOperand:
    """Above 0.5, half of log((1 + x) / (1 - x))."""
    b = c.builder
    a, one, half = b.abs(x), c.number(1), c.number(0.5)
    log = b.mul(half, b.log(b.div(b.add(one, a), b.sub(one, a))))
    return b.where(b.greater(a, half), c.with_sign(log, x), c.series(x, c.square(x), _ATANH))


def _sinh(c: Calculator, x: MLOperand) -> MLOperand:
    """Above 1, half of exp(x) - exp(-x)."""
    b = c.builder
    a = b.abs(x)
    return b.where(b.greater(a, c.number(1)), c.with_sign(_half_sum(c, a, b.sub), x), c.series(x, c.square(x), _SINH))


def _cosh(c: Calculator, x: MLOperand) -> MLOperand:
    """Compute half of exp(x) + exp(-x)."""
    return _half_sum(c, c.builder.abs(x), c.builder.add)


def _half_sum(c: Calculator, a: MLOperand, combine: Callable[[MLOperand, MLOperand], MLOperand]) -> MLOperand:
    """Return half of exp(a) plus or minus exp(-a); where that might overflow, half of the square of exp(a / 2)."""
    b = c.builder
    half = c.number(0.5)
    is_large = b.greater(a, c.number(_LARGE_EXPONENT))
    power = b.exp(b.where(is_large, b.mul(half, a), a))
    halved = b.mul(half, power)
    return b.where(is_large, b.mul(halved, power), combine(halved, b.div(half, power)))


def _cbrt(c: Calculator, x: MLOperand) -> MLOperand:
    """Raise to the power of 1 / 3, which float32 does not hold, and take a step of Newton's method."""
    b, third = c.builder, c.number(1 / 3)
    a = b.abs(x)
    root = b.pow(a, third)
    near = b.sub(root, b.mul(third, b.sub(root, b.div(a, c.square(root)))))
    return c.like(x, b.where(b.lesser(a, c.number(math.inf)), near, a))


def _erfc(c: Calculator, x: MLOperand) -> MLOperand:
    """Up to 0.5, 1 - erf(x); above, exp(-x**2) times a polynomial. The square is that of a short number, and a small rest."""
    b = c.builder
    # At the greater limit the result is 0.
    a = b.clamp(x, minValue=0.5, maxValue=12.0)
    short = b.mul(b.roundEven(b.mul(a, c.number(16))), c.number(1 / 16))
    power = b.mul(b.exp(b.neg(c.square(short))), b.exp(b.mul(b.sub(short, a), b.add(short, a))))
    tail = b.mul(power, c.polynomial(b.reciprocal(b.add(a, c.number(1.5))), _ERFC))
    return b.where(b.greater(x, c.number(0.5)), tail, b.sub(c.number(1), b.erf(x)))


def _expm1(c: Calculator, x: MLOperand) -> MLOperand:
    """Up to 1, 2 * sinh(x / 2) * exp(x / 2); above, exp(x) - 1."""
    b = c.builder
    half = b.mul(x, c.number(0.5))
    sinh = c.series(half, c.square(half), _SINH)
    near = b.mul(b.add(sinh, sinh), b.exp(half))
    return b.where(b.greater(b.abs(x), c.number(1)), b.sub(b.exp(x), c.number(1)), near)


def _log1p(c: Calculator, x: MLOperand) -> MLOperand:
    """Compute 2 * atanh(x / (x + 2)); where that is above 0.5, log(1 + x)."""
    b = c.builder
    t = b.div(x, b.add(x, c.number(2)))
    atanh = c.series(t, c.square(t), _ATANH)
    is_near = b.lesserOrEqual(b.abs(t), c.number(0.5))
    return b.where(is_near, b.add(atanh, atanh), b.log(b.add(x, c.number(1))))


def find_power(c: Calculator, a: MLOperand) -> MLOperand:
    """Return the greatest power of 2 that is not above a positive number: the first digit of what a product with 2**23 + 1 rounds to."""
    b = c.builder
    # Large numbers are scaled, so that the product does not overflow.
    is_large = b.greater(a, c.number(2.0**100))
    scaled = b.where(is_large, b.mul(a, c.number(2.0**-24)), a)
    product = b.mul(scaled, c.number(2.0**23 + 1))
    power = b.sub(product, b.sub(product, scaled))
    power = b.where(b.greater(power, scaled), b.mul(power, c.number(0.5)), power)
    return b.where(is_large, b.mul(power, c.number(2.0**24)), power)


def atan2(c: Calculator, y: MLOperand, x: MLOperand) -> MLOperand:
    """Return the angle of the point (x, y), from -pi to pi: atan of the smaller magnitude by the larger one, and octants."""
    b, zero, one = c.builder, c.number(0), c.number(1)

    def is_negative(operand: MLOperand) -> MLOperand:
        # The sign of a zero is that of its reciprocal.
        return b.logicalOr(b.lesser(operand, zero), b.lesser(b.reciprocal(operand), zero))

    height, width = b.abs(y), b.abs(x)
    is_steep = b.greater(height, width)
    quotient = b.div(b.where(is_steep, width, height), b.where(is_steep, height, width))
    # Equal magnitudes may be zeros or infinities.
    t = b.where(b.equal(height, width), b.sign(height), quotient)
    is_medium = b.greater(t, c.number(math.sqrt(2) - 1))
    t = b.where(is_medium, b.div(b.sub(t, one), b.add(t, one)), t)
    near = c.series(t, c.square(t), _ATAN)
    octants = b.where(is_medium, one, zero)
    for is_turned, count in ((is_steep, 2), (is_negative(x), 4)):
        octants = b.where(is_turned, b.sub(c.number(count), octants), octants)
        near = b.where(is_turned, b.neg(near), near)
    angle = b.add(b.mul(octants, c.number(_QUARTER_PI)), b.add(b.mul(octants, c.number(_QUARTER_PI_REST)), near))
    return b.where(is_negative(y), b.neg(angle), angle)


#: The functions, by their names.
FUNCTIONS: Mapping[str, Callable[[Calculator, MLOperand], MLOperand]] = {
    each.__name__[1:]: each for each in (_acos, _acosh, _asin, _asinh, _atan, _atanh, _cbrt, _cosh, _erfc, _expm1, _log1p, _sinh)
}
