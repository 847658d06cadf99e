"""Windows that move over the spatial dimensions of a tensor: those of convolutions and pooling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from webnn.importing.values import Refused

if TYPE_CHECKING:
    from webnn.builder.operand import MLOperand
    from webnn.onnx.node import Node

__all__ = ["Window", "crop", "read_windows", "spatial_sizes"]


#: The operators for which onnxruntime computes windows that leave elements over: how many of these always are behind.
_EXCESSES: Mapping[str, int] = MappingProxyType({"Conv": 1, "ConvInteger": 1, "FusedConv": 1, "QLinearConv": 1, "LpPool": 0})


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How a window moves along one dimension.

    Attributes:
        size: The size of the dimension.
        kernel: The number of elements of the window, at least 1.
        stride: At least 1.
        dilation: At least 1.
        begin: The padding in front. In a transposed convolution it is cut off. What is negative is cut off the tensor, by `crop`.
        end: The padding behind.
    """

    size: int
    kernel: int
    stride: int = 1
    dilation: int = 1
    begin: int = 0
    end: int = 0

    @property
    def reach(self) -> int:
        """The elements from the first to the last one of a window."""
        return (self.kernel - 1) * self.dilation + 1

    @property
    def output(self) -> int:
        """The number of windows."""
        return (self.begin + self.size + self.end - self.reach) // self.stride + 1

    @property
    def is_trivial(self) -> bool:
        """Each window is one element of the input."""
        return self.kernel == self.stride == 1 and self.begin == self.end == 0

    def same(self, operator: str, *, lower: bool) -> Window:
        """Return the window with the padding that gives one output for each stride; ``lower`` puts the odd element in front.

        A window that is smaller than its stride may leave elements over, which is less padding than none. ONNX leaves open where they are.
        """
        total = self.find_padding()
        if total >= 0:
            return replace(self, begin=(total + lower) // 2, end=total - (total + lower) // 2)
        # As onnxruntime 1.32 does: half of them are in front, rounded towards 0. Where it fails, all of them are behind.
        excess = -_EXCESSES[operator] - total - lower if operator in _EXCESSES else 0
        return replace(self, begin=-max(0, excess // 2), end=0)

    def find_padding(self) -> int:
        """Return the padding that gives one output for each stride; it is negative if elements are left over."""
        return (-(-self.size // self.stride) - 1) * self.stride + self.reach - self.size

    def rounded_up(self) -> Window:
        """Return the window with the padding behind that its last place needs.

        The number of places is rounded up, unless the last one would begin in the padding behind.
        """
        count = -(-(self.begin + self.size + self.end - self.reach) // self.stride) + 1
        if (count - 1) * self.stride >= self.size + self.begin:
            count -= 1
        return replace(self, end=max(0, (count - 1) * self.stride + self.reach - self.size - self.begin))


def spatial_sizes(node: Node, index: int = 0) -> tuple[int, ...]:
    """Return the sizes of an input behind batches and channels, of which there must be one at least."""
    shape = node.value(index).shape
    if len(shape) < 3:
        raise Refused(f"the input {index} must have batches, channels and spatial dimensions, got the shape {list(shape)}")
    return shape[2:]


def read_windows(node: Node, sizes: Sequence[int], kernel: Sequence[int]) -> list[Window]:
    """Read the attributes that place a window.

    Args:
        node: The node.
        sizes: The sizes of the spatial dimensions.
        kernel: The elements of the window along each of them.

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
        Window(size=size, kernel=length, stride=stride, dilation=dilation, begin=begin, end=end)
        for size, length, stride, dilation, begin, end in zip(
            sizes, _list("kernel_shape", kernel, count, 1), strides, dilations, pads[:count], pads[count:], strict=True
        )
    ]
    if auto.startswith("SAME"):
        if min([window.find_padding() for window in windows], default=0) < 0 and node.operator != "ConvTranspose":
            how = "are placed as in onnxruntime" if node.operator in _EXCESSES else "begin at the first element; onnxruntime fails"
            node.note(f"{node.operator} with auto_pad={auto} and a kernel smaller than its stride: engines differ; the windows {how}")
        windows = [window.same(node.operator, lower=auto == "SAME_LOWER") for window in windows]
    return windows


def crop(node: Node, x: MLOperand, windows: Sequence[Window]) -> tuple[MLOperand, list[Window]]:
    """Cut off the elements in front of the first windows; return the operand and its windows, without negative padding."""
    if min([window.begin for window in windows]) >= 0:
        return x, list(windows)
    sizes = list(x.descriptor.dimensions)
    starts = [0] * len(sizes)
    for axis, window in enumerate(windows, len(sizes) - len(windows)):
        starts[axis] = max(0, -window.begin)
        sizes[axis] -= starts[axis]
    cut = [replace(window, size=window.size + min(0, window.begin), begin=max(0, window.begin)) for window in windows]
    return node.builder.slice(x, starts, sizes), cut


def _list(name: str, numbers: Sequence[int], count: int, least: int) -> list[int]:
    """Check a list of attributes: its length, and that no number is too small."""
    if len(numbers) != count or min(numbers, default=least) < least:
        raise Refused(f"{name} must have {count} numbers of at least {least}, got {list(numbers)}")
    return list(numbers)
