"""Pooling."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from webnn.hlo.export.emitter import Array, Emitter, Tensor, is_float
from webnn.hlo.export.rule import Op, Rule, wide
from webnn.hlo.types import DTYPES
from webnn.validation.conv import input_sizes

__all__ = ["RULES"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axis:
    """Pooling along one spatial axis. The padding in front is ``begin``."""

    size: int
    output: int
    window: int
    stride: int
    dilation: int
    begin: int

    @property
    def end(self) -> int:
        """The padding behind that the last window needs: less than the program's or more, as the output's size was rounded."""
        return max(0, (self.output - 1) * self.stride + (self.window - 1) * self.dilation + 1 - self.size - self.begin)

    def counts(self) -> Array:
        """Count the elements of each window that lie inside the input."""
        places = np.arange(self.output)[:, None] * self.stride - self.begin + np.arange(self.window) * self.dilation
        return np.asarray(((places >= 0) & (places < self.size)).sum(1))


def _spatial(op: Op) -> list[_Axis]:
    options = op.options
    _, _, *sizes = input_sizes(options.layout, op["input"].shape)
    _, _, *outputs = input_sizes(options.layout, op.outputs[0].dimensions)
    return [
        _Axis(
            size=sizes[index],
            output=outputs[index],
            window=(options.windowDimensions or sizes)[index],
            stride=(options.strides or (1, 1))[index],
            dilation=(options.dilations or (1, 1))[index],
            begin=(options.padding or (0, 0, 0, 0))[2 * index],
        )
        for index in range(2)
    ]


def _pool(e: Emitter, op: Op, x: Tensor, name: str, initial: float) -> Tensor:
    window, strides, dilations, padding = [1] * 4, [1] * 4, [1] * 4, [(0, 0)] * 4
    for letter, axis in zip("hw", _spatial(op), strict=True):
        place = op.options.layout.index(letter)
        window[place], strides[place], dilations[place], padding[place] = axis.window, axis.stride, axis.dilation, (axis.begin, axis.end)
    return e.reduce_window(x, name, initial, window, padding, strides, dilations)


def _average(e: Emitter, op: Op) -> Tensor:
    total = _pool(e, op, op["input"], "add", 0)
    rows, columns = [axis.counts() for axis in _spatial(op)]
    counts = np.outer(rows, columns).astype(np.float32)
    if (counts == counts[0, 0]).all():
        return total / float(counts[0, 0])
    # 0 / 0 is NaN.
    return total / e.broadcast(e.constant(counts), total.shape, [op.options.layout.index(letter) for letter in "hw"])


def _l2(e: Emitter, op: Op) -> Tensor:
    return e.unary("sqrt", _pool(e, op, op["input"] * op["input"], "add", 0))


def _max(e: Emitter, op: Op) -> Tensor:
    x = op["input"]
    return _pool(e, op, x, "maximum", -math.inf if is_float(x.element) else int(np.iinfo(DTYPES[x.element]).min))


RULES = {"averagePool2d": wide(_average), "l2Pool2d": wide(_l2), "maxPool2d": Rule(emit=_max)}
