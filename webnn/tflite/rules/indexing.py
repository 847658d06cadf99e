"""Operators that pick, replace or choose elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from webnn.importing.along import find_coordinates
from webnn.importing.steps import Result, product
from webnn.importing.values import Refused, make_uniform
from webnn.tflite.node import Node, Rule, Rules, borrow
from webnn.validation.shapes import bidirectionally_broadcast

__all__ = ["RULES"]

#: The most elements of results that are known.
_MOST = 1 << 24


def _gather(node: Node) -> Result:
    """Map to gather; with batches to gatherND. Known indices must be in range; computed ones outside are clamped."""
    value, indices = node.value(0), node.value(1)
    axis, batches = node.axis("Axis", value.rank, 0), node.option("BatchDims", 0)
    batches += indices.rank if batches < 0 else 0
    if not batches:
        return node.one("Gather", axis=axis)
    if not 0 < batches <= min(axis, indices.rank):
        raise Refused(f"BatchDims must be at most the axis, {axis}, got {batches}")
    # The axis comes behind the batches, and its elements go back to where it was.
    others = [each for each in range(batches, value.rank) if each != axis]
    moved = node.transpose(node.operand(0), [*range(batches), axis, *others])
    places = node.one("Unsqueeze", [indices, [indices.rank]])
    found = node.operand_of(node.one("GatherND", [moved, places], batch_dims=batches))
    before, behind = range(indices.rank, indices.rank + axis - batches), range(indices.rank + axis - batches, found.descriptor.rank)
    return node.transpose(found, [*range(batches), *before, *range(batches, indices.rank), *behind])


def _scatter(node: Node, indices: Any, updates: Any, shape: tuple[int, ...], number: float, reduction: str) -> Result:
    """Scatter into a tensor whose elements are one number."""
    if product(shape) > _MOST or min(shape, default=1) < 0:
        raise Refused(f"the shape must have from 1 to {_MOST} elements, got {list(shape)}")
    dtype = node.outputs[0].dtype if node.outputs[0].quantization is None else np.dtype(np.float32)
    return node.one("ScatterND", [make_uniform(shape, dtype, number), indices, updates], reduction=reduction)


def _sparse_to_dense(node: Node) -> Result:
    """Map to scatterND. The shape must be known."""
    indices, shape = node.value(0), tuple(node.known_integers(1, "the shape"))
    size = 1 if len(shape) < 2 else len(shape)
    count = indices.size // size
    places = node.one("Reshape", [indices, [count, size]])
    updates = node.one("Expand", [node.value(2), [count]])
    data = node.one("Expand", [node.value(3), [*shape]])
    return node.one("ScatterND", [data, places, updates])


def _segment(reduction: str, number: float, *, sorted_ids: bool = False) -> Rule:
    """Return a rule: scatterND, with a reduction for elements of one segment. The number of segments must be known."""

    def rule(node: Node) -> Result:
        data, ids = node.value(0), node.value(1)
        count = max(node.known_integers(1, "the ids"), default=-1) + 1 if sorted_ids else node.known_integer(2, "the number of segments")
        if data.dtype.kind not in "iuf":
            raise Refused(f"the data must be numbers, got {data.dtype.name}")
        if ids.shape != data.shape[: ids.rank]:
            raise Refused(f"the ids must have the first dimensions of {list(data.shape)}, got {list(ids.shape)}")
        limits = np.finfo(data.dtype) if data.dtype.kind == "f" else np.iinfo(data.dtype)
        first = min(max(number, limits.min), limits.max)
        places = node.one("Unsqueeze", [ids, [ids.rank]])
        return _scatter(node, places, data, (count, *data.shape[ids.rank :]), first, reduction)

    return rule


def _dynamic_update_slice(node: Node) -> Result:
    """Map to scatterND, with the coordinates of all elements of the update. The begin may be computed; it is clamped."""
    value, update, begin = node.value(0), node.value(1), node.value(2)
    if update.rank != value.rank or any(a > b for a, b in zip(update.shape, value.shape, strict=True)) or begin.shape != (value.rank,):
        raise Refused(f"the update must fit into {list(value.shape)}, and begin at one place, got {list(update.shape)}")
    if not value.rank:
        return update
    grid = find_coordinates(node, update.shape, range(update.rank))
    most = np.subtract(value.shape, update.shape).astype(np.int32)
    if begin.array is not None:
        coordinates = node.constant(grid + np.clip(begin.array, 0, most).astype(np.int32))
    else:
        builder = node.builder
        first = builder.min(builder.max(node.cast(node.operand(2), "int32"), node.scalar(0, "int32")), node.constant(most))
        coordinates = builder.add(node.constant(grid), first)
    return node.builder.scatterND(node.operand(0), coordinates, node.operand(1))


def _one_hot(node: Node) -> Result:
    """Compare the indices with all places; indices out of range are nowhere. The depth must be known."""
    builder, shape, depth = node.builder, node.value(0).shape, node.known_integer(1, "the depth")
    if not 1 <= depth <= _MOST:
        raise Refused(f"the depth must be from 1 to {_MOST}, got {depth}")
    axis = node.axis("Axis", len(shape) + 1, -1)
    places = node.reshape(node.cast(node.operand(0), "int32"), [*shape[:axis], 1, *shape[axis:]])
    every = node.constant(np.arange(depth, dtype=np.int32).reshape(-1, *[1] * (len(shape) - axis)))
    on, off = (node.reshape(node.operand(index), []) for index in (2, 3))
    return builder.where(builder.equal(places, every), on, off)


def _bucketize(node: Node) -> Result:
    """Count the boundaries that are at most as large."""
    builder, boundaries = node.builder, np.array(node.option("Boundaries", []), np.float32)
    if not boundaries.size:
        return make_uniform(node.value(0).shape, np.dtype(np.int32))
    x = node.cast(node.operand(0), "float32")
    reached = builder.greaterOrEqual(node.reshape(x, [*x.descriptor.dimensions, 1]), node.constant(boundaries))
    return builder.reduceSum(node.cast(reached, "int32"), axes=[x.descriptor.rank])


def _broadcast_args(node: Node) -> Result:
    """Return the shape to which two shapes broadcast, which must be known."""
    shapes = [tuple(node.known_integers(index, "the shape")) for index in range(2)]
    found = bidirectionally_broadcast(*shapes)
    if found is None:
        raise Refused(f"the shapes must broadcast, got {' and '.join(str(list(each)) for each in shapes)}")
    return np.array(found, node.outputs[0].dtype)


RULES: Rules = {
    "ARG_MAX": lambda node: node.one("ArgMax", [node.value(0)], axis=node.known_axis(1, node.value(0).rank), keepdims=0),
    "ARG_MIN": lambda node: node.one("ArgMin", [node.value(0)], axis=node.known_axis(1, node.value(0).rank), keepdims=0),
    "BROADCAST_ARGS": _broadcast_args,
    "BUCKETIZE": _bucketize,
    "DYNAMIC_UPDATE_SLICE": _dynamic_update_slice,
    "GATHER": _gather,
    "GATHER_ND": borrow("GatherND"),
    "ONE_HOT": _one_hot,
    "RANGE": borrow("Range"),
    "SCATTER_ND": lambda node: _scatter(node, node.value(0), node.value(1), tuple(node.known_integers(2, "the shape")), 0, "add"),
    "SEGMENT_SUM": _segment("add", 0, sorted_ids=True),
    "SPARSE_TO_DENSE": _sparse_to_dense,
    "TOPK_V2": lambda node: node.onnx("TopK", [node.value(0), [node.known_integer(1, "k")]], outputs=2, axis=-1),
    "UNSORTED_SEGMENT_MAX": _segment("max", -np.inf),
    "UNSORTED_SEGMENT_MIN": _segment("min", np.inf),
    "UNSORTED_SEGMENT_PROD": _segment("mul", 1),
    "UNSORTED_SEGMENT_SUM": _segment("add", 0),
    "WHERE": lambda node: np.argwhere(node.known(0, "the condition, which gives the result its shape,")).astype(np.int64),
}
