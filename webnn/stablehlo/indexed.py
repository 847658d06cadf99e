"""`Windows`: which windows of a tensor an array of indices names. Gathering reads them, and scattering writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from webnn.hlo.attributes import GatherDimensionNumbers, ScatterDimensionNumbers
from webnn.importing.steps import product
from webnn.importing.values import Array, Refused
from webnn.stablehlo.node import Node
from webnn.stablehlo.shapes import check_axes, check_axis

__all__ = ["Windows", "along", "count_earlier", "find_gathered", "find_scattered"]

#: Places are computed in 64 bits.
_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """Windows of a tensor: one for each index vector.

    The windows together are a tensor of their own, "outside": what is gathered, or the updates.

    Attributes:
        shape: The tensor.
        sizes: A window, in the dimensions of the tensor.
        mapped: The dimension of the tensor that each part of an index vector is for. A window starts at 0 along others.
        batching: Dimensions of the tensor that are dimensions of the batch, with these.
        dropped: The dimensions of the tensor, of size 1 in a window, that are missing outside.
        vector: The dimension of the indices that has the index vectors; their rank if each number is a vector of its own.
        batch: The shape of the indices without it.
        offsets: The dimensions outside that belong to a window.
    """

    shape: tuple[int, ...]
    sizes: tuple[int, ...]
    mapped: tuple[int, ...]
    batching: dict[int, int]
    dropped: frozenset[int]
    vector: int
    batch: tuple[int, ...]
    offsets: tuple[int, ...]

    @property
    def kept(self) -> list[int]:
        """The dimensions of the tensor that are there outside."""
        return [axis for axis in range(len(self.shape)) if axis not in self.dropped]

    @property
    def outside(self) -> tuple[int, ...]:
        """The shape of all windows together."""
        window, batch = iter([self.sizes[axis] for axis in self.kept]), iter(self.batch)
        return tuple([next(window if axis in self.offsets else batch) for axis in range(len(self.batch) + len(self.offsets))])

    @property
    def limits(self) -> list[int]:
        """The largest start of a window for each part of an index vector."""
        return [self.shape[axis] - self.sizes[axis] for axis in self.mapped]

    def order(self, first: Sequence[int]) -> list[int]:
        """Return the permutation of what is outside that puts the batch first, then some dimensions of the tensor, then the others."""
        dimensions = dict(zip(self.kept, self.offsets, strict=True))
        batch = [axis for axis in range(len(self.outside)) if axis not in self.offsets]
        named = [dimensions[axis] for axis in first if axis in dimensions]
        return [*batch, *named, *(axis for axis in self.offsets if axis not in named)]

    def vectors(self, indices: Array) -> Array:
        """Return known indices as int64, [batch..., parts]; numbers that are too large for it become its largest."""
        moved = indices[..., np.newaxis] if self.vector == indices.ndim else np.moveaxis(indices, self.vector, -1)
        return np.minimum(moved, np.iinfo(np.int64).max).astype(np.int64) if moved.dtype == np.uint64 else moved.astype(np.int64)

    def strides(self, merged: Sequence[int]) -> dict[int, int]:
        """Return what one step along each of some dimensions is worth where these dimensions are one."""
        return {axis: product([self.shape[each] for each in merged[place + 1 :]]) for place, axis in enumerate(merged)}

    def bases(self, node: Node, merged: Sequence[int]) -> Array:
        """Return the part of each window's place that follows from its place in the batch; it broadcasts to the batch."""
        node.spend(_BYTES * product([self.batch[place] for place in self.batching.values()]))
        strides = self.strides(merged)
        found = np.zeros([1] * len(self.batch), np.int64)
        for axis, place in self.batching.items():
            # A dimension of size 1 is not among them.
            found = found + strides.get(axis, 0) * along(self.batch[place], place, len(self.batch))
        return found

    def steps(self, node: Node, merged: Sequence[int]) -> Array:
        """Return the places of a window's elements along some dimensions, from its first one, in the dimensions that are kept."""
        strides = self.strides(merged)
        kept = [axis for axis in merged if axis not in self.dropped]
        node.spend(_BYTES * product([self.sizes[axis] for axis in kept]))
        found = np.zeros([1] * len(kept), np.int64)
        for place, axis in enumerate(kept):
            found = found + strides[axis] * along(self.sizes[axis], place, len(kept))
        return found

    def known_places(self, node: Node, starts: Array, merged: Sequence[int]) -> Array:
        """Return the places of elements along some dimensions that are made one, [batch..., window...], for index vectors in range."""
        strides = self.strides(merged)
        weights = np.array([strides.get(axis, 0) for axis in self.mapped], np.int64)
        first = (starts * weights).sum(-1) + self.bases(node, merged)
        steps = self.steps(node, merged)
        node.spend(_BYTES * product(self.batch) * steps.size)
        found: Array = np.broadcast_to(first, self.batch).reshape([*self.batch, *[1] * steps.ndim]) + steps
        return found


def along(size: int, axis: int, rank: int) -> Array:
    """Return the numbers from 0 along a dimension, which broadcast to the others."""
    return np.arange(size, dtype=np.int64).reshape([size if each == axis else 1 for each in range(rank)])


def _find(
    shape: tuple[int, ...],
    sizes: tuple[int, ...],
    indices: tuple[int, ...],
    *,
    mapped: tuple[int, ...],
    dropped: tuple[int, ...],
    batching: tuple[int, ...],
    batches: tuple[int, ...],
    vector: int,
    offsets: tuple[int, ...],
) -> Windows:
    """Return windows whose dimension numbers are checked."""
    rank = len(shape)
    if len(sizes) != rank or any(not 0 <= size <= given for size, given in zip(sizes, shape, strict=True)):
        raise Refused(f"a window must have a size that fits for each of {list(shape)}, got {list(sizes)}")
    if not 0 <= vector <= len(indices):
        raise Refused(f"index_vector_dim must be from 0 to {len(indices)}, got {vector}")
    parts = indices[vector] if vector < len(indices) else 1
    if len(mapped) != parts:
        raise Refused(f"the index vectors must have a part for each of the dimensions {list(mapped)}, got {parts}")
    for name, axes in (("the mapped and batching dimensions", (*mapped, *batching)), ("the dropped dimensions", (*dropped, *batching))):
        check_axes(name, axes, rank)
    if any(sizes[axis] != 1 for axis in (*dropped, *batching)):
        raise Refused(f"a window must have the size 1 along the dimensions {sorted((*dropped, *batching))}, got {list(sizes)}")
    batch = tuple([size for axis, size in enumerate(indices) if axis != vector])
    if len(offsets) != rank - len(dropped) - len(batching) or list(offsets) != sorted(offsets):
        raise Refused(f"the window dimensions must be in order, one for each of {list(shape)} that is not dropped, got {list(offsets)}")
    check_axes("the window dimensions", offsets, len(batch) + len(offsets))
    check_axes("the batching dimensions of the indices", batches, len(indices))
    if len(batches) != len(batching) or vector in batches:
        raise Refused(
            f"the batching dimensions must be as many, and not that of the index vectors, got {list(batching)} and {list(batches)}"
        )
    for axis, place in zip(batching, batches, strict=True):
        if shape[axis] != indices[place]:
            raise Refused(f"the batching dimensions must be equal, got {shape[axis]} and {indices[place]}")
    places = {axis: place if place < vector else place - 1 for axis, place in zip(batching, batches, strict=True)}
    return Windows(
        shape=shape,
        sizes=sizes,
        mapped=mapped,
        batching=places,
        dropped=frozenset((*dropped, *batching)),
        vector=vector,
        batch=batch,
        offsets=offsets,
    )


def find_gathered(node: Node, sizes: Sequence[int]) -> Windows:
    """Return the windows that a node gathers from its first operand at the indices of its second one."""
    numbers = node.attribute("dimension_numbers", GatherDimensionNumbers)
    return _find(
        node.value(0).shape,
        tuple(sizes),
        node.value(1).shape,
        mapped=numbers.start_index_map,
        dropped=numbers.collapsed_slice_dims,
        batching=numbers.operand_batching_dims,
        batches=numbers.start_indices_batching_dims,
        vector=numbers.index_vector_dim,
        offsets=numbers.offset_dims,
    )


def find_scattered(node: Node) -> Windows:
    """Return the windows of the inputs that a node updates, and check the shapes of all operands."""
    numbers = node.attribute("scatter_dimension_numbers", ScatterDimensionNumbers)
    count = len(node.items) // 2
    if len(node.items) != 2 * count + 1 or not count or len(node.types) != count:
        raise Refused(f"there must be as many inputs, updates and results, and the indices, got {len(node.items)} operands")
    region = node.regions[0] if len(node.regions) == 1 else None
    if region is None or len(region.arguments) != 2 * count or len(region.results) != count:
        raise Refused(f"there must be a region of {2 * count} arguments and {count} results")
    shape, updates = node.value(0).shape, node.value(count + 1).shape
    for index in range(count):
        if node.value(index).shape != shape or node.value(count + 1 + index).shape != updates:
            raise Refused(f"the inputs must have one shape, and the updates, too, got {[list(each.shape) for each in node.values()]}")
    missing = {*numbers.inserted_window_dims, *numbers.input_batching_dims}
    kept = [axis for axis in range(len(shape)) if axis not in missing]
    sizes = [1] * len(shape)
    for axis, place in zip(kept, numbers.update_window_dims, strict=False):
        sizes[axis] = updates[check_axis("update_window_dims", place, len(updates))]
    windows = _find(
        shape,
        tuple(sizes),
        node.value(count).shape,
        mapped=numbers.scatter_dims_to_operand_dims,
        dropped=numbers.inserted_window_dims,
        batching=numbers.input_batching_dims,
        batches=numbers.scatter_indices_batching_dims,
        vector=numbers.index_vector_dim,
        offsets=numbers.update_window_dims,
    )
    if windows.outside != updates:
        raise Refused(f"the updates must have the shape {list(windows.outside)}, got {list(updates)}")
    return windows


def count_earlier(places: Array) -> Array:
    """Return for each of known places how often it is there before."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]])[: places.size]
    numbers = np.arange(places.size)
    found = np.empty(places.size, np.int64)
    found[order] = numbers - np.maximum.accumulate(np.where(first, numbers, 0))
    return found
