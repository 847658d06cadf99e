"""Windows that move over the dimensions of a tensor: those of convolutions and pooling.

`conv2d` and the pooling operations of WebNN have two spatial dimensions. A convolution over more has its first ones unrolled: the elements
of the window become channels, and its places become batches. Pooling takes one or two dimensions after the other: maxima, norms, and
averages of windows without padding allow that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.moving import pad, slice_operand
from webnn.importing.steps import Steps, product, value_of
from webnn.importing.values import Refused, Value

__all__ = ["Pool", "Window", "locate_maxima", "pad_zeros", "pool", "roll", "unroll"]

Pool: TypeAlias = Literal["averagePool2d", "l2Pool2d", "maxPool2d"]

#: The most elements of windows that are looked at one by one.
_MOST_CHECKED = 1 << 20
#: The largest size whose elements are looked at.
_MOST_PADDED = 1 << 40
#: The most elements of a window whose greatest one is looked for.
_MOST_TAPS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How a window of ``count`` elements moves along one dimension.

    The tensor's elements have the distance ``base``: one less is put between them. ``low`` elements are put before them, ``high`` behind
    them; negative ones are cut off.
    """

    size: int
    count: int
    stride: int = 1
    base: int = 1
    dilation: int = 1
    low: int = 0
    high: int = 0

    @property
    def reach(self) -> int:
        """The number of elements from the first to the last one of a window."""
        return (self.count - 1) * self.dilation + 1

    @property
    def padded(self) -> int:
        """The size of the tensor with all that is put in."""
        return self.low + (max((self.size - 1) * self.base + 1, 0) if self.size else 0) + self.high

    @property
    def places(self) -> int:
        """The number of places of the window: the size of the result."""
        return 0 if self.padded <= 0 or self.reach > self.padded else (self.padded - self.reach) // self.stride + 1

    @property
    def missing(self) -> int:
        """The padding that gives one place for each stride; it is negative if elements are left over."""
        return (-(-self.size // self.stride) - 1) * self.stride + self.reach - self.size

    @property
    def is_trivial(self) -> bool:
        """Whether each place of the window is one element of the tensor."""
        return (self.count, self.stride, self.base, self.low, self.high) == (1, 1, 1, 0, 0)

    @property
    def is_filled(self) -> bool:
        """Whether each place of the window is known to have an element of the tensor."""
        if self.base == self.dilation == 1 and max(self.low, self.high) < self.count:
            return True
        if self.places * self.count > _MOST_CHECKED or max(self.padded, self.base, self.dilation, -self.low) > _MOST_PADDED:
            return False
        positions = np.arange(self.places)[:, None] * self.stride + np.arange(self.count) * self.dilation - self.low
        inside = (positions >= 0) & (positions <= (self.size - 1) * self.base) & (positions % self.base == 0)
        return bool(inside.any(1).all())


# Convolutions.


def unroll(steps: Steps, x: MLOperand, window: Window, groups: int) -> MLOperand:
    """Unroll the first spatial dimension: each place of the window becomes a batch, with the window's elements as channels of each group.

    Returns [batches * places, groups * elements * channels of a group, ...] of [batches, channels, size, ...].

    Raises:
        Refused: The groups do not divide the channels, or the window has no place.
    """
    batches, channels, _, *rest = x.descriptor.dimensions
    places, inner = window.places, product(rest)
    if groups > channels or channels % groups:
        raise Refused(f"group must divide the {channels} channels of the input evenly, got {groups}")
    if places < 1:
        raise Refused(f"the window must fit into the padded input, {window.padded}, got {window.reach}")
    x = pad_zeros(steps, steps.reshape(x, [batches, channels, window.size, inner]), 2, window.low, window.high, window.base - 1)
    x = steps.transpose(x, [0, 2, 1, 3])
    taps = [
        steps.reshape(
            slice_operand(steps, x, [0, first, 0, 0], [batches, places, channels, inner], [1, window.stride, 1, 1]),
            [batches * places, groups, channels // groups, inner],
        )
        for first in range(0, window.reach, window.dilation)
    ]
    joined = taps[0] if len(taps) == 1 else steps.builder.concat(taps, 2)
    return steps.reshape(joined, [batches * places, channels * len(taps), *rest])


def roll(steps: Steps, y: MLOperand, places: int) -> MLOperand:
    """Take the places of an unrolled window back out of the batches: [batches, channels, places, ...]."""
    batches, channels, *rest = y.descriptor.dimensions
    split = steps.reshape(y, [batches // places, places, channels, product(rest)])
    return steps.reshape(steps.transpose(split, [0, 2, 1, 3]), [batches // places, channels, places, *rest])


def pad_zeros(steps: Steps, x: MLOperand, axis: int, low: int, high: int, interior: int = 0) -> MLOperand:
    """Put zeros before, behind and between the elements of a dimension; a negative number takes elements away."""
    counts = [[count if each == axis else 0 for each in range(x.descriptor.rank)] for count in (low, high, interior)]
    value = value_of(x)
    padded = pad(steps, value, Value.known(np.zeros((), value.dtype)), *counts)
    return padded if isinstance(padded, MLOperand) else steps.constant(padded)


# Pooling.


def pool(steps: Steps, operation: Pool, x: MLOperand, windows: Sequence[Window]) -> MLOperand:
    """Pool the dimensions whose windows are not trivial, two neighbours at once, the last ones first."""
    axes = [axis for axis, window in enumerate(windows) if not window.is_trivial]
    for planes in ((2, 3), (1, 2)):
        if axes and len(windows) == 4 and {*axes} <= {*planes}:
            axes = [*planes]
    while axes:
        count = 2 if axes[-2:-1] == [axes[-1] - 1] else 1
        x = _pool(steps, operation, x, axes[-count], windows[axes[-count] : axes[-1] + 1])
        axes = axes[:-count]
    return x


def _pool(steps: Steps, operation: Pool, x: MLOperand, axis: int, windows: Sequence[Window]) -> MLOperand:
    """Pool a dimension, or two from it on."""
    shape = x.descriptor.dimensions
    head, tail = shape[:axis], shape[axis + len(windows) :]
    pair = windows if len(windows) == 2 else [*windows, Window(size=product(tail), count=1)]
    sizes = [window.size for window in pair]
    options: dict[str, Any] = {"layout": "nhwc"} if tail and len(windows) == 2 else {}
    if options:
        wide = [product(head), *sizes, product(tail)]
    else:
        wide = [*(head if len(head) == 2 else (1, product(head))), *sizes]
    padding = [number for window in pair for number in (window.low, window.high)]
    if any(padding):
        options["padding"] = padding
    compute = getattr(steps.builder, operation)
    pooled: MLOperand = compute(
        steps.reshape(x, wide),
        windowDimensions=[window.count for window in pair],
        strides=[window.stride for window in pair],
        dilations=[window.dilation for window in pair],
        **options,
    )
    return steps.reshape(pooled, [*head, *(window.places for window in windows), *tail])


def locate_maxima(
    steps: Steps, x: MLOperand, greatest: MLOperand, windows: Sequence[Window], number: Callable[[tuple[int, ...]], MLOperand]
) -> MLOperand:
    """Return a number for the first element of each window that is the greatest, by comparing with each of its elements.

    There is a window for each dimension. ``number`` gives the scalar for an element, whose indices count from the start of the window.
    """
    builder, counts = steps.builder, [window.count for window in windows]
    if product(counts) > _MOST_TAPS:
        raise Refused(f"indices need a window of at most {_MOST_TAPS} elements, got {product(counts)}")
    begins, ends = ([window.low for window in windows], [window.high for window in windows])
    if any(begins) or any(ends):
        x = builder.pad(x, begins, ends, value=-np.inf)
    sizes, strides = greatest.descriptor.dimensions, [window.stride for window in windows]
    # The first of equal maxima comes last.
    first, *others = reversed([*np.ndindex(*counts)])
    found = builder.expand(number(first), list(sizes))
    for tap in others:
        starts = [index * window.dilation for index, window in zip(tap, windows, strict=True)]
        part = slice_operand(steps, x, starts, sizes, strides)
        found = builder.where(builder.equal(part, greatest), number(tap), found)
    return found
