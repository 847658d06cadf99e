"""The element types of StableHLO, and which of them WebNN has."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.hlo.types import QuantizedType, TensorType, find_dtype
from webnn.importing.values import Refused, carrier

if TYPE_CHECKING:
    from webnn.hlo.ir import Module
    from webnn.hlo.types import ElementType, Type

__all__ = ["check_element", "count_constant_bytes", "dtype_of", "kind_of", "shape_of", "tensor_type"]

#: Types of WebNN with the numbers of those that it does not have.
_WIDER: Mapping[str, str] = {"i16": "i32", "ui16": "i32", "bf16": "f32"}


@functools.cache
def dtype_of(element: ElementType) -> np.dtype[Any]:
    """Return the data type of NumPy for elements; that of the stored integers for a quantized type."""
    return find_dtype(element.storage if isinstance(element, QuantizedType) else element)


@functools.cache
def kind_of(dtype: np.dtype[Any]) -> str:
    """Return the kind of elements: ``"b"``, ``"i"``, ``"f"`` or ``"c"``."""
    name = dtype.name
    if name == "bool":
        return "b"
    return "i" if name.startswith(("int", "uint")) else "c" if name.startswith("complex") else "f"


@functools.cache
def check_element(element: ElementType) -> None:
    """Refuse an element type that WebNN does not have. f64 can be allowed, so it passes."""
    try:
        carrier(dtype_of(element))
    except Refused:
        wider = _WIDER.get(str(element))
        advice = f"use {wider} in the program, which has all numbers of {element}" if wider else ""
        raise Refused(f"the element type must be one that WebNN has, got {element}", advice) from None


def tensor_type(type: Type) -> TensorType:
    """Return a type that must be that of a tensor; others are refused."""
    if not isinstance(type, TensorType):
        raise Refused(f"the value must be a tensor, got {type}")
    return type


def shape_of(type: Type) -> tuple[int, ...]:
    """Return the shape of a tensor; unknown sizes are refused."""
    shape = tensor_type(type).shape
    sizes = tuple([size for size in shape if size is not None])
    if len(sizes) != len(shape):
        raise Refused(f"all sizes must be known, got {type}")
    return sizes


def count_constant_bytes(module: Module) -> int:
    """Return how many bytes the constants of a program take. An element that is repeated takes none."""
    arrays = {
        id(value): value
        for function in module.functions
        if function.body is not None
        for operation in function.body.walk()
        if operation.name == "stablehlo.constant" and isinstance(value := operation.attributes.get("value"), np.ndarray)
    }
    return sum(
        array.itemsize * prod(size for size, stride in zip(array.shape, array.strides, strict=True) if stride) for array in arrays.values()
    )
