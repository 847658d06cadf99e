"""Element-wise unary operations: `#api-mlgraphbuilder-unary`."""

from __future__ import annotations

from typing import Unpack

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLOperatorOptions
from webnn.validation.member import some_drafts

__all__ = ["UnaryOps"]


class UnaryOps(BuilderBase):
    """The operations of one operand that keep its data type and shape."""

    __slots__ = ()

    def abs(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return the absolute value, element by element; that of the lowest integer wraps to itself. `#api-mlgraphbuilder-unary`.

        Args:
            input: The operand, float32, float16, int32 or int8, since 2026-06 int64 too, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._single("abs", (input,), (), options, members)

    def ceil(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return the least integer not below each element. `#api-mlgraphbuilder-unary`.

        Args:
            input: The operand, float32 or float16, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._single("ceil", (input,), (), options, members)

    def cos(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return the cosine of each element, an angle in radians. `#api-mlgraphbuilder-unary`.

        Args:
            input: The operand, float32 or float16, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._single("cos", (input,), (), options, members)

    def erf(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return the error function of each element. `#api-mlgraphbuilder-unary`.

        Args:
            input: The operand, float32 or float16, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._single("erf", (input,), (), options, members)

    def exp(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return e to the power of each element. `#api-mlgraphbuilder-unary`.

        Args:
            input: The operand, float32 or float16, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._single("exp", (input,), (), options, members)

    def floor(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return the greatest integer not above each element. `#api-mlgraphbuilder-unary`.

        Args:
            input: The operand, float32 or float16, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._single("floor", (input,), (), options, members)

    def identity(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return a copy. `#api-mlgraphbuilder-unary`.

        Args:
            input: The operand, any data type, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The argument is not an operand of this builder.
        """
        return self._single("identity", (input,), (), options, members)

    def log(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return the natural logarithm of each element; NaN below 0. `#api-mlgraphbuilder-unary`.

        Args:
            input: The operand, float32 or float16, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._single("log", (input,), (), options, members)

    def neg(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return ``-input``, element by element; the lowest integer wraps to itself. `#api-mlgraphbuilder-unary`.

        Args:
            input: The operand, float32, float16, int32 or int8, since 2026-06 int64 too, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._single("neg", (input,), (), options, members)

    def reciprocal(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return ``1 / input``, element by element. `#api-mlgraphbuilder-unary`.

        Args:
            input: The operand, float32 or float16, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._single("reciprocal", (input,), (), options, members)

    @some_drafts
    def roundEven(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return the integer nearest to each element, the even one of two that are equally near. `#api-mlgraphbuilder-unary`.

        Since 2026-06.

        Args:
            input: The operand, float32 or float16, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._single("roundEven", (input,), (), options, members)

    def sin(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return the sine of each element, an angle in radians. `#api-mlgraphbuilder-unary`.

        Args:
            input: The operand, float32 or float16, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._single("sin", (input,), (), options, members)

    @some_drafts
    def sign(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return 1 for each element above zero, -1 for one below, and 0 for zero and NaN. `#api-mlgraphbuilder-unary`.

        Since 2026-06.

        Args:
            input: The operand, float32, float16, int32, int64 or int8, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._single("sign", (input,), (), options, members)

    def sqrt(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return the square root of each element; NaN below 0. `#api-mlgraphbuilder-unary`.

        Args:
            input: The operand, float32 or float16, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._single("sqrt", (input,), (), options, members)

    def tan(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand:
        """Return the tangent of each element, an angle in radians. `#api-mlgraphbuilder-unary`.

        Args:
            input: The operand, float32 or float16, any shape.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._single("tan", (input,), (), options, members)
