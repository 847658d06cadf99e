"""Operations that move elements or change their type."""

from __future__ import annotations

from typing import Unpack

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLSplitOptions, Numbers

__all__ = ["TensorOps"]


class TensorOps(BuilderBase):
    """Concatenation, splitting, reshaping and their kin."""

    __slots__ = ()

    def split(
        self,
        input: MLOperand,
        splits: int | Numbers,
        options: MLSplitOptions | None = None,
        **members: Unpack[MLSplitOptions],
    ) -> list[MLOperand]:
        """Split an operand into parts along an axis. `#api-mlgraphbuilder-split`.

        Args:
            input: The operand, any data type, at least 1-D.
            splits: The number of equal parts, or the size of each part; the sizes add up to the axis's size.
            options: ``axis`` (0).
            members: The options as keyword arguments.

        Returns:
            The parts, in order.

        Raises:
            WebNNTypeError: There is no such axis, or the parts do not make it up.
        """
        return self._sequence("split", (input,), (splits,), options, members)
