"""How windows of convolutions and pooling are placed: `SAME` and `VALID`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from webnn.importing.values import Refused
from webnn.importing.windows import Window
from webnn.tflite.node import Node

__all__ = ["make_windows", "padding_of", "place", "read_windows", "trim"]

_PADDINGS = ("SAME", "VALID")


def place(window: Window, padding: str) -> Window:
    """Return a window with its padding: with SAME there is one place for each stride; an odd element is behind."""
    total = max(window.missing, 0) if padding == "SAME" else 0
    return replace(window, low=total // 2, high=total - total // 2)


def trim(window: Window, padding: str, count: int) -> tuple[int, int]:
    """Return what is taken away in front and behind of the result of a transposed convolution: behind it may be negative.

    ``window`` is that of the convolution whose transpose it is, and ``count`` the number of its places.
    """
    low = place(window, padding).low
    return low, (count - 1) * window.stride + window.reach - low - window.size


def padding_of(node: Node) -> str:
    """Return the padding that the options name."""
    padding = node.option("Padding", 0)
    if padding not in (0, 1):
        raise Refused(f"Padding must be SAME or VALID, got {padding}")
    return _PADDINGS[padding]


def make_windows(node: Node, sizes: Sequence[int], counts: Sequence[int]) -> list[Window]:
    """Return windows over two or three dimensions with the strides and dilations of the options, without padding."""
    return [
        Window(size=size, count=count, stride=node.integer(f"Stride{axis}", 1), dilation=node.integer(f"Dilation{axis}Factor", 1, 1))
        for axis, size, count in zip("DHW"[-len(sizes) :], sizes, counts, strict=True)
    ]


def read_windows(node: Node, sizes: Sequence[int], counts: Sequence[int]) -> list[Window]:
    """Return windows of some numbers of elements over dimensions, placed as the options say."""
    if min(counts, default=1) < 1:
        raise Refused(f"the window must have at least one element in each dimension, got {list(counts)}")
    placed = [place(window, padding_of(node)) for window in make_windows(node, sizes, counts)]
    if min(window.places for window in placed) < 1:
        padded, reach = [each.padded for each in placed], [each.reach for each in placed]
        raise Refused(f"the window must fit into the padded input, {padded}, got {reach}")
    return placed
