"""Windows that slide over tensors: how they are read, and how any body reduces them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from webnn.importing.values import Refused, Value, make_uniform
from webnn.importing.windows import Window
from webnn.stablehlo.node import Node
from webnn.stablehlo.reducing import Combine, check_shape, read_operands, reduce_tree
from webnn.stablehlo.tensors import apply, cut, expand, pad, run_body, take

__all__ = ["find_running", "pad_windows", "read_counts", "read_padding", "read_windows", "reduce_windows", "select_and_scatter", "slide"]

#: Windows of more elements are always reduced in a logarithmic number of steps, others where that costs less.
_MOST_PARTS = 64
#: The most windows that an element is in, for the gradient of a pooling.
_MOST_OVERLAPS = 1024


def read_counts(node: Node, name: str, rank: int) -> list[int]:
    """Return an attribute with a number of at least 1 for each of some dimensions; 1 if it is not given."""
    counts = node.integers(name, [1] * rank)
    if len(counts) != rank or any(count < 1 for count in counts):
        raise Refused(f"{name} must have {rank} numbers of at least 1, got {counts}")
    return counts


def read_padding(node: Node, rank: int) -> list[tuple[int, int]]:
    """Return the attribute with what is put before and behind each of some dimensions; 0 if it is not given."""
    padding = node.integers("padding", [0] * (2 * rank))
    if len(padding) != 2 * rank:
        raise Refused(f"padding must have 2 numbers for each of {rank} dimensions, got {padding}")
    return list(zip(padding[::2], padding[1::2], strict=True))


def read_windows(node: Node, shape: Sequence[int]) -> list[Window]:
    """Return the windows of `reduce_window` or `select_and_scatter`, one for each dimension of a shape."""
    rank = len(shape)
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    numbers = [read_counts(node, name, rank) for name in names]
    return [
        Window(size=size, count=count, stride=stride, base=base, dilation=dilation, low=low, high=high)
        for size, count, stride, base, dilation, (low, high) in zip(shape, *numbers, read_padding(node, rank), strict=True)
    ]


def pad_windows(node: Node, value: Value, filler: Value, windows: Sequence[Window]) -> Value:
    """Put a scalar where the windows reach beyond and between the elements of a value."""
    low, high = [window.low for window in windows], [window.high for window in windows]
    return pad(node, value, filler, low, high, [window.base - 1 for window in windows])


def find_running(windows: Sequence[Window]) -> tuple[int, bool] | None:
    """Return the dimension along which windows cover all elements up to each one, or from each one on: then the flag is True."""
    active = [axis for axis, window in enumerate(windows) if not window.is_trivial]
    if len(active) == 1:
        window = windows[active[0]]
        size = window.size
        for low, high in ((size - 1, 0), (0, size - 1)):
            if window == Window(size=size, count=size, low=low, high=high):
                return active[0], high > 0
    return None


def slide(node: Node, values: Sequence[Value], windows: Sequence[Window], combine: Combine) -> list[Value]:
    """Reduce the windows of values that are padded: one dimension after the other, the last one first, which keeps the order."""
    found = list(values)
    for axis in reversed(range(len(windows))):
        found = _slide(node, found, axis, windows[axis], combine)
    return found


def _slide(node: Node, values: Sequence[Value], axis: int, window: Window, combine: Combine) -> list[Value]:
    count, places, stride, dilation = window.count, window.places, window.stride, window.dilation

    def part(values: Sequence[Value], start: int, size: int, step: int) -> list[Value]:
        found = []
        for value in values:
            starts, sizes, steps = [0] * value.rank, list(value.shape), [1] * value.rank
            starts[axis], sizes[axis], steps[axis] = start, size, step
            found.append(cut(node, value, starts, sizes, steps))
        return found

    if count <= 4 or (count <= _MOST_PARTS and count * places <= 2 * window.padded * count.bit_length()):
        return reduce_tree([part(values, index * dilation, places, stride) for index in range(count)], combine)
    # Windows of 2, 4, 8 and so on elements at each place; the wanted ones are put together from them.
    level, covered, start = list(values), 1, 0
    parts: list[list[Value]] = []
    while True:
        if count & covered:
            parts.append(part(level, start * dilation, places, stride))
            start += covered
        if start == count:
            break
        rest = level[0].shape[axis] - covered * dilation
        level = combine(part(level, 0, rest, 1), part(level, covered * dilation, rest, 1))
        covered *= 2
    return reduce_tree(parts, combine)


def reduce_windows(node: Node) -> list[Value]:
    """Reduce the windows of `reduce_window` with any body."""
    inputs, initial = read_operands(node)
    windows = read_windows(node, inputs[0].shape)
    sizes = [window.places for window in windows]
    check_shape(node, sizes)
    if 0 in sizes:
        return [Value.known(make_uniform(sizes, value.dtype)) for value in inputs]
    (region,) = node.regions
    padded = [pad_windows(node, value, filler, windows) for value, filler in zip(inputs, initial, strict=True)]
    results = slide(node, padded, windows, lambda one, other: run_body(node, region, [*one, *other], one[0].shape))
    return run_body(node, region, [*initial, *results], sizes)


def select_and_scatter(node: Node) -> Value:
    """Map to slices that find the chosen element of each window, and gather, equal and where, which bring the source there.

    An element is in several windows if they overlap; the source is gathered once for each. `stablehlo#select_and_scatter`.
    """
    node.expect(3, regions=2)
    operand, source, initial = node.values()
    windows = read_windows(node, operand.shape)
    if any(window.base != 1 or window.dilation != 1 for window in windows):
        raise Refused("select_and_scatter must not have dilations")
    check_shape(node, operand.shape)
    places = [window.places for window in windows]
    if source.shape != tuple(places) or initial.rank or len({value.dtype for value in (operand, source, initial)}) != 1:
        raise Refused(
            f"the source must have the shape {places} and the element type of the operand, and the initial value be a scalar of it, "
            f"got {list(source.shape)} and {list(initial.shape)}"
        )
    result = expand(node, initial, operand.shape)
    if 0 in places or 0 in operand.shape:
        return result
    chosen = _find_chosen(node, operand, windows)
    overlaps = [range(-(-window.count // window.stride) - 1, -1, -1) for window in windows]
    if math.prod(map(len, overlaps)) > _MOST_OVERLAPS:
        raise Refused(f"each element must be in at most {_MOST_OVERLAPS} windows, got {math.prod(map(len, overlaps))}")
    numbers = node.positions(operand.size).reshape(operand.shape)
    here = Value.known(numbers)
    scatter = node.regions[1]
    for offsets in itertools.product(*overlaps):
        found, source_here, inside = chosen, source, np.ones(operand.shape, np.bool_)
        for axis, (window, offset) in enumerate(zip(windows, offsets, strict=True)):
            indices = (np.arange(window.size) + window.low) // window.stride - offset
            is_place = (indices >= 0) & (indices < window.places)
            inside = inside & is_place.reshape([-1 if each == axis else 1 for each in range(operand.rank)])
            if not np.array_equal(indices, np.arange(found.shape[axis])):
                indices = indices.clip(0, window.places - 1)
                found, source_here = take(node, found, axis, indices), take(node, source_here, axis, indices)
        if not inside.any():
            continue
        # A place outside of all windows chooses nothing.
        wanted = here if inside.all() else Value.known(np.where(inside, numbers, -2).astype(np.int32))
        hit = apply(node, "equal", found, wanted)
        (combined,) = run_body(node, scatter, [result, source_here], operand.shape)
        result = apply(node, "where", hit, combined, result)
    return result


def _find_chosen(node: Node, operand: Value, windows: Sequence[Window]) -> Value:
    """Return which element of the operand each window chooses: its number, row by row. Padding is never chosen; -1 means nothing."""
    numbers = Value.known(node.positions(operand.size).reshape(operand.shape))
    nothing = Value.known(np.array(-1, np.int32))
    zero = Value.known(np.zeros((), operand.dtype))
    is_padded = any(window.low > 0 or window.high > 0 for window in windows)
    select = node.regions[0]

    def combine(one: Sequence[Value], other: Sequence[Value]) -> list[Value]:
        shape = one[0].shape
        (keep,) = run_body(node, select, [one[0], other[0]], shape)
        if is_padded:
            none = Value.known(np.array(0, np.bool_))
            keep = apply(node, "where", apply(node, "equal", one[1], nothing), none, keep)
            keep = apply(node, "where", apply(node, "equal", other[1], nothing), Value.known(np.array(1, np.bool_)), keep)
        return [expand(node, apply(node, "where", keep, left, right), shape) for left, right in zip(one, other, strict=True)]

    values = [pad_windows(node, value, filler, windows) for value, filler in ((operand, zero), (numbers, nothing))]
    return slide(node, values, windows, combine)[1]
