"""Reductions along whole dimensions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.values import Value, carrier
from webnn.stablehlo.node import Node
from webnn.stablehlo.reducing import Reduction, is_neutral, read_reduction, reduce_any, start_from
from webnn.stablehlo.regions import Kind, Position, find_kinds, find_position
from webnn.stablehlo.rules import Rule
from webnn.stablehlo.tensors import run_body, tell, wrap

__all__ = ["RULES", "reduce_kind"]

_REDUCTIONS: Mapping[Kind, str] = {"add": "reduceSum", "max": "reduceMax", "min": "reduceMin", "mul": "reduceProduct"}
#: Types that browsers do not reduce; int32 has all their results, modulo their own range.
_SMALL = frozenset({"uint8", "int8"})


def _reduce(node: Node) -> list[Value]:
    """Map to reduceSum, reduceProduct, reduceMax, reduceMin if the body is one operation, and to argMax or argMin if it finds positions.

    Integers of 8 bits and i1 are reduced as int32. Any other body is run on pairs of neighbours until one element is left.
    `stablehlo#reduce`.
    """
    reduction = read_reduction(node)
    inputs, initial = reduction.inputs, reduction.initial
    (region,) = node.regions
    if 0 not in inputs[0].shape:
        kinds = find_kinds(region)
        if kinds is not None:
            results = [reduce_kind(node, kind, value, reduction.axes) for kind, value in zip(kinds, inputs, strict=True)]
            return start_from(node, kinds, initial, results)
        position = find_position(region)
        found = None if position is None else _find_position(node, position, reduction)
        if found is not None:
            return found
    return reduce_any(node, reduction)


def reduce_kind(node: Node, kind: Kind, value: Value, axes: Sequence[int]) -> Value:
    """Reduce a value along some axes with one operation."""
    if not axes:
        return value
    operand = node.operand_of(value)
    data_type = operand.descriptor.dataType
    reduced: MLOperand = getattr(node.builder, _REDUCTIONS[kind])(_widen(node, operand), axes=list(axes))
    return wrap(node.cast(reduced, data_type), value)


def _widen(node: Node, operand: MLOperand) -> MLOperand:
    return node.builder.cast(operand, "int32") if operand.descriptor.dataType in _SMALL else operand


def _find_position(node: Node, position: Position, reduction: Reduction) -> list[Value] | None:
    """Return the extreme values and their positions; None if the second operand does not count them."""
    value, places = reduction.inputs
    axes, sizes = reduction.axes, reduction.sizes
    count = math.prod(value.shape[axis] for axis in axes)
    order = [*reduction.kept, *axes]
    if not axes or count > np.iinfo(np.int32).max or not _counts(places, order, len(sizes)):
        return None
    rows, axis = _widen(node, node.operand_of(value)), axes[0]
    if len(axes) > 1:
        rows, axis = node.reshape(node.transpose(rows, order), [*sizes, count]), len(sizes)
    if position.is_last:
        rows = node.builder.reverse(rows, axes=[axis])
    find = node.builder.argMax if position.extreme == "max" else node.builder.argMin
    found = find(rows, axis, outputDataType="int32")
    if position.is_last:
        found = node.builder.sub(node.scalar(count - 1, "int32"), found)
    found = node.cast(found, carrier(places.dtype))
    results = [reduce_kind(node, position.extreme, value, axes), tell(found, places.dtype, value)]
    best, first = reduction.initial
    if is_neutral(position.extreme, best) and not position.is_last and first.array is not None and not first.array.any():
        return results
    return run_body(node, node.regions[0], [*reduction.initial, *results], sizes)


def _counts(places: Value, order: Sequence[int], kept: int) -> bool:
    """Tell whether the elements along the dimensions behind the kept ones are known to be 0, 1, 2 and so on."""
    if places.array is None or places.dtype.kind not in "iu":
        return False
    array = places.array.transpose(order)
    # A dimension that repeats one number is looked at once.
    array = array[tuple([slice(0, 1) if stride == 0 and index < kept else slice(None) for index, stride in enumerate(array.strides)])]
    rows = array.reshape(-1, math.prod(array.shape[kept:]))
    return bool((rows == np.arange(rows.shape[1])).all())


RULES: Mapping[str, Rule] = {"stablehlo.reduce": _reduce}
