"""Windows that move over the spatial dimensions of a tensor: those of convolutions and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from webnn.importing.values import Refused

if TYPE_CHECKING:
    from webnn.onnx.node import Node

__all__ = ["Window", "read_windows", "spatial_sizes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How a window moves along one dimension.

    Attributes:
        size: The size of the dimension.
        kernel: The number of elements of the window, at least 1.
        stride: At least 1.
        dilation: At least 1.
        begin: The padding in front, at least 0. In a transposed convolution it is cut off.
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

    def same(self, *, lower: bool) -> Window:
        """Return the window with the padding that gives one output for each stride; ``lower`` puts the odd element in front."""
        count = -(-self.size // self.stride)
        total = max(0, (count - 1) * self.stride + self.reach - self.size)
        return replace(self, begin=(total + lower) // 2, end=total - (total + lower) // 2)

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
        windows = [window.same(lower=auto == "SAME_LOWER") for window in windows]
    return windows


def _list(name: str, numbers: Sequence[int], count: int, least: int) -> list[int]:
    """Check a list of attributes: its length, and that no number is too small."""
    if len(numbers) != count or min(numbers, default=least) < least:
        raise Refused(f"{name} must have {count} numbers of at least {least}, got {list(numbers)}")
    return list(numbers)
