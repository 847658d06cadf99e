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
    expected = expected.reshape(actual.shape)
    differences = _differences(actual, expected)
    worst = int(differences.argmax())
    absolute = float(differences.reshape(-1)[worst])
    return Distance(
        absolute=absolute,
        relative=_divide(absolute, expected),
        ulp=_find_ulp(actual, expected, differences, dataType) if absolute else 0.0,
        position=tuple(int(each) for each in np.unravel_index(worst, actual.shape)),
        actual=actual.reshape(-1)[worst].item(),
        expected=expected.reshape(-1)[worst].item(),
    )


def relative_distance(actual: Array, expected: Array) -> float:
    """Return `Distance.relative` alone."""
    expected = expected.reshape(actual.shape)
    return _divide(float(_differences(actual, expected).max()), expected)


def _find_ulp(actual: Array, expected: Array, differences: Array, dataType: DataType) -> float:
    """Return the largest difference in units of the last place."""
    if actual.dtype.kind != "f":
        return float(differences.max())
    with np.errstate(all="ignore"):
        rates = np.abs(expected)
        np.maximum(rates, float(np.finfo(actual.dtype).tiny), out=rates)
        np.divide(differences, rates, out=rates)
    # A unit is between 2^-24 and 2^-23 (float32) of a number: the element with the largest difference in units is one of these. An infinite
    # element may be the rounded one, and has no rate if it is expected.
    most = rates.max()
    if not math.isfinite(most):
        most = np.max(rates, where=np.isfinite(rates), initial=0.0)
    chosen = ~(rates < most / 2)
    return float(ulp_distance(actual[chosen], expected[chosen], dataType).max())


def _differences(actual: Array, expected: Array) -> Array:
    if actual.dtype.kind in "iu" and expected.dtype.kind in "iu":
        # Differences of 64-bit integers are not exact in float64, and may be too large for int64.
        high, low = np.maximum(actual, expected), np.minimum(actual, expected)
        return (high.astype(np.uint64) - low.astype(np.uint64)).astype(np.float64)
    with np.errstate(all="ignore"):
        differences = np.subtract(expected, actual, dtype=np.float64)
        np.abs(differences, out=differences)
        if not math.isfinite(differences.max()):
            same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
            differences = np.where(same, 0.0, np.where(np.isnan(differences), math.inf, differences))
    return differences


def _divide(absolute: float, expected: Array) -> float:
    if absolute == 0:
        return 0.0
    high, low = float(expected.max()), float(expected.min())
    if not math.isfinite(high - low):
        finite = expected[np.isfinite(expected)]
        high, low = (float(finite.max()), float(finite.min())) if finite.size else (0.0, 0.0)
    largest = max(abs(high), abs(low))
    return absolute / largest if largest else math.inf
