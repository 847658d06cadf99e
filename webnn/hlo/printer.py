"""Prints the neutral form for people. The text is close to StableHLO's own, but MLIR cannot read it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from webnn.hlo.attributes import Attribute, OtherAttribute, Symbol
from webnn.hlo.ir import Function, Module, Operation, Region, Value
from webnn.hlo.types import TYPES, FunctionType, Type

__all__ = ["print_module"]

#: The most elements of a constant that are printed.
_MOST_ELEMENTS = 16


def print_module(module: Module, *, locations: bool = False) -> str:
    """Return a module as text. Of constants with more than 16 elements only the first and the last ones are shown.

    Args:
        module: The module.
        locations: Show where operations come from, at the end of their lines.
    """
    printer = _Printer(locations)
    name = f" @{module.name}" if module.name else ""
    attributes = f" attributes {_attributes(module.attributes)}" if module.attributes else ""
    lines = [f"module{name}{attributes} {{"]
    for operation in module.operations:
        lines += printer.operation(operation, 1)
    for function in module.functions:
        lines += printer.function(function)
    return "\n".join([*lines, "}"])


class _Printer:
    """Prints operations. Values are numbered in each function from 0."""

    def __init__(self, locations: bool) -> None:
        self._locations = locations
        self._names: dict[Value, str] = {}
        self._count = 0

    def function(self, function: Function) -> Iterator[str]:
        self._count = 0
        values = self._arguments(function.body) if function.body else ["" for _ in function.type.inputs]
        of_arguments: Sequence[Mapping[str, Attribute]] = function.argument_attributes or [{}] * len(values)
        of_results: Sequence[Mapping[str, Attribute]] = function.result_attributes or [{}] * len(function.type.results)
        arguments = [
            f"{name}{': ' if name else ''}{type}{_optional(attributes)}"
            for name, type, attributes in zip(values, function.type.inputs, of_arguments, strict=True)
        ]
        results = [f"{type}{_optional(attributes)}" for type, attributes in zip(function.type.results, of_results, strict=True)]
        visibility = "public" if function.public else "private"
        arrow = f" -> {_list(results)}" if results else ""
        attributes = f" attributes {_attributes(function.attributes)}" if function.attributes else ""
        head = f"  func {visibility} @{function.name}({', '.join(arguments)}){arrow}{attributes}"
        if function.body is None:
            yield head
            return
        yield f"{head} {{{self._place(function)}"
        for operation in function.body.operations:
            yield from self.operation(operation, 2)
        yield "  }"

    def operation(self, operation: Operation, depth: int) -> Iterator[str]:
        indent = "  " * depth
        operands = ", ".join(self._names.get(value, "%?") for value in operation.operands)
        # The results are named first, although values in the regions are made before them.
        results = ", ".join([self._name(value) for value in operation.results])
        parts = [f"{results} = {operation.name}" if results else operation.name]
        parts += [operands] if operands else []
        parts += [_attributes(operation.attributes)] if operation.attributes else []
        before, after = [value.type for value in operation.operands], [value.type for value in operation.results]
        types = f" : {_types(before, after)}" if before or after else ""
        end = f"{types}{self._place(operation)}"
        if not operation.regions:
            yield f"{indent}{' '.join(parts)}{end}"
            return
        yield f"{indent}{' '.join(parts)} {{"
        for number, region in enumerate(operation.regions):
            if number:
                yield f"{indent}}}, {{"
            arguments = self._arguments(region)
            if arguments:
                pairs = [f"{name}: {value.type}" for name, value in zip(arguments, region.arguments, strict=True)]
                yield f"{indent}  ({', '.join(pairs)}):"
            for inner in region.operations:
                yield from self.operation(inner, depth + 1)
        yield f"{indent}}}{end}"

    def _arguments(self, region: Region) -> list[str]:
        return [self._name(value) for value in region.arguments]

    def _name(self, value: Value) -> str:
        self._names[value] = f"%{self._count}"
        self._count += 1
        return self._names[value]

    def _place(self, found: Operation | Function) -> str:
        place = str(found.location) if self._locations else ""
        return f"  // {_one_line(place)}" if place else ""


def _types(before: Sequence[Type], after: Sequence[Type]) -> str:
    """Return the types of operands and results, or the one type that all have."""
    if len({*before, *after}) == 1:
        return str([*before, *after][0])
    if not before or not after:
        return _list([str(type) for type in (*before, *after)])
    return str(FunctionType(tuple(before), tuple(after)))


def _list(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _optional(attributes: Mapping[str, Attribute]) -> str:
    return f" {_attributes(attributes)}" if attributes else ""


def _attributes(attributes: Mapping[str, Attribute]) -> str:
    pairs = [name if value is True else f"{name} = {_attribute(value)}" for name, value in attributes.items()]
    return f"{{{', '.join(pairs)}}}"


def _attribute(value: Attribute) -> str:
    if isinstance(value, np.ndarray):
        return _elements(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{_one_line(value)}"'
    if isinstance(value, tuple):
        return f"[{', '.join(map(_attribute, value))}]"
    if isinstance(value, Mapping):
        return _attributes(value)
    if isinstance(value, (Symbol, OtherAttribute, *TYPES)):
        return str(value)
    if dataclasses.is_dataclass(value):
        members = [(each.name, getattr(value, each.name)) for each in dataclasses.fields(value)]
        # An empty value is the default.
        return f"<{', '.join(f'{name} = {_attribute(member)}' for name, member in members if member != ())}>"
    return repr(value)


def _elements(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> str:
    if array.size and all(stride == 0 for stride in array.strides):
        return f"dense<{array[(0,) * array.ndim]}>"
    if array.size <= _MOST_ELEMENTS:
        return f"dense<{_nested(array)}>"
    flat = array.reshape(-1)
    return f"dense<{', '.join(map(str, flat[:3]))}, ..., {flat[-1]!s}>"


def _nested(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> str:
    return str(array[()]) if array.ndim == 0 else f"[{', '.join(_nested(each) for each in array)}]"


def _one_line(text: str) -> str:
    """Escape characters that would break a line, or cannot be printed."""
    return "".join(letter if letter.isprintable() and letter != '"' else letter.encode("unicode_escape").decode() for letter in text)
