"""Operations that move elements or change their type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from webnn.builder.base import MISSING, BuilderBase, Missing
from webnn.builder.operand import MLOperand
from webnn.builder.options import (
    MLOperatorOptions,
    MLPadOptions,
    MLSliceOptions,
    MLSplitOptions,
    MLTransposeOptions,
    MLTriangularOptions,
    Numbers,
)
from webnn.validation.descriptor import DataType
from webnn.validation.errors import WebNNTypeError

__all__ = ["MovementOps"]


class MovementOps(BuilderBase):
    """Casting, concatenation, splitting, padding, reshaping and their kin."""

    __slots__ = ()

    def cast(
        self,
        input: MLOperand,
        dataType: DataType | Missing = MISSING,
        options: MLOperatorOptions | None = None,
        *,
        type: DataType | Missing = MISSING,
        **members: Unpack[MLOperatorOptions],
    ) -> MLOperand:
        """Convert each element to another data type. `#api-mlgraphbuilder-cast`.

        From floating point to integers, the fraction is dropped, the result saturates, and NaN becomes 0. Integers wrap. To floating point,
        numbers are rounded to nearest; those too large for float16 become infinite.

        Args:
            input: The operand, any data type and shape.
            dataType: The data type to convert to.
            options: A label for messages.
            type: The name of ``dataType`` until 2024-06.

        Raises:
            WebNNTypeError: There is no such type, or the output is too large.
        """
        return self._single("cast", (input,), (self._either("cast", "dataType", dataType, type),), options, members)

    def concat(
        self, inputs: Sequence[MLOperand], axis: int, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand:
        """Join operands along an axis. `#api-mlgraphbuilder-concat`.

        Args:
            inputs: The operands, at least one, any data type, at least 1-D; types and shapes are equal but for the size of the axis.
            axis: The axis, from 0 to the rank less 1.
            options: A label for messages.

        Returns:
            One operand; the size of the axis is the sum of theirs.

        Raises:
            WebNNTypeError: There is no operand or no such axis, or types or shapes differ.
        """
        return self._single("concat", (inputs,), (axis,), options, members)

    def expand(
        self, input: MLOperand, newShape: Numbers, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand:
        """Repeat the elements along dimensions of size 1. `#api-mlgraphbuilder-expand`.

        Args:
            input: The operand, any data type and shape.
            newShape: The output's shape. From the last dimension on, each size of the input equals the output's or is 1.
            options: A label for messages.

        Raises:
            WebNNTypeError: The input's shape does not broadcast to the new one.
        """
        return self._single("expand", (input,), (newShape,), options, members)

    def pad(
        self,
        input: MLOperand,
        beginningPadding: Numbers,
        endingPadding: Numbers,
        options: MLPadOptions | None = None,
        **members: Unpack[MLPadOptions],
    ) -> MLOperand:
        """Add elements before and behind each axis. `#api-mlgraphbuilder-pad`.

        Args:
            input: The operand, any data type and shape; until 2024-06 at least 1-D.
            beginningPadding: How many elements to add before each axis.
            endingPadding: How many elements to add behind each axis.
            options: ``mode`` ("constant"; "edge" repeats the outermost element, "reflection" mirrors without it; until 2024-06
                also "symmetric", which mirrors with it), ``value`` of the constant (0): any number, an int of any size too, rounded to the
                nearest one that the input's type has. Until 2024-06 it is a single-precision number, converted as `cast` does.

        Returns:
            An operand whose sizes are beginning padding + input size + ending padding. Until 2024-06 a mirror may add more
            than the axis has, and mirrors again.

        Raises:
            WebNNTypeError: A padding does not have one number for each axis, a mirror adds as many elements as the axis has or more, or the
                output is too large.
        """
        return self._single("pad", (input,), (beginningPadding, endingPadding), options, members)

    def reshape(
        self, input: MLOperand, newShape: Numbers, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand:
        """Give an operand another shape; the elements keep their order. `#api-mlgraphbuilder-reshape-method`.

        Args:
            input: The operand, any data type and shape.
            newShape: A shape of as many elements, empty for a scalar.
            options: A label for messages.

        Raises:
            WebNNTypeError: The number of elements differs.
        """
        return self._single("reshape", (input,), (newShape,), options, members)

    def slice(
        self, input: MLOperand, starts: Numbers, sizes: Numbers, options: MLSliceOptions | None = None, **members: Unpack[MLSliceOptions]
    ) -> MLOperand:
        """Cut a block out of an operand. `#api-mlgraphbuilder-slice`.

        Args:
            input: The operand, any data type and shape.
            starts: The first index of each axis, from 0 to its size less 1.
            sizes: The number of elements of each axis that the block covers, at least 1.
            options: ``strides``: for each axis, which of these elements are taken, the first of each stride, at least 1 (1). The draft
                2024-06 does not have them.

        Returns:
            An operand with ``ceil(size / stride)`` elements along each axis.

        Raises:
            WebNNTypeError: There is not one start, size and stride for each axis, a stride is 0, or the block is empty or leaves the input.
        """
        return self._single("slice", (input,), (starts, sizes), options, members)

    def split(
        self, input: MLOperand, splits: int | Numbers, options: MLSplitOptions | None = None, **members: Unpack[MLSplitOptions]
    ) -> list[MLOperand]:
        """Split an operand into parts along an axis. `#api-mlgraphbuilder-split`.

        Args:
            input: The operand, any data type, at least 1-D.
            splits: The number of equal parts, or the size of each part; the sizes add up to the axis's size.
            options: ``axis``, from 0 to the rank less 1 (0).

        Returns:
            The parts, in order.

        Raises:
            WebNNTypeError: There is no such axis, or the sizes of the parts do not add up to the axis's size.
        """
        return self._sequence("split", (input,), (splits,), options, members)

    def transpose(self, input: MLOperand, options: MLTransposeOptions | None = None, **members: Unpack[MLTransposeOptions]) -> MLOperand:
        """Permute the axes of an operand. `#api-mlgraphbuilder-transpose`.

        Args:
            input: The operand, any data type and shape.
            options: ``permutation``: for each axis of the output, the axis of the input (the reversed order).

        Raises:
            WebNNTypeError: The permutation does not have each axis once.
        """
        return self._single("transpose", (input,), (), options, members)

    def triangular(self, input: MLOperand, options: MLTriangularOptions | None = None, **members: Unpack[MLTriangularOptions]) -> MLOperand:
        """Keep the upper or lower triangle of each matrix and set the rest to 0. `#api-mlgraphbuilder-triangular`.

        Args:
            input: The matrices, any data type, [..., rows, columns].
            options: ``upper`` (True); ``diagonal`` (0): element [..., i, j] is kept if j - i >= diagonal, or <= for the lower triangle.

        Raises:
            WebNNTypeError: The input has fewer than two dimensions.
        """
        return self._single("triangular", (input,), (), options, members)

    def where(
        self,
        condition: MLOperand,
        trueValue: MLOperand | Missing = MISSING,
        falseValue: MLOperand | Missing = MISSING,
        options: MLOperatorOptions | None = None,
        *,
        input: MLOperand | Missing = MISSING,
        other: MLOperand | Missing = MISSING,
        **members: Unpack[MLOperatorOptions],
    ) -> MLOperand:
        """Choose between two operands, element by element. `#api-mlgraphbuilder-where`.

        Args:
            condition: The condition, uint8; everything but 0 is true.
            trueValue: The values where the condition is true, any data type.
            falseValue: The values elsewhere, of the same type. The shapes of all three broadcast together.
            options: A label for messages.
            input: The name of ``trueValue`` until 2024-06.
            other: The name of ``falseValue`` until 2024-06.

        Raises:
            WebNNTypeError: A type differs, or the shapes do not broadcast.
        """
        chosen = self._either("where", "trueValue", trueValue, input)
        otherwise = self._either("where", "falseValue", falseValue, other)
        return self._single("where", (condition, chosen, otherwise), (), options, members)

    def _either(self, operation: str, name: str, given: Any, alias: Any) -> Any:
        """Return an argument that has different names in two drafts and was given under either one."""
        if alias is MISSING:
            return given
        if given is not MISSING:
            raise WebNNTypeError(f"{operation}: {name} must be given once, got two values", operation=operation, argument=name, rule="once")
        return alias
