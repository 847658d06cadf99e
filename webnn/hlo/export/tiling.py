"""Tensors reversed and repeated."""

from __future__ import annotations

from webnn.hlo.export.emitter import Emitter, Tensor
from webnn.hlo.export.rule import Op, Rule

__all__ = ["RULES"]


def _reverse(e: Emitter, op: Op) -> Tensor:
    x, axes = op["input"], op.options.axes
    return e.reverse(x, sorted(range(len(x.shape)) if axes is None else axes))


def _tile(e: Emitter, op: Op) -> Tensor:
    x, repetitions = op["input"], op.arguments["repetitions"]
    # Each dimension gets one for its copies in front.
    both = [size for pair in zip(repetitions, x.shape, strict=True) for size in pair]
    if x.shape == op.outputs[0].dimensions:
        return x
    return e.reshape(e.broadcast(x, both, range(1, len(both), 2)), op.outputs[0].dimensions)


RULES = {"reverse": Rule(emit=_reverse), "tile": Rule(emit=_tile)}
