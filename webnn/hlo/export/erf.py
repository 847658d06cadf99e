"""The error function and gelu in float32, which StableHLO has no operations for.

Both come from erfcx(y) = exp(y * y) * erfc(y) for y >= 0, which varies slowly: t * P(t) with t = 1 / (1 + 0.4 * y). The coefficients are
minimax fits in float64, in relative error 2e-9. Errors are a few units in the last place: tests/webnn/hlo/export has the figures.
"""

from __future__ import annotations

import math

from webnn.hlo.export.emitter import Emitter, Tensor

__all__ = ["erf", "gelu", "polynomial"]

#: The factor in t.
_SLOPE = 0.4
#: P, the constant term first; for t from 1 / 5.4 to 1.
_ERFCX = (
    *(0.22568325698375702, 0.225493386387825, 0.20954333245754242, 0.16017991304397583, 0.16248881816864014, -0.02358342707157135),
    *(0.1304463893175125, -0.05571369826793671, -0.10198220610618591, 0.08747772872447968, -0.020033489912748337),
)
#: erf(x) / x as a polynomial in x * x, for |x| <= 1.
_ERF = (1.1283791, -0.37612626, 0.112835854, -0.026853813, 0.0051883277, -0.00080101937, 7.853861e-05)
#: erf is 1 from here on in float32, and gelu -0 or x.
_ERF_ENDS, _GELU_ENDS = 8.0, 20.0


def polynomial(x: Tensor, coefficients: tuple[float, ...]) -> Tensor:
    """Compute a polynomial; the constant term is the first coefficient."""
    total = coefficients[-2] + x * coefficients[-1]
    for each in coefficients[-3::-1]:
        total = each + x * total
    return total


def _erfcx(y: Tensor) -> Tensor:
    t = 1 / (1 + _SLOPE * y)
    return t * polynomial(t, _ERFCX)


def erf(e: Emitter, x: Tensor) -> Tensor:
    """Compute the error function of float32."""
    y = e.minimum(e.unary("abs", x), _ERF_ENDS)
    far = 1 - e.unary("exponential", -(y * y)) * _erfcx(y)
    signed = e.select(e.compare("LT", x, 0), -far, far)
    return e.select(e.compare("LT", y, 1), x * polynomial(x * x, _ERF), signed)


def gelu(e: Emitter, x: Tensor) -> Tensor:
    """Compute 0.5 * x * erfc(-x / sqrt(2)) of float32: the small numbers below 0 are precise, too."""
    y = e.minimum(e.unary("abs", x), _GELU_ENDS)
    # The exponent is cut in two, because the rounding of a large one would be multiplied: the square of the first 12 bits is exact.
    first = e.op("reduce_precision", [y], y.shape, y.element, {"exponent_bits": 8, "mantissa_bits": 11})
    exponential = e.unary("exponential", -0.5 * first * first) * e.unary("exponential", -0.5 * (y - first) * (y + first))
    half = 0.5 * exponential * _erfcx(y * math.sqrt(0.5))
    return x * e.select(e.compare("LT", x, 0), half, 1 - half)
