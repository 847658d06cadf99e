"""Activation functions: operations that keep their input's shape and type."""

from __future__ import annotations

from typing import Unpack, overload

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLActivation, MLOperand
from webnn.builder.options import MLOperatorOptions

__all__ = ["ActivationOps"]


class ActivationOps(BuilderBase):
    """The activation functions. Without an input they return an `MLActivation` for ``gru``, ``lstm`` and their cells."""

    __slots__ = ()

    @overload
    def relu(
        self,
        input: MLOperand,
        options: MLOperatorOptions | None = None,
        **members: Unpack[MLOperatorOptions],
    ) -> MLOperand: ...

    @overload
    def relu(self) -> MLActivation: ...

    def relu(
        self,
        input: MLOperand | None = None,
        options: MLOperatorOptions | None = None,
        **members: Unpack[MLOperatorOptions],
    ) -> MLOperand | MLActivation:
        """Return ``max(0, input)``, or the activation function if there is no input. `#api-mlgraphbuilder-relu-method`.

        Args:
            input: The operand, float32, float16, int32 or int8, any shape.
            options: A label for messages.
            members: The options as keyword arguments.

        Raises:
            WebNNTypeError: The data type is not allowed.
        """
        return self._overloaded("relu", input, options, members)
