"""Element-wise logical operations: `#api-mlgraphbuilder-logical`."""

from __future__ import annotations

from typing import Unpack

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLOperatorOptions

__all__ = ["LogicalOps"]


class LogicalOps(BuilderBase):
    """The comparisons of two operands, whose shapes broadcast in both directions, and the negation; all return 0 or 1 in uint8."""

    __slots__ = ()

    def equal(
        self,
        a: MLOperand,
        b: MLOperand,
        options: MLOperatorOptions | None = None,
        **members: Unpack[MLOperatorOptions],
    ) -> MLOperand:
        """Tell where ``a = b``, element by element, as uint8; NaN equals nothing. `#api-mlgraphbuilder-logical`.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.
            members: The options as keyword arguments.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("equal", (a, b), (), options, members)

    def greater(
        self,
        a: MLOperand,
        b: MLOperand,
        options: MLOperatorOptions | None = None,
        **members: Unpack[MLOperatorOptions],
    ) -> MLOperand:
        """Tell where ``a > b``, element by element, as uint8; never where one is NaN. `#api-mlgraphbuilder-logical`.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.
            members: The options as keyword arguments.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("greater", (a, b), (), options, members)

    def greaterOrEqual(
        self,
        a: MLOperand,
        b: MLOperand,
        options: MLOperatorOptions | None = None,
        **members: Unpack[MLOperatorOptions],
    ) -> MLOperand:
        """Tell where ``a >= b``, element by element, as uint8; never where one is NaN. `#api-mlgraphbuilder-logical`.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.
            members: The options as keyword arguments.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("greaterOrEqual", (a, b), (), options, members)

    def lesser(
        self,
        a: MLOperand,
        b: MLOperand,
        options: MLOperatorOptions | None = None,
        **members: Unpack[MLOperatorOptions],
    ) -> MLOperand:
        """Tell where ``a < b``, element by element, as uint8; never where one is NaN. `#api-mlgraphbuilder-logical`.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.
            members: The options as keyword arguments.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("lesser", (a, b), (), options, members)

    def lesserOrEqual(
        self,
        a: MLOperand,
        b: MLOperand,
        options: MLOperatorOptions | None = None,
        **members: Unpack[MLOperatorOptions],
    ) -> MLOperand:
        """Tell where ``a <= b``, element by element, as uint8; never where one is NaN. `#api-mlgraphbuilder-logical`.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.
            members: The options as keyword arguments.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("lesserOrEqual", (a, b), (), options, members)

    def logicalNot(self, a: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return 1 where an element is 0, and 0 where it is anything else. `#api-mlgraphbuilder-logical`.

        Args:
            a: The operand, uint8, any shape.
            options: A label for messages.
            members: The options as keyword arguments.

        Raises:
            WebNNTypeError: The data type is not uint8.
        """
        return self._single("logicalNot", (a,), (), options, members)
