"""Convolutions: `#api-mlgraphbuilder-conv2d` and `#api-mlgraphbuilder-convtranspose2d`."""

from __future__ import annotations

from typing import Unpack

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLConv2dOptions, MLConvTranspose2dOptions

__all__ = ["ConvOps"]


class ConvOps(BuilderBase):
    """The 2-D convolutions."""

    __slots__ = ()

    def conv2d(
        self, input: MLOperand, filter: MLOperand, options: MLConv2dOptions | None = None, **members: Unpack[MLConv2dOptions]
    ) -> MLOperand:
        """Compute a 2-D convolution. `#api-mlgraphbuilder-conv2d`.

        Args:
            input: The input, float32 or float16, 4-D: [batches, inputChannels, height, width] or, with ``inputLayout="nhwc"``,
                [batches, height, width, inputChannels].
            filter: The filter, of the input's type: [outputChannels, inputChannels / groups, height, width] or as ``filterLayout``
                says.
            options: ``padding`` [beginningHeight, endingHeight, beginningWidth, endingWidth], at least 0 (0), ``strides`` and ``dilations``
                [height, width], at least 1 (1), ``groups``, at least 1, a divisor of the input and of the output channels (1),
                ``inputLayout`` ("nchw"; "nhwc"), ``filterLayout`` ("oihw"; "hwio", "ohwi", "ihwo"), ``bias`` [outputChannels], of the
                input's type (none).

        Returns:
            The output in the input's layout; height and width are ``floor((input - (filter - 1) * dilation - 1 + padding) / stride) + 1``.

        Raises:
            WebNNTypeError: A type, shape or option does not fit.
        """
        return self._single("conv2d", (input, filter), (), options, members)

    def convTranspose2d(
        self,
        input: MLOperand,
        filter: MLOperand,
        options: MLConvTranspose2dOptions | None = None,
        **members: Unpack[MLConvTranspose2dOptions],
    ) -> MLOperand:
        """Compute a 2-D transposed convolution. `#api-mlgraphbuilder-convtranspose2d`.

        Args:
            input: The input, float32 or float16, 4-D: [batches, inputChannels, height, width] or, with ``inputLayout="nhwc"``,
                [batches, height, width, inputChannels].
            filter: The filter, of the input's type: [inputChannels, outputChannels / groups, height, width] or as ``filterLayout``
                says.
            options: ``padding`` [beginningHeight, endingHeight, beginningWidth, endingWidth] that is cut off the output, at least 0 (0),
                ``strides`` and ``dilations`` [height, width], at least 1 (1), ``outputPadding`` [height, width], at least 0 and less than
                the strides (0), ``outputSizes`` [height, width], which replace the output padding: such that one in its range would give
                them (none), ``groups``, at least 1 (1), ``inputLayout`` ("nchw"; "nhwc"), ``filterLayout`` ("iohw"; "hwoi", "ohwi"),
                ``bias`` [outputChannels], of the input's type (none).

        Returns:
            The output in the input's layout; height and width are
            ``(input - 1) * stride + (filter - 1) * dilation + 1 - padding + outputPadding``.

        Raises:
            WebNNTypeError: A type, shape or option does not fit.
        """
        return self._single("convTranspose2d", (input, filter), (), options, members)
