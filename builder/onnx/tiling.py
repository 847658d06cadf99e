"""Tensors reversed and repeated."""

from __future__ import annotations

from webnn.builder.onnx.emitter import INT64_MIN, Emitter, Op, Translation

__all__ = ["TRANSLATIONS"]


def _reverse(e: Emitter, op: Op) -> str:
    shape, axes = op.shape("input"), op.options.axes
    turned = [axis for axis in (range(len(shape)) if axes is None else axes) if shape[axis] > 1]
    # The engine cannot slice a scalar, which has no axes to turn.
    if not turned:
        return op["input"]
    view, count = e.view(op["input"], len(shape)), len(turned)
    sources = e.ints([view.permutation[axis] for axis in turned])
    # From the last element to the one before the first, by steps of -1; `Gather` takes 4 times as long along the last axis.
    steps = e.ints([-1] * count)
    return e.transpose(e.node("Slice", [view.source, steps, e.ints([INT64_MIN] * count), sources, steps]), view.permutation)


def _tile(e: Emitter, op: Op) -> str:
    shape, repetitions, newShape = op.shape("input"), op.arguments["repetitions"], op.outputs[0].dimensions
    if newShape == shape:
        return op["input"]
    view = e.view(op["input"], len(shape))
    if all(size == 1 or count == 1 for size, count in zip(shape, repetitions, strict=True)):
        # `Tile` copies single elements: it takes 10 times as long where they lie along the last axis.
        result = e.node("Expand", [view.source, e.ints(view.for_source(newShape))])
    elif op.type("input") == "float16":
        # The engine has no such kernel. It casts to float32 by itself, and leaves out both its cast and the one before that rounds.
        tiled = e.node("Tile", [e.cast(view.source, "float32"), e.ints(view.for_source(repetitions))])
        result = e.cast(tiled, "float16")
    else:
        result = e.node("Tile", [view.source, e.ints(view.for_source(repetitions))])
    return e.transpose(result, view.permutation)


TRANSLATIONS = {
    "reverse": Translation(emit=_reverse, native=("bfloat16",)),
    "tile": Translation(emit=_tile),
}
