"""Writes the neutral form as a text that MLIR reads: functions in their usual form, operations in MLIR's generic form.

Elements of constants are in the text. Many of them are hexadecimal digits, two for each byte. The other form that MLIR has, resources
behind the module, takes as many; tools that read single modules do not read it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from webnn.hlo.attributes import (
    Attribute,
    ConvDimensionNumbers,
    DotDimensionNumbers,
    GatherDimensionNumbers,
    OtherAttribute,
    ScatterDimensionNumbers,
    Symbol,
)
from webnn.hlo.ir import Function, Module, Operation, Region, Value
from webnn.hlo.types import DTYPES, ELEMENTS, TYPES, FunctionType, QuantizedType, TensorType, TokenType, TupleType, Type

__all__ = ["write_mlir"]

#: The most elements of a constant that are written as numbers. MLIR itself does so up to 100.
_MOST_NUMBERS = 100
#: How many bytes of a constant are written at once.
_PIECE = 1 << 20
#: The enumerations of StableHLO, by the attributes that have them.
_ENUMERATIONS: Mapping[str, str] = {
    "comparison_direction": "comparison_direction",
    "compare_type": "comparison_type",
    "precision_config": "precision",
    "fft_type": "fft_type",
    "transpose_a": "transpose",
    "rng_distribution": "rng_distribution",
    "rng_algorithm": "rng_algorithm",
}
#: The integer attributes that have 32 bits. The others have 64.
_SHORT = frozenset({"exponent_bits", "mantissa_bits", "version", "api_version"})
#: StableHLO's names of dataclasses.
_STRUCTURES: Mapping[type, str] = {DotDimensionNumbers: "dot", GatherDimensionNumbers: "gather", ScatterDimensionNumbers: "scatter"}
#: The element types of constants that are written, by the names of NumPy's data types.
_ELEMENTS: Mapping[str, str] = {
    name: element for name, element in ELEMENTS.items() if "." not in DTYPES[element] and not name.startswith("complex")
}
_PLAIN = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII)


def write_mlir(module: Module, comment: str = "") -> Iterator[str]:
    """Yield the pieces of a module's text, which together end with a line feed. A comment is the first line.

    Raises:
        ValueError: The module has something that the text cannot say: a type of quantized elements, or an attribute that is not known.
    """
    if comment:
        yield f"// {comment}\n"
    name = f" @{_name(module.name)}" if module.name else ""
    attributes = f" attributes {_dictionary(module.attributes)}" if module.attributes else ""
    yield f"module{name}{attributes} {{\n"
    writer = _Writer()
    for operation in module.operations:
        yield from writer.operation(operation, 1)
    for function in module.functions:
        yield from writer.function(function)
    yield "}\n"


class _Writer:
    """Writes operations. Values are numbered in each function from 0."""

    def __init__(self) -> None:
        self._names: dict[Value, str] = {}
        self._count = 0

    def function(self, function: Function) -> Iterator[str]:
        self._count = 0
        types = function.type
        arguments = self._define(function.body.arguments) if function.body else [""] * len(types.inputs)
        of_arguments: Sequence[Mapping[str, Attribute]] = function.argument_attributes or [{}] * len(arguments)
        of_results: Sequence[Mapping[str, Attribute]] = function.result_attributes or [{}] * len(types.results)
        given = [
            f"{name}{': ' if name else ''}{_type(type)}{_optional(attributes)}"
            for name, type, attributes in zip(arguments, types.inputs, of_arguments, strict=True)
        ]
        returned = [f"{_type(type)}{_optional(attributes)}" for type, attributes in zip(types.results, of_results, strict=True)]
        attributes = f" attributes {_dictionary(function.attributes)}" if function.attributes else ""
        visibility = "public" if function.public and function.body else "private"
        yield f"  func.func {visibility} @{_name(function.name)}({', '.join(given)}) -> ({', '.join(returned)}){attributes}"
        if function.body is None:
            yield "\n"
            return
        yield " {\n"
        for operation in function.body.operations:
            yield from self.operation(operation, 2)
        yield "  }\n"

    def operation(self, operation: Operation, depth: int) -> Iterator[str]:
        indent = "  " * depth
        operands = ", ".join([self._names[value] for value in operation.operands])
        results = self._define(operation.results)
        yield f'{indent}{", ".join(results)}{" = " if results else ""}"{operation.name}"({operands})'
        separator = " <{"
        for name, value in operation.attributes.items():
            yield f"{separator}{_key(name)} = "
            yield from _attribute(name, value)
            separator = ", "
        yield "}>" if operation.attributes else ""
        for number, region in enumerate(operation.regions):
            yield ", {\n" if number else " ({\n"
            yield from self._region(region, depth)
            yield f"{indent}}}"
        yield ")" if operation.regions else ""
        before = ", ".join([_type(value.type) for value in operation.operands])
        after = [_type(value.type) for value in operation.results]
        place = f' loc("{_escape(operation.location.name)}")' if operation.location.name else ""
        yield f" : ({before}) -> {after[0] if len(after) == 1 else _list(after)}{place}\n"

    def _region(self, region: Region, depth: int) -> Iterator[str]:
        names = self._define(region.arguments)
        if names:
            pairs = [f"{name}: {_type(value.type)}" for name, value in zip(names, region.arguments, strict=True)]
            yield f"{'  ' * depth}^bb0{_list(pairs)}:\n"
        for operation in region.operations:
            yield from self.operation(operation, depth + 1)

    def _define(self, values: Sequence[Value]) -> list[str]:
        """Give values names."""
        names = [f"%{self._count + position}" for position in range(len(values))]
        self._count += len(values)
        self._names.update(zip(values, names, strict=True))
        return names


def _list(parts: Iterable[str]) -> str:
    return f"({', '.join(parts)})"


def _type(type: Type) -> str:
    match type:
        case TensorType():
            if isinstance(type.element, QuantizedType):
                raise ValueError(f"a text of MLIR is not written with quantized elements, got {type}")
            if type.bounds:
                raise ValueError(f"a text of MLIR is not written with bounds of sizes, got {type}")
            return str(type)
        case TokenType():
            return "!stablehlo.token"
        case TupleType():
            return f"tuple<{', '.join(map(_type, type.types))}>"
        case FunctionType():
            return f"{_list(map(_type, type.inputs))} -> {_list(map(_type, type.results))}"
    return str(type)


def _optional(attributes: Mapping[str, Attribute]) -> str:
    return f" {_dictionary(attributes)}" if attributes else ""


def _dictionary(attributes: Mapping[str, Attribute]) -> str:
    return f"{{{', '.join([f'{_key(name)} = {_text(name, value)}' for name, value in attributes.items()])}}}"


def _key(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else f'"{_escape(name)}"'


#: The names of symbols and of attributes are written alike.
_name = _key


def _text(name: str, value: Attribute) -> str:
    return "".join(_attribute(name, value))


def _attribute(name: str, value: Attribute) -> Iterator[str]:
    """Yield the pieces of an attribute. Its name decides the kind of enumeration, integer or array."""
    if isinstance(value, np.ndarray):
        yield from _elements(value)
    elif isinstance(value, tuple):
        yield _tuple(name, value)
    else:
        yield _single(name, value)


def _single(name: str, value: Attribute) -> str:
    """Return an attribute that is not an array."""
    match value:
        case bool():
            return str(value).lower()
        case int():
            return f"{value} : {'i32' if name in _SHORT else 'i64'}"
        case float():
            return f"{_number(np.float64(value))} : f64"
        case str():
            return f"#stablehlo<{_ENUMERATIONS[name]} {value}>" if name in _ENUMERATIONS else f'"{_escape(value)}"'
        case Symbol():
            return "::".join([f"@{_name(part)}" for part in value.name.split("::")])
        case OtherAttribute():
            return str(value)
        case ConvDimensionNumbers():
            return _convolution(value)
        case Mapping():
            return _dictionary(value)
    if isinstance(value, TYPES):
        return _type(value)
    if type(value) in _STRUCTURES:
        members = [(each.name, getattr(value, each.name)) for each in dataclasses.fields(value)]  # type: ignore[arg-type]
        given = [f"{key} = {list(member) if isinstance(member, tuple) else member}" for key, member in members if member != ()]
        return f"#stablehlo.{_STRUCTURES[type(value)]}<{', '.join(given)}>"
    raise ValueError(f"a text of MLIR is not written with attributes such as {name} = {value!r}")


def _tuple(name: str, values: tuple[Attribute, ...]) -> str:
    kinds = {type(each) for each in values}
    if kinds == {bool}:
        return f"array<i1: {', '.join([str(each).lower() for each in values])}>"
    if kinds == {int} or (not kinds and name not in _ENUMERATIONS and name != "called_computations"):
        return f"array<i64{': ' if values else ''}{', '.join(map(str, values))}>"
    return f"[{', '.join([_text(name, each) for each in values])}]"


def _convolution(numbers: ConvDimensionNumbers) -> str:
    def place(named: Mapping[int, str], spatial: Sequence[int]) -> str:
        names = dict(named) | {dimension: str(number) for number, dimension in enumerate(spatial)}
        return f"[{', '.join([names[dimension] for dimension in range(len(names))])}]"

    input = place({numbers.input_batch_dimension: "b", numbers.input_feature_dimension: "f"}, numbers.input_spatial_dimensions)
    kernel = place(
        {numbers.kernel_output_feature_dimension: "o", numbers.kernel_input_feature_dimension: "i"}, numbers.kernel_spatial_dimensions
    )
    output = place({numbers.output_batch_dimension: "b", numbers.output_feature_dimension: "f"}, numbers.output_spatial_dimensions)
    return f"#stablehlo.conv<{input}x{kernel}->{output}>"


def _elements(array: np.ndarray[Any, np.dtype[Any]]) -> Iterator[str]:
    """Yield a constant: one number for all, numbers, or hexadecimal digits."""
    element = _ELEMENTS.get(array.dtype.name)
    if element is None:
        raise ValueError(f"a constant must have elements of {', '.join(_ELEMENTS)}, got {array.dtype.name}")
    sizes = "".join(f"{size}x" for size in array.shape)
    yield "dense<"
    if _is_splat(array):
        yield _number(array[(0,) * array.ndim])
    elif array.size <= _MOST_NUMBERS or array.dtype == np.bool_:
        yield _nested(array)
    else:
        yield '"0x'
        # MLIR reads the bytes of every machine in little-endian order.
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1).view(np.uint8)
        for begin in range(0, data.size, _PIECE):
            yield data[begin : begin + _PIECE].tobytes().hex().upper()
        yield '"'
    yield f"> : tensor<{sizes}{element}>"


def _is_splat(array: np.ndarray[Any, np.dtype[Any]]) -> bool:
    """Tell whether all elements have the same bits."""
    if array.size and all(stride == 0 or size == 1 for size, stride in zip(array.shape, array.strides, strict=True)):
        return True
    if array.size <= _MOST_NUMBERS:
        return False
    bits = np.ascontiguousarray(array).reshape(-1).view(f"uint{8 * array.dtype.itemsize}")
    return bool((bits == bits[0]).all())


def _nested(array: np.ndarray[Any, np.dtype[Any]]) -> str:
    return _number(array[()]) if array.ndim == 0 else f"[{', '.join([_nested(np.asarray(each)) for each in array])}]"


def _number(value: Any) -> str:
    """Return an element: the shortest decimal that MLIR reads as the same number, or its bits."""
    if value.dtype.kind == "b":
        return str(bool(value)).lower()
    if value.dtype.kind in "iu":
        return str(int(value))
    if np.isfinite(value):
        digits, mark, exponent = str(value).partition("e")
        text = f"{digits}{'' if '.' in digits else '.0'}{mark}{exponent}"
        # MLIR reads a double first, and rounds that.
        if value.dtype.type(float(text)) == value:
            return text
    bits = np.asarray(value).reshape(1).view(f"uint{8 * value.dtype.itemsize}")[0]
    return f"0x{int(bits):0{2 * value.dtype.itemsize}X}"


def _escape(text: str) -> str:
    """Return the content of a string of MLIR: bytes that are not printable ASCII as two digits."""
    return "".join([chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in text.encode()])
