"""Element-wise binary operations: `#api-mlgraphbuilder-binary`."""

from __future__ import annotations

from typing import Unpack

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLOperatorOptions

__all__ = ["BinaryOps"]


class BinaryOps(BuilderBase):
    """The operations of two operands of one data type whose shapes broadcast in both directions."""

    __slots__ = ()

    def add(self, a: MLOperand, b: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return ``a + b``, element by element; integers wrap. `#api-mlgraphbuilder-binary`.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("add", (a, b), (), options, members)

    def sub(self, a: MLOperand, b: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return ``a - b``, element by element; integers wrap. `#api-mlgraphbuilder-binary`.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("sub", (a, b), (), options, members)

    def mul(self, a: MLOperand, b: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return ``a * b``, element by element; integers wrap. `#api-mlgraphbuilder-binary`.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("mul", (a, b), (), options, members)

    def div(self, a: MLOperand, b: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return ``a / b``, element by element; integers truncate towards zero, and by zero all bits are set. `#api-mlgraphbuilder-binary`.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("div", (a, b), (), options, members)

    def max(self, a: MLOperand, b: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return the greater one of ``a`` and ``b``, element by element; NaN if one of them is. `#api-mlgraphbuilder-binary`.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("max", (a, b), (), options, members)

    def min(self, a: MLOperand, b: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return the lesser one of ``a`` and ``b``, element by element; NaN if one of them is. `#api-mlgraphbuilder-binary`.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("min", (a, b), (), options, members)

    def pow(self, a: MLOperand, b: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return ``a`` to the power ``b``, element by element; integers wrap. `#api-mlgraphbuilder-binary`.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("pow", (a, b), (), options, members)
