"""`.webnn`: the community's text form of a graph, with weights beside it; docs/formats.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webnn.builder.description import FormatError, GraphDescription
from webnn.formats import exchange, files
from webnn.formats.decode import decode
from webnn.formats.encode import Encoded, encode, encode_options
from webnn.formats.grammar import parse
from webnn.formats.identifiers import write_identifier
from webnn.formats.weights import Weights, weights_path, write_weights
from webnn.validation.named_descriptor import has_names

if TYPE_CHECKING:
    from webnn.builder.description import OperatorDescription
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["read", "write"]

_SUFFIX = ".webnn"


def write(description: GraphDescription, path: Path) -> Path | None:
    """Write a graph, with one line for each value and node; see `webnn.formats.save`."""
    encoded = encode(description)
    text = _Printer(encoded).print()
    beside = weights_path(path, _SUFFIX) if encoded.weights else None
    if beside is not None:
        write_weights(encoded.weights, beside)
    files.write(path, text)
    return beside


class _Printer:
    """Prints one graph."""

    def __init__(self, encoded: Encoded) -> None:
        self._encoded = encoded
        self._graph = encoded.description
        self._names = self._identify()

    def print(self) -> str:
        graph = self._graph
        draft = f" @draft({self._text(self._encoded.draft)})" if self._encoded.draft else ""
        known, names = graph.descriptors().get, self._names
        return "\n".join(
            [
                f"webnn_graph {self._text(graph.name)} v{exchange.VERSIONS[-1]}{draft} {{",
                *_section("inputs", [f"{names.get(name, name)}: {_type(each)};" for name, each in graph.inputs.items()]),
                *_section("consts", map(self._constant, graph.constants)),
                *_section("nodes", [self._node(operator, known) for operator in graph.operators]),
                f"  outputs {{ {', '.join(dict.fromkeys([names.get(value, value) for value in graph.outputs.values()]))}; }}",
                "}",
                "",
            ]
        )

    def _identify(self) -> Mapping[str, str]:
        """Return the identifiers of the values that are not said by their names."""
        graph = self._graph
        outputs: dict[str, list[str]] = {}
        for name, value in graph.outputs.items():
            outputs.setdefault(value, []).append(name)
        results = [name for operator in graph.operators for name in operator.outputs]
        found = {}
        for name in (*graph.inputs, *graph.constants, *results):
            own = outputs.get(name, [])
            identifier = write_identifier(name, () if own == [name] else own)
            if identifier != name:
                found[name] = identifier
        return found

    def _constant(self, name: str) -> str:
        init = self._encoded.constants[name]
        match init["kind"]:
            case "scalar":
                value = f"@scalar({init['value']!r})"
            case "inlineBytes":
                value = f"@bytes({init['bytes']})"
            case _:
                value = f"@weights({self._text(init['ref'])})"
        return f"{self._names.get(name, name)}: {_type(self._graph.constants[name].descriptor)} {value};"

    def _node(self, operator: OperatorDescription, known: Callable[[str], OperandDescriptor | None]) -> str:
        names = self._names
        arguments: list[str] = []
        for value in operator.inputs.values():
            arguments += [names.get(each, each) for each in value] if isinstance(value, tuple) else [names.get(value, value)]
        options = encode_options(operator, known, self._graph.draft)
        if operator.label:
            options["label"] = operator.label
        arguments += [f"{name}={self._text(value)}" for name, value in options.items()]
        arguments += [f"{name}={names.get(value, value)}" for name, value in operator.operands.items()]
        outputs = ", ".join([names.get(name, name) for name in operator.outputs])
        if len(operator.outputs) > 1 or operator.operation in exchange.SEQUENCES:
            outputs = f"[{outputs}]"
        return f"{outputs} = {operator.operation}({', '.join(arguments)});"

    def _text(self, value: Any) -> str:
        if type(value) is int:
            return str(value)
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:  # half a character
                return json.dumps(value, allow_nan=False)
        return text


def _section(name: str, lines: Iterable[str]) -> list[str]:
    return [f"  {name} {{", *[f"    {line}" for line in lines], "  }"]


def _type(descriptor: OperandDescriptor) -> str:
    sizes: tuple[Any, ...] = descriptor.dimensions
    if not has_names(descriptor):
        return f"{exchange.TEXT_TYPES[descriptor.dataType]}{list(sizes)}"
    written = [f"dyn({json.dumps(each)}, {exchange.LARGEST_SIZE})" if isinstance(each, str) else str(each) for each in sizes]
    return f"{exchange.TEXT_TYPES[descriptor.dataType]}[{', '.join(written)}]"


def read(path: Path) -> GraphDescription:
    """Read a graph and its weights; see `webnn.load`."""
    text = files.read_text(path)
    parsed = parse(text, path)
    try:
        with Weights(path, _SUFFIX) as weights:
            return decode(parsed.content, weights)
    except exchange.Problem as problem:
        line, column = parsed.find(problem.place)
        raise FormatError(problem.message, path, line=line, column=column, path=problem.path) from problem.__cause__
