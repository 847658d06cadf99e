"""`Node`: what a rule sees of a node."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto, TensorProto, helper

from webnn.builder.operand import MLOperand
from webnn.importing.steps import Inputs, Operands, normalize_axis, value_of
from webnn.importing.values import Array, Refused, Value
from webnn.onnx.functions import find_schema
from webnn.onnx.model import Source
from webnn.validation import webidl

__all__ = ["Node", "output_types", "refuse_types", "without_bodies"]

#: The names of schemas for types of NumPy.
_NAMES = {"float": "float32", "double": "float64"}


class RunBody(Protocol):
    """Imports a body of a node."""

    def __call__(self, graph: GraphProto, name: str, arguments: Sequence[Value], *, tentative: bool = False) -> list[Value]:
        """Return the values of the body's outputs. Of a tentative body, which may never run, faults are raised as `Refused`."""


class Node(Inputs):
    """A node with its inputs. A rule reads it, calls the methods of its builder, and returns the outputs.

    An optional input that is missing is None; the name of an optional output that is not used is empty. ``run_body`` imports a body of the
    node, by a name for messages, with values for its inputs, and returns those of its outputs.
    """

    def __init__(
        self,
        operands: Operands,
        source: Source,
        version: int,
        inputs: Sequence[Value | None],
        run_body: RunBody,
        read_tensor: Callable[[TensorProto], Array],
    ) -> None:
        super().__init__(operands, inputs)
        self.operator = source.operator
        self.version = version
        self.outputs = source.outputs
        self.run_body = run_body
        self._read_tensor = read_tensor
        self._attributes = dict(zip(source.names, source.attributes, strict=True))

    def derive(
        self, inputs: Sequence[MLOperand | Value | None], attributes: Mapping[str, Any] | None = None, *, version: int | None = None
    ) -> Node:
        """Return a node with other inputs, further attributes and one output, for the rule of another operator."""
        derived = object.__new__(Node)
        vars(derived).update(vars(self))
        derived.version = self.version if version is None else version
        derived.inputs = tuple([value_of(each) if isinstance(each, MLOperand) else each for each in inputs])
        derived.outputs = self.outputs[:1]
        further = {name: helper.make_attribute(name, each) for name, each in (attributes or {}).items()}
        derived._attributes = {**self._attributes, **further}
        return derived

    # Attributes. `onnx.checker` has compared them with the operator's schema before.

    def has(self, name: str) -> bool:
        """Tell whether an attribute is given."""
        return name in self._attributes

    def _get(self, name: str, type: int, kind: str) -> AttributeProto | None:
        attribute = self._attributes.get(name)
        if attribute is not None and attribute.type != type:
            raise Refused(f"the attribute {name} must be {kind}")
        return attribute

    def integer(self, name: str, default: int | None = None, *, least: int | None = None) -> int:
        """Return an attribute; one without a default must be given. It may be required to have some value at least."""
        attribute = self._get(name, AttributeProto.INT, "an integer")
        found: int = self._default(name, default) if attribute is None else attribute.i
        if least is not None and found < least:
            raise Refused(f"{name} must be at least {least}, got {found}")
        return found

    def flag(self, name: str, *, default: bool) -> bool:
        """Return an attribute that must be 0 or 1."""
        integer = self.integer(name, int(default))
        if integer not in (0, 1):
            raise Refused(f"the attribute {name} must be 0 or 1, got {integer}")
        return bool(integer)

    def number(self, name: str, default: float | None = None) -> float:
        """Return an attribute; one without a default must be given."""
        attribute = self._get(name, AttributeProto.FLOAT, "a number")
        return self._default(name, default) if attribute is None else attribute.f

    def text(self, name: str, default: str | None = None) -> str:
        """Return an attribute; one without a default must be given."""
        attribute = self._get(name, AttributeProto.STRING, "a string")
        return self._default(name, default) if attribute is None else attribute.s.decode("utf-8", "replace")

    def choice(self, name: str, default: str, choices: Sequence[str]) -> str:
        """Return an attribute that must be one of several words."""
        text = self.text(name, default)
        if text not in choices:
            raise Refused(f"the attribute {name} must be one of {', '.join(choices)}, got {webidl.describe(text)}")
        return text

    def integers(self, name: str, default: Sequence[int] | None = None) -> list[int]:
        """Return an attribute; one without a default must be given."""
        attribute = self._get(name, AttributeProto.INTS, "a list of integers")
        return list(self._default(name, default)) if attribute is None else attribute.ints[:]

    def numbers(self, name: str, default: Sequence[float] | None = None) -> list[float]:
        """Return an attribute; one without a default must be given."""
        attribute = self._get(name, AttributeProto.FLOATS, "a list of numbers")
        return list(self._default(name, default)) if attribute is None else attribute.floats[:]

    def texts(self, name: str, default: Sequence[str] | None = None) -> list[str]:
        """Return an attribute; one without a default must be given."""
        attribute = self._get(name, AttributeProto.STRINGS, "a list of strings")
        return list(self._default(name, default) if attribute is None else [each.decode("utf-8", "replace") for each in attribute.strings])

    def tensor_array(self, name: str) -> Array:
        """Return the elements of an attribute that must be given."""
        attribute = self._get(name, AttributeProto.TENSOR, "a tensor")
        return self._read_tensor(self._default(name, None) if attribute is None else attribute.t)

    def graph(self, name: str) -> GraphProto:
        """Return an attribute that must be given."""
        attribute = self._get(name, AttributeProto.GRAPH, "a graph")
        return self._default(name, None) if attribute is None else attribute.g

    @staticmethod
    def _default(name: str, default: Any) -> Any:
        if default is None:
            raise Refused(f"the attribute {name} must be given")
        return default

    def axis(self, name: str, default: int | None, rank: int) -> int:
        """Return an attribute that is an axis, counted from the front."""
        return normalize_axis(name, self.integer(name, default), rank)

    def attribute_or_input(self, name: str, index: int) -> list[int] | None:
        """Return integers that are an attribute or, in newer opsets, an input that must be known. None if neither is given."""
        if self.has(name):
            return self.integers(name)
        return self.known_integers(index, name) if self.given(index) else None


# The element types of a node's inputs and outputs, from the operator's schema.


@functools.cache
def output_types(
    operator: str, version: int, domain: str, inputs: Sequence[np.dtype[Any] | None], count: int
) -> Sequence[np.dtype[Any] | None]:
    """Return the element type of each output: that of an input with the same type variable, or the only one that the schema allows.

    A type is None if an attribute determines it, or if the operator has no schema. The types of missing inputs are None.
    """
    sources = _sources(operator, version, domain)
    found: list[np.dtype[Any] | None] = []
    for index in range(count):
        # The last one may be any number of outputs.
        source = sources[min(index, len(sources) - 1)] if sources else None
        if isinstance(source, int):
            found.append(inputs[source] if source < len(inputs) else None)
        else:
            found.append(source)
    return found


def without_bodies(source: Source) -> NodeProto:
    """Return a node without the nodes of its bodies, which are checked one by one."""
    if not any(attribute.HasField("g") for attribute in source.attributes):
        return source.proto
    checked = NodeProto()
    checked.CopyFrom(source.proto)
    for attribute in checked.attribute:
        if attribute.HasField("g"):
            attribute.g.CopyFrom(GraphProto(name="body"))
    return checked


@functools.cache
def refuse_types(operator: str, version: int, domain: str, inputs: Sequence[np.dtype[Any] | None]) -> str:
    """Say which input of an operator with a schema has a type that the operator does not have; empty if none has."""
    allowed = _allowed(operator, version, domain)
    for index, dtype in enumerate(inputs):
        types = allowed[min(index, len(allowed) - 1)] if allowed else None
        # WebNN has no other types than NumPy's own.
        if dtype is not None and types is not None and dtype not in types and dtype.isbuiltin == 1:
            return f"the input {index} must be one of {', '.join(sorted(each.name for each in types))}, got {dtype.name}"
    return ""


@functools.cache
def _allowed(name: str, version: int, domain: str) -> list[frozenset[np.dtype[Any]] | None]:
    """Return for each input the types of NumPy that it may have; None for one that may have none of them."""
    schema = find_schema(name, version, domain)
    assert schema is not None
    variables = {each.type_param_str: list(each.allowed_type_strs) for each in schema.type_constraints}
    found: list[frozenset[np.dtype[Any]] | None] = []
    for each in schema.inputs:
        types = {_parse(text) for text in variables.get(each.type_str, [each.type_str])}
        found.append(frozenset(dtype for dtype in types if dtype is not None) or None)
    return found


@functools.cache
def _sources(name: str, version: int, domain: str) -> list[int | np.dtype[Any] | None]:
    """Return for each output the index of the input that gives its type, or the type, or None; nothing without a schema."""
    schema = find_schema(name, version, domain)
    if schema is None:
        return []
    variables = {each.type_param_str: list(each.allowed_type_strs) for each in schema.type_constraints}
    found: list[int | np.dtype[Any] | None] = []
    for output in schema.outputs:
        same = [index for index, each in enumerate(schema.inputs) if each.type_str == output.type_str]
        types = variables.get(output.type_str, [output.type_str])
        found.append(_parse(types[0]) if len(types) == 1 else same[0] if same else None)
    return found


def _parse(text: str) -> np.dtype[Any] | None:
    tensor = re.fullmatch(r"tensor\((\w+)\)", text)
    if tensor is None:
        return None
    try:
        return np.dtype(_NAMES.get(tensor[1], tensor[1]))
    except TypeError:
        return None
