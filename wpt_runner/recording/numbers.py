"""Numbers and tensors as the format of recorded cases writes them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from webnn import OperandDescriptor
from webnn.validation.descriptor import FLOAT_TYPES, DataType, integer_range, unpack
from webnn.wpt_runner.vectors import format as recorded
from webnn.wpt_runner.vectors.format import Array

__all__ = ["RecordingError", "Tensor", "decode_number", "encode_number", "encode_tensor"]

#: The largest integer that every JSON reader reads exactly; the same holds for its negative.
_SAFE = (1 << 53) - 1
#: Larger integers all become the same value of a data type: its largest number, or infinity. Python refuses to convert very long ones.
_LARGEST = 10**299


class RecordingError(ValueError):
    """The format cannot hold something."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor and its flattened elements; just one if all are bit-identical."""

    descriptor: OperandDescriptor
    elements: Array

    @classmethod
    def of(cls, descriptor: OperandDescriptor, data: Array) -> Tensor:
        """Make a tensor, with a copy of the data; two elements of small types share a byte of it."""
        data = unpack(data, descriptor.dataType, descriptor.shape)
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
    """Write a tensor for JSON; its data are numbers written for JSON, or one number that fills it."""
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


def decode_number(value: Any, dataType: DataType | Literal["float64"]) -> int | float:
    """Read a number of a tensor's type that JavaScript has sent: `recorder.js` writes numbers as the format does."""
    try:
        number = recorded.decode_number(value)
    except recorded.CaseError:
        raise RecordingError(f"it expects {value!r}, which is not a number") from None
    if dataType == "float64" or dataType in FLOAT_TYPES:
        return float(number)
    least, most = integer_range(dataType)
    if not least <= number <= most or int(number) != number:
        raise RecordingError(f"it expects {number!r} of {dataType}")
    return int(number)
