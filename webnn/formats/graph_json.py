"""`.webnn.json`: the community's GraphJson, with weights beside it; docs/formats.md."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webnn.builder.description import FormatError, GraphDescription
from webnn.formats import exchange, files
from webnn.formats.decode import decode
from webnn.formats.encode import Encoded, encode, encode_options
from webnn.formats.weights import Weights, weights_path, write_weights
from webnn.validation import webidl
from webnn.validation.named_descriptor import has_names

if TYPE_CHECKING:
    from webnn.builder.description import OperatorDescription
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["read", "write"]

_SUFFIX = ".webnn.json"


def write(description: GraphDescription, path: Path) -> Path | None:
    """Write a graph, with one line for each value and node; see `webnn.formats.save`."""
    encoded = encode(description)
    try:
        text = _format(encoded, ascii=False).encode()
    except UnicodeEncodeError:  # a name with half a character
        text = _format(encoded, ascii=True).encode()
    beside = weights_path(path, _SUFFIX) if encoded.weights else None
    if beside is not None:
        write_weights(encoded.weights, beside)
    files.write(path, text)
    return beside


def _format(encoded: Encoded, *, ascii: bool) -> str:
    graph = encoded.description
    dump = json.JSONEncoder(ensure_ascii=ascii, allow_nan=False).encode
    known = graph.descriptors().get

    def describe(descriptor: OperandDescriptor) -> dict[str, Any]:
        sizes: tuple[Any, ...] = descriptor.dimensions
        if not has_names(descriptor):
            return {"dataType": descriptor.dataType, "shape": sizes}
        return {
            "dataType": descriptor.dataType,
            "shape": [{"name": each, "maxSize": exchange.LARGEST_SIZE} if isinstance(each, str) else each for each in sizes],
        }

    def describe_node(operator: OperatorDescription) -> dict[str, Any]:
        inputs: list[str] = []
        for value in operator.inputs.values():
            inputs += value if isinstance(value, tuple) else [value]
        options = encode_options(operator, known, graph.draft) | dict(operator.operands)
        if operator.label:
            options["label"] = operator.label
        node = {"id": operator.outputs[0], "op": operator.operation, "inputs": inputs, "options": options}
        if len(operator.outputs) > 1 or operator.operation in exchange.SEQUENCES:
            node["outputs"] = operator.outputs
        return node

    def section(name: str, members: list[str], brackets: str = "{}") -> str:
        return f' "{name}": {brackets[0]}\n  ' + ",\n  ".join(members) + f"\n {brackets[1]}" if members else f' "{name}": {brackets}'

    header = {"format": exchange.FORMAT, "version": exchange.VERSIONS[-1], "name": graph.name, "quantized": False}
    if encoded.draft:
        header["draft"] = encoded.draft
    constants = {name: describe(each.descriptor) | {"init": encoded.constants[name]} for name, each in graph.constants.items()}
    parts = [
        *[f' "{name}": {dump(value)}' for name, value in header.items()],
        section("inputs", [f"{dump(name)}: {dump(describe(each))}" for name, each in graph.inputs.items()]),
        section("consts", [f"{dump(name)}: {dump(each)}" for name, each in constants.items()]),
        section("nodes", [dump(describe_node(operator)) for operator in graph.operators], "[]"),
        section("outputs", [f"{dump(name)}: {dump(value)}" for name, value in graph.outputs.items()]),
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def read(path: Path) -> GraphDescription:
    """Read a graph and its weights; see `webnn.load`."""
    content = _parse(files.read_text(path), path)
    try:
        with Weights(path, _SUFFIX) as weights:
            return decode(content, weights)
    except exchange.Problem as problem:
        raise FormatError(problem.message, path, path=problem.path) from problem.__cause__


def _parse(text: str, path: Path) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_float=_float, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise FormatError(f"is not valid JSON: {error.msg}", path, line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise FormatError("is nested too deeply", path) from None
    except ValueError as error:  # those of the functions below, and an integer with thousands of digits
        raise FormatError(str(error), path) from None


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        names = [name for name, _ in members]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object must not have a member twice, got {webidl.describe(twice)}")
    return found


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"a number must fit into a double, got {webidl.describe(text)}")
    return number


def _refuse(text: str) -> float:
    raise ValueError(f'JSON has no {text}: write "{text}", as a string')
