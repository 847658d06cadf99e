"""The operands of values: constants of those that are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.builder.describe import value_key
from webnn.importing.values import Array, Exhausted, Refused, Value, carrier
from webnn.validation.descriptor import NUMPY_DTYPES, SMALL_TYPES, pack

if TYPE_CHECKING:
    from webnn.builder.operand import MLOperand
    from webnn.builder.sketch import LabellingBuilder
    from webnn.validation.descriptor import DataType, Shape

__all__ = ["Operands"]

#: Arrays of at most so many bytes share a constant if they are equal.
_SHARED_BYTES = 64
#: Arrays of more bytes, all of whose elements are one, become an expanded scalar.
_UNIFORM_BYTES = 4096
#: What is computed at import has at most so many bytes, and for each byte of the model's tensors so many more.
_MOST_BYTES, _MOST_FACTOR = 1 << 30, 4


class Operands:
    """The operands of an import.

    Args:
        builder: The builder.
        float64: float64 becomes float32; otherwise it is refused.
        advice: How the caller can allow that.

    Attributes:
        names: The names that the model gives values, by `value_key`.
        notes: What differs from the model.
        inputs: The names of the model's inputs, in its order.
    """

    def __init__(self, builder: LabellingBuilder, *, float64: bool, advice: str) -> None:
        self.builder = builder
        self.names: dict[object, str] = {}
        self.notes: dict[str, None] = {}
        self.inputs: list[str] = []
        self._float64 = float64
        self._advice = advice
        self._shared: dict[object, MLOperand] = {}
        #: The results of `reshape`, by `value_key` and shape. Each keeps its operand, so that an id stays its own.
        self._reshaped: dict[tuple[object, Shape], MLOperand] = {}
        self._missing: set[int] = set()
        self._left = _MOST_BYTES
        #: What is known by its id is kept, so that the id stays its own.
        self._kept: list[object] = []

    def input(self, name: str, dtype: np.dtype[Any], shape: Shape) -> MLOperand:
        """Return the operand of an input of the model.

        Raises:
            Refused: WebNN does not have the element type.
            WebNNTypeError: The builder refuses it.
        """
        operand = self.builder.input(name, dataType=self.carrier(dtype), shape=list(shape))
        self.inputs.append(name)
        return operand

    def remember(self, name: str, value: Value) -> None:
        """Remember the name that the model gives a value, if there is an operand."""
        if value.operand is not None:
            self.names.setdefault(value_key(value.operand), name)
            self._kept.append(value.operand)

    def miss(self, array: Array) -> None:
        """Let zeros stand for external data that is not there."""
        self._missing.add(id(array))
        self._kept.append(array)

    def is_missing(self, value: Value) -> bool:
        """Tell whether zeros stand for external data that is not there."""
        return id(value.array) in self._missing

    def allow(self, count: int) -> None:
        """Note the bytes of a tensor of the model."""
        self._left += _MOST_FACTOR * count

    def spend(self, count: int) -> None:
        """Note the bytes of an array that is made.

        Raises:
            Exhausted: There are too many. They are not counted.
        """
        if count > self._left:
            raise Exhausted(
                f"what is computed at import must have at most 1 GiB, and {_MOST_FACTOR} bytes for each byte of the model's tensors"
            )
        self._left -= count

    def carrier(self, dtype: np.dtype[Any]) -> DataType:
        """Return the data type of WebNN for an element type."""
        if dtype == np.float64:
            if not self._float64:
                raise Refused("float64 must be allowed to become float32", self._advice)
            self.notes["float64 is computed in float32"] = None
        return carrier(dtype)

    def find(self, value: Value) -> MLOperand:
        """Return the operand of a value; a known value becomes a constant, and numbers that are integers are cast.

        Raises:
            Refused: The value has no elements, or a type that WebNN does not have.
        """
        if value.operand is None:
            if value.numbers is not None:
                value.operand = self.builder.cast(value.numbers, self.carrier(value.dtype))
            else:
                assert value.array is not None
                value.operand = self.constant(value.array)
            if value.name:
                self.remember(value.name, value)
        return value.operand

    def constant(self, array: Array) -> MLOperand:
        """Return the constant of an array; equal small arrays share one.

        Raises:
            Refused: The array has no elements, or a type that WebNN does not have.
        """
        dataType = self.carrier(array.dtype)
        if 0 in array.shape:
            raise Refused(f"tensors without elements are not supported, got {list(array.shape)}")
        if array.nbytes > _UNIFORM_BYTES and not any(array.strides) and id(array) not in self._missing:
            return self.builder.expand(self.constant(array[(0,) * array.ndim]), list(array.shape))
        dtype = array.dtype if dataType in SMALL_TYPES else NUMPY_DTYPES[dataType]
        count = array.size * dtype.itemsize
        key: object = id(array)
        carried = np.asarray(array)
        if carried.dtype != dtype or not carried.flags.c_contiguous:
            if count > _SHARED_BYTES and key not in self._shared:
                # An array that repeats elements may become much larger.
                self.spend(count)
            with np.errstate(over="ignore"):
                carried = np.ascontiguousarray(array, dtype).reshape(array.shape)
        if count <= _SHARED_BYTES:
            key = (dataType, array.shape, carried.tobytes())
        found = self._shared.get(key)
        if found is None:
            if dataType in SMALL_TYPES:
                found = self.builder.constant({"dataType": dataType, "shape": list(array.shape)}, pack(carried.astype(np.int8)))
            else:
                found = self.builder.constantOver(dataType, carried)
            self._shared[key] = found
            # An id stays that of the array as long as the array is kept.
            self._kept.append(array)
        return found

    def reshape(self, operand: MLOperand, shape: Shape) -> MLOperand:
        """Return an operand in another shape of as many elements; asked for again, it is the same one.

        Raises:
            Refused: The shape has no elements.
        """
        key = value_key(operand), shape
        found = self._reshaped.get(key)
        if found is None:
            if 0 in shape:
                raise Refused(f"the shape must have no empty dimension, got {list(shape)}")
            found = self._reshaped[key] = self.builder.reshape(operand, list(shape))
        return found

    def scalar(self, dataType: DataType, number: float) -> MLOperand:
        """Return a scalar constant; equal ones are shared."""
        key = (dataType, number, str(number))
        found = self._shared.get(key)
        if found is None:
            found = self._shared[key] = self.builder.constant(dataType, number)
        return found
