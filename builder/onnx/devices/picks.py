"""Operators as elements that are picked by their places, for a provider that has few kernels but a `GatherND` of one dimension.

Its `GatherND` must have several elements to choose from: with one, QNN's reads others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from webnn.builder.onnx.emitter import Emit, Emitter, Op
from webnn.builder.places import Array, find_padding, find_positions
from webnn.validation.descriptor import Shape

__all__ = ["gather_elements", "pad", "triangular", "where"]

#: Each picked element has a place of 8 bytes: larger results are left to other kernels.
_MOST = 2**16


def _pick(e: Emitter, values: Sequence[str], places: Array | str, shape: Shape) -> str:
    """Emit the elements of lists, one behind the other, at some places. A value with the places is int32. There are several elements."""
    joined = e.node("Concat", list(values), axis=0) if len(values) > 1 else values[0]
    count = math.prod(shape)
    if isinstance(places, str):
        column = e.reshape(e.cast(places, "int64"), [count, 1])
    else:
        column = e.literal(places.astype(np.int64).reshape(count, 1))
    return e.reshape(e.node("GatherND", [joined, column]), shape)


def _flatten(e: Emitter, value: str, shape: Shape) -> str:
    return e.reshape(value, [math.prod(shape)])


def _places(shape: Shape, first: int = 0) -> Array:
    return np.arange(first, first + math.prod(shape), dtype=np.int32).reshape(shape)


def where(emit: Emit, convert: Callable[[Emitter, str], str], e: Emitter, op: Op) -> str | Sequence[str]:
    """Emit ``where``; ``convert`` makes booleans of its condition."""
    _, first, second = op.inputs
    output = op.outputs[0].dimensions
    if math.prod(output) > _MOST:
        return emit(e, op)
    shapes = {name: op.shape(name) for name in op.inputs}
    others = np.broadcast_to(_places(shapes[second]), output).reshape(-1)
    chosen = np.broadcast_to(_places(shapes[first], math.prod(shapes[second])), output).reshape(-1)
    condition = e.cast(convert(e, _flatten(e, op["condition"], shapes["condition"])), "int32")
    # One element is broadcast by the product.
    if shapes["condition"] != output and math.prod(shapes["condition"]) > 1:
        condition = _pick(e, [condition], np.broadcast_to(_places(shapes["condition"]), output), (chosen.size,))
    places = e.node("Add", [e.node("Mul", [condition, e.literal(chosen - others)]), e.literal(others)])
    return _pick(e, [_flatten(e, op[name], shapes[name]) for name in (second, first)], places, output)


def gather_elements(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    """Emit ``gatherElements``."""
    shape, axis, output = op.shape("input"), op.options.axis, op.shape("indices")
    if math.prod(shape) == 1 or math.prod(output) > _MOST or ("indices" not in op.constants and op.type("indices") == "uint32"):
        return emit(e, op)
    coordinates, size, stride = np.indices(output), shape[axis], math.prod(shape[axis + 1 :])
    indices = op.constants.get("indices")
    coordinates[axis] = 0 if indices is None else find_positions(indices, size)
    places = np.ravel_multi_index(tuple(coordinates), shape)
    values = [_flatten(e, op["input"], shape)]
    if indices is not None:
        return _pick(e, values, places, output)
    # Negative indices count from the end.
    index = e.node("Max", [_flatten(e, e.cast(op["indices"], "int32"), output), e.scalar(-size, "int32")])
    index = e.node("Min", [index, e.scalar(size - 1, "int32")])
    isNegative = e.cast(e.node("Less", [index, e.scalar(0, "int32")]), "int32")
    index = e.node("Add", [index, e.node("Mul", [isNegative, e.scalar(size, "int32")])])
    first = e.literal(places.astype(np.int32).reshape(-1))
    return _pick(e, values, e.node("Add", [e.node("Mul", [index, e.scalar(stride, "int32")]), first]), output)


def triangular(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    """Emit ``triangular``: the elements that are not kept are one zero behind the others."""
    shape = op.shape("input")
    if math.prod(shape) > _MOST:
        return emit(e, op)
    rows, columns = shape[-2:]
    difference = np.arange(columns) - np.arange(rows)[:, None]
    kept = difference >= op.options.diagonal if op.options.upper else difference <= op.options.diagonal
    zero = e.reshape(e.scalar(0, op.type("input")), [1])
    return _pick(e, [_flatten(e, op["input"], shape), zero], np.where(kept, _places(shape), math.prod(shape)), shape)


def pad(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    """Emit ``pad`` with elements of the input."""
    shape, output, mode = op.shape("input"), op.outputs[0].dimensions, op.options.mode
    if mode == "constant" or math.prod(shape) == 1 or math.prod(output) > _MOST:
        return emit(e, op)
    places = _places(shape)
    for axis, (before, after) in enumerate(zip(op.arguments["beginningPadding"], op.arguments["endingPadding"], strict=True)):
        places = places.take(find_padding(before, shape[axis], after, mode), axis)
    return _pick(e, [_flatten(e, op["input"], shape)], places, output)
