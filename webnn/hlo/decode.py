"""Makes the neutral form of the output of `webnn.hlo.child`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from webnn.hlo.attributes import Attribute, Symbol
from webnn.hlo.ir import Function, Location, Module, Operation, Region, Value
from webnn.hlo.names import ARGUMENT, RESULT, read_result
from webnn.hlo.text import parse_attribute, parse_elements, parse_location, parse_type
from webnn.hlo.types import FunctionType, QuantizedType, TensorType, find_dtype

__all__ = ["decode"]

#: Before the JSON: its length, and nothing else.
_HEADER = 64
#: The attributes that are members of `Function`.
_OF_FUNCTIONS = frozenset({"sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs"})


def decode(data: bytes | memoryview, file: str) -> Module:
    """Return the module of the process's output, of which large constants are views. Locations have the file's name.

    Raises:
        ValueError: The data does not have the form that the process writes.
        ImportError: Constants need the package ml_dtypes.
    """
    view = memoryview(data)
    length = int.from_bytes(view[:8], "little")
    body = json.loads(bytes(view[_HEADER : _HEADER + length]))
    decoder = _Decoder(body, view[_HEADER + length :], file)
    functions: list[Function] = []
    operations: list[Operation] = []
    for each in body["operations"]:
        if each["name"] == "func.func":
            functions.append(decoder.function(each))
        else:
            operations.append(decoder.operation(each))
    functions = [_inherit_names(each, decoder.names) for each in functions]
    return Module(
        functions=tuple(functions), name=body["name"], attributes=decoder.attributes(body["attributes"]), operations=tuple(operations)
    )


def _inherit_names(function: Function, names: Mapping[str, Sequence[str]]) -> Function:
    """Name arguments that have no names as the functions do that they are passed to: JAX wraps programs of unknown sizes."""
    if function.body is None or any(names[function.name]):
        return function
    found: dict[Value, str] = {}
    for operation in function.body.operations:
        callee = operation.attributes.get("callee")
        if operation.name == "func.call" and isinstance(callee, Symbol):
            found.update(zip(operation.operands, names.get(callee.name, ()), strict=False))
    return replace(function, argument_names=tuple([found.get(each, "") for each in function.body.arguments]))


class _Decoder:
    def __init__(self, body: Mapping[str, Any], blobs: memoryview, file: str) -> None:
        self._types = [parse_type(text) for text in body["types"]]
        self._locations = [parse_location(text, file) for text in body["locations"]]
        self._blobs = blobs
        #: The names of the arguments of each function, empty where the source has none.
        self.names: dict[str, tuple[str, ...]] = {}
        self._values: list[Value] = []
        self._arrays: dict[tuple[Any, ...], np.ndarray[Any, np.dtype[Any]]] = {}

    def function(self, found: Mapping[str, Any]) -> Function:
        given = found["attributes"]
        attributes = self.attributes({name: value for name, value in given.items() if name not in _OF_FUNCTIONS})
        type = self.attribute(given["function_type"])
        if not isinstance(type, FunctionType):
            raise ValueError(f"the type of a function must be a function, got {type!r}")
        body = self._region(found["regions"][0])
        argument_attributes, result_attributes = self._sets(given.get("arg_attrs")), self._sets(given.get("res_attrs"))
        names = tuple([self._locations[number].name for number in (found["regions"][0] or {}).get("locations", ())])
        if names and argument_attributes:
            names = tuple([name or _text(each, ARGUMENT) for name, each in zip(names, argument_attributes, strict=True)])
        self.names[given["sym_name"]] = names
        return Function(
            name=given["sym_name"],
            body=body,
            type=type,
            argument_names=names,
            result_names=tuple([read_result(_text(each, RESULT)) for each in result_attributes]),
            argument_attributes=argument_attributes,
            result_attributes=result_attributes,
            attributes=attributes,
            public=given.get("sym_visibility", "public") == "public",
            location=self._location(found),
        )

    def _sets(self, found: Any) -> tuple[Mapping[str, Attribute], ...]:
        return () if found is None else tuple(self.attributes(each) for each in found[1])

    def operation(self, found: Mapping[str, Any]) -> Operation:
        operands = tuple(self._values[number] for number in found.get("operands", ()))
        regions = [self._region(each) for each in found.get("regions", ())]
        attributes = self.attributes(found.get("attributes", {}))
        return Operation(
            name=found["name"],
            operands=operands,
            results=self._make(found.get("results", ())),
            attributes=attributes,
            regions=tuple(each or Region() for each in regions),
            location=self._location(found),
        )

    def _location(self, found: Mapping[str, Any]) -> Location:
        return self._locations[int(found["location"])]

    def _region(self, found: Mapping[str, Any] | None) -> Region | None:
        if found is None:
            return None
        arguments = self._make(found["arguments"])
        return Region(arguments=arguments, operations=tuple(self.operation(each) for each in found["operations"]))

    def _make(self, types: Any) -> tuple[Value, ...]:
        values = tuple(Value(self._types[number]) for number in types)
        self._values += values
        return values

    def attributes(self, found: Mapping[str, Any]) -> dict[str, Attribute]:
        return {name: self.attribute(value) for name, value in found.items()}

    def attribute(self, found: Any) -> Attribute:
        if isinstance(found, dict):
            return self.attributes(found)
        if not isinstance(found, list):
            return found  # type: ignore[no-any-return]  # a bool, an integer or a string
        kind, *rest = found
        match kind:
            case "array":
                return tuple(self.attribute(each) for each in rest[0])
            case "bytes":
                return bytes.fromhex(rest[0])
            case "float":
                return float.fromhex(rest[0])
            case "symbol":
                return Symbol(rest[0])
            case "type":
                return self._types[rest[0]]
            case "text":
                return parse_attribute(rest[0])
            case "dense" | "packed" | "elements":
                return self._array(kind, *rest)
        raise ValueError(f"the kind of an attribute must be known, got {kind}")

    def _array(self, kind: str, number: int, *rest: Any) -> Attribute:
        key = (kind, number, *rest)
        if key not in self._arrays:
            type = self._types[number]
            if not isinstance(type, TensorType):
                # A vector or an array of another element type.
                raise ValueError(f"a constant must be a tensor of known elements, got {type}")
            self._arrays[key] = self._read(kind, _stored(type), *rest)
        return self._arrays[key]

    def _read(self, kind: str, type: TensorType, *rest: Any) -> np.ndarray[Any, np.dtype[Any]]:
        if kind == "elements":
            return parse_elements(rest[0], type)
        begin, size = rest
        data = self._blobs[begin : begin + size]
        dtype = find_dtype(str(type.element))
        shape = tuple(size or 0 for size in type.shape)
        if type.element in ("i2", "i4"):
            # MLIR leaves the bits above the number 0; NumPy's integers of a byte want its sign there.
            shift = 8 - int(str(type.element)[1:])
            flat = (np.frombuffer(data, np.uint8) << shift).view(np.int8) >> shift
            return flat.astype(dtype).reshape(shape)
        return np.frombuffer(data, dtype).reshape(shape)


def _text(attributes: Mapping[str, Attribute], name: str) -> str:
    """Return an attribute that is a text; an empty one if there is none."""
    found = attributes.get(name)
    return found if isinstance(found, str) else ""


def _stored(type: TensorType) -> TensorType:
    """Return the type whose elements a constant has: quantized constants have stored integers."""
    element = type.element
    return TensorType(shape=type.shape, element=element.storage) if isinstance(element, QuantizedType) else type
