"""Windows of known elements at known indices: gathered, and updated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from webnn.importing.steps import product
from webnn.importing.values import Array, Value, make_uniform
from webnn.stablehlo.elements import tensor_type
from webnn.stablehlo.folding import Fold
from webnn.stablehlo.folding.reduction import REDUCERS
from webnn.stablehlo.indexed import Windows, along, count_earlier, find_gathered, find_scattered
from webnn.stablehlo.node import Node
from webnn.stablehlo.regions import find_kinds
from webnn.stablehlo.tensors import run_body

__all__ = ["FOLDS"]

#: The most updates of one element by a region.
_MOST_ROUNDS = 1000


def _coordinates(windows: Windows, starts: Array) -> tuple[Array, ...]:
    """Return the places in the tensor of the elements outside: for each of its dimensions indices that broadcast to the shape outside."""
    shape = windows.outside
    dimensions = dict(zip(windows.kept, windows.offsets, strict=True))
    batch = [axis for axis in range(len(shape)) if axis not in windows.offsets]
    column = [shape[axis] if axis in batch else 1 for axis in range(len(shape))]
    found: list[Array] = []
    for axis, size in enumerate(windows.sizes):
        indices: Array = np.zeros([1] * len(shape), np.int64)
        if axis in windows.mapped:
            indices = starts[..., windows.mapped.index(axis)].reshape(column)
        elif axis in windows.batching:
            place = batch[windows.batching[axis]]
            indices = along(shape[place], place, len(shape))
        if axis in dimensions:
            indices = indices + along(size, dimensions[axis], len(shape))
        found.append(indices)
    return tuple(found)


def _take(node: Node, sizes: Sequence[int]) -> Array:
    windows = find_gathered(node, sizes)
    shape = node.fit(windows.outside)
    if None in tensor_type(node.types[0]).shape:
        node.spend(product(shape) * node.dtype().itemsize)
    if 0 in shape:
        return make_uniform(shape, node.dtype())
    starts = windows.vectors(node.array(1)).clip(0, windows.limits)
    found: Array = np.broadcast_to(node.array(0)[_coordinates(windows, starts)], shape)
    return found


def _scatter(node: Node) -> list[Array] | None:
    windows = find_scattered(node)
    count = len(node.types)
    inputs, updates = node.arrays()[:count], node.arrays()[count + 1 :]
    for index, array in enumerate(inputs):
        node.fit(array.shape, index)
    if not updates[0].size:
        return inputs
    vectors = windows.vectors(node.array(count))
    starts = vectors.clip(0, windows.limits)
    shape = windows.outside
    node.spend(2 * np.dtype(np.int64).itemsize * product(shape))
    places = np.broadcast_to(np.ravel_multi_index(_coordinates(windows, starts), windows.shape), shape).reshape(-1)
    # A window that does not lie in the input is left out.
    is_inside = (vectors == starts).all(-1)
    column = [size if axis not in windows.offsets else 1 for axis, size in enumerate(shape)]
    chosen = np.flatnonzero(np.broadcast_to(is_inside.reshape(column), shape))
    places = places[chosen]
    rows = [array.reshape(-1)[chosen] for array in updates]
    results = [array.copy().reshape(-1) for array in inputs]
    kinds = find_kinds(node.regions[0])
    if kinds is not None and len(kinds) == count:
        for kind, result, row in zip(kinds, results, rows, strict=True):
            REDUCERS[kind].at(result, places, row)
    elif not _run_rounds(node, results, places, rows):
        return None
    return [result.reshape(windows.shape) for result in results]


def _run_rounds(node: Node, results: Sequence[Array], places: Array, rows: Sequence[Array]) -> bool:
    """Update elements by the region, each of them at most once in a round; tell whether that was possible."""
    earlier = count_earlier(places)
    rounds = int(earlier.max(initial=-1)) + 1
    if rounds > _MOST_ROUNDS:
        return False
    for number in range(rounds):
        now = np.flatnonzero(earlier == number)
        items = [Value.known(result[places[now]]) for result in results] + [Value.known(row[now]) for row in rows]
        for result, item in zip(results, run_body(node, node.regions[0], items, now.shape), strict=True):
            if item.array is None:
                return False
            result[places[now]] = item.array
    return True


FOLDS: Mapping[str, Fold] = {
    "stablehlo.dynamic_gather": lambda node: _take(node, [int(each) for each in node.array(2).reshape(-1)]),
    "stablehlo.gather": lambda node: _take(node, node.integers("slice_sizes")),
    "stablehlo.scatter": _scatter,
}
