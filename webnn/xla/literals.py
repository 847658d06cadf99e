"""Literals of programs as NumPy arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from webnn.importing.values import Array
from webnn.validation import webidl
from webnn.validation.descriptor import extreme
from webnn.xla.errors import XlaError, XlaTypeError
from webnn.xla.shapes import PrimitiveType, Shape

__all__ = ["LiteralUtil", "fit", "take_literal"]

_TYPES: Mapping[np.dtype[Any], PrimitiveType] = {each.dtype: each for each in PrimitiveType}
#: The element types of Python's numbers, by the kinds that NumPy gives them.
_DEFAULTS: Mapping[str, PrimitiveType] = {"b": PrimitiveType.PRED, "i": PrimitiveType.S32, "u": PrimitiveType.S32, "f": PrimitiveType.F32}


class LiteralUtil:
    """Literals for special values."""

    @staticmethod
    def MinValue(element_type: PrimitiveType) -> Array:
        """Return the least value of a type as a scalar: minus infinity for floating-point types."""
        return LiteralUtil._limit("MinValue", element_type, least=True)

    @staticmethod
    def MaxValue(element_type: PrimitiveType) -> Array:
        """Return the greatest value of a type as a scalar: infinity for floating-point types."""
        return LiteralUtil._limit("MaxValue", element_type, least=False)

    @staticmethod
    def _limit(operation: str, element_type: PrimitiveType, *, least: bool) -> Array:
        if not isinstance(element_type, PrimitiveType):
            raise XlaTypeError(f"must be a PrimitiveType, got {webidl.describe(element_type)}", operation, "element_type")
        return np.array(extreme(element_type.dtype.name, largest=not least), element_type.dtype)


def take_literal(given: object, operation: str, argument: str) -> tuple[Array, Shape]:
    """Return a literal as an array of its own, which cannot be written to, with its shape.

    The data type of an array or a scalar of NumPy counts; Python numbers in lists are F32, S32 or PRED.
    """
    if isinstance(given, (np.ndarray, np.generic)):
        element_type = _TYPES.get(given.dtype.newbyteorder("="))
        if element_type is None:
            names = ", ".join(str(each.dtype) for each in PrimitiveType)
            raise XlaTypeError(f"must have one of the data types {names}, got {webidl.describe(given)}", operation, argument)
        array = np.array(given, element_type.dtype)
    else:
        array = _numbers(given, operation, argument)
        element_type = _DEFAULTS[array.dtype.kind]
        array = _convert(given, array, element_type, operation, argument)
    array.flags.writeable = False
    return array, Shape(element_type, array.shape)


def fit(given: object, shape: Shape, operation: str, argument: str) -> Array:
    """Return an array for an argument of a shape.

    An array or a scalar of NumPy must have its data type; Python numbers in lists are converted.
    """
    dtype = shape.element_type.dtype
    if isinstance(given, (np.ndarray, np.generic)):
        array = np.asarray(given)
        if array.dtype.newbyteorder("=") != dtype:
            raise XlaError(f"must be {dtype.name} for {shape}, got {webidl.describe(array)}", operation, argument)
        array = array.astype(dtype, copy=False)
    else:
        array = _convert(given, _numbers(given, operation, argument), shape.element_type, operation, argument)
    if array.shape != shape.dimensions:
        raise XlaError(f"must have the dimensions {list(shape.dimensions)} of {shape}, got {list(array.shape)}", operation, argument)
    return array


def _numbers(given: object, operation: str, argument: str) -> Array:
    """Return Python's numbers in the types that NumPy gives them: bool, int64, uint64 or float64."""
    wrong = XlaTypeError(f"must be an array, or numbers in lists of equal lengths, got {webidl.describe(given)}", operation, argument)
    if not isinstance(given, (bool, int, float, list, tuple)):
        raise wrong
    try:
        array = np.array(given)
    except (ValueError, OverflowError, TypeError):
        raise wrong from None
    if array.dtype.kind not in _DEFAULTS:
        raise wrong
    return array


def _convert(given: object, array: Array, element_type: PrimitiveType, operation: str, argument: str) -> Array:
    """Return Python's numbers in an element type that has a place for each of them."""
    dtype = element_type.dtype
    if array.size and not np.can_cast(array.dtype, dtype, "same_kind") and not (array.dtype.kind == "i" and element_type.is_unsigned):
        raise XlaError(f"must be numbers of {element_type.value}, got {webidl.describe(given)}", operation, argument)
    if dtype.kind in "iu" and array.size:
        limits = np.iinfo(dtype)
        if array.min() < limits.min or array.max() > limits.max:
            wanted = f"must be from {limits.min} to {limits.max} for {element_type.value}"
            raise XlaError(f"{wanted}, got {webidl.describe(given)}", operation, argument)
    with np.errstate(over="ignore"):
        return array.astype(dtype)
