"""Tensors reversed and repeated: `#api-mlgraphbuilder-reverse-method`, `#api-mlgraphbuilder-tile`."""

from __future__ import annotations

from typing import Unpack

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLOperatorOptions, MLReverseOptions, Numbers
from webnn.validation.member import some_drafts

__all__ = ["TilingOps"]


class TilingOps(BuilderBase):
    """The operations that reverse and repeat a tensor along its axes. Since 2026-06."""

    __slots__ = ()

    @some_drafts
    def reverse(self, input: MLOperand, options: MLReverseOptions | None = None, **members: Unpack[MLReverseOptions]) -> MLOperand:
        """Reverse the order of the elements along axes. `#api-mlgraphbuilder-reverse-method`.

        Args:
            input: The operand, any data type, any shape.
            options: ``axes`` to reverse (all; an empty list reverses none).

        Returns:
            An operand of the input's type and shape.

        Raises:
            WebNNTypeError: An axis is listed twice or is not one of the input's.
        """
        return self._single("reverse", (input,), (), options, members)

    @some_drafts
    def tile(
        self, input: MLOperand, repetitions: Numbers, options: MLOperatorOptions | None = None, **members: Unpack[MLOperatorOptions]
    ) -> MLOperand:
        """Repeat the whole tensor along each of its axes. `#api-mlgraphbuilder-tile`.

        Args:
            input: The operand, any data type, any shape.
            repetitions: For each dimension how many times it is repeated, at least 1; 1 leaves it unchanged.
            options: A label for messages.

        Returns:
            An operand of the input's type; each size is multiplied by its number of repetitions.

        Raises:
            WebNNTypeError: There is not one number for each dimension, one is 0, or the result has too large a size or too many bytes.
        """
        return self._single("tile", (input,), (repetitions,), options, members)
