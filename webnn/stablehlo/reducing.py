"""Reductions with any body, of values that are known or not."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from webnn.importing.values import Array, Refused, Value
from webnn.stablehlo.node import Node
from webnn.stablehlo.regions import Kind
from webnn.stablehlo.shapes import check_axes
from webnn.stablehlo.tensors import apply, cut, expand, join, permute, reshape, run_body
from webnn.validation.descriptor import extreme

__all__ = [
    "Combine",
    "Reduction",
    "check_shape",
    "fold_rows",
    "is_neutral",
    "neutral",
    "read_operands",
    "read_reduction",
    "reduce_any",
    "reduce_tree",
]

#: Makes one of two lists of values, whose elements are in the order of the program.
Combine: TypeAlias = Callable[[Sequence[Value], Sequence[Value]], list[Value]]


def read_operands(node: Node) -> tuple[list[Value], list[Value]]:
    """Return what is reduced, and the initial values."""
    values = node.values()
    count = len(values) // 2
    inputs, initial = values[:count], values[count:]
    if not inputs or len(initial) != count or len(node.types) != count or len(node.regions) != 1:
        raise Refused(
            f"there must be an initial value and a result for each operand, got {len(values)} operands, {len(node.types)} results"
        )
    if any(value.shape != inputs[0].shape for value in inputs):
        raise Refused(f"the operands must have one shape, got {', '.join(str(list(value.shape)) for value in inputs)}")
    if any(value.rank for value in initial):
        raise Refused(f"the initial values must be scalars, got {', '.join(str(list(value.shape)) for value in initial)}")
    if any(one.dtype != other.dtype for one, other in zip(inputs, initial, strict=True)):
        raise Refused("each initial value must have the element type of its operand")
    return inputs, initial


def neutral(kind: Kind, dtype: np.dtype[Any]) -> float:
    """Return the number that a reducer leaves out."""
    if kind in ("add", "mul"):
        return int(kind == "mul")
    return extreme(dtype.name, largest=kind == "min")


def is_neutral(kind: Kind, value: Value) -> bool:
    """Tell whether an initial value is known to change nothing."""
    if value.array is None or value.dtype.kind not in "biuf":
        return False
    return bool(value.array.reshape(()) == neutral(kind, value.dtype))


def start_from(node: Node, kinds: Sequence[Kind], initial: Sequence[Value], results: Sequence[Value]) -> list[Value]:
    """Combine initial values with what reducers of one operation made, unless they are known to change nothing."""
    return [
        result if is_neutral(kind, first) else apply(node, kind, first, result)
        for kind, first, result in zip(kinds, initial, results, strict=True)
    ]


def check_shape(node: Node, shape: Sequence[int]) -> None:
    """Refuse a result with another shape than follows from the operands."""
    for index in range(len(node.types)):
        if node.shape(index) != tuple(shape):
            raise Refused(f"the results must have the shape {list(shape)}, got {list(node.shape(index))}")


@dataclass(frozen=True, slots=True)
class Reduction:
    """The operands of `reduce`: inputs of one shape, which is reduced to the sizes of the dimensions that are kept."""

    inputs: list[Value]
    initial: list[Value]
    axes: list[int]
    kept: list[int]
    sizes: list[int]


def read_reduction(node: Node) -> Reduction:
    """Return what `reduce` reduces, whose operands, dimensions and results fit."""
    inputs, initial = read_operands(node)
    shape = inputs[0].shape
    axes = sorted(check_axes("dimensions", node.integers("dimensions"), len(shape)))
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    sizes = [shape[axis] for axis in kept]
    check_shape(node, sizes)
    return Reduction(inputs, initial, axes, kept, sizes)


def reduce_any(node: Node, reduction: Reduction) -> list[Value]:
    """Run the body on pairs of neighbours until one element is left, and then on the initial values and that."""
    shape, axes, sizes = reduction.inputs[0].shape, reduction.axes, reduction.sizes
    if 0 in shape:
        return [expand(node, value, sizes) for value in reduction.initial]
    count = math.prod(shape[axis] for axis in axes)
    rows = [reshape(node, permute(node, value, [*axes, *reduction.kept]), [count, *sizes]) for value in reduction.inputs]
    (region,) = node.regions
    results = fold_rows(node, rows, lambda one, other: run_body(node, region, [*one, *other], one[0].shape))
    return run_body(node, region, [*reduction.initial, *results], sizes)


def fold_rows(node: Node, rows: Sequence[Value], combine: Combine) -> list[Value]:
    """Combine the rows of values, which lie along their first axis: pairs of neighbours, until one is left."""
    found = list(rows)
    while (count := found[0].shape[0]) > 1:
        combined = combine(*([_cut_rows(node, value, side, count // 2, 2) for value in found] for side in (0, 1)))
        if count % 2:
            lasts = [_cut_rows(node, value, count - 1, 1) for value in found]
            combined = [join(node, [value, last], 0) for value, last in zip(combined, lasts, strict=True)]
        found = combined
    return [reshape(node, value, value.shape[1:]) for value in found]


def _cut_rows(node: Node, value: Value, start: int, count: int, step: int = 1) -> Value:
    rest = value.rank - 1
    return cut(node, value, [start, *[0] * rest], [count, *value.shape[1:]], [step, *[1] * rest])


def reduce_tree(parts: Sequence[Sequence[Value]], combine: Combine) -> list[Value]:
    """Combine lists of values in their order: neighbours first."""
    found = [list(part) for part in parts]
    while len(found) > 1:
        paired = [combine(one, other) for one, other in zip(found[::2], found[1::2], strict=False)]
        found = paired + found[len(paired) * 2 :]
    return found[0]


def known_arrays(values: list[Value]) -> list[Array] | None:
    """Return the elements of values; None if some are not known."""
    arrays = [value.array for value in values if value.array is not None]
    return arrays if len(arrays) == len(values) else None
