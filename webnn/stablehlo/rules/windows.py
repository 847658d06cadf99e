"""Reductions of windows: pooling, running sums, and gradients of pooling."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from webnn.importing.values import Value
from webnn.importing.windows import Window, pool
from webnn.stablehlo.node import Node
from webnn.stablehlo.reducing import check_shape, neutral, read_operands, start_from
from webnn.stablehlo.regions import Kind, find_kinds
from webnn.stablehlo.rules import Rule
from webnn.stablehlo.tensors import cut, wrap
from webnn.stablehlo.windows import find_running, pad_windows, read_windows, reduce_windows, select_and_scatter

__all__ = ["RULES"]


def _reduce_window(node: Node) -> list[Value]:
    """Map to maxPool2d, averagePool2d (for sums) and cumulativeSum if the body is one operation that they do.

    Sums and extreme values of floating-point numbers are pooled, over two neighbouring dimensions at a time. Sums of all elements up to
    each one are running sums. Anything else is slices, on which the body is run. `stablehlo#reduce_window`.
    """
    inputs, initial = read_operands(node)
    windows = read_windows(node, inputs[0].shape)
    sizes = [window.places for window in windows]
    (region,) = node.regions
    kinds = find_kinds(region)
    if kinds is not None and 0 not in sizes and 0 not in inputs[0].shape:
        check_shape(node, sizes)
        results = [_by_kind(node, kind, value, windows) for kind, value in zip(kinds, inputs, strict=True)]
        complete = [result for result in results if result is not None]
        if len(complete) == len(results):
            return start_from(node, kinds, initial, complete)
    return reduce_windows(node)


def _by_kind(node: Node, kind: Kind, value: Value, windows: Sequence[Window]) -> Value | None:
    """Reduce the windows of a value, which is padded with what the reducer leaves out; None if WebNN has no operation for it."""
    running = find_running(windows)
    if kind == "add" and running is not None:
        return _running_sum(node, value, *running)
    if kind == "mul" or value.dtype.kind != "f":
        return None
    if kind != "add" and not all(window.is_filled for window in windows):
        # Engines give the least finite number for a window of nothing but padding.
        return None
    value, windows = _prepare(node, kind, value, windows)
    operand = node.operand_of(value)
    if kind == "min":
        operand = node.builder.neg(operand)
    operand = pool(node, "averagePool2d" if kind == "add" else "maxPool2d", operand, windows)
    if kind == "add" and any(window.count > 1 for window in windows):
        operand = node.builder.mul(operand, node.scalar(math.prod(window.count for window in windows), operand))
    return wrap(node.builder.neg(operand) if kind == "min" else operand, value)


def _running_sum(node: Node, value: Value, axis: int, is_reversed: bool) -> Value:
    operand = node.operand_of(value)
    data_type = operand.descriptor.dataType
    # Browsers add no integers of 8 bits; the sums wrap around when they are cast back.
    operand = node.cast(operand, "int32") if data_type in ("int8", "uint8") else operand
    return wrap(node.cast(node.builder.cumulativeSum(operand, axis, reversed=is_reversed), data_type), value)


def _prepare(node: Node, kind: Kind, value: Value, windows: Sequence[Window]) -> tuple[Value, list[Window]]:
    """Pad what the pooling of WebNN cannot, and take the steps along dimensions that it leaves alone."""
    apart: list[Window] = []
    left: list[Window] = []
    for window in windows:
        # The engines pad less than a window; averages are those of the elements without the padding.
        pads = kind != "add" and window.base == 1 and 0 <= window.low < window.count and 0 <= window.high < window.count
        apart.append(replace(window, low=0, high=0) if pads and window.count > 1 else window)
        left.append(window if pads and window.count > 1 else replace(window, size=window.padded, base=1, low=0, high=0))
    value = pad_windows(node, value, Value.known(np.array(neutral(kind, value.dtype), value.dtype)), apart)
    sizes = [window.places if window.count == 1 else window.size for window in left]
    value = cut(node, value, [0] * value.rank, sizes, [window.stride if window.count == 1 else 1 for window in left])
    return value, [Window(size=window.places, count=1) if window.count == 1 else window for window in left]


RULES: Mapping[str, Rule] = {"stablehlo.reduce_window": _reduce_window, "stablehlo.select_and_scatter": select_and_scatter}
