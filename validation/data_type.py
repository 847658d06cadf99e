"""The conversion of ``MLOperandDataType``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from webnn.validation import webidl
from webnn.validation.descriptor import DATA_TYPES, DataType, Types

__all__ = ["conversion", "convertDataType"]


@cache
def conversion(types: Types) -> Callable[[object], DataType]:
    """Return the conversion to ``MLOperandDataType`` of a revision with these values: always the same function."""
    return webidl.enumeration("MLOperandDataType", types)  # type: ignore[return-value]  # it returns one of the types


convertDataType = conversion(DATA_TYPES)
