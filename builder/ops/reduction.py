"""Reductions: `#api-mlgraphbuilder-reduce` and `#api-mlgraphbuilder-argminmax`."""

from __future__ import annotations

from typing import Unpack

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLArgMinMaxOptions, MLReduceOptions

__all__ = ["ReductionOps"]


class ReductionOps(BuilderBase):
    """The reductions, and the positions of the extreme values."""

    __slots__ = ()

    def reduceL1(
        self,
        input: MLOperand,
        options: MLReduceOptions | None = None,
        **members: Unpack[MLReduceOptions],
    ) -> MLOperand:
        """Compute the L1 norm, the sum of absolute values, along axes. `#api-mlgraphbuilder-reduce`.

        Integers are exact modulo 2^bits. Without a dimension to reduce it is the absolute value.

        Args:
            input: The operand, float32, float16, int32, uint32, int64 or uint64, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).
            members: The options as keyword arguments.

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: The data type is not allowed, or an axis is listed twice or is not one of the input's.
        """
        return self._single("reduceL1", (input,), (), options, members)

    def reduceL2(
        self,
        input: MLOperand,
        options: MLReduceOptions | None = None,
        **members: Unpack[MLReduceOptions],
    ) -> MLOperand:
        """Compute the L2 norm, the square root of the sum of squares, along axes. `#api-mlgraphbuilder-reduce`.

        Without a dimension to reduce it is the absolute value.

        Args:
            input: The operand, float32 or float16, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).
            members: The options as keyword arguments.

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: The data type is not allowed, or an axis is listed twice or is not one of the input's.
        """
        return self._single("reduceL2", (input,), (), options, members)

    def reduceLogSum(
        self,
        input: MLOperand,
        options: MLReduceOptions | None = None,
        **members: Unpack[MLReduceOptions],
    ) -> MLOperand:
        """Compute the natural logarithm of the sum, along axes. `#api-mlgraphbuilder-reduce`.

        NaN for a negative sum. Without a dimension to reduce it is the logarithm.

        Args:
            input: The operand, float32 or float16, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).
            members: The options as keyword arguments.

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: The data type is not allowed, or an axis is listed twice or is not one of the input's.
        """
        return self._single("reduceLogSum", (input,), (), options, members)

    def reduceLogSumExp(
        self,
        input: MLOperand,
        options: MLReduceOptions | None = None,
        **members: Unpack[MLReduceOptions],
    ) -> MLOperand:
        """Compute the natural logarithm of the sum of exponentials, along axes. `#api-mlgraphbuilder-reduce`.

        No exponential overflows: the maximum is subtracted before, and added after.

        Args:
            input: The operand, float32 or float16, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).
            members: The options as keyword arguments.

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: The data type is not allowed, or an axis is listed twice or is not one of the input's.
        """
        return self._single("reduceLogSumExp", (input,), (), options, members)

    def reduceMax(
        self,
        input: MLOperand,
        options: MLReduceOptions | None = None,
        **members: Unpack[MLReduceOptions],
    ) -> MLOperand:
        """Compute the maximum, along axes. `#api-mlgraphbuilder-reduce`.

        NaN if one of the values is.

        Args:
            input: The operand, any data type, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).
            members: The options as keyword arguments.

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: An axis is listed twice or is not one of the input's.
        """
        return self._single("reduceMax", (input,), (), options, members)

    def reduceMean(
        self,
        input: MLOperand,
        options: MLReduceOptions | None = None,
        **members: Unpack[MLReduceOptions],
    ) -> MLOperand:
        """Compute the average, along axes. `#api-mlgraphbuilder-reduce`.

        Args:
            input: The operand, float32 or float16, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).
            members: The options as keyword arguments.

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: The data type is not allowed, or an axis is listed twice or is not one of the input's.
        """
        return self._single("reduceMean", (input,), (), options, members)

    def reduceMin(
        self,
        input: MLOperand,
        options: MLReduceOptions | None = None,
        **members: Unpack[MLReduceOptions],
    ) -> MLOperand:
        """Compute the minimum, along axes. `#api-mlgraphbuilder-reduce`.

        NaN if one of the values is.

        Args:
            input: The operand, any data type, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).
            members: The options as keyword arguments.

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: An axis is listed twice or is not one of the input's.
        """
        return self._single("reduceMin", (input,), (), options, members)

    def reduceProduct(
        self,
        input: MLOperand,
        options: MLReduceOptions | None = None,
        **members: Unpack[MLReduceOptions],
    ) -> MLOperand:
        """Compute the product, along axes. `#api-mlgraphbuilder-reduce`.

        Integers are exact modulo 2^bits.

        Args:
            input: The operand, float32, float16, int32, uint32, int64 or uint64, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).
            members: The options as keyword arguments.

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: The data type is not allowed, or an axis is listed twice or is not one of the input's.
        """
        return self._single("reduceProduct", (input,), (), options, members)

    def reduceSum(
        self,
        input: MLOperand,
        options: MLReduceOptions | None = None,
        **members: Unpack[MLReduceOptions],
    ) -> MLOperand:
        """Compute the sum, along axes. `#api-mlgraphbuilder-reduce`.

        Integers are exact modulo 2^bits.

        Args:
            input: The operand, float32, float16, int32, uint32, int64 or uint64, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).
            members: The options as keyword arguments.

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: The data type is not allowed, or an axis is listed twice or is not one of the input's.
        """
        return self._single("reduceSum", (input,), (), options, members)

    def reduceSumSquare(
        self,
        input: MLOperand,
        options: MLReduceOptions | None = None,
        **members: Unpack[MLReduceOptions],
    ) -> MLOperand:
        """Compute the sum of squares, along axes. `#api-mlgraphbuilder-reduce`.

        Integers are exact modulo 2^bits. Without a dimension to reduce it is the square.

        Args:
            input: The operand, float32, float16, int32, uint32, int64 or uint64, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).
            members: The options as keyword arguments.

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: The data type is not allowed, or an axis is listed twice or is not one of the input's.
        """
        return self._single("reduceSumSquare", (input,), (), options, members)

    def argMin(
        self,
        input: MLOperand,
        options: MLArgMinMaxOptions | None = None,
        **members: Unpack[MLArgMinMaxOptions],
    ) -> MLOperand:
        """Find the position of the minimum, along axes. `#api-mlgraphbuilder-argminmax`.

        Several axes are counted as one: the position is that in the reduced dimensions laid out row by row, in the input's order.
        NaN counts as the minimum.

        Args:
            input: The operand, any data type, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False),
                ``selectLastIndex`` instead of the first of several (False).
            members: The options as keyword arguments.

        Returns:
            An int64 operand, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: An axis is listed twice or is not one of the input's.
        """
        return self._single("argMin", (input,), (), options, members)

    def argMax(
        self,
        input: MLOperand,
        options: MLArgMinMaxOptions | None = None,
        **members: Unpack[MLArgMinMaxOptions],
    ) -> MLOperand:
        """Find the position of the maximum, along axes. `#api-mlgraphbuilder-argminmax`.

        Several axes are counted as one: the position is that in the reduced dimensions laid out row by row, in the input's order.
        NaN counts as the maximum.

        Args:
            input: The operand, any data type, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False),
                ``selectLastIndex`` instead of the first of several (False).
            members: The options as keyword arguments.

        Returns:
            An int64 operand, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: An axis is listed twice or is not one of the input's.
        """
        return self._single("argMax", (input,), (), options, members)
