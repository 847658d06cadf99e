"""Normalizations: `#api-mlgraphbuilder-batchnorm`, `#api-mlgraphbuilder-instancenorm` and `#api-mlgraphbuilder-layernorm`."""

from __future__ import annotations

from typing import Unpack

from webnn.builder.base import BuilderBase
from webnn.builder.operand import MLOperand
from webnn.builder.options import MLBatchNormalizationOptions, MLInstanceNormalizationOptions, MLLayerNormalizationOptions

__all__ = ["NormalizationOps"]


class NormalizationOps(BuilderBase):
    """The normalizations: ``(input - mean) / sqrt(variance + epsilon) * scale + bias``."""

    __slots__ = ()

    def batchNormalization(
        self,
        input: MLOperand,
        mean: MLOperand,
        variance: MLOperand,
        options: MLBatchNormalizationOptions | None = None,
        **members: Unpack[MLBatchNormalizationOptions],
    ) -> MLOperand:
        """Normalize each feature with a given mean and variance. `#api-mlgraphbuilder-batchnorm`.

        Args:
            input: The input, float32 or float16, at least 1-D.
            mean: The mean of each feature, of the input's type: [features], the size of the input's dimension ``axis``.
            variance: The variance of each feature, [features].
            options: ``scale`` [features] (1), ``bias`` [features] (0), ``axis`` of the features, from 0 to the rank less 1 (1),
                ``epsilon``, a finite number (1e-5).

        Returns:
            The normalized values, in the input's shape.

        Raises:
            WebNNTypeError: A type or shape does not fit, or there is no such axis.
        """
        return self._single("batchNormalization", (input, mean, variance), (), options, members)

    def instanceNormalization(
        self, input: MLOperand, options: MLInstanceNormalizationOptions | None = None, **members: Unpack[MLInstanceNormalizationOptions]
    ) -> MLOperand:
        """Normalize each channel of each batch with its own mean and variance. `#api-mlgraphbuilder-instancenorm`.

        Args:
            input: The input, float32 or float16, 4-D: [batches, channels, height, width] or, with ``layout="nhwc"``,
                [batches, height, width, channels].
            options: ``scale`` [channels] (1), ``bias`` [channels] (0), ``epsilon``, a finite number (1e-5), ``layout`` ("nchw"; "nhwc").

        Returns:
            The normalized values, in the input's shape.

        Raises:
            WebNNTypeError: A type, rank or shape does not fit.
        """
        return self._single("instanceNormalization", (input,), (), options, members)

    def layerNormalization(
        self, input: MLOperand, options: MLLayerNormalizationOptions | None = None, **members: Unpack[MLLayerNormalizationOptions]
    ) -> MLOperand:
        """Normalize over some axes with the mean and variance along these. `#api-mlgraphbuilder-layernorm`.

        Without axes each element is its own mean: the result is 0, or the bias.

        Args:
            input: The input, float32 or float16, any shape.
            options: ``axes``, from 0 to the rank less 1, each once (all but the first), ``scale`` (1) and ``bias`` (0) with the input's
                sizes along the axes, in their order, ``epsilon``, a finite number (1e-5).

        Returns:
            The normalized values, in the input's shape.

        Raises:
            WebNNTypeError: A type or shape does not fit, or an axis does not exist or is listed twice.
        """
        return self._single("layerNormalization", (input,), (), options, members)
