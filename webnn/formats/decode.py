"""From GraphJson, as plain data, to a description. Everything is checked: the data are foreign."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from webnn.builder.describe import make_operator
from webnn.builder.description import (
    ActivationDescription,
    ConstantDescription,
    DescriptionError,
    GraphDescription,
    OperatorDescription,
)
from webnn.builder.transform import complete
from webnn.formats.exchange import FORMAT, SPECIAL, VERSIONS, Array, Problem, Signature, signatures
from webnn.formats.weights import Weights
from webnn.validation import webidl
from webnn.validation.descriptor import (
    BITS,
    DATA_TYPES,
    FLOAT_FORMATS,
    NUMPY_DTYPES,
    SMALL_TYPES,
    OperandDescriptor,
    integer_range,
    is_float,
)
from webnn.validation.drafts import DRAFTS_OF_GRAPHS, find_revision, for_devices
from webnn.validation.errors import WebNNTypeError
from webnn.validation.named_descriptor import GIVE_SIZES, NamedDescriptor
from webnn.validation.numbers import cast
from webnn.validation.operation import find_unsupported
from webnn.validation.revision import Revision
from webnn.validation.suggestions import lacks_operation

__all__ = ["decode"]

#: The deepest nesting of lists that an option can have; no operation needs more than two levels.
_DEEPEST = 8
_NODE_MEMBERS = frozenset({"id", "op", "inputs", "options", "outputs"})


def decode(content: object, tensors: Weights) -> GraphDescription:
    """Check plain data, and return the graph with all descriptors. Raises a `Problem`, with a place in the content, if it is not valid."""
    graph = _check(content, dict, "an object")
    if graph.get("format") != FORMAT:
        raise Problem(f"must be {FORMAT!r}, got {webidl.describe(graph.get('format'))}", "format")
    version = graph.get("version")
    if type(version) is not int or version not in VERSIONS:
        raise Problem(f"must be one of {', '.join(map(str, VERSIONS))}, got {webidl.describe(version)}", "version")
    _check(graph.get("quantized", False), bool, "true or false", "quantized")
    inputs = _section(graph, "inputs")
    constants = _section(graph, "consts")
    nodes = _check(graph.get("nodes"), list, "a list", "nodes")
    outputs = _section(graph, "outputs")
    if not outputs:
        raise Problem("must not be empty", "outputs")
    decoder = _Decoder(_find_draft(graph, inputs, constants, nodes))
    description = GraphDescription(
        name=_check(graph.get("name", ""), str, "a string", "name"),
        draft=decoder.revision.of_graphs,
        inputs={name: decoder.descriptor(value, "inputs", name, members=2) for name, value in inputs.items()},
        constants={name: decoder.constant(value, tensors, "consts", name) for name, value in constants.items()},
        operators=tuple([decoder.node(node, number) for number, node in enumerate(nodes)]),
        outputs={name: _check(value, str, "the name of a value", "outputs", name) for name, value in outputs.items()},
    )
    _complete(description)
    return description


def _complete(description: GraphDescription) -> None:
    """Check the graph, and set the descriptors of its operators."""
    for name, value in description.outputs.items():
        if not name or value in description.inputs or value in description.constants:
            raise Problem(f"must name the result of a node, got {webidl.describe(value)}", "outputs", name)
    try:
        complete(description)
    except DescriptionError as error:
        raise Problem(error.message, *_place(error.path)) from None
    except WebNNTypeError as error:
        raise Problem(str(error), *_place(error.path)) from error


def _place(path: str) -> tuple[str | int, ...]:
    """Return the place in a file of a place in a description: ``"operators[3].outputs"``."""
    found = re.match(r"operators\[(\d+)\]\.?(\w*)", path)
    if found is None:
        return ("consts" if path == "constants" else path,)
    return ("nodes", int(found[1]), *([found[2]] if found[2] else []))


def _check(value: Any, kind: type, wanted: str, *place: str | int) -> Any:
    if type(value) is not kind:
        raise Problem(f"must be {wanted}, got {webidl.describe(value)}", *place)
    return value


def _section(graph: Mapping[str, Any], name: str) -> dict[str, Any]:
    section: dict[str, Any] = _check(graph.get(name, {}), dict, "an object", name)
    return section


def _find_draft(graph: Mapping[str, Any], inputs: Mapping[str, Any], constants: Mapping[str, Any], nodes: list[Any]) -> Revision:
    """Return the draft that a file names, or the newest one, with the addition that the data types need."""
    named = graph.get("draft")
    if named is not None:
        _check(named, str, "a string", "draft")
        try:
            return find_revision(named, imports=False)
        except ValueError:
            raise Problem(f"must be one of {', '.join(DRAFTS_OF_GRAPHS)}, got {webidl.describe(named)}", "draft") from None
    types = [each.get("dataType") for each in (*inputs.values(), *constants.values()) if isinstance(each, dict)]
    casts = [node.get("options") for node in nodes if isinstance(node, dict) and node.get("op") == "cast"]
    types += [options.get("dataType") for options in casts if isinstance(options, dict)]
    return for_devices() if any(each in SMALL_TYPES for each in types) else find_revision(DRAFTS_OF_GRAPHS[-1])


def _name_of(size: dict[str, Any], *place: str | int) -> Any:
    """Return the name of a dimension, in the place of its size."""
    name = _check(size.get("name"), str, "a text", *place, "shape")
    if set(size) != {"name", "maxSize"} or not name:
        raise Problem(f"must be a list of sizes, and of objects with a name and maxSize, got {webidl.describe(size)}", *place, "shape")
    return name


class _Decoder:
    """Decodes the parts of a graph, in one draft."""

    def __init__(self, revision: Revision) -> None:
        self.revision = revision
        self._named = revision.extension(GIVE_SIZES) is not None
        self._signatures = signatures(revision.name)
        self._types = tuple(dict.fromkeys((*DATA_TYPES, *SMALL_TYPES, *revision.types)))

    def descriptor(self, value: Any, *place: str | int, members: int) -> OperandDescriptor:
        given = _check(value, dict, "an object", *place)
        dataType = given.get("dataType")
        if type(dataType) is not str or dataType not in self._types:
            raise Problem(f"must be one of {', '.join(self._types)}, got {webidl.describe(dataType)}", *place, "dataType")
        shape = _check(given.get("shape"), list, "a list of sizes", *place, "shape")
        for size in shape:
            if type(size) is not int and not (isinstance(size, dict) and self._named and place[0] == "inputs"):
                hint = ": give the graph a fixed size, because the specification has no dynamic ones" if isinstance(size, dict) else ""
                raise Problem(f"must be a list of sizes, got {webidl.describe(size)}{hint}", *place, "shape")
        # No draft limits a named dimension.
        sizes = tuple([_name_of(size, *place) if isinstance(size, dict) else size for size in shape])
        kind = OperandDescriptor if sizes == tuple(shape) else NamedDescriptor
        descriptor = kind(dataType, sizes)
        known = tuple([size for size in sizes if isinstance(size, int)])
        reason = find_unsupported(self.revision, OperandDescriptor(dataType, known))
        if reason:
            raise Problem(reason, *place, "shape")
        if len(given) != members:
            raise Problem(f"must have only the members dataType and shape{', init' if members > 2 else ''}, got {_names(given)}", *place)
        return descriptor

    def constant(self, value: Any, tensors: Weights, *place: str | int) -> ConstantDescription:
        descriptor = self.descriptor(value, *place, members=3)
        init = _check(value.get("init"), dict, "an object", *place, "init")
        kind = init.get("kind")
        wanted = {"scalar": "value", "inlineBytes": "bytes", "weights": "ref"}.get(kind) if type(kind) is str else None
        if wanted is None:
            raise Problem(f"must be scalar, inlineBytes or weights, got {webidl.describe(kind)}", *place, "init", "kind")
        if set(init) != {"kind", wanted}:
            raise Problem(f"must have the members kind and {wanted}, got {_names(init)}", *place, "init")
        data = init[wanted]
        if kind == "weights":
            _check(data, str, "the name of a tensor", *place, "init", "ref")
            try:
                array = tensors.read(data, descriptor)
            except Problem as problem:
                raise Problem(problem.message, *place) from None
        elif kind == "inlineBytes":
            array = _decode_bytes(data, descriptor, *place, "init", "bytes")
        else:
            array = _decode_scalar(data, descriptor, *place, "init", "value")
        return ConstantDescription(descriptor=descriptor, value=array)

    def node(self, node: Any, number: int) -> OperatorDescription:
        if type(node) is not dict or not node.keys() <= _NODE_MEMBERS:
            names = f"an object with the members {', '.join(sorted(_NODE_MEMBERS))}"
            raise Problem(f"must be {names}, got {_names(node) if type(node) is dict else webidl.describe(node)}", "nodes", number)
        operation = node.get("op")
        signature = self._signatures.get(operation) if isinstance(operation, str) else None
        if operation is None or signature is None:
            raise Problem(f"the draft {self.revision.name} {lacks_operation(operation, self.revision.operations)}", "nodes", number, "op")
        outputs = node.get("outputs")
        outputs = [node.get("id")] if outputs is None else _check(outputs, list, "a list of names", "nodes", number, "outputs")
        names = node.get("inputs", [])
        if type(names) is not list:
            raise Problem(f"must be a list of names, got {webidl.describe(names)}", "nodes", number, "inputs")
        for name in outputs:
            if type(name) is not str:
                raise Problem(f"must be the name of a value, got {webidl.describe(name)}", "nodes", number, "id")
        for name in names:
            if type(name) is not str:
                raise Problem(f"must be a list of names, got {webidl.describe(name)} in it", "nodes", number, "inputs")
        inputs: dict[str, str | tuple[str, ...]]
        if signature.variadic:
            inputs = {signature.operands[0]: tuple(names)}
        elif len(names) == len(signature.operands):
            inputs = {operand: names[position] for position, operand in enumerate(signature.operands)}
        else:
            wanted = f"{len(signature.operands)} operands of {operation} ({', '.join(signature.operands)})"
            raise Problem(f"must be {wanted}, got {webidl.describe(names)}", "nodes", number, "inputs")
        given = node.get("options")
        try:
            arguments, options, operands, label = self._options(operation, {} if given is None else given, signature)
        except Problem as problem:
            raise Problem(problem.message, "nodes", number, "options", *problem.place) from None
        return make_operator(
            operation=operation, inputs=inputs, arguments=arguments, options=options, operands=operands, label=label, outputs=tuple(outputs)
        )

    def _options(self, operation: str, given: object, signature: Signature) -> tuple[dict[str, Any], dict[str, Any], dict[str, str], str]:
        """Return the arguments, the options, their operands, and the label."""
        members: Mapping[str, Any] = _check(given, dict, "an object")
        arguments: dict[str, Any] = {}
        options: dict[str, Any] = {}
        operands: dict[str, str] = {}
        label = ""
        roles = signature.roles
        for name, value in members.items():
            role = roles.get(name)
            if value is None and role is not None:
                continue
            if role == "argument":
                arguments[name] = self._value(value, name)
            elif role == "option":
                options[name] = self._value(value, name)
            elif role == "operand":
                operands[name] = _check(value, str, "the name of a value", name)
            elif role == "label":
                label = _check(value, str, "a string", name)
            else:
                raise Problem(f"{operation} has no option {webidl.describe(name)}, it has {', '.join(roles)}")
        if len(arguments) < len(signature.arguments):
            missing = next(name for name in signature.arguments if name not in arguments)
            raise Problem(f"{operation} needs {missing}, got {_names(members)}")
        return arguments, options, operands, label

    def _value(self, value: Any, name: str, depth: int = 0) -> Any:
        kind = type(value)
        if kind is int or kind is bool:
            return value
        if kind is float:
            # All sequences of floating-point numbers are of single precision.
            return _round(value, name) if depth else value
        if kind is str:
            return SPECIAL.get(value, value)
        if kind is list and depth < _DEEPEST:
            return tuple([self._value(each, name, depth + 1) for each in value])
        if kind is dict and self.revision.activations and value.keys() <= {"op", "options"}:
            members = _check(value.get("options", {}), dict, "an object", name)
            return ActivationDescription(
                operation=_check(value.get("op"), str, "the name of an operation", name),
                options={member: self._value(each, name, _DEEPEST) for member, each in members.items()},
            )
        raise Problem(f"must be a number, a string, a boolean or a list of them, got {webidl.describe(value)}", name)


def _names(members: Mapping[str, Any]) -> str:
    return webidl.describe(list(members))


def _round(number: float, name: str) -> float:
    with np.errstate(over="ignore"):
        rounded = float(np.float32(number))
    if math.isinf(rounded):
        raise Problem(f"must fit into single precision, got {number!r}", name)
    return rounded


def _decode_bytes(data: object, descriptor: OperandDescriptor, *place: str | int) -> Array:
    numbers = _check(data, list, "a list of bytes", *place)
    if len(numbers) != descriptor.byte_length:
        raise Problem(f"must be the {descriptor.byte_length} bytes of {descriptor}, got {len(numbers)}", *place)
    try:
        if bool in set(map(type, numbers)):
            raise TypeError
        content = bytes(numbers)
    except (TypeError, ValueError):
        raise Problem(f"must be integers from 0 to 255, got {webidl.describe(numbers)}", *place) from None
    return np.frombuffer(content, NUMPY_DTYPES[descriptor.dataType]).reshape(descriptor.array_shape)


def _decode_scalar(value: Any, descriptor: OperandDescriptor, *place: str | int) -> Array:
    if descriptor.element_count != 1:
        raise Problem(f"a scalar needs a shape of one element, got {descriptor}", *place)
    number = SPECIAL.get(value, value) if isinstance(value, str) else value
    if type(number) is not int and type(number) is not float:
        raise Problem(f"must be a number, got {webidl.describe(value)}", *place)
    dtype = NUMPY_DTYPES[descriptor.dataType]
    if is_float(descriptor.dataType):
        element = np.array(cast(number, descriptor.dataType), dtype)
        form = FLOAT_FORMATS[descriptor.dataType]
        if (np.isinf(element) or (form.saturates and abs(number) > form.largest)) and not (type(number) is float and math.isinf(number)):
            raise Problem(f"must fit into {descriptor.dataType}, got {webidl.describe(value)}", *place)
        return element.reshape(descriptor.array_shape)
    low, high = integer_range(descriptor.dataType)
    if not low <= number <= high or int(number) != number:
        raise Problem(f"must be an integer from {low} to {high}, got {webidl.describe(value)}", *place)
    bits = int(number) % 2 ** BITS[descriptor.dataType]
    return np.array(bits, f"u{dtype.itemsize}").view(dtype).reshape(descriptor.array_shape)
