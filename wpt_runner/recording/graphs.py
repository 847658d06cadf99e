"""What programs build, as they build it: which operands a graph's outputs need, and how they came to be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

import webnn
from webnn.wpt_runner.recording.numbers import Array, Descriptor, RecordingError, Tensor, encode_number

__all__ = ["Computation", "GraphLog", "Output"]


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A call of a builder's method that made operands. `order` counts the calls."""

    order: int


@dataclass(frozen=True, slots=True, eq=False)
class _Input(_Node):
    name: str
    descriptor: Descriptor


@dataclass(frozen=True, slots=True, eq=False)
class _Constant(_Node):
    tensor: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class _Operation(_Node):
    name: str
    arguments: list[Any]
    options: dict[str, Any]
    results: int


@dataclass(frozen=True, slots=True)
class _Reference:
    """An operand: one of the results of a node."""

    node: _Node
    index: int


@dataclass(frozen=True, slots=True)
class _Activation:
    """An activation function: a builder's method that made no operand."""

    name: str


@dataclass(frozen=True, slots=True)
class Output:
    """An output of a graph."""

    operand: _Reference
    descriptor: Descriptor


@dataclass(frozen=True, slots=True)
class Computation:
    """A computation of a graph.

    Attributes:
        outputs: The graph's outputs by name.
        inputs: The tensors it was given, by name.
    """

    outputs: Mapping[str, Output]
    inputs: Mapping[str, Tensor]

    def describe(self, expected: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
        """Return the part of the graph that some outputs need, for JSON.

        Args:
            expected: The outputs' expectations, written for JSON.

        Raises:
            RecordingError: The format cannot hold it.
        """
        names = _Names()
        for name in expected:
            names.give(self.outputs[name].operand, name)
        # What has a name keeps it, if it can.
        nodes = sorted(_needed([self.outputs[name].operand.node for name in expected]), key=lambda node: node.order)
        for node in nodes:
            if isinstance(node, _Input):
                names.choose(_Reference(node, 0), chain([node.name], _numbered(node.name, 2)))
        inputs: dict[str, Any] = {}
        operators: list[object] = []
        for node in nodes:
            match node:
                case _Input():
                    inputs[names.of[_Reference(node, 0)]] = self.inputs[node.name].encode()
                case _Constant():
                    inputs[names.choose(_Reference(node, 0), _numbered("const", 0))] = node.tensor.encode(constant=True)
                case _Operation():
                    operators.append(_describe(node, names))
        return {"inputs": inputs, "operators": operators, "expectedOutputs": dict(expected)}


@dataclass(slots=True)
class _Names:
    """The names of operands: the format has one set of names for inputs, constants and results."""

    of: dict[_Reference, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def give(self, operand: _Reference, name: str) -> None:
        if operand in self.of:
            raise RecordingError(f"its outputs {self.of[operand]!r} and {name!r} are one operand, which can have only one name")
        self.of[operand] = name
        self.used.add(name)

    def choose(self, operand: _Reference, names: Iterable[str]) -> str:
        """Give an operand the first name that is free, if it has none; return its name."""
        if operand not in self.of:
            self.give(operand, next(name for name in names if name not in self.used))
        return self.of[operand]


def _numbered(stem: str, first: int) -> Iterator[str]:
    return (f"{stem}{number}" for number in count(first))


def _describe(node: _Operation, names: _Names) -> dict[str, Any]:
    def encode(value: Any) -> object:
        match value:
            case _Reference():
                return {"operand": names.of[value]}
            case _Activation():
                raise RecordingError(f"{node.name} takes the activation function {value.name}, which the format has no form for")
            case list():
                return [encode(element) for element in value]
            case int() | float() if not isinstance(value, bool):
                return encode_number(value)
        return value

    return {
        "name": node.name,
        "arguments": encode(node.arguments),
        "options": {name: encode(option) for name, option in node.options.items()},
        "outputs": [names.choose(_Reference(node, index), _numbered("operand", 0)) for index in range(node.results)],
    }


def _needed(nodes: Sequence[_Node]) -> set[_Node]:
    """Return nodes and all that they need."""
    needed: set[_Node] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node not in needed:
            needed.add(node)
            if isinstance(node, _Operation):
                waiting += [operand.node for operand in _references([node.arguments, list(node.options.values())])]
    return needed


def _references(value: object) -> Iterator[_Reference]:
    if isinstance(value, _Reference):
        yield value
    elif isinstance(value, list):
        for element in value:
            yield from _references(element)


class GraphLog:
    """Keeps how the operands of all builders came to be, as long as a program can use them."""

    def __init__(self) -> None:
        self._operands: WeakKeyDictionary[webnn.MLOperand, _Reference] = WeakKeyDictionary()
        self._activations: WeakKeyDictionary[webnn.MLActivation, _Activation] = WeakKeyDictionary()
        self._graphs: WeakKeyDictionary[webnn.MLGraph, dict[str, Output]] = WeakKeyDictionary()
        self._order = 0

    def called(self, member: str, values: Sequence[Any], result: Any) -> None:
        """Keep what a call of a builder's method made.

        Args:
            member: The method.
            values: Its arguments.
            result: What it returned.
        """
        self._order += 1
        match member, result:
            case "build", webnn.MLGraph():
                self._graphs[result] = {name: Output(self._operands[operand], _descriptor(operand)) for name, operand in values[0].items()}
            case "input", webnn.MLOperand():
                self._operands[result] = _Reference(_Input(self._order, values[0], _descriptor(result)), 0)
            case "constant", webnn.MLOperand():
                self._operands[result] = _Reference(_Constant(self._order, _constant(result, values[1])), 0)
            case _, webnn.MLActivation():
                self._activations[result] = _Activation(member)
            case _:
                self._operation(member, values, result if isinstance(result, list) else [result])

    def _operation(self, name: str, values: Sequence[Any], results: Sequence[webnn.MLOperand]) -> None:
        arguments = [self._resolve(value) for value in values]
        # Only the options are a dictionary, and they come last.
        options = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
        node = _Operation(self._order, name, arguments, options, len(results))
        for index, operand in enumerate(results):
            self._operands[operand] = _Reference(node, index)

    def _resolve(self, value: Any) -> Any:
        """Put references in place of operands: what is kept must not keep them alive."""
        match value:
            case webnn.MLOperand():
                return self._operands[value]
            case webnn.MLActivation():
                return self._activations[value]
            case list():
                return [self._resolve(element) for element in value]
            case dict():
                return {name: self._resolve(element) for name, element in value.items()}
        return value

    def compute(self, graph: webnn.MLGraph, inputs: Mapping[str, Array]) -> Computation:
        """Return a computation of a graph."""
        outputs = self._graphs[graph]
        nodes = _needed([output.operand.node for output in outputs.values()])
        tensors = {node.name: Tensor.of(node.descriptor, inputs[node.name]) for node in nodes if isinstance(node, _Input)}
        return Computation(outputs, tensors)


def _descriptor(operand: webnn.MLOperand) -> Descriptor:
    return Descriptor(operand.dataType(), tuple(operand.shape()))


def _constant(operand: webnn.MLOperand, data: Any) -> Tensor:
    descriptor = _descriptor(operand)
    if isinstance(data, np.ndarray):
        return Tensor.of(descriptor, data)
    # One number: for an integer type, its fraction is dropped, and the rest wraps.
    dtype = np.dtype(descriptor.dataType)
    if dtype.kind == "f":
        return Tensor(descriptor, np.array([data], np.float64).astype(dtype))
    bits = int(data) % (1 << 8 * dtype.itemsize)
    return Tensor(descriptor, np.array([bits], f"u{dtype.itemsize}").view(dtype))
