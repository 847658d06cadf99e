"""The windows of pooling: where they are along each spatial axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from webnn.validation.conv import input_sizes

__all__ = ["PoolingAxis", "pooling_axes", "same_scale"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolingAxis:
    """Pooling along one spatial axis, which is number ``axis`` in the input's layout.

    The padding in front is ``begin``. The one behind that the program states is ``behind``; `end` is the one that counts.
    """

    axis: int
    size: int
    output: int
    window: int
    stride: int
    dilation: int
    begin: int
    behind: int = 0

    @property
    def reach(self) -> int:
        """The number of elements, with padding, from the first one of the first window to the last one of the last window."""
        return (self.output - 1) * self.stride + (self.window - 1) * self.dilation + 1

    @property
    def end(self) -> int:
        """The padding behind that the last window needs. It may be less than the program's (rounded down) or more (rounded up)."""
        return max(0, self.reach - self.size - self.begin)

    @property
    def is_same(self) -> bool:
        """The padding is that of "same-upper": as many windows as strides begin in the input, with the odd element behind."""
        count = -(-self.size // self.stride)
        total = max((count - 1) * self.stride + (self.window - 1) * self.dilation + 1 - self.size, 0)
        return self.output == count and self.begin == total // 2 and self.behind == total - total // 2

    def counts(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Count the elements of each window that are inside the input."""
        start = np.arange(self.output, dtype=np.int64) * self.stride - self.begin
        first = np.maximum(-(start // self.dilation), 0)
        last = np.minimum((self.size - 1 - start) // self.dilation, self.window - 1)
        counts: np.ndarray[Any, np.dtype[np.int64]] = np.maximum(last - first + 1, 0)
        return counts


def pooling_axes(
    layout: str,
    input: Sequence[int],
    output: Sequence[int],
    windowDimensions: Sequence[int] | None = None,
    padding: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
) -> tuple[PoolingAxis, PoolingAxis]:
    """Return the windows along height and width. An option that is ``None`` has its default; one element has no gaps."""
    _, _, *sizes = input_sizes(layout, tuple(input))
    _, _, *outputs = input_sizes(layout, tuple(output))
    windows = windowDimensions or sizes
    height, width = (
        PoolingAxis(
            axis=layout.index("hw"[index]),
            size=sizes[index],
            output=outputs[index],
            window=windows[index],
            stride=(strides or (1, 1))[index],
            dilation=1 if windows[index] == 1 else (dilations or (1, 1))[index],
            begin=(padding or (0, 0, 0, 0))[2 * index],
            behind=(padding or (0, 0, 0, 0))[2 * index + 1],
        )
        for index in range(2)
    )
    return height, width


def same_scale(axes: Sequence[PoolingAxis], layout: str) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """Return the places of each window, divided by its elements inside the input, to be multiplied with the output.

    It is ``None`` where all are 1, and unless the padding is that of "same-upper" along both axes. A window without elements has 0.
    """
    height, width = axes
    inside = height.counts()[:, np.newaxis] * width.counts()
    places = height.window * width.window
    if not all(axis.is_same for axis in axes) or (inside == places).all():
        return None
    scale: np.ndarray[Any, np.dtype[np.float64]] = np.where(inside, places / np.maximum(inside, 1), 0.0)
    return scale[..., np.newaxis] if layout == "nhwc" else scale
