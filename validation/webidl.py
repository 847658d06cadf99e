"""Web IDL conversion: what a browser does to the values that a program passes, for Python values.

``None`` stands for JavaScript's ``undefined``: a dictionary member that is ``None`` is missing, and where a number is wanted it is NaN.
Numbers are Python ints and floats, bools (0 and 1), NumPy scalars and 0-D arrays; a string is converted as JavaScript's ``Number(string)``
does. A failed conversion raises `ConversionError`, which the caller turns into a `WebNNTypeError` that names operation and argument.

Source: Web IDL, section "ECMAScript type mapping".
"""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any, SupportsFloat, SupportsIndex, TypeVar

import numpy as np

__all__ = [
    "ConversionError",
    "boolean",
    "describe",
    "dictionary_members",
    "domString",
    "double",
    "enforceRangeLong",
    "enforceRangeUnsignedLong",
    "enumeration",
    "float_",
    "number",
    "record",
    "sequence",
    "unsignedLong",
]

T = TypeVar("T")

_STRING_NUMBER = re.compile(
    r"(?P<hex>0[xX][0-9a-fA-F]+)|(?P<oct>0[oO][0-7]+)|(?P<bin>0[bB][01]+)"
    r"|(?P<inf>[+-]?Infinity)|(?P<dec>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
)
#: JavaScript's white space and line terminators.
_WHITESPACE = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_LONGEST_SHOWN = 80


class ConversionError(ValueError):
    """A value could not be converted.

    Attributes:
        path: Where inside the argument, for example ``"[1]"``; empty for the argument itself.
        reason: What must hold and what was given, to be put behind the argument's name.
    """

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path


def describe(value: object) -> str:
    """Return a short text for a value that a message quotes."""
    if isinstance(value, np.ndarray):
        return f"a NumPy array of {value.dtype} {list(value.shape)}"
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."


def _stringToNumber(text: str) -> float:
    text = text.strip(_WHITESPACE)
    if not text:
        return 0
    match = _STRING_NUMBER.fullmatch(text)
    if match is None:
        return math.nan
    if match["dec"]:
        return float(text)
    if match["inf"]:
        return -math.inf if text[0] == "-" else math.inf
    return int(text, 0)


def _toNumber(value: object) -> float:
    """JavaScript's ``ToNumber``; the result may be a Python int of any size."""
    if isinstance(value, int | float):
        return value
    if value is None:
        return math.nan
    if isinstance(value, str):
        return _stringToNumber(value)
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
        if isinstance(value, int | float):
            return value
    elif isinstance(value, np.ndarray | type):
        pass  # a class such as int would pass for an instance below
    elif isinstance(value, SupportsIndex):
        return operator.index(value)
    elif isinstance(value, SupportsFloat):
        return float(value)
    raise ConversionError(f"must be a number, got {describe(value)}")


def _enforceRange(value: object, low: int, high: int, idl: str) -> int:
    number = _toNumber(value)
    # NaN and the infinities are no integers.
    if isinstance(number, float) and not math.isfinite(number):
        raise ConversionError(f"must be a finite number ({idl}), got {describe(value)}")
    # The fraction is dropped towards zero before the range is checked.
    integer = int(number)
    if not low <= integer <= high:
        raise ConversionError(f"must be from {low} to {high} ({idl}), got {describe(value)}")
    return integer


def enforceRangeUnsignedLong(value: object) -> int:
    """Convert to ``[EnforceRange] unsigned long``: drop the fraction, refuse what is outside 0 .. 2^32 - 1."""
    if type(value) is int and 0 <= value <= 0xFFFFFFFF:
        return value
    return _enforceRange(value, 0, 0xFFFFFFFF, "unsigned long")


def enforceRangeLong(value: object) -> int:
    """Convert to ``[EnforceRange] long``: drop the fraction, refuse what is outside -2^31 .. 2^31 - 1."""
    return _enforceRange(value, -0x80000000, 0x7FFFFFFF, "long")


def unsignedLong(value: object) -> int:
    """Convert to ``unsigned long`` without ``[EnforceRange]``: NaN and infinities are 0, the rest is taken modulo 2^32."""
    number = _toNumber(value)
    if isinstance(number, float) and not math.isfinite(number):
        return 0
    return int(number) % 2**32


def _finite(value: object, idl: str) -> float:
    number = _toNumber(value)
    try:
        number = float(number)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ConversionError(f"must be a finite number ({idl}), got {describe(value)}")
    return number


def double(value: object) -> float:
    """Convert to ``double``: a finite number."""
    return _finite(value, "double")


def number(value: object) -> int | float:
    """Convert to ``(bigint or unrestricted double)``: a Python int of any size stays what it is, as a BigInt does."""
    converted = _toNumber(value)
    return int(converted) if isinstance(converted, int) else converted


def float_(value: object) -> float:
    """Convert to ``float``: a finite number, rounded to single precision."""
    number = _finite(value, "float")
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        raise ConversionError(f"must fit into single precision (float), got {describe(value)}") from None


def boolean(value: object) -> bool:
    """Convert to ``boolean``: JavaScript's truth, in which NaN is false and every object (an empty list too) is true."""
    if value is None or isinstance(value, bool | int | float | str | np.generic):
        return bool(value) and bool(value == value)  # noqa: PLR0124 (NaN is the one value that differs from itself)
    return True


def domString(value: object) -> str:
    """Convert to ``DOMString``: a string, or the text JavaScript gives for a bool, an integer or ``undefined``."""
    if isinstance(value, str):
        return str.__str__(value)  # the text itself: a member of a Python enum writes its name
    if value is None:
        return "undefined"
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    raise ConversionError(f"must be a string, got {describe(value)}")


def enumeration(name: str, values: tuple[str, ...]) -> Callable[[object], str]:
    """Return the converter of an enumeration.

    Args:
        name: The enumeration's name in the IDL, for messages.
        values: Its values.
    """
    allowed = frozenset(values)

    def convert(value: object) -> str:
        if isinstance(value, str) and value in allowed:
            return str.__str__(value)
        raise ConversionError(f"must be one of {list(values)} ({name}), got {describe(value)}")

    return convert


def sequence(convert: Callable[[object], T]) -> Callable[[object], tuple[T, ...]]:
    """Return the converter of ``sequence<T>``: any iterable but a string or a mapping, read once, each element converted."""

    def convertAll(value: object) -> tuple[T, ...]:
        # For lists and tuples the tests of the abstract classes would take longer than the rest.
        if type(value) is not list and type(value) is not tuple:
            if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
                raise ConversionError(f"must be a sequence, got {describe(value)}")
            if isinstance(value, np.ndarray) and value.ndim == 0:
                raise ConversionError(f"must be a sequence, got {describe(value)}")
        result: list[T] = []
        for index, element in enumerate(value):
            try:
                result.append(convert(element))
            except ConversionError as error:
                raise ConversionError(error.reason, f"[{index}]{error.path}") from None
        return tuple(result)

    return convertAll


def record(value: object, convert: Callable[[object], T]) -> dict[str, T]:
    """Convert to ``record<DOMString, T>``: a mapping, in its own order, keys and values converted."""
    if not isinstance(value, Mapping):
        raise ConversionError(f"must be a mapping from names to values, got {describe(value)}")
    result: dict[str, T] = {}
    for key, element in value.items():
        name = domString(key)
        try:
            result[name] = convert(element)
        except ConversionError as error:
            raise ConversionError(error.reason, f"[{name!r}]{error.path}") from None
    return result


def dictionary_members(value: object) -> Mapping[str, Any]:
    """Return a dictionary argument's members: a mapping, or ``None`` for none. Members that are ``None`` are missing."""
    if value is None:
        return {}
    # For plain dictionaries the test of the abstract class would take longer than the rest.
    if type(value) is not dict and not isinstance(value, Mapping):
        raise ConversionError(f"must be a dictionary, got {describe(value)}")
    return {key: member for key, member in value.items() if member is not None}
