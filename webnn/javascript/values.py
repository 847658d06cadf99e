"""Values that go from Python into a JavaScript program, and back: a text and byte arrays. `values.js` has the other end, and the form.

NumPy arrays are typed arrays with a property ``shape``. ``None``, booleans, numbers, texts, lists and dictionaries are what JSON has for
them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from webnn.javascript.channel import Bytes

__all__ = ["DTYPES", "Values", "decode", "encode", "getters", "offer"]

#: The element types of typed arrays.
DTYPES = {
    "Int8Array": np.int8,
    "Uint8Array": np.uint8,
    "Int16Array": np.int16,
    "Uint16Array": np.uint16,
    "Int32Array": np.int32,
    "Uint32Array": np.uint32,
    "BigInt64Array": np.int64,
    "BigUint64Array": np.uint64,
    "Float16Array": np.float16,
    "Float32Array": np.float32,
    "Float64Array": np.float64,
}
_KINDS = {np.dtype(dtype): kind for kind, dtype in DTYPES.items()} | {np.dtype(np.bool_): "Uint8Array"}
_MUST = "must be None, a bool, an int, a float, a str, an array, or a list or dict of these"
_DEEPEST = 64
#: The most digits of an integer, in either direction: Python itself reads and writes no more than 4300.
_MOST_DIGITS = 4000
_MOST_BYTES = 2**31
#: Integers up to here are numbers in JavaScript, larger ones are bigints.
_SAFE = 2**53 - 1
#: The numbers that JSON does not have.
_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "-0": -0.0}


@dataclass(slots=True, kw_only=True)
class Values:
    """The inputs and outputs of a program.

    Attributes:
        inputs: The values of global variables by their names, as `encode` writes them.
        outputs: The names of the variables whose values come back. The program's last script is a module, and ends with `offer` of them.
        results: Their values, once the program's scripts have run.
    """

    inputs: tuple[str, list[Bytes]]
    outputs: Sequence[str] = ()
    results: dict[str, object] = field(default_factory=dict)

    def take(self, text: str, buffers: Sequence[Bytes]) -> None:
        """Set the results. Raises `ValueError` if the text and the bytes are not those of the outputs."""
        results = decode(text, buffers)
        if {*results} != {*self.outputs}:
            raise ValueError(f"the values must be those of {', '.join(self.outputs)}")
        self.results = results


def offer(names: Iterable[str]) -> str:
    """Return the statement with which a module offers variables to `Values`."""
    return f"export const webnn$outputs = {getters(names)};"


def getters(names: Iterable[str]) -> str:
    """Return an expression of JavaScript: an object that has a function for each variable."""
    return f"{{{', '.join(f'{name}: () => {name}' for name in names)}}}"


# From Python


def encode(values: Mapping[str, object]) -> tuple[str, list[Bytes]]:
    """Write values by their names, as a text and byte arrays.

    Raises `TypeError` if a value, or what it holds, has a type that JavaScript does not get, and `ValueError` if a value is too large.
    """
    writer = _Writer()
    return writer.finish({name: writer.plain(value, name, ()) for name, value in values.items()}), writer.buffers


class _Writer:
    """Collects what JSON does not have."""

    def __init__(self) -> None:
        self.buffers: list[Bytes] = []
        self._marked: list[tuple[list[str | int], str, object]] = []

    def finish(self, values: Mapping[str, object]) -> str:
        """Return the text."""
        return json.dumps({"values": values, "marked": self._marked})

    def plain(self, value: object, name: str, path: tuple[str | int, ...]) -> object:
        """Return the JSON form of a value; `path` leads to it from the variable `name`."""
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, np.generic) and value.dtype.kind in "biuf":
            value = value.item()
        match value:
            case bool():
                return value
            case int():
                if abs(value) >= 10**_MOST_DIGITS:
                    raise ValueError(f"{_show(name, path)} must have at most {_MOST_DIGITS} digits")
                return int(value) if abs(value) <= _SAFE else self._mark(name, path, "bigint", str(int(value)))
            case float():
                if math.isfinite(value):
                    return float(value)
                return self._mark(name, path, "number", next(text for text, each in _NUMBERS.items() if str(each) == str(float(value))))
            case bytes() | bytearray():
                return self._array(np.frombuffer(value, np.uint8), name, path)
            case Mapping() | list() | tuple():
                return self._collection(value, name, path)
        if isinstance(value, memoryview) or hasattr(value, "__array__"):
            return self._array(np.asarray(value), name, path)
        raise TypeError(f"{_show(name, path)} {_MUST}, got {type(value).__name__}")

    def _collection(self, value: Any, name: str, path: tuple[str | int, ...]) -> object:
        if len(path) >= _DEEPEST:
            raise ValueError(f"{_show(name, path[:3])}... must have at most {_DEEPEST} levels")
        if not isinstance(value, Mapping):
            return [self.plain(each, name, (*path, index)) for index, each in enumerate(value)]
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{_show(name, path)} must have keys of type str, got {type(key).__name__}")
        return {str(key): self.plain(each, name, (*path, key)) for key, each in value.items()}

    def _array(self, array: np.ndarray[Any, np.dtype[Any]], name: str, path: tuple[str | int, ...]) -> object:
        kind = _KINDS.get(array.dtype.newbyteorder("="))
        if kind is None:
            types = ", ".join(str(each) for each in _KINDS)
            raise TypeError(f"{_show(name, path)} must have a data type of {types}, got {array.dtype}")
        if array.nbytes > _MOST_BYTES:
            raise ValueError(f"{_show(name, path)} must have at most {_MOST_BYTES} bytes, got {array.nbytes}")
        native = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        self.buffers.append(native.reshape(-1).view(np.uint8).data)
        return self._mark(name, path, kind, array.shape)

    def _mark(self, name: str, path: tuple[str | int, ...], kind: str, what: object) -> object:
        """Mark a place; return what JSON has there."""
        self._marked.append(([name, *path], kind, what))
        return None


def _show(name: str, path: Sequence[str | int]) -> str:
    return name + "".join(f"[{step!r}]" for step in path)


# From JavaScript


def decode(text: str, buffers: Sequence[Bytes]) -> dict[str, object]:
    """Read values by their names. They come from a program, which may be hostile.

    Raises `ValueError` if the text and the bytes do not encode values.
    """
    try:
        content = json.loads(text, parse_int=_integer)
    except (OverflowError, RecursionError):
        raise ValueError("the values have too many levels, or a number too large") from None
    match content:
        case {"values": dict() as values, "marked": list() as marked}:
            rest = iter(buffers)
            for entry in marked:
                match entry:
                    case [[*path, (str() | int()) as last], str(kind), what]:
                        _put(values, path, last, _special(kind, what, rest))
                    case _:
                        raise ValueError(f"{entry!r:.80} marks no value")
            return values
    raise ValueError("the text must have values")


def _integer(digits: str) -> int:
    # JavaScript writes the shortest digits that lead back to its number: larger ones are not exact.
    number = float(digits)
    return int(digits) if abs(number) <= _SAFE else int(number)


def _put(values: Any, path: Sequence[object], last: str | int, value: object) -> None:
    for step in (*path, last):
        match values, step:
            case (dict(), str()) if step in values:
                pass
            case (list(), int()) if 0 <= step < len(values):
                pass
            case _:
                raise ValueError(f"there is no value at {step!r:.80}")
        parent, values = values, values[step]
    parent[last] = value


def _special(kind: str, what: object, buffers: Iterable[Bytes]) -> object:
    if kind == "number" and isinstance(what, str) and what in _NUMBERS:
        return _NUMBERS[what]
    if kind == "bigint" and isinstance(what, str) and re.fullmatch(f"-?[0-9]{{1,{_MOST_DIGITS}}}", what):
        return int(what)
    buffer = next(iter(buffers), None)
    dtype = DTYPES.get("Uint8Array" if kind == "Uint8ClampedArray" else kind)
    if dtype is None or buffer is None or not isinstance(what, list) or not all(type(each) is int and each >= 0 for each in what):
        raise ValueError(f"{kind!r:.80} is not a value")
    content = np.frombuffer(buffer, np.uint8)
    if math.prod(what) * np.dtype(dtype).itemsize != len(content):
        raise ValueError(f"an array of shape {what!r:.80} must not have {len(content)} bytes")
    array = content.view(np.dtype(dtype).newbyteorder("<")).reshape(what)
    return array if array.flags.writeable else array.copy()
