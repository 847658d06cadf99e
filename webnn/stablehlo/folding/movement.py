"""Constants, and elements that are known and move to places that do not depend on elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from webnn.importing.steps import product
from webnn.importing.values import Array, Refused
from webnn.stablehlo.elements import tensor_type
from webnn.stablehlo.folding import Fold
from webnn.stablehlo.node import Node
from webnn.stablehlo.shapes import (
    check_axes,
    check_axis,
    check_starts,
    find_broadcast,
    find_concatenated,
    find_padded,
    find_reshaped,
    find_sliced,
    find_transposed,
)

__all__ = ["FOLDS"]

#: The attributes of operations whose operands say the same in dynamic ones.
_SLICE = ("start_indices", "limit_indices", "strides")
_PADDING = ("edge_padding_low", "edge_padding_high", "interior_padding")


def _integers(node: Node, index: int) -> list[int]:
    return [int(each) for each in node.array(index).reshape(-1)]


def _constant(node: Node) -> Array:
    array = node.attribute("value", np.ndarray)
    node.fit(array.shape)
    return array


def _make_iota(node: Node, shape: Sequence[int]) -> Array:
    dimension = check_axis("iota_dimension", node.integer("iota_dimension"), len(shape))
    node.spend(shape[dimension] * node.dtype().itemsize)
    sizes = [1] * len(shape)
    sizes[dimension] = shape[dimension]
    return np.broadcast_to(np.arange(shape[dimension]).astype(node.dtype()).reshape(sizes), shape)


def _spend(node: Node, shape: Sequence[int]) -> None:
    """Note a result, unless its type says its sizes: then that is done."""
    node.fit(shape)
    if None in tensor_type(node.types[0]).shape:
        node.spend(product(shape) * node.dtype().itemsize)


def _sizes(node: Node, index: int) -> list[int]:
    """Return sizes that are an operand."""
    sizes = _integers(node, index)
    if any(size < 0 for size in sizes):
        raise Refused(f"sizes must be 0 or greater, got {sizes}")
    return sizes


def _in_body(node: Node) -> Array | None:
    """Return a scalar as it is: in a body it may be the elements of a whole tensor."""
    types = (*[value.type for value in node.operation.operands[:1]], *node.types)
    return node.array(0) if all(getattr(type, "rank", None) == 0 for type in types) else None


def _reshape(node: Node) -> Array:
    found = _in_body(node)
    return node.reshaped(node.array(0), find_reshaped(node.array(0).shape, node.shape())) if found is None else found


def _transpose(node: Node) -> Array:
    permutation = node.integers("permutation")
    node.fit(find_transposed(node.array(0).shape, permutation))
    return node.array(0).transpose(permutation)


def _broadcast(node: Node, shape: Sequence[int]) -> Array:
    array, dimensions = node.array(0), node.integers("broadcast_dimensions")
    find_broadcast(array.shape, dimensions, shape)
    array = array.transpose(sorted(range(array.ndim), key=dimensions.__getitem__))
    sizes = [1] * len(shape)
    for dimension, size in zip(sorted(dimensions), array.shape, strict=True):
        sizes[dimension] = size
    return np.broadcast_to(node.reshaped(array, sizes), shape)


def _broadcast_in_dim(node: Node) -> Array:
    found = _in_body(node)
    return _broadcast(node, node.shape()) if found is None else found


def _cut(node: Node, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int]) -> Array:
    node.fit(find_sliced(node.array(0).shape, starts, limits, strides))
    found: Array = node.array(0)[tuple([slice(*each) for each in zip(starts, limits, strides, strict=True)])]
    return found


def _starts(node: Node, first: int, shape: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Return the starts of a slice, clamped so that it lies in the operand."""
    arrays = node.arrays()[first:]
    check_starts(shape, sizes, [array.shape for array in arrays])
    return [min(max(int(array.reshape(())), 0), given - size) for array, size, given in zip(arrays, sizes, shape, strict=True)]


def _dynamic_slice(node: Node) -> Array:
    sizes, shape = node.integers("slice_sizes"), node.array(0).shape
    starts = _starts(node, 1, shape, sizes)
    return _cut(node, starts, [start + size for start, size in zip(starts, sizes, strict=True)], [1] * len(sizes))


def _dynamic_update_slice(node: Node) -> Array:
    array, update = node.array(0), node.array(1)
    starts = _starts(node, 2, array.shape, update.shape)
    node.fit(array.shape)
    found = array.copy()
    found[tuple([slice(start, start + size) for start, size in zip(starts, update.shape, strict=True)])] = update
    return found


def _concatenate(node: Node) -> Array:
    arrays, axis = node.arrays(), node.integer("dimension")
    _spend(node, find_concatenated([array.shape for array in arrays], axis))
    return np.concatenate(arrays, axis)


def _reverse(node: Node) -> Array:
    node.fit(node.array(0).shape)
    found: Array = np.flip(node.array(0), tuple(check_axes("dimensions", node.integers("dimensions"), node.array(0).ndim)))
    return found


def _fill(node: Node, low: Sequence[int], high: Sequence[int], interior: Sequence[int]) -> Array:
    array = node.array(0)
    shape = find_padded(array.shape, low, high, interior)
    _spend(node, shape)
    found = np.full(shape, node.array(1).reshape(()), array.dtype)
    source, target = [], []
    for size, given, before, inner in zip(shape, array.shape, low, interior, strict=True):
        step = inner + 1
        # The first element that is not removed, and the first one behind those that are not.
        first = max(0, -(before // step))
        behind = min(given, max(first, -((before - size) // step)))
        source.append(slice(first, behind))
        target.append(slice(before + first * step, before + (behind - 1) * step + 1, step) if behind > first else slice(0, 0))
    found[tuple(target)] = array[tuple(source)]
    return found


FOLDS: Mapping[str, Fold] = {
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.constant": _constant,
    "stablehlo.dynamic_broadcast_in_dim": lambda node: _broadcast(node, node.fit(_sizes(node, 1))),
    "stablehlo.dynamic_iota": lambda node: _make_iota(node, node.fit(_sizes(node, 0))),
    "stablehlo.dynamic_pad": lambda node: _fill(node, *[_integers(node, index) for index in (2, 3, 4)]),
    "stablehlo.dynamic_reshape": lambda node: node.reshaped(node.array(0), node.fit(find_reshaped(node.array(0).shape, _sizes(node, 1)))),
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.iota": lambda node: _make_iota(node, node.shape()),
    "stablehlo.pad": lambda node: _fill(node, *[node.integers(name) for name in _PADDING]),
    "stablehlo.real_dynamic_slice": lambda node: _cut(node, *[_integers(node, index) for index in (1, 2, 3)]),
    "stablehlo.reshape": _reshape,
    "stablehlo.reverse": _reverse,
    "stablehlo.slice": lambda node: _cut(node, *[node.integers(name) for name in _SLICE]),
    "stablehlo.transpose": _transpose,
}
