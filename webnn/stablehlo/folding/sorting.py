"""Known elements in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from webnn.builder.elementwise import total_order
from webnn.importing.values import Array, Refused, Value
from webnn.stablehlo.comparators import Comparator, find_axis, split_comparator
from webnn.stablehlo.folding import Fold
from webnn.stablehlo.node import Item, Node

__all__ = ["FOLDS"]

#: The most elements that a comparator of more than one comparison compares with each other.
_MOST_COMPARED = 4096
#: The most comparisons at once.
_MOST_AT_ONCE = 1 << 22


def _sort(node: Node) -> list[Array] | None:
    arrays, axis = node.arrays(), find_axis(node)
    if axis is None:
        return arrays
    order = _find_order(node, [np.moveaxis(array, axis, -1) for array in arrays])
    if order is None:
        return None
    return [np.take_along_axis(array, np.moveaxis(order, -1, axis), axis) for array in arrays]


def _find_order(node: Node, arrays: Sequence[Array]) -> Array | None:
    """Return the positions of elements in their order along the last dimension; None if that is not computed here."""
    comparator = split_comparator(node.regions, len(arrays))
    items = [Value.known(array) for array in arrays]
    found = node.run(comparator.keys, [item for item in items for _ in range(2)])
    keys: list[Array] = []
    for item in found:
        if not isinstance(item, Value) or item.array is None:
            return None
        keys.append(np.broadcast_to(item.array, arrays[0].shape))
    if comparator.comparison is None:
        return _compare_all(node, comparator, keys)
    (key,) = keys
    numbers = _number(key, is_total=comparator.comparison.is_total)
    return None if numbers is None else np.argsort(~numbers if comparator.comparison.is_descending else numbers, axis=-1, kind="stable")


def _number(key: Array, *, is_total: bool) -> Array | None:
    """Return integers in the order of keys; None if they have none."""
    kind, name = key.dtype.kind, key.dtype.name
    if kind == "c":
        return None
    if kind == "b" or name in ("int2", "int4", "uint2", "uint4"):
        return key.astype(np.int8)
    if kind in "iu":
        return key
    if kind != "f" or name not in ("float16", "float32", "float64"):
        # Smaller types of ml_dtypes.
        key = key.astype(np.float32)
    if not is_total:
        # All NaN are one, and so are the zeros.
        key = np.where(key != key, np.array(np.inf, key.dtype), key + np.array(0, key.dtype))  # noqa: PLR0124 (is NaN)
    return total_order(key)


def _compare_all(node: Node, comparator: Comparator, keys: Sequence[Array]) -> Array | None:
    """Compare all elements with each other, some at once: the number of those before an element is its place."""
    shape = keys[0].shape if keys else ()
    if not shape or shape[-1] > _MOST_COMPARED:
        return None
    size = shape[-1]
    rows = max(1, _MOST_AT_ONCE // max(1, int(np.prod(shape))))
    ranks = np.empty(shape, np.int64)
    for begin in range(0, size, rows):
        end = min(begin + rows, size)
        some, every = [key[..., begin:end, np.newaxis] for key in keys], [key[..., np.newaxis, :] for key in keys]
        is_before, is_behind = _compare(node, comparator, every, some), _compare(node, comparator, some, every)
        if is_before is None or is_behind is None:
            return None
        is_earlier = np.arange(size) < np.arange(begin, end)[:, np.newaxis]
        wide = (*shape[:-1], end - begin, size)
        ranks[..., begin:end] = np.broadcast_to(is_before | (is_earlier & ~is_behind), wide).sum(-1)
    if not np.array_equal(np.sort(ranks), np.broadcast_to(np.arange(size), shape)):
        raise Refused("the comparator must put elements in an order, got one that does not decide between some of them")
    order = np.empty(shape, np.int64)
    np.put_along_axis(order, ranks, np.broadcast_to(np.arange(size), shape), -1)
    return order


def _compare(node: Node, comparator: Comparator, one: Sequence[Array], other: Sequence[Array]) -> Array | None:
    taken: list[Item] = [Value.known(one[index]) for index in comparator.first]
    taken += [Value.known(other[index]) for index in comparator.second]
    (result,) = node.run(comparator.rest, taken)
    return result.array.astype(np.bool_) if isinstance(result, Value) and result.array is not None else None


FOLDS: Mapping[str, Fold] = {"stablehlo.sort": _sort}
