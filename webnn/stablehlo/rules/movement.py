"""Operations that move elements to places that do not depend on elements, and slices whose starts may."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webnn.builder.operand import MLOperand
from webnn.importing.moving import broadcast, cut, pad, slice_axis, slice_operand
from webnn.importing.steps import Result
from webnn.importing.values import Value, make_uniform
from webnn.stablehlo.indices import limit_index
from webnn.stablehlo.node import Node
from webnn.stablehlo.rules import Rule
from webnn.stablehlo.shapes import (
    check_axes,
    check_starts,
    find_broadcast,
    find_concatenated,
    find_padded,
    find_reshaped,
    find_sliced,
    find_transposed,
)

__all__ = ["RULES"]


def is_scalar(node: Node) -> bool:
    """Tell whether scalars become scalars: then a body that is applied to many of them does nothing."""
    return all(getattr(value.type, "rank", None) == 0 for value in (*node.operation.operands[:1], *node.operation.results))


def _reshape(node: Node) -> Result:
    """Map to reshape. `stablehlo#reshape`."""
    value = node.value(0)
    if is_scalar(node):
        return value
    return node.reshape(node.operand(0), find_reshaped(value.shape, node.shape()))


def _transpose(node: Node) -> Result:
    """Map to transpose. `stablehlo#transpose`."""
    value = node.value(0)
    if is_scalar(node):
        return value
    permutation = node.integers("permutation")
    node.fit(find_transposed(value.shape, permutation))
    return node.transpose(node.operand(0), permutation)


def _broadcast_in_dim(node: Node) -> Result:
    """Map to transpose and reshape, which put the dimensions in their places, and expand. `stablehlo#broadcast_in_dim`."""
    value = node.value(0)
    if is_scalar(node):
        return value
    dimensions = node.integers("broadcast_dimensions")
    return broadcast(node, node.operand(0), dimensions, find_broadcast(value.shape, dimensions, node.shape()))


def _slice(node: Node) -> Result:
    """Map to slice. `stablehlo#slice`."""
    value = node.value(0)
    starts, limits, strides = node.integers("start_indices"), node.integers("limit_indices"), node.integers("strides")
    return cut(node, value, starts, node.fit(find_sliced(value.shape, starts, limits, strides)), strides)


def _concatenate(node: Node) -> Result:
    """Map to concat of those that have elements. `stablehlo#concatenate`."""
    values, axis = node.values(), node.integer("dimension")
    shape = node.fit(find_concatenated([value.shape for value in values], axis))
    if 0 in shape:
        return make_uniform(shape, node.dtype())
    parts = [value for value in values if value.size]
    return parts[0] if len(parts) == 1 else node.builder.concat([node.operand_of(part) for part in parts], axis)


def _reverse(node: Node) -> Result:
    """Map to reverse. `stablehlo#reverse`."""
    value = node.value(0)
    axes = [axis for axis in check_axes("dimensions", node.integers("dimensions"), value.rank) if value.shape[axis] != 1]
    node.fit(value.shape)
    return node.builder.reverse(node.operand(0), axes=axes) if axes else value


def _pad(node: Node) -> Result:
    """Map to pad; to concat with an expanded scalar if the padding is not known. Where padding is negative, a slice comes first.

    Padding between elements is padding of a dimension of size 1 behind them. `stablehlo#pad`.
    """
    value, padding = node.value(0), node.value(1)
    low, high, interior = (node.integers(name) for name in ("edge_padding_low", "edge_padding_high", "interior_padding"))
    node.fit(find_padded(value.shape, low, high, interior))
    return pad(node, value, padding, low, high, interior)


# Slices that start where an operand says. The starts are clamped, so that the slice lies in the operand.


def _starts(node: Node, first: int, shape: Sequence[int], sizes: Sequence[int]) -> list[int | Value]:
    """Return the starts, clamped if they are known; 0 where a slice has the whole dimension."""
    values = [node.value(index) for index in range(first, len(node.items))]
    check_starts(shape, sizes, [value.shape for value in values])
    found: list[int | Value] = []
    for value, size, given in zip(values, sizes, shape, strict=True):
        if size == given:
            found.append(0)
        else:
            found.append(value if value.array is None else min(max(int(value.array.reshape(())), 0), given - size))
    return found


def _dynamic_slice(node: Node) -> Result:
    """Map to slice along dimensions whose start is known, and to gather along the others. `stablehlo#dynamic_slice`."""
    value, sizes = node.value(0), node.integers("slice_sizes")
    starts = _starts(node, 1, value.shape, sizes)
    node.fit(sizes)
    if 0 in sizes:
        return make_uniform(sizes, value.dtype)
    computed = {axis: start for axis, start in enumerate(starts) if isinstance(start, Value)}
    if not computed:
        return cut(node, value, [start for start in starts if isinstance(start, int)], sizes)
    kept = [value.shape[axis] if axis in computed else size for axis, size in enumerate(sizes)]
    operand = slice_operand(node, node.operand(0), [start if isinstance(start, int) else 0 for start in starts], kept)
    # Where the least is left comes first.
    for axis in sorted(computed, key=lambda axis: sizes[axis] / value.shape[axis]):
        size = sizes[axis]
        start = limit_index(node, node.operand_of(computed[axis]), value.shape[axis] - size)
        if size == 1:
            places = node.reshape(start, [1])
        else:
            places = node.builder.add(start, node.constant(node.positions(size)))
        operand = node.builder.gather(operand, places, axis=axis)
    return operand


def _dynamic_update_slice(node: Node) -> Result:
    """Map to concat with what is around the update where the start is known.

    Along other dimensions, gather takes the update to its place, and where puts it there. `stablehlo#dynamic_update_slice`.
    """
    value, update = node.value(0), node.value(1)
    starts = _starts(node, 2, value.shape, update.shape)
    node.fit(value.shape)
    if not update.size:
        return value
    if update.shape == value.shape:
        return update
    known = [axis for axis, start in enumerate(starts) if isinstance(start, int) and update.shape[axis] < value.shape[axis]]
    # The parts around the update, from the outermost slice to the innermost.
    around: list[MLOperand] = [node.operand(0)]
    for axis in known:
        start = starts[axis]
        assert isinstance(start, int)
        around.append(slice_axis(node, around[-1], axis, start, update.shape[axis]))
    computed = {axis: start for axis, start in enumerate(starts) if isinstance(start, Value)}
    operand = _place(node, around.pop(), node.operand(1), computed) if computed else node.operand(1)
    for axis, whole in zip(reversed(known), reversed(around[: len(known)]), strict=True):
        operand = _surround(node, whole, operand, axis, starts[axis])
    return operand


def _surround(node: Node, whole: MLOperand, part: MLOperand, axis: int, start: object) -> MLOperand:
    """Replace a slice of an operand along one dimension."""
    assert isinstance(start, int)
    size, end = whole.descriptor.dimensions[axis], start + part.descriptor.dimensions[axis]
    parts = [part]
    if start:
        parts.insert(0, slice_axis(node, whole, axis, 0, start))
    if end < size:
        parts.append(slice_axis(node, whole, axis, end, size - end))
    return node.builder.concat(parts, axis)


def _place(node: Node, operand: MLOperand, update: MLOperand, starts: Mapping[int, Value]) -> MLOperand:
    """Replace a slice of an operand whose start is computed along some dimensions; along others it has the whole operand."""
    builder = node.builder
    shape = operand.descriptor.dimensions
    chosen: MLOperand | None = None
    for axis, value in starts.items():
        size, given = update.descriptor.dimensions[axis], shape[axis]
        start = limit_index(node, node.operand_of(value), given - size)
        places = node.constant(node.positions(given))
        if size == 1:
            # The update broadcasts.
            hit = builder.equal(places, start)
        else:
            offsets = builder.sub(places, start)
            last = node.scalar(size - 1, "int32")
            inside = builder.min(builder.max(offsets, node.scalar(0, "int32")), last)
            hit = builder.equal(offsets, inside)
            update = builder.gather(update, inside, axis=axis)
        column = node.reshape(hit, [given if each == axis else 1 for each in range(axis, len(shape))])
        chosen = column if chosen is None else builder.logicalAnd(chosen, column)
    assert chosen is not None
    return builder.where(chosen, update, operand)


RULES: Mapping[str, Rule] = {
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.pad": _pad,
    "stablehlo.reshape": _reshape,
    "stablehlo.reverse": _reverse,
    "stablehlo.slice": _slice,
    "stablehlo.transpose": _transpose,
}
