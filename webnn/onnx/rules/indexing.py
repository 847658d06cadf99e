"""Operators that pick or replace elements by index. Known indices must be in range; computed ones outside are clamped."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.along import find_coordinates
from webnn.importing.moving import slice_axis
from webnn.importing.named import are_same, have_names, is_empty, is_same, sizes_of
from webnn.importing.steps import Result, limit_of, product
from webnn.importing.values import Array, Refused, make_uniform
from webnn.onnx.node import Node
from webnn.validation.descriptor import NUMPY_DTYPES

__all__ = ["RULES"]

#: The most elements of a comparison of all indices with all places.
_MOST_COMPARED = 1 << 24
#: The most places of a one-hot vector.
_MOST_DEPTH = 1 << 24


def _from_front(node: Node, indices: MLOperand, sizes: Sequence[int]) -> MLOperand:
    """Count computed indices from the front."""
    if indices.descriptor.dataType == "uint32":
        return indices
    limits = node.constant(np.array(sizes if len(sizes) > 1 else sizes[0], NUMPY_DTYPES[indices.descriptor.dataType]))
    return node.builder.where(node.builder.lesser(indices, node.scalar(0, indices)), node.builder.add(indices, limits), indices)


def _join(node: Node, parts: Sequence[Array | MLOperand]) -> MLOperand:
    """Join parts of coordinates along their last dimension; known parts get the type of the computed one."""
    computed = next(part for part in parts if not isinstance(part, np.ndarray))
    dtype = NUMPY_DTYPES[computed.descriptor.dataType]
    found = [part for part in parts if 0 not in _shape(part)]
    node.spend(sum(part.size * dtype.itemsize for part in found if isinstance(part, np.ndarray) and part.dtype != dtype))
    operands = [node.constant(part.astype(dtype, copy=False)) if isinstance(part, np.ndarray) else part for part in found]
    return node.builder.concat(operands, len(_shape(computed)) - 1) if len(operands) > 1 else operands[0]


def _shape(part: Array | MLOperand) -> tuple[int, ...]:
    return part.shape if isinstance(part, np.ndarray) else part.descriptor.dimensions


# Gathering.


def _gather(node: Node) -> Result:
    """Map to gather, or to slice for one element of a dimension with a name. Known indices must be in range; others are clamped."""
    value, indices = node.value(0), node.value(1)
    axis = node.axis("axis", 0, value.rank)
    if is_empty(indices.shape):
        return make_uniform((*value.shape[:axis], *indices.shape, *value.shape[axis + 1 :]), value.dtype)
    size = value.shape[axis]
    if have_names([size]) and indices.array is not None and indices.dtype.kind == "i" and is_same(indices.size, 1):
        [index] = sizes_of(indices.array)
        part = slice_axis(node, node.operand(0), axis, index + size if index < 0 else index, 1)
        return node.reshape(part, [*value.shape[:axis], *indices.shape, *value.shape[axis + 1 :]])
    return node.builder.gather(node.operand(0), node.indices(1, size), axis=axis)


def _gather_elements(node: Node) -> Result:
    """Map to gatherElements. Where the indices have smaller dimensions than the input, it is sliced first."""
    value, indices = node.value(0), node.value(1)
    axis = node.axis("axis", 0, value.rank)
    if not indices.size:
        return make_uniform(indices.shape, value.dtype)
    x = node.operand(0)
    sizes = [size if index == axis else other for index, (size, other) in enumerate(zip(value.shape, indices.shape, strict=False))]
    if indices.rank != value.rank or any(size > given for size, given in zip(sizes, value.shape, strict=True)):
        raise Refused(f"the indices must fit into {list(value.shape)} but for axis {axis}, got {list(indices.shape)}")
    if not are_same(sizes, value.shape):
        x = node.builder.slice(x, [0] * value.rank, sizes)
    return node.builder.gatherElements(x, node.indices(1, value.shape[axis]), axis=axis)


def _gather_nd(node: Node) -> Result:
    """Map to gatherND. The coordinates of batches are put in front of the others."""
    value, indices = node.value(0), node.value(1)
    batches = node.integer("batch_dims", 0)
    if not 0 <= batches < min(value.rank, indices.rank) or value.shape[:batches] != indices.shape[:batches]:
        raise Refused(f"batch_dims must count equal dimensions of {list(value.shape)} and {list(indices.shape)}, got {batches}")
    depth = indices.shape[-1]
    if not 1 <= depth <= value.rank - batches:
        raise Refused(f"the coordinates must have from 1 to {value.rank - batches} parts, got {depth}")
    if not indices.size:
        return make_uniform((*indices.shape[:-1], *value.shape[batches + depth :]), value.dtype)
    sizes = value.shape[batches : batches + depth]
    if not batches:
        return node.builder.gatherND(node.operand(0), node.indices(1, *sizes))
    front = find_coordinates(node, indices.shape[:-1], range(batches))
    known = node.known_indices(1, *sizes)
    coordinates = _join(node, [front, node.operand(1)]) if known is None else node.constant(np.concatenate([front, known], -1))
    return node.builder.gatherND(node.operand(0), coordinates)


def _array_feature_extractor(node: Node) -> Result:
    """Map to gather along the last axis."""
    value, indices = node.value(0), node.value(1)
    if not value.rank or not indices.size:
        raise Refused(f"the input must have dimensions, and the indices elements, got {list(value.shape)} and {list(indices.shape)}")
    places = node.reshape(node.indices(1, value.shape[-1]), [indices.size])
    found = node.builder.gather(node.operand(0), places, axis=value.rank - 1)
    return node.reshape(found, [1, indices.size]) if value.rank == 1 else found


# Scattering.

#: For each reduction the operation on two operands, the one along an axis, and what changes nothing.
_REDUCTIONS: Mapping[str, tuple[str, str, float]] = {
    "add": ("add", "reduceSum", 0),
    "mul": ("mul", "reduceProduct", 1),
    "max": ("max", "reduceMax", -math.inf),
    "min": ("min", "reduceMin", math.inf),
}


def _reduction(node: Node) -> str:
    """Return the reduction of the node, or an empty text."""
    reduction = node.choice("reduction", "none", ("none", *_REDUCTIONS))
    if reduction in ("add", "mul") and node.value(0).dtype.kind == "b":
        raise Refused(f"the data must be numbers to {reduction} them, got bool")
    return "" if reduction == "none" else reduction


def _combine(node: Node, reduction: str, a: MLOperand, b: MLOperand) -> MLOperand:
    return cast("MLOperand", getattr(node.builder, _REDUCTIONS[reduction][0])(a, b))


def _accumulate(node: Node, reduction: str, data: MLOperand, places: MLOperand, updates: MLOperand) -> MLOperand:
    """Reduce all updates of each place: those that are for another place count as what changes nothing.

    ``places`` tells which of the N places of [before, N, behind] each update is for. It and the updates are [before, 1, M, behind], the
    sizes of the first may be 1.
    """
    builder = node.builder
    before, count, behind = data.descriptor.dimensions
    compared = before * count * behind * updates.descriptor.dimensions[2]
    if compared > _MOST_COMPARED:
        raise Refused(
            f"the updates times the places that they may be for must be at most {_MOST_COMPARED}, got {compared}",
            "indices that are known and different have no such limit",
        )
    _, along, number = _REDUCTIONS[reduction]
    if data.descriptor.dataType in ("int8", "uint8"):
        data, updates = node.cast(data, "int32"), node.cast(updates, "int32")
    if math.isinf(number):
        number = limit_of(data, is_least=number < 0)
    every = node.constant(np.arange(count, dtype=NUMPY_DTYPES[places.descriptor.dataType]).reshape(1, count, 1, 1))
    chosen = builder.where(builder.equal(places, every), updates, node.scalar(number, data))
    return _combine(node, reduction, data, getattr(builder, along)(chosen, axes=[2], keepDimensions=False))


def _are_unique(indices: Array, sizes: Sequence[int]) -> bool:
    """Tell whether all known coordinates, [places..., sizes], differ."""
    flat = np.ravel_multi_index(tuple(np.moveaxis(indices, -1, 0).reshape(len(sizes), -1)), tuple(sizes))
    return len(np.unique(flat)) == flat.size


def _scatter_elements(node: Node) -> Result:
    """Map to scatterElements, or to scatterND where the indices have smaller dimensions than the data.

    With a reduction, known indices that differ are gathered, combined with the updates and scattered. For others, each place reduces those
    updates that are for it; the comparison is refused if it is too large.
    """
    builder = node.builder
    value, indices = node.value(0), node.value(1)
    axis = node.axis("axis", 0, value.rank)
    if indices.rank != value.rank or indices.shape != node.value(2).shape:
        raise Refused(
            f"indices and updates must have one shape of {value.rank} dimensions, got {list(indices.shape)} and {list(node.value(2).shape)}"
        )
    if any(size > given for index, (size, given) in enumerate(zip(indices.shape, value.shape, strict=True)) if index != axis):
        raise Refused(f"the indices must fit into {list(value.shape)} but for axis {axis}, got {list(indices.shape)}")
    reduction = _reduction(node)
    if not indices.size:
        return value
    size = value.shape[axis]
    known = node.known_indices(1, size)
    data, updates = node.operand(0), node.operand(2)
    others = [index for index in range(value.rank) if index != axis]
    if any(indices.shape[index] != value.shape[index] for index in others):
        front, behind = (
            find_coordinates(node, indices.shape, axes) if axes else np.zeros((*indices.shape, 0))
            for axes in (others[:axis], others[axis:])
        )
        if known is not None:
            coordinates = np.concatenate([front, known[..., np.newaxis], behind], -1).astype(np.int32)
            return _scatter_coordinates(node, reduction, value.rank, coordinates, node.constant(coordinates))
        found = node.reshape(node.operand(1), [*indices.shape, 1])
        return _scatter_coordinates(node, reduction, value.rank, None, _join(node, [front, found, behind]))
    places = node.operand(1) if known is None else node.constant(known)
    if not reduction:
        return builder.scatterElements(data, places, updates, axis=axis)
    if known is not None:
        coordinates = find_coordinates(node, indices.shape, range(value.rank))
        coordinates[..., axis] = known
        if _are_unique(coordinates, value.shape):
            combined = _combine(node, reduction, builder.gatherElements(data, places, axis=axis), updates)
            return builder.scatterElements(data, places, combined, axis=axis)
    else:
        places = _from_front(node, places, [size])
    before, behind_size = product(value.shape[:axis]), product(value.shape[axis + 1 :])
    wide = [before, 1, indices.shape[axis], behind_size]
    folded = node.reshape(data, [before, size, behind_size])
    return node.reshape(_accumulate(node, reduction, folded, node.reshape(places, wide), node.reshape(updates, wide)), value.shape)


def _scatter_nd(node: Node) -> Result:
    """Map to scatterND. For reductions see ScatterElements."""
    value, indices = node.value(0), node.value(1)
    if not indices.rank or not 1 <= indices.shape[-1] <= value.rank:
        raise Refused(f"the coordinates must have from 1 to {value.rank} parts, got {list(indices.shape)}")
    depth = indices.shape[-1]
    wanted = (*indices.shape[:-1], *value.shape[depth:])
    if node.value(2).shape != wanted:
        raise Refused(f"the updates must have the shape {list(wanted)}, got {list(node.value(2).shape)}")
    reduction = _reduction(node)
    if not indices.size:
        return value
    known = node.known_indices(1, *value.shape[:depth])
    return _scatter_coordinates(node, reduction, depth, known, node.operand(1) if known is None else node.constant(known))


def _scatter_coordinates(node: Node, reduction: str, depth: int, known: Array | None, coordinates: MLOperand) -> MLOperand:
    """Scatter the third input into the first one, by coordinates of ``depth`` parts; without a reduction its name is empty."""
    builder = node.builder
    shape = node.value(0).shape
    data, updates = node.operand(0), node.operand(2)
    if not reduction:
        return builder.scatterND(data, coordinates, updates)
    sizes = shape[:depth]
    if known is not None and _are_unique(known, sizes):
        return builder.scatterND(data, coordinates, _combine(node, reduction, builder.gatherND(data, coordinates), updates))
    count, behind = product(sizes), product(shape[depth:])
    steps = product(coordinates.descriptor.dimensions[:-1])
    if known is not None:
        places = node.constant(np.asarray(np.ravel_multi_index(tuple(known.reshape(steps, depth).T), sizes), np.int32))
    else:
        places = node.reshape(_from_front(node, coordinates, sizes), [steps, depth])
        if depth > 1:
            strides = np.array([product(sizes[axis + 1 :]) for axis in range(depth)], NUMPY_DTYPES[places.descriptor.dataType])
            places = builder.reduceSum(builder.mul(places, node.constant(strides)), axes=[1], keepDimensions=False)
    folded, wide = node.reshape(data, [1, count, behind]), node.reshape(updates, [1, 1, steps, behind])
    return node.reshape(_accumulate(node, reduction, folded, node.reshape(places, [1, 1, steps, 1]), wide), shape)


def _tensor_scatter(node: Node) -> Result:
    """Map to scatterND with the coordinates of all updates. The positions may be computed."""
    builder = node.builder
    value, update = node.value(0), node.value(1)
    axis = node.axis("axis", -2, value.rank)
    is_circular = node.choice("mode", "linear", ("linear", "circular")) == "circular"
    if not axis:
        raise Refused("axis must not be that of the batches, 0")
    length, steps = value.shape[axis], update.shape[axis] if axis < update.rank else 0
    if update.shape != (*value.shape[:axis], steps, *value.shape[axis + 1 :]) or not 0 < steps <= length:
        raise Refused(f"the update must have the shape of the cache but for axis {axis}, got {list(value.shape)} and {list(update.shape)}")
    if node.given(2) and node.value(2).shape != value.shape[:1]:
        raise Refused(f"write_indices must be one number for each of {value.shape[0]} batches, got {list(node.value(2).shape)}")
    places = np.arange(steps, dtype=np.int32)
    spread = [value.shape[0], *[1] * axis]
    begin = np.zeros(value.shape[:1], np.int64) if not node.given(2) else node.value(2).array
    grid = find_coordinates(node, update.shape[: axis + 1], range(axis + 1))
    if begin is not None:
        found = begin.astype(np.int64).reshape(spread) + places
        found = found % length if is_circular else found
        if found.min() < 0 or found.max() >= length:
            raise Refused(f"the updates must be from 0 to {length - 1} along axis {axis}, got some from {found.min()} to {found.max()}")
        grid[..., axis] = found
        return builder.scatterND(node.operand(0), node.constant(grid), node.operand(1))
    moved = builder.add(node.reshape(node.cast(node.operand(2), "int32"), spread), node.constant(places))
    if is_circular:
        size = node.scalar(length, "int32")
        moved = builder.sub(moved, builder.mul(builder.div(moved, size), size))
    if product(value.shape[1:axis]) > 1:
        moved = builder.expand(moved, list(grid.shape[:-1]))
    moved = node.reshape(moved, [*grid.shape[:-1], 1])
    return builder.scatterND(node.operand(0), _join(node, [grid[..., :axis], moved]), node.operand(1))


# One-hot vectors.


def _one_hot(node: Node) -> Result:
    """Compare the indices with all places. Indices out of range are nowhere. The depth must be known."""
    builder = node.builder
    indices = node.value(0)
    depth = node.known(1, "depth")
    if depth.size != 1 or not 0 <= depth.item() <= _MOST_DEPTH:
        raise Refused(f"depth must be a number from 0 to {_MOST_DEPTH}, got {depth.reshape(-1)[:9].tolist()}")
    if node.value(2).shape != (2,):
        raise Refused(f"values must be two numbers, got {list(node.value(2).shape)}")
    size = int(depth.item())
    axis = node.axis("axis", -1, indices.rank + 1)
    shape = [*indices.shape[:axis], 1, *indices.shape[axis:]]
    if not size or not indices.size:
        return make_uniform([*shape[:axis], size, *shape[axis + 1 :]], node.value(2).dtype)
    if indices.array is not None:
        numbers = indices.array.astype(np.int64)
        numbers = np.where(numbers < 0, numbers + size, numbers)
        places = node.constant(np.asarray(np.where((numbers >= 0) & (numbers < size), numbers, -1), np.int32))
    else:
        places = node.operand(0)
        # Fractions are dropped; 8-bit integers could not hold the depth.
        if node.is_float(places):
            places = node.cast(places, "int64")
        elif places.descriptor.dataType in ("int8", "uint8"):
            places = node.cast(places, "int32")
        places = _from_front(node, places, [size])
    every = np.arange(size, dtype=NUMPY_DTYPES[places.descriptor.dataType]).reshape(
        [-1 if each == axis else 1 for each in range(len(shape))]
    )
    hit = builder.equal(node.reshape(places, shape), node.constant(every))
    pair = node.value(2).array
    if pair is not None and pair.tolist() == [0, 1]:
        return hit
    values = node.operand(2)
    return builder.where(hit, builder.slice(values, [1], [1]), builder.slice(values, [0], [1]))


RULES: Mapping[str, Callable[[Node], Result]] = {
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "OneHot": _one_hot,
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "TensorScatter": _tensor_scatter,
    "ai.onnx.ml.ArrayFeatureExtractor": _array_feature_extractor,
}
