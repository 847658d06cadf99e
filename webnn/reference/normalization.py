"""Normalizations: scale * (x - mean) / sqrt(variance + epsilon) + bias.

An absent scale is 1, an absent bias 0. Every output has the input's type and shape.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from webnn.reference.numbers import Array, Operation, Wide, axes_or, idl_float, named, typed, wide

__all__ = ["OPERATIONS"]


def batchNormalization(
    input: Array,
    mean: Array,
    variance: Array,
    *,
    scale: Array | None = None,
    bias: Array | None = None,
    axis: int = 1,
    epsilon: float = 1e-5,
) -> Array:
    """Normalize with given statistics, one value per index of `axis`: `#api-mlgraphbuilder-batchnorm`."""
    moments = _spread(mean, [axis], input.ndim), _spread(variance, [axis], input.ndim)
    return _normalized(input, moments, [axis], scale, bias, epsilon)


def instanceNormalization(
    input: Array, *, scale: Array | None = None, bias: Array | None = None, epsilon: float = 1e-5, layout: str = "nchw"
) -> Array:
    """Normalize each channel of each batch over height and width: `#api-mlgraphbuilder-instancenorm`."""
    moments = _moments(wide(input), (layout.index("h"), layout.index("w")))
    return _normalized(input, moments, [layout.index("c")], scale, bias, epsilon)


def layerNormalization(
    input: Array, *, scale: Array | None = None, bias: Array | None = None, axes: list[int] | None = None, epsilon: float = 1e-5
) -> Array:
    """Normalize over the axes, by default all but the first: `#api-mlgraphbuilder-layernorm`.

    Dimension k of scale and bias belongs to the input's dimension axes[k]. With empty axes nothing is
    averaged: the mean is x itself and the variance 0, so the result is the (0-D) bias.
    """
    over = axes_or(axes, range(1, input.ndim))
    return _normalized(input, _moments(wide(input), tuple(over)), over, scale, bias, epsilon)


def _moments(x: Wide, axes: tuple[int, ...]) -> tuple[Wide, Wide]:
    """Return mean and variance along axes. Without elements both are 0: no result needs them."""
    if not x.size:
        nothing = np.zeros([1 if axis in axes else size for axis, size in enumerate(x.shape)])
        return nothing, nothing
    return x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)


def _normalized(
    input: Array, moments: tuple[Wide, Wide], axes: list[int], scale: Array | None, bias: Array | None, epsilon: float
) -> Array:
    """Compute scale * (x - mean) / sqrt(variance + epsilon) + bias; all are broadcast to x, scale and bias from their axes."""
    mean, variance = moments
    factor, offset = _spread(scale, axes, input.ndim, absent=1), _spread(bias, axes, input.ndim, absent=0)
    return typed(factor * (wide(input) - mean) / np.sqrt(variance + idl_float(epsilon)) + offset, input.dtype)


def _spread(parameter: Array | None, axes: list[int], rank: int, *, absent: float = 0) -> Wide:
    """Lay a parameter's dimension k along dimension axes[k] of a tensor of that rank."""
    if parameter is None:
        return np.array(absent, dtype=np.float64)
    shape = [1] * rank
    for size, axis in zip(parameter.shape, axes, strict=True):
        shape[axis] = size
    return wide(parameter).transpose(np.argsort(axes)).reshape(shape)


OPERATIONS: Mapping[str, Operation] = named(batchNormalization, instanceNormalization, layerNormalization)
