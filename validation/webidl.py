"""Web IDL conversion: what a browser does to the values that a program passes, for Python values.

``None`` is JavaScript's ``undefined``: a dictionary member that is ``None`` is missing, and where a number is wanted it is NaN.
Numbers are Python ints and floats, bools (0 and 1), NumPy scalars and 0-D arrays; a string is converted as JavaScript's ``Number(string)``
does. A failed conversion raises `ConversionError`, which the caller turns into a `WebNNTypeError` that names operation and argument.

An argument may be any object. Its real class decides what it is, not its attribute ``__class__``. If a method of the
object raises an exception, the conversion fails and the exception is the error's cause; `KeyboardInterrupt` and the like are not caught.

Source: Web IDL, section "ECMAScript type mapping".
"""

from __future__ import annotations

import itertools
import math
import operator
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import UnionType
from typing import Any, TypeVar, cast

import numpy as np

from webnn.validation.descriptor import BigInt
from webnn.validation.errors import Requirement, argument_error

__all__ = [
    "ConversionError",
    "boolean",
    "convert_argument",
    "describe",
    "dictionary_members",
    "domString",
    "double",
    "enforceRangeLong",
    "enforceRangeUnsignedLong",
    "enforceRangeUnsignedLongLong",
    "enumeration",
    "float_",
    "interface",
    "isInstance",
    "isIterable",
    "number",
    "record",
    "sequence",
    "unsignedLong",
    "unsignedLongs",
    "usvString",
]

T = TypeVar("T")

_STRING_NUMBER = re.compile(
    r"(?P<hex>0[xX][0-9a-fA-F]+)|(?P<oct>0[oO][0-7]+)|(?P<bin>0[bB][01]+)"
    r"|(?P<inf>[+-]?Infinity)|(?P<dec>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
)
#: JavaScript's white space and line terminators.
_WHITESPACE = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_SURROGATE = re.compile("[\ud800-\udfff]")
#: How much of a value is shown: characters, elements of a container, containers in containers.
_LONGEST_SHOWN, _MOST_SHOWN, _DEEPEST_SHOWN = 80, 40, 3
#: Digits of larger integers are not shown. Python refuses to write those of very large ones.
_MOST_BITS = 1024
#: The most elements of an iterator, and entries of a mapping other than a dict. No operation needs more; some iterators never end.
_LONGEST = 2**16


class ConversionError(ValueError):
    """A value could not be converted.

    Attributes:
        path: Where inside the argument, for example ``"[1]"``; empty for the argument itself.
        reason: The requirement and the given value, to be put after the argument's name.
    """

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.reason = reason if isinstance(reason, Requirement) else Requirement("conversion", reason)
        self.path = path


def convert_argument(convert: Callable[[], T], operation: str, argument: str, anchor: str = "") -> T:
    """Convert an argument of a method that has no `Call`.

    Raises `WebNNTypeError` if the conversion fails; the error names the operation and the argument.
    """
    try:
        return convert()
    except ConversionError as error:
        raise argument_error(operation, f"{argument}{error.path}", error.reason, anchor) from error.__cause__


def isInstance(value: object, kind: type | UnionType) -> bool:
    """Tell whether a value is of a class; its attribute ``__class__`` is ignored."""
    try:
        return issubclass(type(value), kind)
    except Exception:  # its metaclass raises
        return False


def interface(kind: type[T], name: str) -> Callable[[object], T]:
    """Return the converter of an interface type, which has a name in the IDL, for messages."""

    def convert(value: object) -> T:
        if isInstance(value, kind):
            return cast(T, value)
        raise ConversionError(f"must be an {name}, got {describe(value)}")

    return convert


def isIterable(value: object) -> bool:
    """Tell whether `sequence` reads a value: any iterable but strings, bytes, mappings and 0-D arrays."""
    if isInstance(value, str) or isInstance(value, bytes) or isInstance(value, Mapping) or not isInstance(value, Iterable):
        return False
    try:
        return bool(getattr(value, "ndim", 1) != 0)
    except Exception:  # not an array: ask the iterator
        return True


def describe(value: object) -> str:
    """Return a short text for a value that a message quotes; it never raises."""
    text = _show(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."


def _show(value: Any, depth: int = 0) -> str:
    kind = type(value)
    try:
        if kind is str:
            return repr(value[:_LONGEST_SHOWN])
        if hasattr(kind, "__await__"):
            return f"a {kind.__name__}: await it"
        if kind is int and value.bit_length() > _MOST_BITS:
            return f"an integer of {value.bit_length()} bits"
        if issubclass(kind, np.ndarray):
            return f"a NumPy array of {value.dtype} {list(value.shape)}"
        if issubclass(kind, bytes | bytearray) and len(value) > _LONGEST_SHOWN:
            return f"{kind.__name__} of length {len(value)}"
        if kind is list or kind is tuple:
            left, right = "[]" if kind is list else "()"
            if depth == _DEEPEST_SHOWN:
                return f"{left}...{right}"
            elements = [_show(element, depth + 1) for element in value[:_MOST_SHOWN]]
            more = ["..."] if len(value) > _MOST_SHOWN else [""] if kind is tuple and len(value) == 1 else []
            return f"{left}{', '.join([*elements, *more]).rstrip(' ')}{right}"
        # The text itself, if it is of a class of the program.
        return str.__str__(repr(value))
    except Exception:  # a method of the value, or of something inside it
        return f"an object of the class {_class_name(kind)}"


def _class_name(kind: type) -> str:
    try:
        return str.__str__(kind.__qualname__)
    except Exception:  # its metaclass raises
        return "?"


def _ask(function: Callable[[Any], T], value: object, wanted: str) -> T:
    """Call a function that runs methods of a value.

    Raises `ConversionError` if the function raises it; or one of the methods raises another exception, which becomes the cause.
    """
    try:
        return function(value)
    except ConversionError:
        raise
    except Exception as error:
        raise ConversionError(f"must be {wanted}, got {describe(value)}, which raised {describe(error)}") from error


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
    """JavaScript's ``ToNumber``; the result is a float, or a Python int of any size."""
    if type(value) is int or type(value) is float:
        return value
    return _ask(_objectToNumber, value, "a number")


def _objectToNumber(value: Any) -> float:
    # A subclass of int or float may override arithmetic: use the number that it holds.
    if isInstance(value, int):
        return int.__index__(value)
    if isInstance(value, float):
        return float.__float__(value)
    if value is None:
        return math.nan
    if isInstance(value, str):
        return _stringToNumber(str.__str__(value))
    if isInstance(value, np.generic) or (isInstance(value, np.ndarray) and value.ndim == 0):
        item = float(value) if value.dtype.kind == "f" else value.item()
        if isInstance(item, int | float):
            return _toNumber(item)
    elif not isInstance(value, np.ndarray):
        kind = type(value)
        if hasattr(kind, "__index__"):
            try:
                return int.__index__(operator.index(value))
            except Exception:
                # A 0-D array of another library has both methods; for a fraction `__index__` fails and `__float__` works.
                if not hasattr(kind, "__float__"):
                    raise
        if hasattr(kind, "__float__"):
            return float(value)
    raise ConversionError(f"must be a number, got {describe(value)}")


def _enforceRange(value: object, low: int, high: int, idl: str) -> int:
    number = _toNumber(value)
    # NaN and the infinities are not integers.
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


def enforceRangeUnsignedLongLong(value: object) -> int:
    """Convert to ``[EnforceRange] unsigned long long``: what a JavaScript number can hold exactly, 0 .. 2^53 - 1."""
    return _enforceRange(value, 0, 2**53 - 1, "unsigned long long")


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
    """Convert to ``(bigint or unrestricted double)``: a Python int of any size is not changed, like a BigInt."""
    if type(value) is BigInt:
        return value
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
    if value is None or value is False:
        return False
    if isInstance(value, str):
        return str.__str__(value) != ""
    if isInstance(value, int | float | np.generic):
        try:
            number = _toNumber(value)
        except ConversionError:  # a NumPy scalar that is not a number
            return True
        return number != 0 and not (isinstance(number, float) and math.isnan(number))
    return True


def domString(value: object) -> str:
    """Convert to ``DOMString``: a string, or the text JavaScript gives for a bool, an integer or ``undefined``.

    Two surrogates that make a character become that character, because JavaScript's strings do not distinguish them.
    """
    if type(value) is not str:
        value = _ask(_objectToString, value, "a string")
    if value.isascii() or not _SURROGATE.search(value):
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _objectToString(value: object) -> str:
    if isInstance(value, str):
        return str.__str__(value)  # the plain text: `str` of a member of a Python enum gives its name
    if value is None:
        return "undefined"
    if isInstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isInstance(value, int | np.integer):
        return str(_toNumber(value))
    raise ConversionError(f"must be a string, got {describe(value)}")


def usvString(value: object) -> str:
    """Convert to ``USVString``: as `domString`, then U+FFFD takes the place of each surrogate that makes no character."""
    text = domString(value)
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def enumeration(name: str, values: tuple[str, ...]) -> Callable[[object], str]:
    """Return the converter of an enumeration, which has a name in the IDL, for messages."""
    allowed = frozenset(values)

    def convert(value: object) -> str:
        if isInstance(value, str):
            text = str.__str__(value)
            if text in allowed:
                return text
        raise ConversionError(f"must be one of {list(values)} ({name}), got {describe(value)}")

    return convert


def _read(value: object, wanted: str) -> Iterator[Any]:
    """Iterate over a value, which may be any object.

    Raises `ConversionError` if one of its methods raises an exception, or it yields more than `_LONGEST` elements.
    """
    iterator: Iterator[Any] = _ask(iter, value, wanted)
    for count in itertools.count():
        try:
            element = next(iterator)
        except StopIteration:
            return
        except Exception as error:
            raise ConversionError(f"must be {wanted}, got {describe(value)}, which raised {describe(error)}") from error
        if count == _LONGEST:
            raise ConversionError(f"must yield at most {_LONGEST} elements, got more from {describe(value)}")
        yield element


def sequence(convert: Callable[[object], T]) -> Callable[[object], tuple[T, ...]]:
    """Return the converter of ``sequence<T>``: any iterable but a string or a mapping, read once, each element converted."""

    def convertAll(value: object) -> tuple[T, ...]:
        elements: Iterable[Any]
        if type(value) is list or type(value) is tuple:
            # A copy: converting an element may change the list.
            elements = tuple(value)
        elif isIterable(value):
            elements = _read(value, "a sequence")
        else:
            raise ConversionError(f"must be a sequence, got {describe(value)}")
        result: list[T] = []
        for index, element in enumerate(elements):
            try:
                result.append(convert(element))
            except ConversionError as error:
                raise ConversionError(error.reason, f"[{index}]{error.path}") from error.__cause__
        return tuple(result)

    return convertAll


_convertUnsignedLongs = sequence(enforceRangeUnsignedLong)


def unsignedLongs(value: object) -> tuple[int, ...]:
    """Convert to ``sequence<[EnforceRange] unsigned long>``: shapes, axes, strides."""
    if type(value) is list or type(value) is tuple:
        elements = tuple(value)
        # Plain integers in range, which almost all are, are their own conversion.
        for element in elements:
            if type(element) is not int or not 0 <= element <= 0xFFFFFFFF:
                break
        else:
            return elements
    return _convertUnsignedLongs(value)


def _entries(value: object, wanted: str) -> Iterable[tuple[Any, Any]]:
    """Return the entries of a mapping. Raises `ConversionError` if it is not a mapping, or one of its methods raises an exception."""
    # Tested first: for a plain dict, the test of the abstract class would take longer than the rest.
    if type(value) is dict:
        return value.items()
    if not isInstance(value, Mapping):
        raise ConversionError(f"must be {wanted}, got {describe(value)}")
    items = _ask(operator.methodcaller("items"), value, wanted)
    return [_ask(_pair, entry, "an entry of a mapping") for entry in _read(items, wanted)]


def _pair(entry: Any) -> tuple[Any, Any]:
    key, element = entry
    return key, element


def record(
    value: object,
    convert: Callable[[object], T],
    convertKey: Callable[[object], str] = domString,
    wanted: str = "a mapping from names to values",
) -> dict[str, T]:
    """Convert to ``record<DOMString, T>``: a mapping, in its own order. Of keys that become the same, the last one counts.

    ``convertKey`` is `usvString` for ``record<USVString, T>``; ``wanted`` is what the value must be, for messages.
    """
    result: dict[str, T] = {}
    for key, element in list(_entries(value, wanted)):
        try:
            name = convertKey(key)
        except ConversionError as error:
            raise ConversionError(f"must have names that are strings, got {describe(key)}") from error.__cause__
        try:
            result[name] = convert(element)
        except ConversionError as error:
            raise ConversionError(error.reason, f"[{describe(name)}]{error.path}") from error.__cause__
    return result


def dictionary_members(value: object) -> Mapping[str, Any]:
    """Return a dictionary argument's members: a mapping, or ``None`` for none. Members that are ``None`` are missing.

    Keys that are not strings are ignored.
    """
    if value is None:
        return {}
    members: dict[str, Any] = {}
    for key, member in _entries(value, "a dictionary"):
        if type(key) is str:
            if member is not None:
                members[key] = member
        elif member is not None and isInstance(key, str):
            members[str.__str__(key)] = member
    return members
