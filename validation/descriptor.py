"""Operand data types and descriptors: `#api-mloperanddescriptor` and the table of compatible buffer views."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeGuard

import numpy as np

__all__ = [
    "BITS",
    "CARRIERS",
    "DATA_TYPES",
    "FLOAT_FORMATS",
    "FLOAT_TYPES",
    "MAX_BYTE_LENGTH",
    "MAX_DIMENSION",
    "MAX_RANK",
    "ML_DTYPES",
    "NUMPY_DTYPES",
    "SMALL_TYPES",
    "BigInt",
    "DataType",
    "FloatFormat",
    "OperandDescriptor",
    "Ranks",
    "Shape",
    "Types",
    "extreme",
    "integer_range",
    "is_data_type",
    "is_float",
    "is_valid_dimension",
    "pack",
    "unpack",
]

#: ``MLOperandDataType``, `#enumdef-mloperanddatatype`, `SMALL_TYPES` and `ML_DTYPES`.
DataType = Literal["float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8", "int4", "uint4", "bfloat16", "float8e4m3"]
Shape = tuple[int, ...]
#: The data types that an operation allows for an operand, and the smallest and largest rank.
Types = tuple[DataType, ...]
Ranks = tuple[int, int]

#: The number of bits of an element.
BITS: Mapping[DataType, int] = MappingProxyType(
    {
        **{"float32": 32, "float16": 16, "int32": 32, "uint32": 32, "int64": 64, "uint64": 64, "int8": 8, "uint8": 8},
        **{"int4": 4, "uint4": 4, "bfloat16": 16, "float8e4m3": 8},
    }
)
#: For each type of which several elements share a byte, the type of one byte that holds a single element.
CARRIERS: Mapping[DataType, DataType] = MappingProxyType({"int4": "int8", "uint4": "uint8"})
#: Floating-point types that NumPy and the drafts lack; the package ml_dtypes has their elements.
ML_DTYPES: Types = ("bfloat16", "float8e4m3")
DATA_TYPES: Types = tuple(name for name in BITS if name not in CARRIERS and name not in ML_DTYPES)
#: The floating-point types of the drafts; `is_float` knows all.
FLOAT_TYPES: Types = ("float32", "float16")
#: Four-bit integers, which browsers have beyond the drafts: two in a byte, the first one in the low bits.
SMALL_TYPES: tuple[DataType, ...] = tuple(CARRIERS)


class BigInt(int):
    """A BigInt of JavaScript. In Python every integer counts as either kind of number."""

    __slots__ = ()


class FloatFormat(NamedTuple):
    """The numbers of a floating-point type.

    Attributes:
        bits: The number of significant bits.
        smallest: The exponent of the smallest normal number.
        largest: The largest number.
        saturates: A larger number becomes the largest one; otherwise it becomes infinite.
    """

    bits: int
    smallest: int
    largest: float
    saturates: bool = False


FLOAT_FORMATS: Mapping[DataType, FloatFormat] = MappingProxyType(
    {
        "float32": FloatFormat(24, -126, (2 - 2**-23) * 2.0**127),
        "float16": FloatFormat(11, -14, 65504.0),
        "bfloat16": FloatFormat(8, -126, (2 - 2**-7) * 2.0**127),
        # OCP's E4M3, in which all bits of the exponent and the mantissa are set in NaN alone.
        "float8e4m3": FloatFormat(4, -6, 448.0, saturates=True),
    }
)


class _Dtypes(dict[DataType, np.dtype[np.generic]]):
    """NumPy's types; those of `ML_DTYPES` are in a package that most programs do not need."""

    def __missing__(self, key: DataType) -> np.dtype[np.generic]:
        if key not in ML_DTYPES:
            raise KeyError(key)
        import ml_dtypes  # noqa: PLC0415 (see above)

        dtype: np.dtype[np.generic] = np.dtype(ml_dtypes.bfloat16 if key == "bfloat16" else ml_dtypes.float8_e4m3fn)
        return dtype


#: `#appendices-mloperanddatatype-arraybufferview-compatibility`, with NumPy dtypes (native byte order) in place of buffer views; for small
#: integers, the dtype of their bytes.
NUMPY_DTYPES: MappingProxyType[DataType, np.dtype[np.generic]] = MappingProxyType(
    _Dtypes({**{name: np.dtype(name) for name in DATA_TYPES}, **{name: np.dtype(np.uint8) for name in SMALL_TYPES}})
)

#: The largest value of ``unsigned long``, thus the largest size of a dimension.
MAX_DIMENSION = 2**32 - 1
#: The largest rank and byte length that this implementation supports; the draft leaves both open ("check dimensions", steps 2 and 3).
MAX_RANK = 8
MAX_BYTE_LENGTH = 2**31 - 1


# Annotations must be objects, not strings: pydantic would look up the names in `webnn`, the public module of the class.
@dataclass(frozen=True, slots=True)
class OperandDescriptor:
    """The type and shape of an operand: the converted form of the dictionary ``MLOperandDescriptor``.

    Attributes:
        dataType: One of `DATA_TYPES`, `SMALL_TYPES` or `ML_DTYPES`.
        dimensions: The shape; empty for a scalar.
    """

    dataType: DataType
    dimensions: Shape = ()

    @property
    def shape(self) -> Shape:
        """The shape, under the name that `MLOperand` uses."""
        return self.dimensions

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
        """The number of bytes, `#mloperanddescriptor-byte-length`; small integers fill the last one with zero bits."""
        return (math.prod(self.dimensions) * BITS[self.dataType] + 7) // 8

    @property
    def array_shape(self) -> Shape:
        """The shape of the array that holds the elements: the operand's shape; for small integers, one dimension of bytes."""
        return (self.byte_length,) if self.dataType in SMALL_TYPES else self.dimensions

    def __str__(self) -> str:
        return f"{self.dataType} {list(self.dimensions)}"


def pack(values: np.ndarray[Any, np.dtype[Any]]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return the bytes of small integers: four bits of each element, the first of two in the low bits, zeros behind the last one."""
    bits = values.ravel().astype(np.uint8) & 15
    bits = np.pad(bits, (0, bits.size % 2))
    return np.asarray(bits[::2] | bits[1::2] << 4)


def unpack(data: np.ndarray[Any, np.dtype[Any]], dataType: str, shape: Shape) -> np.ndarray[Any, np.dtype[Any]]:
    """Return the elements of small integers as int8, those of int4 with their sign, or as uint8; data of another type as they are."""
    if dataType not in SMALL_TYPES:
        return data
    packed = data.ravel().view(np.uint8)
    bits = np.stack([packed & 15, packed >> 4], -1).ravel()[: math.prod(shape)].reshape(shape)
    return (bits ^ 8).astype(np.int8) - np.int8(8) if dataType == "int4" else bits


def integer_range(dataType: str) -> tuple[int, int]:
    """Return the smallest and the largest value of an integer type of WebNN or NumPy."""
    bits = int(dataType.lstrip("uint"))
    return (0, 2**bits - 1) if dataType.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def extreme(dataType: str, *, largest: bool) -> float:
    """Return the largest or the smallest value of a type of WebNN or NumPy: of floating-point types an infinity, of bool 1 or 0."""
    if dataType.startswith(("int", "uint")):
        return integer_range(dataType)[largest]
    return int(largest) if dataType == "bool" else math.inf if largest else -math.inf


def is_data_type(name: str) -> TypeGuard[DataType]:
    """Tell whether a type of this name is one of an operand."""
    return name in BITS


def is_float(dataType: DataType) -> bool:
    """Tell whether the elements of a type are floating-point numbers."""
    return dataType in FLOAT_FORMATS


def is_valid_dimension(size: int, largest: int = MAX_DIMENSION) -> bool:
    """Tell whether a size is a *valid dimension*, `#valid-dimension`: an integer from 1 to the largest that the revision allows."""
    return 0 < size <= largest
