"""Pooling.

Every padding is computed from the output's size, so that the engine rounds down and never has to round up: in its own "ceil" mode it
drops a last window that begins behind the input.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from webnn.builder.onnx.emitter import Emit, Emitter, Op, Translation
from webnn.builder.onnx.integer import combine
from webnn.builder.onnx.padding import Pad, pad_with_node
from webnn.validation.descriptor import DataType, extreme, is_float
from webnn.validation.numbers import LARGEST_SINGLE
from webnn.validation.windows import PoolingAxis, pooling_axes, same_scale

__all__ = [
    "TRANSLATIONS",
    "average_pool",
    "average_with_padding",
    "fill_empty_windows",
    "fill_unless_strided",
    "l2_of_mean",
    "l2_pool",
    "max_pool",
]


def _spatial(op: Op) -> tuple[PoolingAxis, PoolingAxis]:
    o = op.options
    return pooling_axes(o.layout, op.shape("input"), op.outputs[0].dimensions, o.windowDimensions, o.padding, o.strides, o.dilations)


def _is_refused(axis: PoolingAxis) -> bool:
    """The engine requires every padding to be smaller than the number of elements of the window, even of a dilated one."""
    return max(axis.begin, axis.end) >= axis.window


def _must_pad(axis: PoolingAxis) -> bool:
    """The engine refuses the padding, or a window is in the padding entirely: then the engine's average is 0."""
    return _is_refused(axis) or (max(axis.begin, axis.end) > 0 and not axis.counts().all())


def _is_global(axes: tuple[PoolingAxis, PoolingAxis]) -> bool:
    """The one window is the whole input."""
    return all(axis.output == 1 and axis.window == axis.size and axis.begin == 0 and axis.dilation == 1 for axis in axes)


def _pad(e: Emitter, op: Op, value: str, dtype: DataType, layout: str, fill: float, pad: Pad) -> str:
    """Pad both spatial axes of the operator's input, which is in a layout."""
    pads = {name: (axis.begin, axis.end) for name, axis in zip("hw", _spatial(op), strict=True)}
    if not any(map(any, pads.values())):
        return value
    own = op.options.layout
    beginning, ending = zip(*(pads.get(name, (0, 0)) for name in layout), strict=True)
    return pad(e, value, [op.shape("input")[own.index(name)] for name in layout], dtype, beginning, ending, fill)


def _pool(e: Emitter, op: Op, op_type: str, value: str, fill: float, *, explicit: bool, pad: Pad = pad_with_node, **attributes: int) -> str:
    """Emit a pooling node, in "nchw", of a float32 value in the operator's layout. If ``explicit``, it is padded with ``fill`` before."""
    height, width = _spatial(op)
    value = e.from_layout(value, op.options.layout)
    pads = [height.begin, width.begin, height.end, width.end]
    if explicit:
        value = _pad(e, op, value, "float32", "nchw", fill, pad)
        pads = [0, 0, 0, 0]
    return e.node(
        op_type,
        [value],
        kernel_shape=[height.window, width.window],
        pads=pads,
        strides=[height.stride, width.stride],
        # The engine's integer kernel of averages does not know the attribute, and a fast session puts it in place of this node.
        **({} if height.dilation == width.dilation == 1 else {"dilations": [height.dilation, width.dilation]}),
        **attributes,
    )


def _reduce(e: Emitter, op_type: str, value: str, axes: tuple[PoolingAxis, PoolingAxis]) -> str:
    """Emit global pooling; it needs no particular layout, and is faster and more exact than the engine's global pooling nodes."""
    return e.reduce(op_type, value, 4, [axis.axis for axis in axes], keep=True)


def average_pool(e: Emitter, op: Op, *, counts: bool = True, pad: Pad = pad_with_node) -> str:
    """Emit ``averagePool2d``; ``counts`` says whether the provider's node leaves its padding out when it counts elements."""
    axes = _spatial(op)
    if _is_global(axes):
        return _reduce(e, "ReduceMean", op["input"], axes)
    explicit = any(map(_must_pad, axes))
    isWhole = explicit or (not counts and any(axis.begin or axis.end for axis in axes))
    attributes = {"count_include_pad": 1} if isWhole and not explicit else {}
    result = _pool(e, op, "AveragePool", op["input"], 0.0, explicit=explicit, pad=pad, **attributes)
    if isWhole:
        # The engine divided by the whole window: correct that to its elements inside the input; none gives 0 * infinity, NaN.
        with np.errstate(divide="ignore"):
            rows, columns = ((axis.window / axis.counts()).astype(np.float32) for axis in axes)
        result = e.node("Mul", [e.node("Mul", [result, e.literal(rows[:, None])]), e.literal(columns)])
    return e.to_layout(result, op.options.layout)


def l2_pool(e: Emitter, op: Op, *, pad: Pad = pad_with_node) -> str:
    """Emit ``l2Pool2d``."""
    height, width = axes = _spatial(op)
    # The engine's LpPool takes 30 to 240 times as long as the average of the squares.
    squares = e.elementwise("Mul", [op["input"], op["input"]])
    if _is_global(axes):
        return e.node("Sqrt", [_reduce(e, "ReduceSum", squares, axes)])
    explicit = any(map(_is_refused, axes))
    average = _pool(e, op, "AveragePool", squares, 0.0, explicit=explicit, pad=pad, count_include_pad=1)
    total = e.node("Mul", [average, e.scalar(height.window * width.window, "float32")])
    return e.to_layout(e.node("Sqrt", [total]), op.options.layout)


def _slices_max(e: Emitter, value: str, axis: PoolingAxis, dtype: DataType) -> str:
    """Emit the maximum along one padded axis: windows of 1, 2, 4 ... elements, each made of two half as large; the stride comes last."""
    count, length = 1, axis.reach
    reach = (axis.output - 1) * axis.stride + 1

    def cut(start: int, end: int, step: int) -> str:
        return e.node("Slice", [value, e.ints([start]), e.ints([end]), e.ints([axis.axis]), e.ints([step])])

    if axis.window == 1:
        return cut(0, reach, axis.stride)
    while count < axis.window:
        added = min(count, axis.window - count)
        count += added
        shift = added * axis.dilation
        length -= shift
        end, step = (length, 1) if count < axis.window else (reach, axis.stride)
        value = combine(e, "Max", cut(0, end, step), cut(shift, shift + end, step), dtype)
    return value


def max_pool(e: Emitter, op: Op, *, padding: bool = True, pad: Pad = pad_with_node) -> str:
    """Emit ``maxPool2d``; ``padding`` says whether the provider's node pads by itself."""
    height, width = axes = _spatial(op)
    value, type = op["input"], op.type("input")
    lowest = extreme(type, largest=False)
    if type in ("int32", "uint32", "int64", "uint64"):
        # There is no kernel for these types, and no carrier that would be exact for all of them.
        padded = _pad(e, op, value, type, op.options.layout, lowest, pad)
        return _slices_max(e, _slices_max(e, padded, height, type), width, type)
    # The engine's maximum with a NaN depends on the NaN's place in the window; masking it would cost as much as the pooling.
    if type != "float32":
        # The engine's 8-bit kernels take 10 times as long as a detour through float32.
        value = e.cast(value, "float32")
    if _is_global(axes):
        result = _reduce(e, "ReduceMax", value, axes)
    else:
        explicit = not padding or any(map(_must_pad, axes))
        result = e.to_layout(_pool(e, op, "MaxPool", value, lowest, explicit=explicit, pad=pad), op.options.layout)
    return result if type == "float32" else e.cast(result, type)


def fill_empty_windows(emit: Emit, e: Emitter, op: Op, *, fill: float) -> str | Sequence[str]:
    """Emit a maximum that is a number for the windows without an element of the input; an integer is 0, or stays the smallest one."""
    result, dtype = emit(e, op), op.outputs[0].dataType
    height, width = _spatial(op)
    empty = (height.counts() == 0)[:, None] | (width.counts() == 0)
    # The smallest integer without a sign is 0.
    if not empty.any() or (fill and not is_float(dtype)) or dtype.startswith("u"):
        return result
    if op.options.layout == "nhwc":
        empty = empty[..., None]
    return e.elementwise("Where", [e.literal(empty), e.scalar(fill, dtype), str(result)])


def fill_unless_strided(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    """Emit a maximum that is 0 for the windows without an element, but lowest where a stride is longer than the window."""
    height, width = _spatial(op)
    if all(axis.stride <= axis.window for axis in (height, width)):
        return fill_empty_windows(emit, e, op, fill=0)
    return fill_empty_windows(emit, e, op, fill=-LARGEST_SINGLE if op.outputs[0].dataType == "float32" else -math.inf)


def average_with_padding(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    """Emit the average with the number of all places in a window as the divisor, unless the padding is that of "same-upper"."""
    axes = _spatial(op)
    if all(axis.is_same for axis in axes) or not any(axis.begin or axis.end for axis in axes):
        return emit(e, op)
    return e.to_layout(_pool(e, op, "AveragePool", op["input"], 0.0, explicit=True), op.options.layout)


def l2_of_mean(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    """Emit the root of the mean square of the elements inside the input, times the places of the window, for "same-upper" padding."""
    result, scale = emit(e, op), same_scale(_spatial(op), op.options.layout)
    return result if scale is None else e.elementwise("Mul", [str(result), e.literal(np.sqrt(scale).astype(np.float32))])


TRANSLATIONS: dict[str, Translation] = {
    "averagePool2d": Translation(emit=average_pool, carry={"float16": "float32"}),
    "l2Pool2d": Translation(emit=l2_pool, carry={"float16": "float32"}),
    "maxPool2d": Translation(emit=max_pool, carry={"float16": "float32"}),
}
