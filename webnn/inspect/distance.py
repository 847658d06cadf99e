"""How far values are from others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.reference import ulp_distance

if TYPE_CHECKING:
    from webnn.validation.descriptor import DataType

__all__ = ["Distance", "find_distance", "relative_distance"]

Array = np.ndarray[Any, np.dtype[Any]]

#: How many elements are compared at once: few enough for all steps to find them in the processor's cache.
_PIECE = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """The largest difference of two values.

    Attributes:
        absolute: The largest difference; infinite if an element is NaN or infinite in one of the two alone.
        relative: The same, divided by the largest finite expected element.
        ulp: The largest difference in units of the last place of the type.
        position: The position of the largest difference.
        actual: The element there.
        expected: The expected element there.
    """

    absolute: float
    relative: float
    ulp: float
    position: tuple[int, ...]
    actual: float
    expected: float


def find_distance(actual: Array, expected: Array, dataType: DataType) -> Distance:
    """Compare the elements of two values of one shape.

    Args:
        actual: The elements, of the type of the value.
        expected: The expected elements: float64, or the integers of the type.
        dataType: The data type of the value.
    """
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
    """Finds the largest differences, piece by piece.

    Args:
        actual: The elements.
        expected: The expected elements.
        dataType: The type whose units are counted; ``None`` to count none.
    """

    def __init__(self, actual: Array, expected: Array, dataType: DataType | None) -> None:
        self.absolute = 0.0
        self.ulp = 0.0
        #: The position of the largest difference among the elements in row-major order.
        self.worst = 0
        #: The size of the largest finite expected element.
        self._size = 0.0
        self._dataType = dataType
        self._limits = np.finfo(actual.dtype) if actual.dtype.kind == "f" else None
        ours, theirs = actual.reshape(-1), expected.reshape(-1)
        with np.errstate(all="ignore"):
            for begin in range(0, ours.size, _PIECE):
                self._look(begin, ours[begin : begin + _PIECE], theirs[begin : begin + _PIECE])

    @property
    def relative(self) -> float:
        if self.absolute == 0:
            return 0.0
        return self.absolute / self._size if self._size else math.inf

    def _look(self, begin: int, actual: Array, expected: Array) -> None:
        differences = _differences(actual, expected)
        worst = int(differences.argmax())
        largest = float(differences[worst])
        if largest > self.absolute:
            self.absolute, self.worst = largest, begin + worst
        high, low = float(expected.max()), float(expected.min())
        if not math.isfinite(high - low):
            finite = expected[np.isfinite(expected)]
            high, low = (float(finite.max()), float(finite.min())) if finite.size else (0.0, 0.0)
        self._size = max(self._size, high, -low)
        if self._dataType is None or not largest:
            return
        if self._limits is None:
            self.ulp = max(self.ulp, largest)
            return
        # The elements with the largest differences in units are among those with the largest rates: a unit is between 2^-24 and 2^-23
        # (float32) of a number. An infinite element may be the rounded one, and has no rate if it is expected.
        rates = np.abs(expected)
        np.maximum(rates, float(self._limits.tiny), out=rates)
        np.divide(differences, rates, out=rates)
        most = float(rates.max())
        if not math.isfinite(most):
            most = float(np.max(rates, where=np.isfinite(rates), initial=0.0))
        elif most * 2.0 ** (self._limits.nmant + 1) <= self.ulp:
            return
        chosen = ~(rates < most / 2)
        self.ulp = max(self.ulp, float(ulp_distance(actual[chosen], expected[chosen], self._dataType).max()))


def _differences(actual: Array, expected: Array) -> Array:
    if actual.dtype.kind in "iu" and expected.dtype.kind in "iu":
        # Differences of 64-bit integers are not exact in float64, and may be too large for int64.
        high, low = np.maximum(actual, expected), np.minimum(actual, expected)
        return (high.astype(np.uint64) - low.astype(np.uint64)).astype(np.float64)
    differences = actual.astype(np.float64)
    np.subtract(expected, differences, out=differences)
    np.abs(differences, out=differences)
    if not math.isfinite(float(differences.max())):
        same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
        differences = np.where(same, 0.0, np.where(np.isnan(differences), math.inf, differences))
    return differences
