"""The cast of a number in exact fractions, to judge the ones of the product with."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from webnn.validation.descriptor import FLOAT_FORMATS, FloatFormat

__all__ = ["cast_number"]

_FLOAT64 = FloatFormat(53, -1022, (2 - 2**-52) * 2.0**1023)


def cast_number(number: float, dataType: str) -> float:
    """Cast a number, which may be an integer of any size: `#cast`.

    To the nearest number of the type, the even one of two. Integers beyond the type's range become its ends, NaN 0.
    """
    floating = dataType == "float64" or dataType in FLOAT_FORMATS
    form = FLOAT_FORMATS.get(dataType, _FLOAT64)  # type: ignore[call-overload]  # float64 is not there
    end = form.largest if form.saturates else math.inf
    if isinstance(number, float) and not math.isfinite(number):
        if floating:
            return number if math.isnan(number) else math.copysign(end, number)
        return 0 if math.isnan(number) else int(np.iinfo(dataType).max if number > 0 else np.iinfo(dataType).min)
    if number == 0:
        return number if floating else 0
    value = Fraction(number)
    if not floating:
        return round(min(max(value, Fraction(int(np.iinfo(dataType).min))), Fraction(int(np.iinfo(dataType).max))))
    # The exponent of the largest power of two that is not greater, within the range of the type.
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    exponent -= abs(value) < Fraction(2) ** exponent
    quantum = Fraction(2) ** (max(exponent, form.smallest) - form.bits + 1)
    rounded = abs(round(value / quantum) * quantum)
    return math.copysign(end if rounded > Fraction(form.largest) else float(rounded), -1 if number < 0 else 1)
