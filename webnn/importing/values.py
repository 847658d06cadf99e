"""Values of a program during its import."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.validation import webidl

if TYPE_CHECKING:
    from webnn.builder.operand import MLOperand
    from webnn.importing.packed import Packed
    from webnn.validation.descriptor import DataType

__all__ = ["Array", "Blocked", "Exhausted", "Refused", "Value", "carrier", "make_uniform"]

Array = np.ndarray[Any, np.dtype[Any]]

#: The most dimensions of an array that is made, and the most bytes; of one without elements, the bytes if its sizes of 0 were 1.
_MOST_AXES, _MOST_BYTES = 32, 2**31 - 1

#: The data types of WebNN that carry other element types.
_CARRIERS: Mapping[str, DataType] = {
    "bool": "uint8",
    "float64": "float32",
    **{name: name for name in ("float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8", "int4", "uint4")},
}


class Blocked(Exception):
    """A node takes a value that could not be imported."""


class Refused(Exception):
    """A node cannot be imported: the condition and what was given, and advice for the caller.

    ``never`` says why no settings of the import help: ``"it draws random numbers"``.
    """

    def __init__(self, reason: str, advice: str = "", never: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.advice = advice
        self.never = never


class Exhausted(Refused):
    """The values computed at import would take too much memory."""


@dataclass(slots=True, eq=False)
class Value:
    """A tensor: known at import, or a result of the WebNN graph.

    Attributes:
        name: The name in the model, for messages.
        dtype: The element type in the model. A boolean is carried by WebNN's uint8, and float64 by float32.
        shape: The shape.
        array: The elements, if they are known. Only read.
        operand: The operand, if there is one; a known value gets it when it is first needed.
        roots: The inputs of the model that its elements come from; none if they are known.
        numbers: The same numbers in float32, from which the operand of integers is cast when it is first needed.
        packed: The same numbers in a smaller type, which become the operand.
    """

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    array: Array | None = None
    operand: MLOperand | None = None
    roots: frozenset[str] = frozenset()
    numbers: MLOperand | None = None
    packed: Packed | None = None

    @classmethod
    def known(cls, array: Array, name: str = "") -> Value:
        """Make a value that is known."""
        return cls(name, array.dtype, array.shape, array)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for each in self.shape:
            size *= each
        return size


def make_uniform(shape: Sequence[int], dtype: np.dtype[Any], number: complex | Array = 0) -> Array:
    """Return the array of a shape whose elements are one number. It takes no memory. A shape that no tensor has is refused.

    A tensor without elements is such an array, too.
    """
    if len(shape) > _MOST_AXES or math.prod([size for size in shape if size]) * dtype.itemsize > _MOST_BYTES:
        given = webidl.describe(list(shape))
        raise Refused(f"the shape must be of at most {_MOST_AXES} dimensions and {_MOST_BYTES} bytes, got {given}")
    return np.broadcast_to(np.array(number, dtype), tuple(shape))


@functools.cache
def carrier(dtype: np.dtype[Any]) -> DataType:
    """Return the data type of WebNN for an element type; refuse one without."""
    found = _CARRIERS.get(dtype.name)
    if found is None:
        raise Refused(f"the element type must be one of WebNN, got {dtype.name}")
    return found
