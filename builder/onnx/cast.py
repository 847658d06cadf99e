"""The cast between data types."""

from __future__ import annotations

import numpy as np

from webnn.builder.onnx.emitter import Emitter, Op
from webnn.validation.descriptor import FLOAT_TYPES, SMALL_TYPES, DataType, integer_range

__all__ = ["cast", "saturate"]


def saturate(number: float, dataType: DataType) -> int:
    """Convert a finite number to an integer type: drop the fraction, then saturate."""
    info = np.iinfo(dataType)
    return min(max(int(number), int(info.min)), int(info.max))


def cast(e: Emitter, op: Op) -> str:
    """Emit ``cast``: the engine's own, except from floating point to integer: that must saturate and have a value for NaN."""
    value, source = op["input"], op.type("input")
    # Its name differs between the drafts.
    (target,) = op.arguments.values()
    if source == target:
        return value
    if source not in FLOAT_TYPES or target in FLOAT_TYPES:
        # Measured: integers wrap, and every rounding is a single one to nearest, ties to even. (Integers go to float16 by way of
        # float32; those that are rounded there are too large for float16 anyway.)
        return e.cast(value, target)
    if source == "float16":
        value = e.cast(value, "float32")
    return _to_integer(e, value, target)


def _to_integer(e: Emitter, value: str, target: DataType) -> str:
    """Emit the cast of a float32 value to an integer type. The engine's own result for NaN or large numbers depends on the CPU."""
    low, high = integer_range(target)
    # The largest float32 inside the type's range: for 32 and 64 bits it is not the end of the range.
    limit = np.float32(high)
    if int(limit) > high:
        limit = np.nextafter(limit, np.float32(0))
    number = e.node("Where", [e.node("IsNaN", [value]), e.scalar(0, "float32"), value])
    inside = e.node("Clip", [number, e.scalar(low, "float32"), e.scalar(float(limit), "float32")])
    if target in SMALL_TYPES:
        # The engine's cast from float32 to these types rounds to nearest.
        inside = e.cast(inside, "int8")
    result = e.cast(inside, target)
    if int(limit) == high:
        return result
    beyond = e.node("Greater", [value, e.scalar(float(limit), "float32")])
    if target == "uint64":
        # The engine has no `Where` for it: choose between the same bits as int64, in which -1 is the largest value.
        return e.cast(e.node("Where", [beyond, e.scalar(-1, "int64"), e.cast(result, "int64")]), target)
    return e.node("Where", [beyond, e.scalar(high, target), result])
