"""Numbers that become elements: *cast*, `#algorithms-casting`, since 2026-06; and as browsers convert them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from struct import Struct
from types import MappingProxyType

from webnn.validation.descriptor import FLOAT_FORMATS, DataType, FloatFormat, integer_range, is_float

__all__ = ["LARGEST_SINGLE", "as_double", "cast", "cast_as_browsers", "integer_bounds"]

#: The number of significant bits of a double.
_DOUBLE_BITS = 53
#: The largest finite number of float32.
LARGEST_SINGLE = (2 - 2.0**-23) * 2.0**127
#: The formats of floating-point types. Python rounds to them as IEEE 754 says, and raises an error where the result is infinite.
_PACKING: Mapping[DataType, Struct] = MappingProxyType({"float32": Struct("<f"), "float16": Struct("<e")})


def cast(number: float, dataType: DataType) -> int | float:
    """*Cast* a number to a data type, `#cast`.

    Args:
        number: The number: a double, infinities and NaN included, or an integer of any size.
        dataType: The type.

    Returns:
        A number that the type represents exactly. For a floating-point type: the nearest one, ties to even; a number that is too large
        becomes infinite, in float8e4m3 ±448. For an integer type: the nearest integer of its range, ties to even; NaN becomes 0.
    """
    packing = _PACKING.get(dataType)
    if packing is not None:
        double = as_double(number)
        try:
            rounded: float = packing.unpack(packing.pack(double))[0]
        except OverflowError:
            return math.copysign(math.inf, double)
        return rounded
    if dataType in FLOAT_FORMATS:
        return _round(as_double(number), FLOAT_FORMATS[dataType])
    if isinstance(number, float) and math.isnan(number):
        return 0
    # (The draft takes the bounds of int32 for uint32: see docs/spec-issues.md.)
    low, high = integer_range(dataType)
    return round(min(max(number, low), high))


def cast_as_browsers(number: float, dataType: DataType) -> int | float:
    """Convert a number to a data type as Chromium 153 does (measured), instead of `cast`.

    Returns:
        A number that the type represents exactly. For a floating-point type: a double beyond the range of float32 becomes infinite, even if
        the largest finite number is the nearest one; every other one is rounded to float32, and then to the type. For an integer type: the
        fraction is cut off, and the rest clamped to the range; NaN becomes 0.
    """
    if is_float(dataType):
        double = as_double(number)
        if abs(double) > LARGEST_SINGLE:
            double = math.copysign(math.inf, double)
        return cast(cast(double, "float32"), dataType)
    return cast(math.trunc(number) if isinstance(number, int) or math.isfinite(number) else number, dataType)


def integer_bounds(low: float | None, high: float | None, dataType: str) -> tuple[int, int]:
    """Return the bounds that `clamp` holds integers between; one that is missing, or beyond the type's range, becomes the range's end."""
    least, most = integer_range(dataType)
    lowest = least if low is None else math.ceil(min(max(low, least), most))
    return lowest, most if high is None else math.floor(min(max(high, least), most))


def _round(double: float, form: FloatFormat) -> float:
    if math.isnan(double):
        return double
    rounded = abs(double)
    if not math.isinf(rounded):
        # The distance of neighbouring numbers of the type. The quotient is exact.
        unit = 2.0 ** (max(math.frexp(rounded)[1] - 1, form.smallest) - form.bits + 1)
        rounded = round(rounded / unit) * unit
    if rounded > form.largest:
        rounded = form.largest if form.saturates else math.inf
    return math.copysign(rounded, double)


def as_double(number: float) -> float:
    """Return a double that rounds to any shorter format as the number itself does."""
    if not isinstance(number, int):
        return number
    excess = number.bit_length() - _DOUBLE_BITS
    if excess <= 0:
        return float(number)
    # The last bit is set if anything was cut off: a tie in the shorter format is only a tie if the rest is 0.
    kept, rest = divmod(abs(number), 1 << excess)
    try:
        size = math.ldexp(kept | (rest > 0), excess)
    except OverflowError:
        size = math.inf
    return size if number > 0 else -size
