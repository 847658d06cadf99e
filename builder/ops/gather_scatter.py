"""Operations that pick elements by index: `#api-mlgraphbuilder-gather`."""

from __future__ import annotations

from typing import Unpack

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLGatherOptions

__all__ = ["GatherScatterOps"]


class GatherScatterOps(BuilderBase):
    """Gathering by index; this draft has no scattering."""

    __slots__ = ()

    def gather(
        self,
        input: MLOperand,
        indices: MLOperand,
        options: MLGatherOptions | None = None,
        **members: Unpack[MLGatherOptions],
    ) -> MLOperand:
        """Pick slices of an operand along an axis by their indices. `#api-mlgraphbuilder-gather`.

        Args:
            input: The operand, any data type, at least 1-D: [before..., N, behind...], N being the size of the axis.
            indices: The indices, int32, uint32 or int64, any shape. Each is clamped to -N .. N - 1; negative ones count from the end.
            options: ``axis`` (0).
            members: The options as keyword arguments.

        Returns:
            The slices, [before..., indices..., behind...].

        Raises:
            WebNNTypeError: There is no such axis, the indices are of another type, or the output has too many dimensions.
        """
        return self._single("gather", (input, indices), (), options, members)
