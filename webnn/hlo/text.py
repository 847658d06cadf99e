"""Types, attributes, locations and elements in MLIR's words. The process that reads a module passes them on as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from webnn.hlo.attributes import STRUCTURES, Attribute, ConvDimensionNumbers, OtherAttribute
from webnn.hlo.ir import Location
from webnn.hlo.types import DTYPES, ElementType, FunctionType, OtherType, QuantizedType, TensorType, TokenType, TupleType, Type, find_dtype

__all__ = ["parse_attribute", "parse_elements", "parse_location", "parse_type"]

#: How deep types may be nested.
_DEEPEST = 100
_OPEN, _CLOSE = "<([{", ">)]}"
_SIZES = re.compile(r"(?:(?:\?|\d+)x)*")
_QUANTIZED = re.compile(r"!quant\.uniform<([iu]\d+)(?:<(-?\d+):(-?\d+)>)?:(\w+)(?::(\d+))?,\s*(?:\{([^{}]*)\}|([^{},]+))>")
_BOUNDS = re.compile(r"#stablehlo\.(?:bounds|type_extensions)<(?:bounds = \[)?([^\]>]*)\]?>")
_STRUCTURE = re.compile(r"#stablehlo\.(\w+)<(.*)>", re.DOTALL)
_ENUMERATOR = re.compile(r"#(?:stablehlo|chlo)(?:<\w+ |\.\w+<)([A-Z]\w*)>")
_CONVOLUTION = re.compile(r"\[([^\]]*)\]x\[([^\]]*)\]->\[([^\]]*)\]")
_PLACE = re.compile(r'"((?:[^"\\]|\\.)*)"(?::(\d+):(\d+))?')
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)
_TOKEN = re.compile(r"[\[\](),]|[^\[\](),\s]+")


def parse_type(text: str, depth: int = 0) -> Type:
    """Parse a type, which may not be nested too deep. One that StableHLO does not compute with becomes an `OtherType`."""
    if depth > _DEEPEST:
        raise ValueError(f"types may be nested {_DEEPEST} deep")
    if text == "!stablehlo.token":
        return TokenType()
    if text.startswith("tensor<") and text.endswith(">"):
        return _parse_tensor(text) or OtherType(text)
    if text.startswith("tuple<") and text.endswith(">"):
        return TupleType(tuple(parse_type(each, depth + 1) for each in _split(text[6:-1])))
    if text.startswith("("):
        inputs, arrow, results = _cut(text)
        if arrow:
            listed = _split(results[1:-1]) if results.startswith("(") and not _cut(results)[1] else [results]
            return FunctionType(
                tuple(parse_type(each, depth + 1) for each in _split(inputs[1:-1])), tuple(parse_type(each, depth + 1) for each in listed)
            )
    return OtherType(text)


def _parse_tensor(text: str) -> TensorType | None:
    inner, *encoding = _split(text[7:-1])
    sizes = _SIZES.match(inner)
    begin = sizes.end() if sizes else 0
    shape = tuple(_size(each) for each in inner[:begin].split("x")[:-1])
    element = _parse_element(inner[begin:])
    bounds: tuple[int | None, ...] = ()
    if encoding:
        match = _BOUNDS.fullmatch(", ".join(encoding))
        if match is None:
            return None
        bounds = tuple(_size(each.strip()) for each in match[1].split(","))
        bounds = tuple(None if each is not None and each < 0 else each for each in bounds)
    return None if element is None else TensorType(shape=shape, element=element, bounds=bounds)


def _size(text: str) -> int | None:
    return None if text in ("?", "-9223372036854775808") else int(text)


def _parse_element(text: str) -> ElementType | None:
    if text in DTYPES:
        return text
    match = _QUANTIZED.fullmatch(text)
    if match is None:
        return None
    storage, minimum, maximum, expressed, axis, many, one = match.groups()
    pairs = [each.strip().partition(":") for each in (one if many is None else many).split(",")]
    storage = storage if storage[0] == "i" else f"ui{storage[1:]}"
    if storage not in DTYPES or expressed not in DTYPES:
        return None
    return QuantizedType(
        storage=storage,
        expressed=expressed,
        scales=tuple(float(scale) for scale, _, _ in pairs),
        zero_points=tuple(int(zero or 0) for _, _, zero in pairs),
        axis=None if axis is None else int(axis),
        minimum=None if minimum is None else int(minimum),
        maximum=None if maximum is None else int(maximum),
    )


def _walk(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield the characters outside strings, with their positions and how deep they are nested. An arrow closes nothing."""
    depth, quoted, position = 0, False, 0
    while position < len(text):
        letter = text[position]
        if quoted:
            position += letter == "\\"
            quoted = letter != '"'
        elif letter == '"':
            quoted = True
        elif letter in _OPEN:
            depth += 1
        elif letter in _CLOSE and text[position - 1 : position + 1] != "->":
            depth -= 1
        if not quoted:
            yield position, letter, depth
        position += 1


def _split(text: str) -> list[str]:
    """Split at the commas outside brackets."""
    cuts = [position for position, letter, depth in _walk(text) if letter == "," and not depth]
    parts = [text[begin + 1 : end].strip() for begin, end in zip([-1, *cuts], [*cuts, len(text)], strict=True)]
    return parts if text.strip() else []


def _cut(text: str) -> tuple[str, str, str]:
    """Cut a function's type at its arrow."""
    for position, letter, depth in _walk(text):
        if letter == ">" and not depth and text[position - 1] == "-":
            return text[: position - 1].strip(), "->", text[position + 1 :].strip()
    return text, "", ""


def parse_attribute(text: str) -> Attribute:
    """Parse an attribute of StableHLO. One of another dialect becomes an `OtherAttribute`."""
    match = _ENUMERATOR.fullmatch(text)
    if match is not None:
        return match[1]
    match = _STRUCTURE.fullmatch(text)
    kind = STRUCTURES.get(match[1]) if match else None
    if match is None or kind is None:
        return OtherAttribute(text)
    if kind is ConvDimensionNumbers:
        return _parse_convolution(match[2]) or OtherAttribute(text)
    members = [each.partition("=") for each in _split(match[2])]
    known = {each.name for each in fields(kind)}
    given = {name.strip(): _parse_member(value.strip()) for name, _, value in members}
    try:
        return kind(**given) if known.issuperset(given) else OtherAttribute(text)
    except TypeError:  # a member is missing
        return OtherAttribute(text)


def _parse_member(text: str) -> Any:
    if text.startswith("["):
        return tuple(int(each) for each in _split(text[1:-1]))
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    match = _ENUMERATOR.fullmatch(text)
    return text if match is None else match[1]


def _parse_convolution(text: str) -> ConvDimensionNumbers | None:
    match = _CONVOLUTION.fullmatch(text)
    if match is None:
        return None
    found: list[Any] = []
    for group, letters in zip(match.groups(), ("bf", "io", "bf"), strict=True):
        places = {name.strip(): position for position, name in enumerate(group.split(","))}
        try:
            spatial = [places[str(number)] for number in range(len([name for name in places if name.isdigit()]))]
            found += [places[letters[0]], places[letters[1]], tuple(spatial)]
        except KeyError:  # dimensions without a name
            return None
    members: dict[str, Any] = dict(zip([each.name for each in fields(ConvDimensionNumbers)], found, strict=True))
    return ConvDimensionNumbers(**members)


def parse_location(text: str, file: str) -> Location:
    """Parse a location: of a chain of calls the innermost file, of names the first. The source has the name ``"-"`` in MLIR."""
    place, line, column, name = "", 0, 0, ""
    for match in _PLACE.finditer(text):
        if match[2] is None:
            name = name or _unescape(match[1])
        else:
            place, line, column = _unescape(match[1]), int(match[2]), int(match[3])
            break
    return Location(file=file if place == "-" else place, line=line, column=column, name=name)


def _unescape(text: str) -> str:
    """Return the content of a string. MLIR escapes quotes, backslashes and the bytes of all letters that are not ASCII."""
    content = _ESCAPE.sub(lambda match: bytes.fromhex(match[1].decode()) if len(match[1]) == 2 else match[1], text.encode())
    return content.decode("utf-8", "replace")


def parse_elements(text: str, type: TensorType) -> np.ndarray[Any, np.dtype[Any]]:
    """Parse the elements of a small constant, between ``dense<`` and ``>``. A single element fills the whole constant.

    Raises:
        ValueError: They are not written as MLIR writes them.
        ImportError: The type needs the package ml_dtypes.
    """
    element = str(type.element)
    dtype = find_dtype(element)
    words = [word for word in _TOKEN.findall(text) if word not in "[](),"]
    if element.startswith("complex"):
        bits = "f32" if dtype.itemsize == 8 else "f64"
        flat = np.array([_number(bits)(word) for word in words], find_dtype(bits)).view(dtype)
    else:
        read = _number(element)
        flat = np.array([read(word) for word in words]).astype(dtype) if words else np.empty(0, dtype)
    shape = tuple(size or 0 for size in type.shape)
    return np.broadcast_to(flat.reshape(()), shape) if "[" not in text and flat.size == 1 else flat.reshape(shape)


def _number(element: str) -> Callable[[str], Any]:
    """Return a function from a word to a number. MLIR writes NaN and infinities as their bits."""
    if element == "i1":
        return lambda word: word == "true"
    if element[0] in "iu":
        return int
    dtype = find_dtype(element)
    bits = np.dtype(f"uint{8 * dtype.itemsize}")

    def read(word: str) -> Any:
        return np.array(int(word, 16), bits).view(dtype)[()] if word.startswith("0x") else np.array(float(word)).astype(dtype)[()]

    return read
