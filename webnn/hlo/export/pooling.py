"""Pooling."""

from __future__ import annotations

import numpy as np

from webnn.hlo.export.emitter import Emitter, Tensor
from webnn.hlo.export.rule import Op, Rule, wide
from webnn.hlo.types import DTYPES
from webnn.validation.descriptor import extreme
from webnn.validation.windows import PoolingAxis, pooling_axes

__all__ = ["RULES"]


def _spatial(op: Op) -> tuple[PoolingAxis, PoolingAxis]:
    o = op.options
    return pooling_axes(o.layout, op["input"].shape, op.outputs[0].dimensions, o.windowDimensions, o.padding, o.strides, o.dilations)


def _pool(e: Emitter, op: Op, x: Tensor, name: str, initial: float) -> Tensor:
    window, strides, dilations, padding = [1] * 4, [1] * 4, [1] * 4, [(0, 0)] * 4
    for axis in _spatial(op):
        place = axis.axis
        window[place], strides[place], dilations[place], padding[place] = axis.window, axis.stride, axis.dilation, (axis.begin, axis.end)
    return e.reduce_window(x, name, initial, window, padding, strides, dilations)


def _average(e: Emitter, op: Op) -> Tensor:
    total = _pool(e, op, op["input"], "add", 0)
    axes = _spatial(op)
    counts = np.outer(*[axis.counts() for axis in axes]).astype(np.float32)
    if (counts == counts[0, 0]).all():
        return total / float(counts[0, 0])
    # 0 / 0 is NaN.
    return total / e.broadcast(e.constant(counts), total.shape, [axis.axis for axis in axes])


def _l2(e: Emitter, op: Op) -> Tensor:
    return e.unary("sqrt", _pool(e, op, op["input"] * op["input"], "add", 0))


def _max(e: Emitter, op: Op) -> Tensor:
    x = op["input"]
    return _pool(e, op, x, "maximum", extreme(DTYPES[x.element], largest=False))


RULES = {"averagePool2d": wide(_average), "l2Pool2d": wide(_l2), "maxPool2d": Rule(emit=_max)}
