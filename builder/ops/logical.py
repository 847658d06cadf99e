"""Element-wise logical operations: `#api-mlgraphbuilder-logical`."""

from __future__ import annotations

from typing import Unpack

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLOperatorOptions
from webnn.validation.member import some_drafts

__all__ = ["LogicalOps"]


class LogicalOps(BuilderBase):
    """Comparisons and connectives of two operands, whose shapes broadcast in both directions, tests of one; all return uint8, 0 or 1."""

    __slots__ = ()

    def equal(
        self, a: MLOperand, b: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand:
        """Tell where ``a = b``, element by element, as uint8; NaN equals nothing. `#api-mlgraphbuilder-logical`.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("equal", (a, b), (), options, members)

    @some_drafts
    def notEqual(
        self, a: MLOperand, b: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand:
        """Tell where ``a`` and ``b`` differ, element by element, as uint8; NaN differs from everything. `#api-mlgraphbuilder-logical`.

        Since 2026-06.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("notEqual", (a, b), (), options, members)

    def greater(
        self, a: MLOperand, b: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand:
        """Tell where ``a > b``, element by element, as uint8; never where one is NaN. `#api-mlgraphbuilder-logical`.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("greater", (a, b), (), options, members)

    def greaterOrEqual(
        self, a: MLOperand, b: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand:
        """Tell where ``a >= b``, element by element, as uint8; never where one is NaN. `#api-mlgraphbuilder-logical`.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("greaterOrEqual", (a, b), (), options, members)

    def lesser(
        self, a: MLOperand, b: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand:
        """Tell where ``a < b``, element by element, as uint8; never where one is NaN. `#api-mlgraphbuilder-logical`.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("lesser", (a, b), (), options, members)

    def lesserOrEqual(
        self, a: MLOperand, b: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand:
        """Tell where ``a <= b``, element by element, as uint8; never where one is NaN. `#api-mlgraphbuilder-logical`.

        Args:
            a: The first operand, any data type and shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.

        Raises:
            WebNNTypeError: The types differ, or the shapes do not broadcast.
        """
        return self._single("lesserOrEqual", (a, b), (), options, members)

    def logicalNot(self, a: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return 1 where an element is 0, and 0 where it is anything else. `#api-mlgraphbuilder-logical`.

        Args:
            a: The operand, uint8, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not uint8.
        """
        return self._single("logicalNot", (a,), (), options, members)

    @some_drafts
    def logicalAnd(
        self, a: MLOperand, b: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand:
        """Return 1 where both elements are other than 0, and 0 elsewhere, as uint8. `#api-mlgraphbuilder-logical`.

        Since 2026-06.

        Args:
            a: The first operand, uint8, any shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.

        Raises:
            WebNNTypeError: A data type is not uint8, or the shapes do not broadcast.
        """
        return self._single("logicalAnd", (a, b), (), options, members)

    @some_drafts
    def logicalOr(
        self, a: MLOperand, b: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand:
        """Return 1 where one element or both are other than 0, and 0 elsewhere, as uint8. `#api-mlgraphbuilder-logical`.

        Since 2026-06.

        Args:
            a: The first operand, uint8, any shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.

        Raises:
            WebNNTypeError: A data type is not uint8, or the shapes do not broadcast.
        """
        return self._single("logicalOr", (a, b), (), options, members)

    @some_drafts
    def logicalXor(
        self, a: MLOperand, b: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand:
        """Return 1 where one element is 0 and the other one is not, and 0 elsewhere, as uint8. `#api-mlgraphbuilder-logical`.

        Since 2026-06.

        Args:
            a: The first operand, uint8, any shape.
            b: The second operand, of the same type and a shape that broadcasts with the first one's.
            options: A label for messages.

        Raises:
            WebNNTypeError: A data type is not uint8, or the shapes do not broadcast.
        """
        return self._single("logicalXor", (a, b), (), options, members)

    @some_drafts
    def isNaN(self, a: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return 1 where an element is NaN, and 0 elsewhere, as uint8. `#api-mlgraphbuilder-logical`.

        Since 2026-06.

        Args:
            a: The operand, float32 or float16, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._single("isNaN", (a,), (), options, members)

    @some_drafts
    def isInfinite(self, a: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return 1 where an element is an infinity of either sign, and 0 elsewhere, as uint8. `#api-mlgraphbuilder-logical`.

        Since 2026-06.

        Args:
            a: The operand, float32 or float16, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._single("isInfinite", (a,), (), options, members)
