"""Activation functions and their kin: operations that keep their input's shape and type."""

from __future__ import annotations

from typing import Unpack, overload

from webnn.builder.base import MISSING, BuilderBase, Missing
from webnn.builder.operand import MLActivation, MLOperand
from webnn.builder.options import MLClampOptions, MLEluOptions, MLHardSigmoidOptions, MLLeakyReluOptions, MLLinearOptions, MLOperatorOptions

__all__ = ["ActivationOps"]


class ActivationOps(BuilderBase):
    """The activation functions, `clamp`, `prelu` and `softmax`.

    Until 2024-06 an activation function that is called without an input returns an `MLActivation` for ``gru``, ``lstm`` and
    their cells.
    """

    __slots__ = ()

    def clamp(self, input: MLOperand, options: MLClampOptions | None = None, **members: Unpack[MLClampOptions]) -> MLOperand:
        """Hold each element between two bounds; NaN stays NaN. `#api-mlgraphbuilder-clamp`.

        Args:
            input: The operand, any data type and shape.
            options: ``minValue`` (no lower bound), ``maxValue`` (no upper bound): any numbers, ints of any size too, rounded to the nearest
                ones that the input's type has. Until 2024-06 they are single-precision numbers for every data type.

        Raises:
            WebNNTypeError: ``minValue`` is greater than ``maxValue``, or a bound is not a number (until 2024-06: not a finite number).
        """
        return self._single("clamp", (input,), (), options, members)

    @overload
    def elu(self, input: MLOperand, options: MLEluOptions | None = None, **members: Unpack[MLEluOptions]) -> MLOperand: ...
    @overload
    def elu(self, input: MLEluOptions | None = None, **members: Unpack[MLEluOptions]) -> MLActivation: ...
    def elu(
        self, input: MLOperand | MLEluOptions | None = None, options: MLEluOptions | None = None, **members: Unpack[MLEluOptions]
    ) -> MLOperand | MLActivation:
        """Return ``max(0, input) + alpha * (exp(min(0, input)) - 1)``. `#api-mlgraphbuilder-elu`.

        Args:
            input: The operand, float32 or float16, any shape. For an activation function: the options, or nothing.
            options: ``alpha`` (1).

        Raises:
            WebNNTypeError: The data type is not allowed, or an option is not a finite number.
        """
        return self._overloaded("elu", input, options, members)

    @overload
    def gelu(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand: ...
    @overload
    def gelu(self) -> MLActivation: ...
    def gelu(
        self, input: MLOperand | Missing = MISSING, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand | MLActivation:
        """Return ``0.5 * input * (1 + erf(input / sqrt(2)))``. `#api-mlgraphbuilder-gelu-method`.

        Args:
            input: The operand, float32 or float16, any shape. Nothing for an activation function.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._overloaded("gelu", input, options, members)

    @overload
    def hardSigmoid(
        self, input: MLOperand, options: MLHardSigmoidOptions | None = None, **members: Unpack[MLHardSigmoidOptions]
    ) -> MLOperand: ...
    @overload
    def hardSigmoid(self, input: MLHardSigmoidOptions | None = None, **members: Unpack[MLHardSigmoidOptions]) -> MLActivation: ...
    def hardSigmoid(
        self,
        input: MLOperand | MLHardSigmoidOptions | None = None,
        options: MLHardSigmoidOptions | None = None,
        **members: Unpack[MLHardSigmoidOptions],
    ) -> MLOperand | MLActivation:
        """Return ``max(0, min(1, alpha * input + beta))``. `#api-mlgraphbuilder-hard-sigmoid`.

        Args:
            input: The operand, float32 or float16, any shape. For an activation function: the options, or nothing.
            options: ``alpha`` (0.2), ``beta`` (0.5).

        Raises:
            WebNNTypeError: The data type is not allowed, or an option is not a finite number.
        """
        return self._overloaded("hardSigmoid", input, options, members)

    @overload
    def hardSwish(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand: ...
    @overload
    def hardSwish(self) -> MLActivation: ...
    def hardSwish(
        self, input: MLOperand | Missing = MISSING, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand | MLActivation:
        """Return ``input * max(0, min(6, input + 3)) / 6``. `#api-mlgraphbuilder-hard-swish`.

        Args:
            input: The operand, float32 or float16, any shape. Nothing for an activation function.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._overloaded("hardSwish", input, options, members)

    @overload
    def leakyRelu(
        self, input: MLOperand, options: MLLeakyReluOptions | None = None, **members: Unpack[MLLeakyReluOptions]
    ) -> MLOperand: ...
    @overload
    def leakyRelu(self, input: MLLeakyReluOptions | None = None, **members: Unpack[MLLeakyReluOptions]) -> MLActivation: ...
    def leakyRelu(
        self,
        input: MLOperand | MLLeakyReluOptions | None = None,
        options: MLLeakyReluOptions | None = None,
        **members: Unpack[MLLeakyReluOptions],
    ) -> MLOperand | MLActivation:
        """Return ``max(0, input) + alpha * min(0, input)``. `#api-mlgraphbuilder-leakyrelu`.

        Args:
            input: The operand, float32 or float16, any shape. For an activation function: the options, or nothing.
            options: ``alpha`` (0.01).

        Raises:
            WebNNTypeError: The data type is not allowed, or an option is not a finite number.
        """
        return self._overloaded("leakyRelu", input, options, members)

    @overload
    def linear(self, input: MLOperand, options: MLLinearOptions | None = None, **members: Unpack[MLLinearOptions]) -> MLOperand: ...
    @overload
    def linear(self, input: MLLinearOptions | None = None, **members: Unpack[MLLinearOptions]) -> MLActivation: ...
    def linear(
        self, input: MLOperand | MLLinearOptions | None = None, options: MLLinearOptions | None = None, **members: Unpack[MLLinearOptions]
    ) -> MLOperand | MLActivation:
        """Return ``alpha * input + beta``. `#api-mlgraphbuilder-linear`.

        Args:
            input: The operand, float32 or float16, any shape. For an activation function: the options, or nothing.
            options: ``alpha`` (1), ``beta`` (0).

        Raises:
            WebNNTypeError: The data type is not allowed, or an option is not a finite number.
        """
        return self._overloaded("linear", input, options, members)

    def prelu(
        self, input: MLOperand, slope: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand:
        """Return the input where it is not negative, else ``slope * input``; integers wrap. `#api-mlgraphbuilder-prelu`.

        Args:
            input: The operand, float32, float16, int32, int64 (since 2026-06) or int8, any shape.
            slope: The slope, of the same type and a shape that broadcasts with the input's; until 2024-06 one that can be
                stretched to the input's.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed, the types differ, or the shapes do not broadcast.
        """
        return self._single("prelu", (input, slope), (), options, members)

    @overload
    def relu(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand: ...
    @overload
    def relu(self) -> MLActivation: ...
    def relu(
        self, input: MLOperand | Missing = MISSING, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand | MLActivation:
        """Return ``max(0, input)``. `#api-mlgraphbuilder-relu-method`.

        Args:
            input: The operand, float32, float16, int32, int64 (since 2026-06) or int8, any shape. Nothing for an
                activation function.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._overloaded("relu", input, options, members)

    @overload
    def sigmoid(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand: ...
    @overload
    def sigmoid(self) -> MLActivation: ...
    def sigmoid(
        self, input: MLOperand | Missing = MISSING, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand | MLActivation:
        """Return ``1 / (exp(-input) + 1)``. `#api-mlgraphbuilder-sigmoid-method`.

        Args:
            input: The operand, float32 or float16, any shape. Nothing for an activation function.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._overloaded("sigmoid", input, options, members)

    def softmax(
        self, input: MLOperand, axis: int, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand:
        """Return ``exp(input)`` divided by its sum along an axis. `#api-mlgraphbuilder-softmax-method`.

        Args:
            input: The operand, float32 or float16, at least 1-D.
            axis: The axis, from 0 to the rank less 1.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed, or there is no such axis.
        """
        return self._single("softmax", (input,), (axis,), options, members)

    @overload
    def softplus(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand: ...
    @overload
    def softplus(self) -> MLActivation: ...
    def softplus(
        self, input: MLOperand | Missing = MISSING, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand | MLActivation:
        """Return ``ln(1 + exp(input))``. `#api-mlgraphbuilder-softplus-method`.

        Args:
            input: The operand, float32 or float16, any shape. Nothing for an activation function.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._overloaded("softplus", input, options, members)

    @overload
    def softsign(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand: ...
    @overload
    def softsign(self) -> MLActivation: ...
    def softsign(
        self, input: MLOperand | Missing = MISSING, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand | MLActivation:
        """Return ``input / (1 + abs(input))``. `#api-mlgraphbuilder-softsign-method`.

        Args:
            input: The operand, float32 or float16, any shape. Nothing for an activation function.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._overloaded("softsign", input, options, members)

    @overload
    def tanh(self, input: MLOperand, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]) -> MLOperand: ...
    @overload
    def tanh(self) -> MLActivation: ...
    def tanh(
        self, input: MLOperand | Missing = MISSING, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand | MLActivation:
        """Return the hyperbolic tangent of each element. `#api-mlgraphbuilder-tanh-method`.

        Args:
            input: The operand, float32 or float16, any shape. Nothing for an activation function.
            options: A label for messages.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._overloaded("tanh", input, options, members)
