"""Pooling: `#api-mlgraphbuilder-pool2d`."""

from __future__ import annotations

from typing import Unpack

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLPool2dOptions

__all__ = ["PoolingOps"]


class PoolingOps(BuilderBase):
    """The 2-D pooling operations."""

    __slots__ = ()

    def averagePool2d(self, input: MLOperand, options: MLPool2dOptions | None = None, **members: Unpack[MLPool2dOptions]) -> MLOperand:
        """Compute the average of each window that moves over the input. `#api-mlgraphbuilder-pool2d`.

        Padding does not count: each window is divided by the number of its elements inside the input. A window without any gives
        NaN.

        Args:
            input: The input, float32 or float16, 4-D: [batches, channels, height, width] or, with ``layout="nhwc"``,
                [batches, height, width, channels].
            options: ``windowDimensions`` [height, width], at least 1 (the input's: global pooling), ``padding`` [beginningHeight,
                endingHeight, beginningWidth, endingWidth], at least 0 (0), ``strides`` and ``dilations`` [height, width], at least 1 (1),
                ``layout`` ("nchw"; "nhwc"), ``outputShapeRounding`` of the output's height and width ("floor"; "ceil"; the draft 2024-06
                calls it ``roundingType``), ``outputSizes`` [height, width] instead: both as rounded down, or both as rounded up.

        Returns:
            The output in the input's layout; height and width are
            ``floor or ceil((input - (window - 1) * dilation - 1 + padding) / stride) + 1``.

        Raises:
            WebNNTypeError: The data type, the rank or an option does not fit.
        """
        return self._single("averagePool2d", (input,), (), options, members)

    def l2Pool2d(self, input: MLOperand, options: MLPool2dOptions | None = None, **members: Unpack[MLPool2dOptions]) -> MLOperand:
        """Compute the L2 norm of each window that moves over the input. `#api-mlgraphbuilder-pool2d`.

        The norm is the square root of the sum of the squares.

        Args:
            input: The input, float32 or float16, 4-D: [batches, channels, height, width] or, with ``layout="nhwc"``,
                [batches, height, width, channels].
            options: ``windowDimensions`` [height, width], at least 1 (the input's: global pooling), ``padding`` [beginningHeight,
                endingHeight, beginningWidth, endingWidth], at least 0 (0), ``strides`` and ``dilations`` [height, width], at least 1 (1),
                ``layout`` ("nchw"; "nhwc"), ``outputShapeRounding`` of the output's height and width ("floor"; "ceil"; the draft 2024-06
                calls it ``roundingType``), ``outputSizes`` [height, width] instead: both as rounded down, or both as rounded up.

        Returns:
            The output in the input's layout; height and width are
            ``floor or ceil((input - (window - 1) * dilation - 1 + padding) / stride) + 1``.

        Raises:
            WebNNTypeError: The data type, the rank or an option does not fit.
        """
        return self._single("l2Pool2d", (input,), (), options, members)

    def maxPool2d(self, input: MLOperand, options: MLPool2dOptions | None = None, **members: Unpack[MLPool2dOptions]) -> MLOperand:
        """Compute the maximum of each window that moves over the input. `#api-mlgraphbuilder-pool2d`.

        NaN is ignored. A window without any other value gives negative infinity or the type's lowest value.

        Args:
            input: The input, any data type, 4-D: [batches, channels, height, width] or, with ``layout="nhwc"``,
                [batches, height, width, channels].
            options: ``windowDimensions`` [height, width], at least 1 (the input's: global pooling), ``padding`` [beginningHeight,
                endingHeight, beginningWidth, endingWidth], at least 0 (0), ``strides`` and ``dilations`` [height, width], at least 1 (1),
                ``layout`` ("nchw"; "nhwc"), ``outputShapeRounding`` of the output's height and width ("floor"; "ceil"; the draft 2024-06
                calls it ``roundingType``), ``outputSizes`` [height, width] instead: both as rounded down, or both as rounded up.

        Returns:
            The output in the input's layout; height and width are
            ``floor or ceil((input - (window - 1) * dilation - 1 + padding) / stride) + 1``.

        Raises:
            WebNNTypeError: The data type, the rank or an option does not fit.
        """
        return self._single("maxPool2d", (input,), (), options, members)
