"""Conversions and errors of the methods of WebGPU."""

from __future__ import annotations

from typing import NoReturn, TypeVar

from webnn.validation import webidl
from webnn.validation.errors import OperationError, WebNNTypeError

__all__ = ["convert_object", "convert_size", "refuse"]

T = TypeVar("T")


def convert_size(operation: str, argument: str, value: object) -> int:
    """Convert to ``GPUSize64``: ``[EnforceRange] unsigned long long``.

    Raises:
        WebNNTypeError: It is not an integer from 0 to 2**53 - 1.
    """
    try:
        return webidl.enforceRangeUnsignedLongLong(value)
    except webidl.ConversionError as error:
        raise _type_error(operation, argument, error.reason) from error.__cause__


def convert_object(operation: str, argument: str, value: object, kind: type[T]) -> T:
    """Check that an argument is an object of an interface.

    Raises:
        WebNNTypeError: It is something else.
    """
    if not webidl.isInstance(value, kind):
        raise _type_error(operation, argument, f"must be a {kind.__name__}, got {webidl.describe(value)}")
    return value  # type: ignore[return-value]  # just checked


def refuse(operation: str, requirement: str) -> NoReturn:
    """Raise the `OperationError` of a call that WebGPU finds invalid."""
    raise OperationError(f"{operation}: {requirement}", operation=operation)


def _type_error(operation: str, argument: str, reason: str) -> WebNNTypeError:
    return WebNNTypeError(f"{operation}: {argument} {reason}", operation=operation, argument=argument)
