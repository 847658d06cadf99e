"""Pooling.

Pooling of three and more dimensions is a chain (`webnn.importing.windows`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.along import put
from webnn.importing.steps import Result, product
from webnn.importing.values import Refused
from webnn.importing.windows import Pool, Window, locate_maxima, pool
from webnn.onnx.node import Node
from webnn.onnx.windows import crop, read_windows, round_up, spatial_sizes

__all__ = ["RULES"]


def _shape(operand: MLOperand) -> list[int]:
    return list(operand.descriptor.dimensions)


def _windows(node: Node) -> list[Window]:
    """Read the windows; their padding behind is the one that counts for averages."""
    return read_windows(node, spatial_sizes(node), node.integers("kernel_shape"))


def _place(node: Node, windows: Sequence[Window]) -> list[Window]:
    """Round the number of places as the node says."""
    found = [round_up(window) for window in windows] if node.flag("ceil_mode", default=False) else list(windows)
    if min(window.places for window in found) < 1:
        spans = [window.padded for window in windows]
        raise Refused(f"the window must fit into the padded input, {spans}, got {[window.reach for window in windows]}")
    return found


def _slide(node: Node, operation: Pool, x: MLOperand, windows: Sequence[Window]) -> MLOperand:
    """Pool the spatial dimensions."""
    whole = [Window(size=size, count=1) for size in _shape(x)[: -len(windows)]]
    return pool(node, operation, x, [*whole, *windows])


def _average_pool(node: Node) -> MLOperand:
    """Map to averagePool2d. Padding that counts is added before."""
    x, given = node.operand(0), _windows(node)
    windows = _place(node, given)
    if not node.flag("count_include_pad", default=False):
        return _slide(node, "averagePool2d", x, windows)
    # The padding that rounding up adds does not count.
    begins, ends = (
        [*sizes]
        for sizes in zip(*((each.low, min(each.high, window.high)) for each, window in zip(given, windows, strict=True)), strict=True)
    )
    if any(begins) or any(ends):
        x = node.builder.pad(x, [0, 0, *begins], [0, 0, *ends])
    padded = [
        replace(window, size=window.low + window.size + end, low=0, high=window.high - end)
        for window, end in zip(windows, ends, strict=True)
    ]
    return _slide(node, "averagePool2d", x, padded)


def _lp_pool(node: Node) -> MLOperand:
    """Map to l2Pool2d, of the powers that make it the norm of order p. They are computed in float32: float16 has a small range."""
    order = node.integer("p", 2, least=1)
    given = x = node.operand(0)
    if order != 2:
        x = _power(node, node.builder.abs(node.cast(x, "float32")), order / 2)
    x, windows = crop(node, x, _windows(node))
    windows = _place(node, windows)
    norm = node.builder.abs(x) if all(window.is_trivial for window in windows) else _slide(node, "l2Pool2d", x, windows)
    return norm if order == 2 else node.cast(_power(node, norm, 2 / order), given.descriptor.dataType)


def _power(node: Node, x: MLOperand, exponent: float) -> MLOperand:
    if exponent == 0.5:
        return node.builder.sqrt(x)
    return node.builder.mul(x, x) if exponent == 2 else node.builder.pow(x, node.scalar(exponent, x))


def _max_pool(node: Node) -> list[Result]:
    """Map to maxPool2d. The indices of the maxima are found by comparing with each element of the window."""
    windows = _place(node, _windows(node))
    x = node.operand(0)
    if not node.is_float(x):
        # Integers of 8 bits, which not every device takes.
        x = node.cast(x, "float32")
    greatest = _slide(node, "maxPool2d", x, windows)
    wanted = len(node.outputs) > 1 and node.outputs[1]
    return [greatest, _indices(node, x, greatest, windows)] if wanted else [greatest]


def _indices(node: Node, x: MLOperand, greatest: MLOperand, windows: Sequence[Window]) -> MLOperand:
    """Return the index in the flat input of the first maximum of each window."""
    builder = node.builder
    batches, channels, *sizes = _shape(x)
    if product(_shape(x)) >= 2**31:
        raise Refused(f"indices need an input of at most 2 ** 31 elements, got {_shape(x)}")
    sizes_before = [product(sizes[:axis]) for axis in range(len(sizes))]
    pitches = sizes_before if node.flag("storage_order", default=False) else [product(sizes[axis + 1 :]) for axis in range(len(sizes))]

    def number(tap: tuple[int, ...]) -> MLOperand:
        parts = zip(tap[2:], windows, pitches, strict=True)
        return node.scalar(sum(index * window.dilation * pitch for index, window, pitch in parts), "int32")

    # The places of windows are computed in 64 bits.
    node.spend(2 * np.dtype(np.int64).itemsize * (product([window.places for window in windows]) + batches * channels))
    found = locate_maxima(node, x, greatest, [Window(size=batches, count=1), Window(size=channels, count=1), *windows], number)
    place = np.zeros([1] * (len(sizes) + 2), np.int32)
    for axis, (window, pitch) in enumerate(zip(windows, pitches, strict=True), 2):
        steps = (np.arange(window.places) * window.stride - window.low) * pitch
        place = place + steps.astype(np.int32).reshape([-1 if index == axis else 1 for index in range(place.ndim)])
    planes = np.arange(batches * channels, dtype=np.int32) * product(sizes)
    found = builder.add(found, node.constant(place))
    return builder.add(found, node.constant(planes.reshape([batches, channels, *[1] * len(sizes)])))


def _max_unpool(node: Node) -> MLOperand:
    """Scatter the elements into zeros. An output shape of its own is refused: engines differ about which tensor the indices are in then."""
    shape = node.value(0).shape
    windows = _windows(node)
    outputs = [(window.size - 1) * window.stride + window.count - window.low - window.high for window in windows]
    wanted = [*shape[:2], *outputs]
    if min(wanted) < 1 or node.value(1).shape != shape:
        raise Refused(f"the indices must have the shape of the input, {list(shape)}, and the output must not be empty, got {wanted}")
    if node.given(2) and node.known_integers(2, "the shape of the output") != wanted:
        raise Refused(
            f"the shape of the output must be that of the window, {wanted}, got {node.known_integers(2, 'the shape of the output')}"
        )
    x, indices = node.operand(0), node.indices(1, product(wanted))
    zeros = node.builder.expand(node.scalar(0, x), [product(wanted)])
    count = node.value(0).size
    return node.reshape(put(node, zeros, node.reshape(indices, [count]), node.reshape(x, [count])), wanted)


def _global_axes(node: Node) -> list[int]:
    return list(range(2, 2 + len(spatial_sizes(node))))


def _global_average_pool(node: Node) -> MLOperand:
    """Map to reduceMean."""
    return node.builder.reduceMean(node.operand(0), axes=_global_axes(node), keepDimensions=True)


def _global_max_pool(node: Node) -> MLOperand:
    """Map to reduceMax."""
    return node.builder.reduceMax(node.operand(0), axes=_global_axes(node), keepDimensions=True)


def _global_lp_pool(node: Node) -> MLOperand:
    """Map to reduceL1 or reduceL2, or take the norm of order p by powers."""
    builder, order, axes = node.builder, node.integer("p", 2, least=1), _global_axes(node)
    x = node.operand(0)
    if order <= 2:
        return (builder.reduceL1 if order == 1 else builder.reduceL2)(x, axes=axes, keepDimensions=True)
    norm = builder.reduceL2(_power(node, builder.abs(x), order / 2), axes=axes, keepDimensions=True)
    return _power(node, norm, 2 / order)


RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {
    "AveragePool": _average_pool,
    "GlobalAveragePool": _global_average_pool,
    "GlobalLpPool": _global_lp_pool,
    "GlobalMaxPool": _global_max_pool,
    "LpPool": _lp_pool,
    "MaxPool": _max_pool,
    "MaxUnpool": _max_unpool,
}
