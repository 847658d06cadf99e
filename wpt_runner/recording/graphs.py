"""The graphs that tests compute, as the format of recorded cases writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import webnn
from webnn.wpt_runner.recording.numbers import RecordingError, Tensor, encode_number

__all__ = ["Computation"]


@dataclass(frozen=True, slots=True)
class Computation:
    """A computation of a graph, with the tensors that it was given, by name."""

    graph: webnn.GraphDescription
    inputs: Mapping[str, Tensor]

    def descriptor(self, output: str) -> webnn.OperandDescriptor:
        """Return the type and shape of an output."""
        return self.graph.descriptors()[self.graph.outputs[output]]

    def describe(self, expected: Mapping[str, dict[str, Any]], options: Mapping[str, str]) -> dict[str, Any]:
        """Return the part of the graph that some outputs need, for JSON; their expectations are given in JSON's form.

        Options that the tests call otherwise than the draft are given by the draft's names.
        """
        graph = self.graph.select(expected)
        names = _rename(graph)
        constants = {name: Tensor.of(each.descriptor, each.value) for name, each in graph.constants.items()}
        return {
            "inputs": {names[name]: self.inputs[name].encode() for name in graph.inputs}
            | {names[name]: tensor.encode(constant=True) for name, tensor in constants.items()},
            "operators": [_encode(operator, names, options) for operator in graph.operators],
            "expectedOutputs": dict(expected),
        }


def _rename(graph: webnn.GraphDescription) -> dict[str, str]:
    """Return the names that the format gives to values: an output has its own name, an input keeps its name if that is still free."""
    names: dict[str, str] = {}
    for output, value in graph.outputs.items():
        if value in names:
            raise RecordingError(f"its outputs {names[value]!r} and {output!r} are one operand, which can have only one name")
        names[value] = output
    used = set(graph.outputs)

    def choose(value: str, candidates: Iterable[str]) -> None:
        if value not in names:
            names[value] = next(name for name in candidates if name not in used)
            used.add(names[value])

    for name in graph.inputs:
        choose(name, chain([name], _numbered(name, 2)))
    constants, results = _numbered("const", 0), _numbered("operand", 0)
    for name in graph.constants:
        choose(name, constants)
    for operator in graph.operators:
        for name in operator.outputs:
            choose(name, results)
    return names


def _numbered(stem: str, first: int) -> Iterator[str]:
    return (f"{stem}{number}" for number in count(first))


def _encode(operator: webnn.OperatorDescription, names: Mapping[str, str], renamed: Mapping[str, str]) -> dict[str, Any]:
    def refuse(activation: webnn.ActivationDescription) -> object:
        raise RecordingError(f"{operator.operation} takes the activation function {activation.operation}, which the format has no form for")

    def encode(value: Any) -> object:
        match value:
            case list():
                return [encode(element) for element in value]
            case int() | float() if not isinstance(value, bool):
                return encode_number(value)
        return value

    arguments, options = operator.call(lambda name: {"operand": names[name]}, refuse)
    return {
        "name": operator.operation,
        "arguments": encode(arguments),
        "options": {renamed.get(name, name): encode(options[name]) for name in sorted(options)},
        "outputs": [names[name] for name in operator.outputs],
    }
