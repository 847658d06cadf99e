"""The conversion of ``MLOperandDataType``."""

from __future__ import annotations

from webnn.validation import webidl
from webnn.validation.descriptor import DATA_TYPES, SMALL_TYPES, DataType

__all__ = ["convertDataType"]

_convertDataType = webidl.enumeration("MLOperandDataType", DATA_TYPES)
_convertAnyDataType = webidl.enumeration("MLOperandDataType", DATA_TYPES + SMALL_TYPES)


def convertDataType(value: object, *, small: bool = False) -> DataType:
    """Convert to ``MLOperandDataType``; ``small``: the revision has small integers."""
    convertValue = _convertAnyDataType if small else _convertDataType
    return convertValue(value)  # type: ignore[return-value]  # one of the types, as just checked
