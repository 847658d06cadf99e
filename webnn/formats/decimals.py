"""Numbers with few digits: how files and programs write the elements of floating-point types."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["shorten"]

#: Integers below this are written as they are.
_SAFE = 2.0**53


def shorten(number: float, dtype: np.dtype[Any] | None) -> float:
    """Return the shortest decimal that rounds to an element of a type, if the number is one: 1e-05, not 9.999999747378752e-06.

    The result is never beyond the type's range: browsers make an infinity of 3.4028235e+38, which rounds to the largest float32.
    """
    if dtype is None or dtype.kind != "f" or (number.is_integer() and abs(number) < _SAFE):
        return number
    with np.errstate(over="ignore"):
        element = dtype.type(number)
    short = float(str(element))
    return short if float(element) == number and abs(short) <= float(np.finfo(dtype).max) else number
