"""Operations that put elements in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.along import take_along
from webnn.importing.ordering import Keys, make_key, make_positions, order_by
from webnn.importing.steps import Result, product
from webnn.importing.values import Array, Refused, Value, make_uniform
from webnn.stablehlo.comparators import Comparator, find_axis, split_comparator
from webnn.stablehlo.node import Item, Node
from webnn.stablehlo.rules import Rule

__all__ = ["RULES", "lower_custom_top_k", "lower_top_k"]

#: The most elements of a dimension.
_MOST = 1 << 20


def _sort(node: Node) -> list[Item] | list[Result]:
    """Find the order of the elements, and gather by it. The order is stable, whatever is_stable says.

    Up to 512 elements are compared with each other: the number of those before an element is its place. More go through a bitonic network;
    more than 1048576 are refused. The part of the comparator that computes with one element runs first, once for each element. If it then
    only compares one key, the comparison is that of WebNN, with NaN as the greatest number. The sign of NaN has no meaning.
    `stablehlo#sort`.
    """
    axis = find_axis(node)
    if axis is None:
        return list(node.items)
    values = node.values()
    shape = values[0].shape
    wide = (product(shape[:axis]), shape[axis], product(shape[axis + 1 :]))
    operands = [node.reshape(node.operand_of(value), wide) for value in values]
    keys = _make_keys(node, split_comparator(node.regions, len(operands)), operands, wide)
    order = order_by(node, keys, wide[1], most=_MOST)
    results: list[Result] = []
    for value, operand in zip(values, operands, strict=True):
        found = order if _counts(value.array, axis) else take_along(node, operand, order, 1)
        results.append(node.reshape(found, shape))
    return results


def _counts(array: Array | None, axis: int) -> bool:
    """Tell whether elements are their positions along a dimension."""
    if array is None or array.dtype.kind not in "iu":
        return False
    column = np.arange(array.shape[axis]).reshape([-1 if each == axis else 1 for each in range(array.ndim)])
    return bool((array == column).all())


def _make_keys(node: Node, comparator: Comparator, operands: Sequence[MLOperand], shape: tuple[int, int, int]) -> Keys:
    """Return the keys of elements: [before, n, behind]."""
    builder = node.builder
    items = [node.typed(operand, value.dtype) for operand, value in zip(operands, node.values(), strict=True)]
    found = node.run(comparator.keys, [item for item in items for _ in range(2)])
    values = [item for item in found if isinstance(item, Value)]
    keys = [_widen(node, node.operand_of(value), shape) for value in values]
    if comparator.comparison is not None:
        (key,) = keys
        return make_key(node, key, is_descending=comparator.comparison.is_descending, is_total=comparator.comparison.is_total)
    dtypes = [value.dtype for value in values]

    def compare(one: Sequence[MLOperand], other: Sequence[MLOperand]) -> MLOperand:
        taken: list[Item] = [node.typed(one[index], dtypes[index]) for index in comparator.first]
        taken += [node.typed(other[index], dtypes[index]) for index in comparator.second]
        (result,) = node.run(comparator.rest, taken)
        if not isinstance(result, Value):
            raise Refused("the comparator must return a tensor")
        return node.operand_of(result)

    def precedes(one: Sequence[MLOperand], other: Sequence[MLOperand]) -> MLOperand:
        is_earlier = builder.lesser(one[-1], other[-1])
        return builder.logicalOr(compare(one, other), builder.logicalAnd(is_earlier, builder.logicalNot(compare(other, one))))

    return Keys(shape, [*keys, make_positions(node, shape[1])], precedes)


def _widen(node: Node, operand: MLOperand, shape: Sequence[int]) -> MLOperand:
    return operand if operand.descriptor.dimensions == tuple(shape) else node.builder.expand(operand, list(shape))


# The first ones in order.


def lower_top_k(node: Node) -> list[Result] | None:
    """Lower the composite chlo.top_k: the greatest elements of each row, and their positions; of equal ones the earlier one first.

    It orders blocks that are as large as the result, and keeps the first elements of two blocks, until there is one. NaN is the greatest
    number. Its sign is lost: WebNN does not show it. The function of the composite computes elements that are known.
    """
    attributes = node.attribute("composite_attributes", Mapping, {})  # type: ignore[type-abstract]
    count = attributes.get("k")
    if node.value(0).array is not None or not isinstance(count, int):
        return None
    return _find_top(node, count, is_descending=attributes.get("largest", True) is not False)


def lower_custom_top_k(node: Node) -> list[Result]:
    """Lower the custom call mhlo.topk, in the same way."""
    attributes = node.attribute("mhlo.attributes", Mapping, {})  # type: ignore[type-abstract]
    count = attributes.get("k")
    if not isinstance(count, int):
        raise Refused(f"mhlo.topk must have the attribute k, got {sorted(attributes)}")
    return _find_top(node, count, is_descending=attributes.get("largest", True) is not False)


def _find_top(node: Node, count: int, *, is_descending: bool) -> list[Result]:
    value = node.value(0)
    if not value.rank or not 0 <= count <= value.shape[-1] or len(node.types) != 2:
        raise Refused(f"k must be from 0 to the size of the last dimension of {list(value.shape)}, got {count}")
    shape = (*value.shape[:-1], count)
    for index in range(2):
        node.fit(shape, index)
    if 0 in shape:
        return [make_uniform(shape, node.dtype(index)) for index in range(2)]
    operand = node.reshape(node.operand(0), [product(value.shape[:-1]), value.shape[-1], 1])
    order = order_by(node, make_key(node, operand, is_descending=is_descending, is_total=True), count, most=_MOST)
    return [node.reshape(take_along(node, operand, order, 1), shape), node.reshape(order, shape)]


RULES: Mapping[str, Rule] = {"stablehlo.sort": _sort}
