"""Reductions and running sums: `#api-mlgraphbuilder-reduce`, `#api-mlgraphbuilder-cumulativesum`, `#api-mlgraphbuilder-argminmax`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack, overload

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLArgMinMaxOptions, MLCumulativeSumOptions, MLReduceOptions
from webnn.validation import webidl
from webnn.validation.errors import WebNNTypeError
from webnn.validation.member import some_drafts
from webnn.validation.operation import Call
from webnn.validation.switch import draft_error

__all__ = ["ReductionOps"]


class ReductionOps(BuilderBase):
    """The reductions, the running sums, and the positions of the extreme values."""

    __slots__ = ()

    def reduceL1(self, input: MLOperand, options: MLReduceOptions | None = None, **members: Unpack[MLReduceOptions]) -> MLOperand:
        """Compute the L1 norm, the sum of absolute values, along axes. `#api-mlgraphbuilder-reduce`.

        Integers are exact modulo 2^bits. Without a dimension to reduce it is the absolute value.

        Args:
            input: The operand, float32, float16, int32, uint32, int64 or uint64, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: The data type is not allowed, or an axis is listed twice or is not one of the input's.
        """
        return self._single("reduceL1", (input,), (), options, members)

    def reduceL2(self, input: MLOperand, options: MLReduceOptions | None = None, **members: Unpack[MLReduceOptions]) -> MLOperand:
        """Compute the L2 norm, the square root of the sum of squares, along axes. `#api-mlgraphbuilder-reduce`.

        Without a dimension to reduce it is the absolute value.

        Args:
            input: The operand, float32 or float16, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: The data type is not allowed, or an axis is listed twice or is not one of the input's.
        """
        return self._single("reduceL2", (input,), (), options, members)

    def reduceLogSum(self, input: MLOperand, options: MLReduceOptions | None = None, **members: Unpack[MLReduceOptions]) -> MLOperand:
        """Compute the natural logarithm of the sum, along axes. `#api-mlgraphbuilder-reduce`.

        NaN for a negative sum. Without a dimension to reduce it is the logarithm.

        Args:
            input: The operand, float32 or float16, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: The data type is not allowed, or an axis is listed twice or is not one of the input's.
        """
        return self._single("reduceLogSum", (input,), (), options, members)

    def reduceLogSumExp(self, input: MLOperand, options: MLReduceOptions | None = None, **members: Unpack[MLReduceOptions]) -> MLOperand:
        """Compute the natural logarithm of the sum of exponentials, along axes. `#api-mlgraphbuilder-reduce`.

        No exponential overflows: the maximum is subtracted before, and added after.

        Args:
            input: The operand, float32 or float16, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: The data type is not allowed, or an axis is listed twice or is not one of the input's.
        """
        return self._single("reduceLogSumExp", (input,), (), options, members)

    def reduceMax(self, input: MLOperand, options: MLReduceOptions | None = None, **members: Unpack[MLReduceOptions]) -> MLOperand:
        """Compute the maximum, along axes. `#api-mlgraphbuilder-reduce`.

        NaN if one of the values is.

        Args:
            input: The operand, any data type, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: An axis is listed twice or is not one of the input's.
        """
        return self._single("reduceMax", (input,), (), options, members)

    def reduceMean(self, input: MLOperand, options: MLReduceOptions | None = None, **members: Unpack[MLReduceOptions]) -> MLOperand:
        """Compute the average, along axes. `#api-mlgraphbuilder-reduce`.

        Args:
            input: The operand, float32 or float16, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: The data type is not allowed, or an axis is listed twice or is not one of the input's.
        """
        return self._single("reduceMean", (input,), (), options, members)

    def reduceMin(self, input: MLOperand, options: MLReduceOptions | None = None, **members: Unpack[MLReduceOptions]) -> MLOperand:
        """Compute the minimum, along axes. `#api-mlgraphbuilder-reduce`.

        NaN if one of the values is.

        Args:
            input: The operand, any data type, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: An axis is listed twice or is not one of the input's.
        """
        return self._single("reduceMin", (input,), (), options, members)

    def reduceProduct(self, input: MLOperand, options: MLReduceOptions | None = None, **members: Unpack[MLReduceOptions]) -> MLOperand:
        """Compute the product, along axes. `#api-mlgraphbuilder-reduce`.

        Integers are exact modulo 2^bits.

        Args:
            input: The operand, float32, float16, int32, uint32, int64 or uint64, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: The data type is not allowed, or an axis is listed twice or is not one of the input's.
        """
        return self._single("reduceProduct", (input,), (), options, members)

    def reduceSum(self, input: MLOperand, options: MLReduceOptions | None = None, **members: Unpack[MLReduceOptions]) -> MLOperand:
        """Compute the sum, along axes. `#api-mlgraphbuilder-reduce`.

        Integers are exact modulo 2^bits.

        Args:
            input: The operand, float32, float16, int32, uint32, int64 or uint64, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: The data type is not allowed, or an axis is listed twice or is not one of the input's.
        """
        return self._single("reduceSum", (input,), (), options, members)

    def reduceSumSquare(self, input: MLOperand, options: MLReduceOptions | None = None, **members: Unpack[MLReduceOptions]) -> MLOperand:
        """Compute the sum of squares, along axes. `#api-mlgraphbuilder-reduce`.

        Integers are exact modulo 2^bits. Without a dimension to reduce it is the square.

        Args:
            input: The operand, float32, float16, int32, uint32, int64 or uint64, any shape.
            options: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions`` with size 1 (False).

        Returns:
            An operand of the input's type, without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: The data type is not allowed, or an axis is listed twice or is not one of the input's.
        """
        return self._single("reduceSumSquare", (input,), (), options, members)

    @some_drafts
    def cumulativeSum(
        self, input: MLOperand, axis: int, options: MLCumulativeSumOptions | None = None, **members: Unpack[MLCumulativeSumOptions]
    ) -> MLOperand:
        """Add up the elements along an axis, each with all those before it. `#api-mlgraphbuilder-cumulativesum`.

        Integers are exact modulo 2^bits. Since 2026-06.

        Args:
            input: The operand, float32, float16, int32, uint32, int64 or uint64, at least 1-D.
            axis: The axis, from 0 to N-1 (N: the rank of ``input``).
            options: ``exclusive`` leaves each element out of its own sum, so that the first one is 0 (False), ``reversed`` adds up from
                the last element to the first (False).

        Returns:
            An operand of the input's type and shape.

        Raises:
            WebNNTypeError: The data type is not allowed, or the axis is not one of the input's.
        """
        return self._single("cumulativeSum", (input,), (axis,), options, members)

    @overload
    def argMin(
        self, input: MLOperand, axis: int, options: MLArgMinMaxOptions | None = None, **members: Unpack[MLArgMinMaxOptions]
    ) -> MLOperand: ...
    @overload
    def argMin(
        self,
        input: MLOperand,
        axis: MLArgMinMaxOptions | None = None,
        *,
        options: MLArgMinMaxOptions | None = None,
        **members: Unpack[MLArgMinMaxOptions],
    ) -> MLOperand: ...
    def argMin(
        self,
        input: MLOperand,
        axis: int | MLArgMinMaxOptions | None = None,
        options: MLArgMinMaxOptions | None = None,
        **members: Unpack[MLArgMinMaxOptions],
    ) -> MLOperand:
        """Find the position of the minimum, along an axis. `#api-mlgraphbuilder-argminmax`.

        NaN counts as the minimum. Of several equal ones the first is found.

        The draft 2024-06 has ``options.axes`` instead of the argument ``axis``. Several axes count as one: the position is that in the
        reduced dimensions laid out row by row, in the input's order.

        Args:
            input: The operand, any data type, at least 1-D; until 2024-06 any shape.
            axis: The axis to reduce, from 0 to N-1 (N: the rank of ``input``); until 2024-06 the options are given here.
            options: ``keepDimensions`` keeps the axis with size 1 (False), ``outputDataType`` ("int32"; "int64"). Until
                2024-06: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions``, ``selectLastIndex`` instead of the first
                of several (False).

        Returns:
            An operand of the output's data type (int64 until 2024-06), without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: An axis is not one of the input's, or is listed twice, or the output's data type is not allowed.
        """
        return self._position("argMin", input, axis, options, members)

    @overload
    def argMax(
        self, input: MLOperand, axis: int, options: MLArgMinMaxOptions | None = None, **members: Unpack[MLArgMinMaxOptions]
    ) -> MLOperand: ...
    @overload
    def argMax(
        self,
        input: MLOperand,
        axis: MLArgMinMaxOptions | None = None,
        *,
        options: MLArgMinMaxOptions | None = None,
        **members: Unpack[MLArgMinMaxOptions],
    ) -> MLOperand: ...
    def argMax(
        self,
        input: MLOperand,
        axis: int | MLArgMinMaxOptions | None = None,
        options: MLArgMinMaxOptions | None = None,
        **members: Unpack[MLArgMinMaxOptions],
    ) -> MLOperand:
        """Find the position of the maximum, along an axis. `#api-mlgraphbuilder-argminmax`.

        NaN counts as the maximum. Of several equal ones the first is found.

        The draft 2024-06 has ``options.axes`` instead of the argument ``axis``. Several axes count as one: the position is that in the
        reduced dimensions laid out row by row, in the input's order.

        Args:
            input: The operand, any data type, at least 1-D; until 2024-06 any shape.
            axis: The axis to reduce, from 0 to N-1 (N: the rank of ``input``); until 2024-06 the options are given here.
            options: ``keepDimensions`` keeps the axis with size 1 (False), ``outputDataType`` ("int32"; "int64"). Until
                2024-06: ``axes`` to reduce (all; an empty list reduces none), ``keepDimensions``, ``selectLastIndex`` instead of the first
                of several (False).

        Returns:
            An operand of the output's data type (int64 until 2024-06), without the reduced dimensions unless they are kept.

        Raises:
            WebNNTypeError: An axis is not one of the input's, or is listed twice, or the output's data type is not allowed.
        """
        return self._position("argMax", input, axis, options, members)

    def _position(self, name: str, input: MLOperand, axis: object, options: object, members: Mapping[str, Any]) -> MLOperand:
        operation, call, *_ = self._calls.get(name) or self._prepare(name)
        if webidl.isInstance(axis, Mapping) and options is None:
            # The options are at the place where the drafts since 2026-06 have the axis.
            axis, options = None, axis
        if operation.arguments:
            # With an axis nothing is caught: `webnn check` would take a caught refusal for one that the program handles.
            if axis is not None:
                return self._single(name, (input,), (axis,), options, members)
            try:
                return self._single(name, (input,), (axis,), options, members)
            except WebNNTypeError as error:
                if error.argument != "axis":
                    raise
                labelled = Call(name, call.anchor, call.revision, error.label)
                reason = "must be given: it takes the place of options.axes"
                raise draft_error(labelled, "axis", reason, lambda revision: not revision.operations[name].arguments) from None
        if axis is not None:
            reason = f"must be a dictionary, whose axes are in place of the axis of later drafts, got {webidl.describe(axis)}"
            raise draft_error(call, "options", reason, lambda revision: bool(revision.operations[name].arguments))
        return self._single(name, (input,), (), options, members)
