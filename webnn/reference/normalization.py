"""Normalizations: scale * (x - mean) / sqrt(variance + epsilon) + bias.

An absent scale is 1, an absent bias 0. Every output has the input's type and shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    return _normalized(
        wide(input),
        _spread(mean, [axis], input.ndim),
        _spread(variance, [axis], input.ndim),
        scale=_spread(scale, [axis], input.ndim, absent=1),
        bias=_spread(bias, [axis], input.ndim, absent=0),
        epsilon=epsilon,
        dtype=input.dtype,
    )


def instanceNormalization(
    input: Array,
    *,
    scale: Array | None = None,
    bias: Array | None = None,
    epsilon: float = 1e-5,
    layout: str = "nchw",
) -> Array:
    """Normalize each channel of each batch over height and width: `#api-mlgraphbuilder-instancenorm`."""
    channel = layout.index("c")
    x = wide(input)
    spatial = (layout.index("h"), layout.index("w"))
    return _normalized(
        x,
        *_moments(x, spatial),
        scale=_spread(scale, [channel], x.ndim, absent=1),
        bias=_spread(bias, [channel], x.ndim, absent=0),
        epsilon=epsilon,
        dtype=input.dtype,
    )


def layerNormalization(
    input: Array,
    *,
    scale: Array | None = None,
    bias: Array | None = None,
    axes: list[int] | None = None,
    epsilon: float = 1e-5,
) -> Array:
    """Normalize over the axes, by default all but the first: `#api-mlgraphbuilder-layernorm`.

    Dimension k of scale and bias belongs to the input's dimension axes[k]. With empty axes nothing is
    averaged: the mean is x itself and the variance 0, so the result is the (0-D) bias.
    """
    over = axes_or(axes, range(1, input.ndim))
    x = wide(input)
    return _normalized(
        x,
        *_moments(x, tuple(over)),
        scale=_spread(scale, over, x.ndim, absent=1),
        bias=_spread(bias, over, x.ndim, absent=0),
        epsilon=epsilon,
        dtype=input.dtype,
    )


def _moments(x: Wide, axes: tuple[int, ...]) -> tuple[Wide, Wide]:
    """Return mean and variance along axes. Without elements both are 0: no result needs them."""
    if not x.size:
        nothing = np.zeros([1 if axis in axes else size for axis, size in enumerate(x.shape)])
        return nothing, nothing
    return x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)


def _normalized(x: Wide, mean: Wide, variance: Wide, *, scale: Wide, bias: Wide, epsilon: float, dtype: np.dtype[Any]) -> Array:
    """Compute scale * (x - mean) / sqrt(variance + epsilon) + bias; all are broadcast to x."""
    return typed(scale * (x - mean) / np.sqrt(variance + idl_float(epsilon)) + bias, dtype)


def _spread(parameter: Array | None, axes: list[int], rank: int, *, absent: float = 0) -> Wide:
    """Lay a parameter's dimension k along dimension axes[k] of a tensor of that rank."""
    if parameter is None:
        return np.array(absent, dtype=np.float64)
    shape = [1] * rank
    for size, axis in zip(parameter.shape, axes, strict=True):
        shape[axis] = size
    return wide(parameter).transpose(np.argsort(axes)).reshape(shape)


OPERATIONS: Mapping[str, Operation] = named(batchNormalization, instanceNormalization, layerNormalization)
