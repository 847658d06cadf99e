"""Resampling."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from webnn.builder.places import find_samples
from webnn.hlo.export.emitter import Emitter, Tensor, is_float
from webnn.hlo.export.rule import ELEMENTS, Op, Rule

__all__ = ["RULES"]


def _resample2d(e: Emitter, op: Op) -> Tensor:
    options, x, output = op.options, op["input"], op.outputs[0]
    value = e.convert(x, "f32") if options.mode == "linear" else x
    for number, axis in enumerate(options.axes or (2, 3)):
        size, count = x.shape[axis], output.dimensions[axis]
        by_sizes = options.sizes is not None or not options.maps_with_scales
        scale = Fraction(count, size) if by_sizes else Fraction((options.scales or (1.0, 1.0))[number])
        below, part, whole = find_samples(size, count, scale)
        if options.mode == "nearest-neighbor":
            # The lower of two elements that are equally near.
            value = e.take(value, e.constant(below + (2 * part > whole)), axis)
            continue
        lower = e.take(value, e.constant(below), axis)
        upper = e.take(value, e.constant(np.minimum(below + 1, size - 1)), axis)
        share = (part / whole).astype(np.float32)
        shares = [e.broadcast(e.constant(each), lower.shape, [axis]) for each in (1 - share, share)]
        value = lower * shares[0] + upper * shares[1]
    if not is_float(x.element) and options.mode == "linear":
        value = e.unary("round_nearest_even", value)
    return e.convert(value, ELEMENTS[output.dataType])


RULES = {"resample2d": Rule(emit=_resample2d)}
