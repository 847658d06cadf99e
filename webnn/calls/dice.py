"""Choices from a seed: the same on every machine and with every Python."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from webnn.validation.descriptor import FLOAT_FORMATS, ML_DTYPES, NUMPY_DTYPES, DataType, is_float

__all__ = ["Array", "Dice", "Scalar", "Style", "to_array"]

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
T = TypeVar("T")
Scalar = int | float | str
#: How values look: "small" integers, numbers in "unit" (-1 to 1), "positive" ones above 0, "uniform" ones (-4 to 4), or "special" ones
#: such as NaN and the ends of the type.
Style = str

_SPECIAL_FLOATS: tuple[Scalar, ...] = (0.0, 1.0, -1.0, 0.5, -2.5, "-0", "NaN", "Infinity", "-Infinity")
#: How many of the shapes are empty, where the draft has empty operands.
_EMPTY = 0.25


class Dice:
    """A source of choices. It uses `random.Random.random` only, whose numbers no version of Python changes.

    With ``empty``, a shape may have dimensions of size 0.
    """

    #: The largest rank of a shape, and the bounds of sizes, of which each size has one.
    max_rank = 5
    sizes: Sequence[int] = (2, 3, 5, 17)

    def __init__(self, seed: str, *, empty: bool = False) -> None:
        self._random = random.Random(seed)
        self.empty = empty

    def fraction(self) -> float:
        """Choose a number from 0 to 1, without 1."""
        return self._random.random()

    def integer(self, low: int, high: int) -> int:
        """Choose an integer from ``low`` to ``high``, both included."""
        return low + int(self.fraction() * (high - low + 1))

    def pick(self, values: Sequence[T]) -> T:
        """Choose one of several values."""
        return values[self.integer(0, len(values) - 1)]

    def chance(self, probability: float = 0.5) -> bool:
        """Decide."""
        return self.fraction() < probability

    def shuffle(self, values: Sequence[T]) -> list[T]:
        """Return the values in another order."""
        left = list(values)
        return [left.pop(self.integer(0, len(left) - 1)) for _ in values]

    def integers(self, count: int, low: int, high: int) -> list[int]:
        """Choose several integers."""
        return [self.integer(low, high) for _ in range(count)]

    def number(self, low: int, high: int) -> float | int:
        """Choose a number for an option: an integer, a quarter, or one that single precision rounds."""
        kind = self.integer(0, 2)
        if kind == 0:
            return self.integer(low, high)
        return self.integer(4 * low, 4 * high) / 4 if kind == 1 else low + (high - low) * self.fraction()

    def shape(self, low: int, high: int, most: int = 60) -> list[int]:
        """Choose a shape of few elements, with a rank from ``low`` to ``high``."""
        sizes: list[int] = []
        for _ in range(self.integer(low, min(high, self.max_rank))):
            sizes.append(self.integer(1, max(1, min(self.pick(self.sizes), most))))
            most //= sizes[-1]
        if self.empty and sizes and self.chance(_EMPTY):
            sizes[self.integer(0, len(sizes) - 1)] = 0
        return sizes[::-1] if self.chance() else sizes

    def axes(self, rank: int, low: int = 0) -> list[int]:
        """Choose different axes, in any order."""
        return self.shuffle(range(rank))[: self.integer(min(low, rank), rank)]

    def values(self, dataType: DataType, shape: Sequence[int], style: Style = "small") -> list[Scalar]:
        """Choose the elements of a tensor: numbers, or texts for those that JSON does not have."""
        return [self._value(dataType, style) for _ in range(math.prod(shape))]

    def _value(self, dataType: DataType, style: Style) -> Scalar:
        if is_float(dataType):
            return self._float(dataType, style)
        bits, signed = int(dataType.lstrip("uint")), dataType.startswith("int")
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        if style == "special" and self.chance(0.7):
            value = self.pick((0, 1, 2, low, low + 1, high, high - 1))
        else:
            value = self.integer(1 if style == "positive" else max(low, -8), min(high, 8))
        return str(value) if bits == 64 else value

    def _float(self, dataType: DataType, style: Style) -> Scalar:
        if style == "special" and self.chance(0.6):
            largest = FLOAT_FORMATS[dataType].largest
            return self.pick((*_SPECIAL_FLOATS, largest, -largest))
        if style == "small":
            return self.integer(-16, 16) / 2
        low, high = {"unit": (-1.0, 1.0), "positive": (0.125, 4.0)}.get(style, (-4.0, 4.0))
        # The element is a number of the type itself, so that its text is exact.
        exact = np.float32 if dataType in ML_DTYPES else NUMPY_DTYPES[dataType].type
        return float(exact(low + (high - low) * self.fraction()))


def to_array(dataType: str, values: Sequence[Scalar]) -> Array:
    """Return elements, which may be texts, as a NumPy array."""
    dtype = np.dtype(dataType)
    number = float if dtype.kind == "f" else int
    return np.array([number(each) for each in values], dtype)
