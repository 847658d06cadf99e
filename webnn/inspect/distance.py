"""How far values are from others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.reference import ulp_distance
from webnn.validation.descriptor import FLOAT_FORMATS

if TYPE_CHECKING:
    from webnn.validation.descriptor import DataType

__all__ = ["Distance", "find_distance", "relative_distance"]

Array = np.ndarray[Any, np.dtype[Any]]

#: How many elements are compared at once: few enough for all steps to find them in the processor's cache.
_PIECE = 1 << 14
#: The bits of a float64 that hold its exponent.
_EXPONENT = 0x7FF << 52


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """The largest difference of two values.

    Attributes:
        absolute: The largest difference; infinite if an element is NaN or infinite in one of the two alone.
        relative: The same, divided by the largest finite expected element.
        ulp: The largest difference in units of the last place of the type.
        position: The position of the largest difference; empty for values without elements.
        actual: The element there; NaN for values without elements.
        expected: The expected element there, likewise.
    """

    absolute: float
    relative: float
    ulp: float
    position: tuple[int, ...]
    actual: float
    expected: float


def find_distance(actual: Array, expected: Array, dataType: DataType) -> Distance:
    """Compare elements of the type of a value, or of a larger one, with the expected ones: float64, or integers of the type."""
    if not actual.size:
        return Distance(absolute=0.0, relative=0.0, ulp=0.0, position=(), actual=math.nan, expected=math.nan)
    found = _Largest(actual, expected, dataType)
    return Distance(
        absolute=found.absolute,
        relative=found.relative,
        ulp=found.ulp,
        position=tuple(int(each) for each in np.unravel_index(found.worst, actual.shape)),
        actual=actual.reshape(-1)[found.worst].item(),
        expected=expected.reshape(-1)[found.worst].item(),
    )


def relative_distance(actual: Array, expected: Array) -> float:
    """Return `Distance.relative` alone."""
    return _Largest(actual, expected, None).relative


class _Largest:
    """Finds the largest differences, piece by piece."""

    def __init__(self, actual: Array, expected: Array, dataType: DataType | None) -> None:
        self.absolute = 0.0
        self.ulp = 0.0
        #: The position of the largest difference among the elements in row-major order.
        self.worst = 0
        #: The size of the largest finite expected element.
        self._size = 0.0
        self._dataType = dataType
        self._form = None if dataType is None else FLOAT_FORMATS.get(dataType)
        ours, theirs = actual.reshape(-1), expected.reshape(-1)
        with np.errstate(all="ignore"):
            pieces = [(begin, ours[begin : begin + _PIECE], theirs[begin : begin + _PIECE]) for begin in range(0, ours.size, _PIECE)]
            equal = [piece for piece in pieces if not self._look(*piece)]
            if self.absolute:
                self._size = max([self._size, *[_largest_size(expected) for _, _, expected in equal]])

    @property
    def relative(self) -> float:
        if self.absolute == 0:
            return 0.0
        return self.absolute / self._size if self._size else math.inf

    def _look(self, begin: int, actual: Array, expected: Array) -> bool:
        """Look at a piece; return whether there is a difference."""
        differences, worst = _differences(actual, expected)
        largest = float(differences[worst])
        if not largest:
            return False
        if largest > self.absolute:
            self.absolute, self.worst = largest, begin + worst
        size = _largest_size(expected)
        self._size = max(self._size, size)
        if self._dataType is None:
            return True
        if self._form is None:
            ulp = largest
        elif math.isfinite(largest) and size <= self._form.largest:
            # The exponent alone of a float64 is the largest power of two that is not greater.
            units = (expected.astype(np.float64, copy=False).view(np.int64) & _EXPONENT).view(np.float64)
            np.maximum(units, 2.0**self._form.smallest, out=units)
            np.divide(differences, units, out=units)
            ulp = float(units.max()) * 2.0 ** (self._form.bits - 1)
        else:
            ulp = float(ulp_distance(actual, expected, self._dataType).max())
        self.ulp = max(self.ulp, ulp)
        return True


def _differences(actual: Array, expected: Array) -> tuple[Array, int]:
    """Return the differences of the elements, and the position of the first one of the largest."""
    if actual.dtype.kind in "iu" and expected.dtype.kind in "iu":
        # Differences of 64-bit integers are not exact in float64, and may be too large for int64.
        high, low = np.maximum(actual, expected), np.minimum(actual, expected)
        differences = (high.astype(np.uint64) - low.astype(np.uint64)).astype(np.float64)
        return differences, int(differences.argmax())
    differences = actual.astype(np.float64)
    np.subtract(expected, differences, out=differences)
    np.abs(differences, out=differences)
    # The first NaN counts as the largest.
    worst = int(differences.argmax())
    if not math.isfinite(differences[worst]):
        same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
        differences = np.where(same, 0.0, np.where(np.isnan(differences), math.inf, differences))
        worst = int(differences.argmax())
    return differences, worst


def _largest_size(values: Array) -> float:
    """Return the size of the largest finite element, 0 if there is none."""
    high, low = float(values.max()), float(values.min())
    if not math.isfinite(high - low):
        finite = values[np.isfinite(values)]
        high, low = (float(finite.max()), float(finite.min())) if finite.size else (0.0, 0.0)
    return max(high, -low, 0.0)
