"""Resampling: `#api-mlgraphbuilder-resample2d-method`."""

from __future__ import annotations

from typing import Unpack

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLResample2dOptions

__all__ = ["ResampleOps"]


class ResampleOps(BuilderBase):
    """The change of spatial sizes."""

    __slots__ = ()

    def resample2d(self, input: MLOperand, options: MLResample2dOptions | None = None, **members: Unpack[MLResample2dOptions]) -> MLOperand:
        """Resample two dimensions to other sizes. `#api-mlgraphbuilder-resample2d-method`.

        Output position i samples the input at ``(i + 0.5) / scale - 0.5``, clamped to the input, where the scale is the quotient of the
        sizes; until 2024-06 it is the given scale, if there is one. If the input is of an integer type, the result is rounded to the
        nearest integer.

        Args:
            input: The input, float32, float16, int8 or uint8 (until 2024-06 no integers), 4-D.
            options: ``mode`` ("nearest-neighbor", or "linear" between the two neighbours along each axis), ``scales`` [height, width],
                greater than 0 (1), ``sizes`` [height, width] of the output, at least 1, which replace the scales, ``axes`` that are
                height and width, any two from 0 to 3 ([2, 3]); until 2024-06 [0, 1], [1, 2] or [2, 3].

        Returns:
            The output; height and width are ``sizes``, or ``floor(input * scale)``.

        Raises:
            WebNNTypeError: The type, rank or an option does not fit, or an output size is 0 or too large.
        """
        return self._single("resample2d", (input,), (), options, members)
