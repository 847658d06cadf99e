"""Operand data types and descriptors: `#api-mloperanddescriptor` and the table of compatible buffer views."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

__all__ = [
    "DATA_TYPES",
    "FLOAT_TYPES",
    "MAX_DIMENSION",
    "NUMPY_DTYPES",
    "DataType",
    "OperandDescriptor",
    "Shape",
    "is_valid_dimension",
]

#: ``MLOperandDataType``, `#enumdef-mloperanddatatype`.
DataType = Literal["float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8"]
Shape = tuple[int, ...]

DATA_TYPES: tuple[DataType, ...] = (
    "float32",
    "float16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "int8",
    "uint8",
)
FLOAT_TYPES: tuple[DataType, ...] = ("float32", "float16")

#: `#appendices-mloperanddatatype-arraybufferview-compatibility`, with NumPy dtypes (native byte order) in place of buffer views.
NUMPY_DTYPES: MappingProxyType[DataType, np.dtype[np.generic]] = MappingProxyType({name: np.dtype(name) for name in DATA_TYPES})

#: The largest value of ``unsigned long``, thus the largest size of a dimension.
MAX_DIMENSION = 2**32 - 1


@dataclass(frozen=True, slots=True)
class OperandDescriptor:
    """The type and shape of an operand: the converted form of the dictionary ``MLOperandDescriptor``.

    Attributes:
        dataType: One of `DATA_TYPES`.
        dimensions: The shape; empty for a scalar.
    """

    dataType: DataType
    dimensions: Shape = ()

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.dimensions)

    @property
    def element_count(self) -> int:
        """The number of elements, 1 for a scalar."""
        return math.prod(self.dimensions)

    @property
    def byte_length(self) -> int:
        """The number of bytes, `#mloperanddescriptor-byte-length`."""
        return math.prod(self.dimensions) * NUMPY_DTYPES[self.dataType].itemsize

    def __str__(self) -> str:
        return f"{self.dataType} {list(self.dimensions)}"


def is_valid_dimension(size: int) -> bool:
    """Tell whether a size is a *valid dimension*, `#valid-dimension`: an integer from 1 to 2^32 - 1."""
    return 0 < size <= MAX_DIMENSION
