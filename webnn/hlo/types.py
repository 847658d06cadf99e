"""The types of values: tensors, tuples, tokens and functions. Element types have the names of StableHLO."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from webnn._extras import pip_command

__all__ = [
    "DTYPES",
    "ELEMENTS",
    "TYPES",
    "ElementType",
    "FunctionType",
    "OtherType",
    "QuantizedType",
    "TensorType",
    "TokenType",
    "TupleType",
    "Type",
    "find_dtype",
]

#: How deep types may be nested, and of how many they may be made.
_DEEPEST, _MOST_PARTS = 100, 100_000
#: The most bits of a size: MLIR has no larger one.
_MOST_BITS = 63

#: The data types of NumPy that hold the elements exactly, by the names of StableHLO. Names with a module need the package ml_dtypes.
#: `index` belongs to MLIR: shapes that are computed may have it.
DTYPES: Mapping[str, str] = MappingProxyType(
    {
        **{"i1": "bool", "index": "int64"},
        **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
        **{f"ui{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
        **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
        **{"complex<f32>": "complex64", "complex<f64>": "complex128"},
        **{"i2": "ml_dtypes.int2", "ui2": "ml_dtypes.uint2", "i4": "ml_dtypes.int4", "ui4": "ml_dtypes.uint4"},
        **{"bf16": "ml_dtypes.bfloat16", "f4E2M1FN": "ml_dtypes.float4_e2m1fn"},
        **{"f6E2M3FN": "ml_dtypes.float6_e2m3fn", "f6E3M2FN": "ml_dtypes.float6_e3m2fn"},
        **{"f8E3M4": "ml_dtypes.float8_e3m4", "f8E4M3": "ml_dtypes.float8_e4m3", "f8E5M2": "ml_dtypes.float8_e5m2"},
        **{"f8E4M3FN": "ml_dtypes.float8_e4m3fn", "f8E4M3FNUZ": "ml_dtypes.float8_e4m3fnuz", "f8E5M2FNUZ": "ml_dtypes.float8_e5m2fnuz"},
        **{"f8E4M3B11FNUZ": "ml_dtypes.float8_e4m3b11fnuz", "f8E8M0FNU": "ml_dtypes.float8_e8m0fnu"},
    }
)
#: The other way round, without the modules and without `index`: the names of StableHLO by those of NumPy's data types.
ELEMENTS: Mapping[str, str] = MappingProxyType({name.rpartition(".")[2]: element for element, name in DTYPES.items() if element != "index"})


def find_dtype(element: str) -> np.dtype[Any]:
    """Return the data type of NumPy that holds elements of a type exactly.

    Args:
        element: One of `DTYPES`.

    Raises:
        ValueError: There is no such name.
        ImportError: It needs the package ml_dtypes, or a newer version of it.
    """
    name = DTYPES.get(element)
    if name is None:
        raise ValueError(f"the element type must be one of {', '.join(DTYPES)}, got {element}")
    module, _, short = name.rpartition(".")
    if not module:
        return np.dtype(name)
    try:
        found: np.dtype[Any] = np.dtype(getattr(importlib.import_module(module), short))
    except (ImportError, AttributeError) as error:
        raise ImportError(f"elements of {element} need the package ml_dtypes: {pip_command('-U', 'ml_dtypes')}") from error
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantizedType:
    """Integers that represent real numbers: ``(stored - zero_point) * scale``.

    Attributes:
        storage: The type of the stored integers, one of `DTYPES`.
        expressed: The type of the numbers that they represent, one of `DTYPES`.
        scales: One for all elements, or one for each position along the axis.
        zero_points: As many as scales.
        axis: The dimension that the scales belong to; None if one scale is for all elements.
        minimum: The least stored integer; None for the least one of the storage type.
        maximum: The greatest stored integer; None for the greatest one of the storage type.
    """

    storage: str
    expressed: str
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int | None = None
    minimum: int | None = None
    maximum: int | None = None

    def __post_init__(self) -> None:
        for name in (self.storage, self.expressed):
            if name not in DTYPES:
                raise ValueError(f"the element type must be one of {', '.join(DTYPES)}, got {name}")
        if not self.scales or len(self.scales) != len(self.zero_points):
            raise ValueError(f"there must be as many zero points as scales, got {len(self.zero_points)} and {len(self.scales)}")
        if self.axis is None and len(self.scales) != 1:
            raise ValueError(f"there must be 1 scale without an axis, got {len(self.scales)}")

    def __str__(self) -> str:
        limits = "" if self.minimum is None and self.maximum is None else f"<{self.minimum}:{self.maximum}>"
        axis = "" if self.axis is None else f":{self.axis}"
        pairs = [f"{scale!r}:{zero}" if zero else repr(scale) for scale, zero in zip(self.scales, self.zero_points, strict=True)]
        steps = pairs[0] if self.axis is None else "{" + ", ".join(pairs) + "}"
        return f"quant<{self.storage}{limits}:{self.expressed}{axis}, {steps}>"


#: The type of a tensor's elements: one of `DTYPES`, or a quantized type.
ElementType = str | QuantizedType


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorType:
    """A tensor.

    Attributes:
        shape: The sizes; None for a size that is known only when the program runs.
        element: The type of the elements.
        bounds: The largest sizes of dimensions whose size is unknown, one entry for each dimension; empty if there are none.
    """

    shape: tuple[int | None, ...]
    element: ElementType
    bounds: tuple[int | None, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.element, QuantizedType) and self.element not in DTYPES:
            raise ValueError(f"the element type must be one of {', '.join(DTYPES)}, got {self.element}")
        if any(size is not None and size.bit_length() > _MOST_BITS for size in (*self.shape, *self.bounds)):
            raise ValueError(f"sizes must have at most {_MOST_BITS} bits")
        if any(size is not None and size < 0 for size in (*self.shape, *self.bounds)):
            raise ValueError(f"sizes must be 0 or greater, got {self}")
        if self.bounds and len(self.bounds) != len(self.shape):
            raise ValueError(f"there must be a bound for each of {len(self.shape)} dimensions, got {len(self.bounds)}")

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int | None:
        """The number of elements; None if it is unknown."""
        sizes = [size for size in self.shape if size is not None]
        return math.prod(sizes) if len(sizes) == len(self.shape) else None

    def __str__(self) -> str:
        sizes = "".join("?x" if size is None else f"{size}x" for size in self.shape)
        bounds = ", ".join("?" if size is None else str(size) for size in self.bounds)
        return f"tensor<{sizes}{self.element}{f', bounds<{bounds}>' if bounds else ''}>"


@dataclass(frozen=True, slots=True)
class TupleType:
    """A tuple of values."""

    types: tuple[Type, ...]
    _measures: tuple[int, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_measures", _measure(self.types))

    def __str__(self) -> str:
        return f"tuple<{_join(self.types)}>"


@dataclass(frozen=True, slots=True)
class TokenType:
    """A value that orders operations with effects."""

    def __str__(self) -> str:
        return "token"


@dataclass(frozen=True, slots=True)
class FunctionType:
    """The types of the arguments and results of a function."""

    inputs: tuple[Type, ...]
    results: tuple[Type, ...]
    _measures: tuple[int, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_measures", _measure((*self.inputs, *self.results)))

    def __str__(self) -> str:
        return f"({_join(self.inputs)}) -> {_join(self.results) if len(self.results) == 1 else f'({_join(self.results)})'}"


@dataclass(frozen=True, slots=True)
class OtherType:
    """A type that StableHLO's operations do not compute with, in MLIR's own words."""

    text: str

    def __str__(self) -> str:
        return self.text


Type = TensorType | TupleType | TokenType | FunctionType | OtherType
TYPES = (TensorType, TupleType, TokenType, FunctionType, OtherType)


def _measure(types: tuple[Type, ...]) -> tuple[int, int]:
    """Return how deep a type made of some types is nested, and the number of its parts. A type may be several of them."""
    measures = [each._measures if isinstance(each, (TupleType, FunctionType)) else (0, 1) for each in types]
    depth, count = 1 + max((depth for depth, _ in measures), default=0), 1 + sum(count for _, count in measures)
    if depth > _DEEPEST or count > _MOST_PARTS:
        raise ValueError(f"a type must be nested at most {_DEEPEST} deep and have at most {_MOST_PARTS} parts, got {depth} and {count}")
    return depth, count


def _join(types: tuple[Type, ...]) -> str:
    return ", ".join(map(str, types))
