"""Normalizations: scale * (x - mean) / sqrt(variance + epsilon) + bias."""

from __future__ import annotations

from collections.abc import Sequence

from webnn.hlo.export.emitter import Emitter, Tensor
from webnn.hlo.export.rule import Op, wide
from webnn.validation.normalization import layer_axes

__all__ = ["RULES"]


def _batch_normalization(e: Emitter, op: Op) -> Tensor:
    x, axes = op["input"], [op.options.axis]
    return _normalize(e, op, x - _spread(e, op["mean"], x, axes), _spread(e, op["variance"], x, axes), axes)


def _instance_normalization(e: Emitter, op: Op) -> Tensor:
    layout = op.options.layout
    return _normalize_over(e, op, [layout.index("h"), layout.index("w")], [layout.index("c")])


def _layer_normalization(e: Emitter, op: Op) -> Tensor:
    axes = layer_axes(op.options.axes, len(op["input"].shape))
    return _normalize_over(e, op, axes, axes)


def _normalize_over(e: Emitter, op: Op, axes: Sequence[int], parameters: Sequence[int]) -> Tensor:
    """Normalize with the mean and the variance over axes; the scale and the bias lie along others."""
    x = op["input"]
    centred = x - e.average(x, axes)
    return _normalize(e, op, centred, e.broadcast(e.average(centred * centred, axes), x.shape), parameters)


def _normalize(e: Emitter, op: Op, centred: Tensor, variance: Tensor, axes: Sequence[int]) -> Tensor:
    result = centred / e.unary("sqrt", variance + op.options.epsilon)
    scale, bias = op.get("scale"), op.get("bias")
    if scale is not None:
        result = result * _spread(e, scale, centred, axes)
    return result if bias is None else result + _spread(e, bias, centred, axes)


def _spread(e: Emitter, parameter: Tensor, x: Tensor, axes: Sequence[int]) -> Tensor:
    """Lay a parameter's dimension k along dimension axes[k] of a tensor."""
    order = sorted(range(len(axes)), key=axes.__getitem__)
    return e.broadcast(e.transpose(parameter, order), x.shape, sorted(axes))


RULES = {
    "batchNormalization": wide(_batch_normalization),
    "instanceNormalization": wide(_instance_normalization),
    "layerNormalization": wide(_layer_normalization),
}
