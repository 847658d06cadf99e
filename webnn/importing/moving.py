"""Steps that move elements, for rules of several families."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from webnn.importing.named import are_same, is_empty, is_same
from webnn.importing.values import Array, Value, make_uniform

if TYPE_CHECKING:
    from webnn.builder.operand import MLOperand
    from webnn.importing.steps import Steps

__all__ = ["broadcast", "cut", "pad", "slice_axis", "slice_operand"]


def slice_operand(
    steps: Steps, operand: MLOperand, starts: Sequence[int], sizes: Sequence[int], strides: Sequence[int] | None = None
) -> MLOperand:
    """Slice an operand if anything is cut off: to the elements of each dimension from the first index on, with the step 1 by default."""
    if are_same(operand.descriptor.dimensions, sizes):
        return operand
    each = [1] * len(sizes) if strides is None else [1 if is_same(size, 1) else stride for size, stride in zip(sizes, strides, strict=True)]
    spans = [(size - 1) * step + 1 for size, step in zip(sizes, each, strict=True)]
    if max(each, default=1) == 1:
        return steps.builder.slice(operand, list(starts), spans)
    return steps.builder.slice(operand, list(starts), spans, strides=each)


def slice_axis(steps: Steps, operand: MLOperand, axis: int, start: int, size: int) -> MLOperand:
    """Slice an operand along one dimension."""
    starts, sizes = [0] * operand.descriptor.rank, list(operand.descriptor.dimensions)
    starts[axis], sizes[axis] = start, size
    return slice_operand(steps, operand, starts, sizes)


def cut(
    steps: Steps, value: Value, starts: Sequence[int], sizes: Sequence[int], strides: Sequence[int] | None = None
) -> Value | MLOperand | Array:
    """Return a slice of a value, whose shape has been checked; it may be empty, or all of it."""
    if is_empty(sizes):
        return make_uniform(sizes, value.dtype)
    if are_same(value.shape, sizes):
        return value
    return slice_operand(steps, steps.operand_of(value), starts, sizes, strides)


def broadcast(steps: Steps, operand: MLOperand, dimensions: Sequence[int], shape: Sequence[int]) -> MLOperand:
    """Broadcast an operand to a shape, each of its dimensions to the one that is named.

    The dimensions are put in their places by transpose and reshape; then the operand is expanded.
    """
    operand = steps.transpose(operand, sorted(range(len(dimensions)), key=dimensions.__getitem__))
    sizes = [1] * len(shape)
    for dimension, size in zip(sorted(dimensions), operand.descriptor.dimensions, strict=True):
        sizes[dimension] = size
    if are_same(sizes, shape):
        return steps.reshape(operand, sizes)
    # Missing dimensions in front need no reshape.
    if not are_same(sizes[len(shape) - len(dimensions) :], operand.descriptor.dimensions):
        operand = steps.reshape(operand, sizes)
    return steps.builder.expand(operand, list(shape))


def pad(steps: Steps, value: Value, padding: Value, low: Sequence[int], high: Sequence[int], interior: Sequence[int]) -> MLOperand | Array:
    """Pad a value, whose new shape has been checked, with a scalar that need not be known.

    ``low`` and ``high`` elements are added at the ends of each dimension, or removed if negative, and ``interior`` between two others.
    """
    shape = tuple(
        [
            size + (max(size - 1, 0) * inner if inner else 0) + a + b
            for size, a, b, inner in zip(value.shape, low, high, interior, strict=True)
        ]
    )
    if is_empty(shape):
        return make_uniform(shape, value.dtype)
    starts = [max(0, -before) for before in low]
    ends, behind = [], []
    for size, after, inner in zip(value.shape, high, interior, strict=True):
        # An element is followed by all of its padding, also the last one.
        spread, more = (size * (inner + 1), after - inner) if inner and size > 1 else (size, after)
        ends.append(spread + min(more, 0))
        behind.append(max(more, 0))
    if 0 in value.shape or any(start >= end for start, end in zip(starts, ends, strict=True)):
        # Nothing is left but padding.
        return steps.builder.expand(steps.operand_of(padding), list(shape)) if shape else steps.operand_of(padding)
    operand = steps.operand_of(value)
    for axis, (size, inner) in enumerate(zip(value.shape, interior, strict=True)):
        if inner and size > 1:
            operand = _spread(steps, operand, padding, axis, inner)
    operand = slice_operand(steps, operand, starts, [end - start for start, end in zip(starts, ends, strict=True)])
    before = [max(0, each) for each in low]
    return _pad_edges(steps, operand, padding, before, behind) if any(before) or any(behind) else operand


def _spread(steps: Steps, operand: MLOperand, padding: Value, axis: int, inner: int) -> MLOperand:
    """Add padding behind each element of a dimension."""
    shape = operand.descriptor.dimensions
    columns = [int(np.prod(shape[: axis + 1])), 1, int(np.prod(shape[axis + 1 :]))]
    wide = _pad_edges(steps, steps.reshape(operand, columns), padding, [0, 0, 0], [0, inner, 0])
    return steps.reshape(wide, [*shape[:axis], shape[axis] * (inner + 1), *shape[axis + 1 :]])


def _pad_edges(steps: Steps, operand: MLOperand, padding: Value, before: Sequence[int], behind: Sequence[int]) -> MLOperand:
    """Add padding at the edges: by concat, one dimension after the other, if it is not known."""
    if padding.array is not None:
        number = padding.array.reshape(()).item()
        number = int(number) if padding.dtype == np.bool_ else number
        return steps.builder.pad(operand, list(before), list(behind), mode="constant", value=number)
    scalar = steps.operand_of(padding)
    for axis, counts in enumerate(zip(before, behind, strict=True)):
        if any(counts):
            shape = list(operand.descriptor.dimensions)
            first, last = ([steps.builder.expand(scalar, [*shape[:axis], count, *shape[axis + 1 :]])] if count else [] for count in counts)
            operand = steps.builder.concat([*first, operand, *last], axis)
    return operand
