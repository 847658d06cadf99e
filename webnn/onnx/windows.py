"""The attributes that place the windows of convolutions and pooling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from webnn.builder.operand import MLOperand
from webnn.importing.moving import slice_operand
from webnn.importing.values import Refused
from webnn.importing.windows import Window
from webnn.onnx.node import Node

__all__ = ["crop", "read_windows", "round_up", "spatial_sizes"]

#: The operators for which onnxruntime computes windows that leave elements over: how many of these always are behind.
_EXCESSES: Mapping[str, int] = {"Conv": 1, "ConvInteger": 1, "FusedConv": 1, "QLinearConv": 1, "LpPool": 0}


def _same(window: Window, operator: str, *, lower: bool) -> Window:
    """Return a window with the padding that gives one output for each stride; ``lower`` puts the odd element in front.

    A window that is smaller than its stride may leave elements over, which is less padding than none. ONNX leaves open where they are.
    """
    total = window.missing
    if total >= 0:
        return replace(window, low=(total + lower) // 2, high=total - (total + lower) // 2)
    # As onnxruntime 1.32 does: half of them are in front, rounded towards 0. Where it fails, all of them are behind.
    excess = -_EXCESSES[operator] - total - lower if operator in _EXCESSES else 0
    return replace(window, low=-max(0, excess // 2), high=0)


def round_up(window: Window) -> Window:
    """Return a window with the padding behind that its last place needs.

    The number of places is rounded up, unless the last one would begin in the padding behind.
    """
    count = -(-(window.padded - window.reach) // window.stride) + 1
    if (count - 1) * window.stride >= window.size + window.low:
        count -= 1
    return replace(window, high=max(0, (count - 1) * window.stride + window.reach - window.size - window.low))


def spatial_sizes(node: Node, index: int = 0) -> tuple[int, ...]:
    """Return the sizes of an input behind batches and channels, of which there must be one at least."""
    shape = node.value(index).shape
    if len(shape) < 3:
        raise Refused(f"the input {index} must have batches, channels and spatial dimensions, got the shape {list(shape)}")
    return shape[2:]


def read_windows(node: Node, sizes: Sequence[int], kernel: Sequence[int]) -> list[Window]:
    """Read the attributes that place a window over spatial dimensions.

    Raises:
        Refused: An attribute has the wrong length, or a number that is too small.
    """
    count = len(sizes)
    pads = [0] * (2 * count)
    auto = node.choice("auto_pad", "NOTSET", ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"))
    if auto == "NOTSET" and node.has("pads"):
        pads = _list("pads", node.integers("pads"), 2 * count, 0)
    strides = _list("strides", node.integers("strides", [1] * count), count, 1)
    dilations = _list("dilations", node.integers("dilations", [1] * count), count, 1)
    windows = [
        Window(size=size, count=length, stride=stride, dilation=dilation, low=low, high=high)
        for size, length, stride, dilation, low, high in zip(
            sizes, _list("kernel_shape", kernel, count, 1), strides, dilations, pads[:count], pads[count:], strict=True
        )
    ]
    if auto.startswith("SAME"):
        if min([window.missing for window in windows], default=0) < 0 and node.operator != "ConvTranspose":
            how = "are placed as in onnxruntime" if node.operator in _EXCESSES else "begin at the first element; onnxruntime fails"
            node.note(f"{node.operator} with auto_pad={auto} and a kernel smaller than its stride: engines differ; the windows {how}")
        windows = [_same(window, node.operator, lower=auto == "SAME_LOWER") for window in windows]
    return windows


def crop(node: Node, x: MLOperand, windows: Sequence[Window]) -> tuple[MLOperand, list[Window]]:
    """Cut off the elements in front of the first windows; return the operand and its windows, without negative padding."""
    if min([window.low for window in windows]) >= 0:
        return x, list(windows)
    sizes = list(x.descriptor.dimensions)
    starts = [0] * len(sizes)
    for axis, window in enumerate(windows, len(sizes) - len(windows)):
        starts[axis] = max(0, -window.low)
        sizes[axis] -= starts[axis]
    cut = [replace(window, size=window.size + min(0, window.low), low=max(0, window.low)) for window in windows]
    return slice_operand(node, x, starts, sizes), cut


def _list(name: str, numbers: Sequence[int], count: int, least: int) -> list[int]:
    """Check a list of attributes: its length, and that no number is too small."""
    if len(numbers) != count or min(numbers, default=least) < least:
        raise Refused(f"{name} must have {count} numbers of at least {least}, got {list(numbers)}")
    return list(numbers)
