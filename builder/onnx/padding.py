"""Padding with a constant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from webnn.builder.onnx.emitter import Emitter
from webnn.validation.descriptor import DataType

__all__ = ["Pad", "pad_with_node", "pad_with_parts"]

#: Emits the padding of a value of a shape and a data type, by numbers of elements before and behind each axis, with a number of that type.
Pad: TypeAlias = Callable[[Emitter, str, Sequence[int], DataType, Sequence[int], Sequence[int], float], str]


def pad_with_node(
    e: Emitter, value: str, shape: Sequence[int], dtype: DataType, beginning: Sequence[int], ending: Sequence[int], number: float
) -> str:
    """Emit the engine's node."""
    # All axes are given. Without them the engine merges the node into a pooling behind it, with wrong values or paddings that it refuses;
    # it fails to move a transpose over fewer.
    pads, axes = e.ints([*beginning, *ending]), e.ints(range(len(shape)))
    if dtype == "float16":
        # The engine pads in float32; the cast back rounds the constant once.
        return e.cast(e.node("Pad", [e.cast(value, "float32"), pads, e.scalar(number, "float32"), axes]), "float16")
    return e.node("Pad", [value, pads, e.scalar(number, dtype), axes])


def pad_with_parts(
    e: Emitter, value: str, shape: Sequence[int], dtype: DataType, beginning: Sequence[int], ending: Sequence[int], number: float
) -> str:
    """Emit constants beside the value, for a provider without that node."""
    with np.errstate(over="ignore"):  # a number beyond float16 is an infinity
        fill = np.array(number, dtype)
    sizes = list(shape)
    for axis, counts in enumerate(zip(beginning, ending, strict=True)):
        parts = [e.literal(np.full([*sizes[:axis], count, *sizes[axis + 1 :]], fill)) if count else "" for count in counts]
        if any(parts):
            value = e.node("Concat", [part for part in (parts[0], value, parts[1]) if part], axis=axis)
        sizes[axis] += sum(counts)
    return value
