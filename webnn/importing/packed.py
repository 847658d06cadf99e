"""Weights that a model stores in a smaller type: they keep it, although their numbers are known at import.

Models write them as a cast of a constant. From integers, a zero point is subtracted, and they are multiplied with a scale.
`dequantizeLinear` gives the same numbers, bit for bit: differences of small integers are exact, and the product is rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from webnn.importing.values import Array, Value

__all__ = ["Packed", "Step", "follow"]

#: The least bytes of a constant that keeps its type.
_LEAST = 1024
_INTEGERS = frozenset({"int8", "uint8"})
#: The types that numbers of a type may come from.
_SOURCES = {"float16": _INTEGERS, "float32": _INTEGERS | {"float16"}}

#: The steps after which a value may still be packed.
Step = Literal["cast", "multiply", "subtract", "transpose"]


@dataclass(frozen=True, slots=True)
class Packed:
    """Numbers as those of a smaller type, less a zero point, times a scale.

    Attributes:
        source: The smaller numbers: integers, or of float16 without scale and zero point.
        scale: The scale, in the type of the numbers. It has as many dimensions; each is 1 or that of the source. None if there is none.
        zero: The zero point, likewise, in the type of the source.
    """

    source: Array
    scale: Array | None = None
    zero: Array | None = None

    def turn(self, permutation: Sequence[int] | None) -> Packed:
        """Return the transposed numbers."""
        scale, zero = (None if each is None else np.transpose(each, permutation) for each in (self.scale, self.zero))
        return Packed(np.transpose(self.source, permutation), scale, zero)

    def at(self, index: int) -> Packed:
        """Return the numbers at an index of the first dimension, along which scale and zero point have as many elements."""
        scale, zero = (None if each is None else each[index] for each in (self.scale, self.zero))
        return Packed(self.source[index], scale, zero)


def follow(step: Step, inputs: Sequence[Value], result: Array, permutation: Sequence[int] | None = None) -> Packed | None:
    """Return the result of a step as packed numbers; None if it is not.

    Args:
        step: The step.
        inputs: Its inputs, all of which are known.
        result: The numbers.
        permutation: The permutation of a transpose, by default the reverse order.
    """
    if step == "cast":
        array, sources = inputs[0].array, _SOURCES.get(result.dtype.name, frozenset())
        return None if array is None or array.dtype.name not in sources or array.nbytes < _LEAST or 0 in array.strides else Packed(array)
    places = [place for place, value in enumerate(inputs) if value.packed is not None]
    if len(places) != 1 or (step == "subtract" and places != [0]):
        return None
    packed = inputs[places[0]].packed
    assert packed is not None
    if step == "transpose":
        return packed.turn(permutation)
    other = inputs[1 - places[0]].array
    if other is None or packed.scale is not None or packed.source.dtype.name not in _INTEGERS:
        return None
    given = _parameter(other, packed.source.shape)
    if given is None:
        return None
    if step == "multiply":
        return replace(packed, scale=given)
    zero = given.astype(packed.source.dtype) if packed.zero is None and np.isfinite(given).all() else None
    return None if zero is None or (zero != given).any() else replace(packed, zero=zero)


def _parameter(array: Array, shape: tuple[int, ...]) -> Array | None:
    """Return a scale or a zero point with as many dimensions as the integers; None if it makes them larger, or is as large."""
    if array.ndim > len(shape):
        return None
    # Elements that repeat along a dimension are needed once.
    once = array[tuple([slice(0, 1) if stride == 0 else slice(None) for stride in array.strides])] if array.size else array
    spread = once.reshape([1] * (len(shape) - array.ndim) + list(once.shape))
    fits = all(size in (1, wanted) for size, wanted in zip(spread.shape, shape, strict=True))
    return spread if fits and spread.shape != shape and 0 not in shape else None
