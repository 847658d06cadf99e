"""Numbers and tensors as the format of recorded cases writes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from webnn import OperandDescriptor

__all__ = ["Array", "RecordingError", "Tensor", "decode_bits", "decode_number", "encode_number", "encode_tensor"]

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

#: The largest integer that every JSON reader reads exactly; the same holds for its negative.
_SAFE = (1 << 53) - 1
#: Larger integers all become the same value of a data type: its largest number, or infinity. Python refuses to convert very long ones.
_MOST_DIGITS = 300
_LARGEST = 10 ** (_MOST_DIGITS - 1)


class RecordingError(ValueError):
    """The format cannot hold something."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor and its elements.

    Attributes:
        descriptor: Its type and shape.
        elements: Its elements, flattened; just one if all are bit-identical.
    """

    descriptor: OperandDescriptor
    elements: Array

    @classmethod
    def of(cls, descriptor: OperandDescriptor, data: Array) -> Tensor:
        """Make a tensor, with a copy of the data."""
        flat = np.ascontiguousarray(data).reshape(-1)
        bits = flat.view(f"u{flat.itemsize}")
        if flat.size > 1 and bool((bits == bits[0]).all()):
            flat = flat[:1]
        return cls(descriptor, flat.copy())

    def encode(self, *, constant: bool = False) -> dict[str, Any]:
        """Write it for JSON."""
        values = self.elements.astype(np.float64) if self.elements.dtype.kind == "f" else self.elements
        data = [encode_number(value) for value in values.tolist()]
        filled = len(data) < self.descriptor.element_count
        return encode_tensor(self.descriptor, data[0] if filled else data) | ({"constant": True} if constant else {})


def encode_tensor(descriptor: OperandDescriptor, data: object) -> dict[str, Any]:
    """Write a tensor for JSON.

    Args:
        descriptor: Its type and shape.
        data: Its numbers, written for JSON, or one number that fills it.
    """
    return {"data": data, "descriptor": {"shape": list(descriptor.shape), "dataType": descriptor.dataType}}


def encode_number(value: float) -> object:
    """Write a number for JSON. One that is whole is written without a fraction, whatever its type."""
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        if value == 0 and math.copysign(1, value) < 0:
            return "-0"
        return int(value) if value.is_integer() and abs(value) <= _SAFE else value
    return value if abs(value) <= _SAFE else {"$bigint": str(max(-_LARGEST, min(value, _LARGEST)))}


def decode_number(value: Any, dataType: str) -> int | float:
    """Read a number that JavaScript has sent: `recorder.js` writes the numbers as the format does.

    Args:
        value: What JSON gave.
        dataType: The type of the tensor that it belongs to.

    Raises:
        RecordingError: It is not a number of this type.
    """
    number: int | float
    match value:
        case {"$bigint": str(digits)} if len(digits) <= _MOST_DIGITS:
            number = int(digits)
        case "NaN" | "Infinity" | "-Infinity" | "-0":
            number = float(value)
        case int() | float() if not isinstance(value, bool):
            number = value
        case _:
            raise RecordingError(f"it expects {value!r}, which is no number")
    if dataType.startswith("float"):
        return float(number)
    if isinstance(number, float) and not number.is_integer():
        raise RecordingError(f"it expects {number!r} of {dataType}")
    limits = np.iinfo(dataType)
    if not limits.min <= number <= limits.max:
        raise RecordingError(f"it expects {number!r} of {dataType}")
    return int(number)


def decode_bits(values: Sequence[int]) -> list[float]:
    """Return the numbers that bit patterns of float16 stand for."""
    return [float(value) for value in np.array(values, np.uint16).view(np.float16)]
