"""`Steps`: what the rules of an import share, whatever format they read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.values import Array, Refused, Value, carrier
from webnn.validation.descriptor import FLOAT_TYPES, NUMPY_DTYPES

if TYPE_CHECKING:
    from typing import Any

    from webnn.importing.operands import Operands
    from webnn.validation.descriptor import DataType

__all__ = ["Result", "Steps", "limit_of", "normalize_axes", "normalize_axis", "product", "value_of"]

#: What a rule returns for an output: an operand, whose type the driver casts to that of the output; a value that is known; a value with a
#: type of its own; nothing for an optional output that it does not compute.
Result: TypeAlias = MLOperand | Array | Value | None

#: No tensor has more elements.
_TOO_MANY = 1 << 64


class Steps:
    """The steps that rules share.

    Args:
        operands: The operands of the import.

    Attributes:
        builder: The builder, of the draft 2026-06. Rules give it options as keyword arguments.
    """

    def __init__(self, operands: Operands) -> None:
        self.builder = operands.builder
        self._operands = operands

    def operand_of(self, value: Value) -> MLOperand:
        """Return the operand of a value."""
        return self._operands.find(value)

    def find_array(self, value: Value) -> Array | None:
        """Return the elements of a value, or None if they are not known at import."""
        return None if self._operands.is_missing(value) else value.array

    def constant(self, array: Array) -> MLOperand:
        """Return an operand for an array; equal small arrays share one."""
        return self._operands.constant(array)

    def scalar(self, number: float, like: MLOperand | DataType) -> MLOperand:
        """Return a scalar constant in the data type of an operand."""
        dataType = like if isinstance(like, str) else like.descriptor.dataType
        return self._operands.scalar(dataType, number)

    def reshape(self, operand: MLOperand, shape: Sequence[int]) -> MLOperand:
        """Reshape an operand if it has another shape. A reshape of a reshape is one reshape, or none; equal ones are one."""
        wanted = tuple(shape)
        while operand.descriptor.dimensions != wanted:
            source = _reshaped(operand)
            if source is None:
                return self._operands.reshape(operand, wanted)
            operand = source
        return operand

    def transpose(self, operand: MLOperand, permutation: Sequence[int]) -> MLOperand:
        """Transpose an operand if its dimensions move. A transpose of a transpose is one transpose, or none."""
        moved, operator = list(permutation), operand._operator
        if operator is not None and operator.operation.name == "transpose":
            options: Any = operator.options
            first = options.permutation or range(len(moved))[::-1]
            operand, moved = operator.inputs[0], [first[axis] for axis in moved]
        return operand if moved == sorted(moved) else self.builder.transpose(operand, permutation=moved)

    def elementwise(self, compute: Callable[..., MLOperand], *operands: MLOperand) -> MLOperand:
        """Compute each element by itself, before a reshape of the operands that only adds or drops dimensions of size 1.

        So such reshapes meet those of the nodes behind, and what computes stays together.

        Args:
            compute: Computes a result from the operands, which are broadcast.
            operands: The operands.
        """
        several = [each for each in operands if each.descriptor.dimensions]
        sources = {id(each): source for each in several if (source := _reshaped(each)) is not None}
        if not sources or len(sources) < len({*map(id, several)}):
            return compute(*operands)
        shapes = {each.descriptor.dimensions for each in several}
        before = {source.descriptor.dimensions for source in sources.values()}
        if len(shapes) != 1 or len(before) != 1:
            return compute(*operands)
        (shape,), (given,) = shapes, before
        if [size for size in given if size != 1] != [size for size in shape if size != 1]:
            return compute(*operands)
        return self.reshape(compute(*[sources.get(id(each)) or each for each in operands]), shape)

    def note(self, text: str) -> None:
        """Note in the report what differs from the model."""
        self._operands.notes[text] = None

    def cast(self, operand: MLOperand, dataType: DataType) -> MLOperand:
        """Cast an operand if it has another type."""
        return operand if operand.descriptor.dataType == dataType else self.builder.cast(operand, dataType)

    @staticmethod
    def as_integers(numbers: MLOperand) -> Value:
        """Return float32 numbers that are integers as int32. A cast back gives the numbers, among which a zero may be negative."""
        return Value("", np.dtype(np.int32), numbers.descriptor.dimensions, numbers=numbers)

    def boolean(self, operand: MLOperand) -> Value:
        """Return a result of ONNX's type bool: uint8 with the values 0 and 1."""
        return self.typed(operand, np.dtype(np.bool_))

    def typed(self, operand: MLOperand, dtype: np.dtype[Any]) -> Value:
        """Return a result with a type of ONNX."""
        return Value("", dtype, operand.descriptor.dimensions, operand=self.cast(operand, carrier(dtype)))

    @staticmethod
    def is_float(operand: MLOperand) -> bool:
        """Tell whether an operand is of a floating-point type."""
        return operand.descriptor.dataType in FLOAT_TYPES


def _reshaped(operand: MLOperand) -> MLOperand | None:
    """Return what an operand is a reshape of, if it is one."""
    operator = operand._operator
    return operator.inputs[0] if operator is not None and operator.operation.name == "reshape" else None


def value_of(operand: MLOperand) -> Value:
    """Return the value of an operand, in the type that WebNN gives it."""
    descriptor = operand.descriptor
    return Value("", NUMPY_DTYPES[descriptor.dataType], descriptor.dimensions, operand=operand)


def normalize_axis(name: str, axis: int, rank: int) -> int:
    """Return an axis counted from the front.

    Raises:
        Refused: There is no such axis.
    """
    if not -rank <= axis < rank:
        raise Refused(f"{name} must be from {-rank} to {rank - 1}, got {axis}")
    return axis % rank


def normalize_axes(name: str, axes: Sequence[int], rank: int) -> list[int]:
    """Return axes counted from the front, each of which must be named once."""
    found = [normalize_axis(name, axis, rank) for axis in axes]
    if len(set(found)) < len(found):
        raise Refused(f"{name} must name each axis once, got {list(axes)}")
    return found


def limit_of(operand: MLOperand, *, is_least: bool) -> float:
    """Return the least or the largest number of an operand's type, which is infinite for floating-point types."""
    if operand.descriptor.dataType in FLOAT_TYPES:
        return -math.inf if is_least else math.inf
    range_ = np.iinfo(operand.descriptor.dataType)
    return int(range_.min if is_least else range_.max)


def product(sizes: Sequence[int]) -> int:
    """Return the number of elements of a shape; one that no tensor has may stand for a larger one."""
    found = 1
    if 0 in sizes:
        return 0
    for size in sizes:
        found *= size
        if abs(found) > _TOO_MANY:
            break
    return found
