"""From operands to a `GraphDescription`: `describe`, and the names of its values."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from webnn.builder.base import require_operand
from webnn.builder.content import ByContent
from webnn.builder.description import (
    CallDescription,
    ConstantDescription,
    GraphDescription,
    OperatorDescription,
    given_options,
)
from webnn.builder.graph import collect_calls, find_fusions
from webnn.validation import webidl
from webnn.validation.errors import argument_error
from webnn.validation.operation import Call

if TYPE_CHECKING:
    from webnn.builder.graph import ComputationalGraph
    from webnn.builder.graph_builder import GraphBuilder
    from webnn.builder.operand import MLOperand, Operator
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["Names", "describe", "describe_checked", "describe_graph", "describe_operator", "make_operator", "value_key"]


def describe(outputs: Mapping[str, MLOperand], *, name: str = "") -> GraphDescription:
    """Describe the graph that some operands need: what `MLGraphBuilder.build` compiles. It works before and after `build`.

    Values are named for people: an output's value after the output, others after the operator's label, the operation, or the argument that
    they are first used for. The constants are not copied.

    Args:
        outputs: The operands by the names of the outputs, as `MLGraphBuilder.build` takes them.
        name: The graph's name.

    Raises:
        WebNNTypeError: The outputs are not what `build` takes, or come from several builders.
    """
    named = webidl.convert_argument(functools.partial(webidl.record, outputs, require_operand), "describe", "outputs")
    if not named:
        raise argument_error("describe", "outputs", "must not be empty", rule="length")
    first = next(iter(named))
    builder = named[first]._builder
    for key, operand in named.items():
        if operand._builder is not builder:
            raise argument_error(
                "describe",
                f"outputs[{webidl.describe(key)}]",
                f"must come from the builder of outputs[{webidl.describe(first)}]",
                rule="owner",
            )
    call = Call("describe", "#api-mlgraphbuilder-build", builder._revision)
    return describe_graph(cast("GraphBuilder", builder)._survey(call, named), name)


def describe_graph(graph: ComputationalGraph, name: str = "", names: Mapping[object, str] = MappingProxyType({})) -> GraphDescription:
    """Describe a graph that was collected; see `describe`.

    ``names`` has names for some of its values, by `value_key`; one that is taken gets a number.
    """
    return _Describer(graph, names).describe(graph, name)


def describe_checked(graph: ComputationalGraph, name: str, names: Mapping[object, str], order: Iterable[str]) -> GraphDescription:
    """Describe a graph of a builder without a context, its inputs in an order, when somebody looks at it; see `describe_graph`.

    The description keeps the graph, so that it can be built without checking the operators again.
    """
    draft = next(iter(graph.outputs.values()))._builder._revision.of_graphs
    inputs = {each: graph.inputs[each].descriptor for each in dict.fromkeys([*order, *graph.inputs]) if each in graph.inputs}
    description = GraphDescription(name=name, draft=draft, inputs=inputs, constants={}, operators=(), outputs={})
    # Safe: the description has not been shared yet.
    object.__setattr__(description, "_checked", graph)
    object.__setattr__(description, "_describe", functools.partial(describe_graph, graph, name, names))
    for part in ("constants", "operators", "outputs", "calls"):
        object.__delattr__(description, part)
    return description


def describe_operator(
    description: GraphDescription, operator: OperatorDescription, known: Mapping[str, OperandDescriptor]
) -> GraphDescription:
    """Return the graph of one operator alone, with outputs ``result0``, ``result1`` and so on. ``known`` has all descriptors."""
    operands = {value for _, _, value in operator.named_values()}
    return replace(
        description,
        inputs={name: known[name] for name in sorted(operands - description.constants.keys())},
        constants={name: each for name, each in description.constants.items() if name in operands},
        operators=(operator,),
        outputs={f"result{position}": name for position, name in enumerate(operator.outputs)},
    )


def value_key(operand: MLOperand) -> object:
    """Return what an operand's value is known by, as long as the operand is kept."""
    return id(operand) if operand._operator is None else (operand._operator.index, operand._position)


class _Describer:
    """The state of one `describe_graph`: the names that are given so far."""

    def __init__(self, graph: ComputationalGraph, wanted: Mapping[object, str]) -> None:
        self._wanted = wanted
        self._names = Names(graph.inputs)
        #: The names of inputs and constants, by id: the graph keeps the operands alive.
        self._leaves = {id(operand): name for name, operand in graph.inputs.items()}
        self._results: dict[tuple[int, int], str] = {}
        self._inputs: dict[str, OperandDescriptor] = {}
        self._constants: dict[str, ConstantDescription] = {}
        for name, operand in graph.outputs.items():
            if operand._operator is not None:
                key = operand._operator.index, operand._position
                if key not in self._results and self._names.take(name):
                    self._results[key] = name

    def describe(self, graph: ComputationalGraph, name: str) -> GraphDescription:
        operators = tuple([self._operator(operator) for operator in graph.operators])
        first = next(iter(graph.outputs.values()))
        return GraphDescription(
            name=name,
            draft=first._builder._revision.of_graphs,
            inputs=self._inputs,
            constants=self._constants,
            operators=operators,
            outputs={output: self._find(operand, "", output) for output, operand in graph.outputs.items()},
            calls=self._calls(graph),
        )

    def _calls(self, graph: ComputationalGraph) -> tuple[CallDescription, ...]:
        fusions = find_fusions(graph)
        calls = collect_calls(graph) if fusions else {}
        places = {call: place for place, call in enumerate(calls)}
        known: dict[object, str] = {key: name for names in (self._results, self._leaves) for key, name in names.items()}
        return tuple(
            [
                CallDescription(
                    name=call.name,
                    config=dict(call.config),
                    caller=-1 if call.caller is None else places[call.caller],
                    operators=tuple([self._results[operator.index, 0] for operator in operators]),
                    inputs={name: known[value_key(each)] for name, each in call.operands.items() if value_key(each) in known},
                    outputs={name: self._results[key] for name, key in call.results.items() if key in self._results},
                    kernel=fusions[call].kernel,
                    reason=fusions[call].reason,
                )
                for call, operators in calls.items()
            ]
        )

    def _operator(self, operator: Operator) -> OperatorDescription:
        row, label, results = operator.operation, operator.label, self._results
        inputs: dict[str, str | tuple[str, ...]] = {}
        # Loops, because a comprehension is a function call, for each of thousands of operators; and a look at the results before `_find`.
        if row.variadic:
            inputs[row.operands[0]] = tuple([self._find(operand, label, row.operands[0]) for operand in operator.inputs])
        else:
            for name, operand in zip(row.operands, operator.inputs, strict=True):
                maker = operand._operator
                inputs[name] = self._find(operand, label, name) if maker is None else results[maker.index, operand._position]
        operands: dict[str, str] = {}
        for name, operand in operator.members:
            operands[name] = self._find(operand, label, name)
        base = label or row.name
        descriptors = operator.outputs
        outputs: list[str] = []
        for position in range(len(descriptors)):
            key = operator.index, position
            result = results.get(key)
            if result is None:
                usual = base if len(descriptors) == 1 else f"{base}_{position}"
                result = results[key] = self._names.find(self._wanted.get(key, usual))
            outputs.append(result)
        return make_operator(
            operation=row.name,
            inputs=inputs,
            arguments=operator.named_arguments,
            options=given_options(operator) if operator.given else {},
            operands=operands,
            label=label,
            outputs=tuple(outputs),
            descriptors=descriptors,
            index=operator.index,
        )

    def _find(self, operand: MLOperand, label: str, argument: str) -> str:
        """Return the name of an operand's value; describes an input or constant at its first use, by an argument of an operator."""
        if operand._operator is not None:
            return self._results[operand._operator.index, operand._position]
        name = self._leaves.get(id(operand))
        if name is None:
            assert operand._value is not None  # the inputs have their names
            usual = f"{label}_{argument}" if label else argument
            name = self._leaves[id(operand)] = self._names.find(self._wanted.get(id(operand), usual))
            self._constants[name] = ConstantDescription(descriptor=operand.descriptor, value=operand._value)
        elif operand._value is None:
            self._inputs[name] = operand.descriptor
        return name


class Names:
    """The names of one kind in a graph or a program."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def take(self, name: str) -> bool:
        """Take a name if it is free, and tell whether it was."""
        free = name not in self._taken
        self._taken.add(name)
        return free

    def find(self, base: str) -> str:
        """Take a name, or the first free one with a number appended."""
        if self.take(base):
            return base
        count = self._counts.get(base, 1) + 1
        while not self.take(f"{base}_{count}"):
            count += 1
        self._counts[base] = count
        return f"{base}_{count}"


class _Unfrozen(ByContent):
    """An `OperatorDescription` whose attributes can still be set."""

    __slots__ = OperatorDescription.__slots__


def make_operator(
    *,
    operation: str,
    inputs: Mapping[str, str | tuple[str, ...]],
    arguments: Mapping[str, Any],
    options: Mapping[str, Any],
    operands: Mapping[str, str],
    label: str,
    outputs: tuple[str, ...],
    descriptors: tuple[OperandDescriptor, ...] = (),
    index: int = 0,
) -> OperatorDescription:
    """Make an `OperatorDescription`, four times as fast as its constructor, which cannot set its attributes in the usual way."""
    made: Any = object.__new__(_Unfrozen)
    made.operation = operation
    made.inputs = inputs
    made.arguments = arguments
    made.options = options
    made.operands = operands
    made.label = label
    made.outputs = outputs
    made.descriptors = descriptors
    made.index = index
    made.__class__ = OperatorDescription
    return cast(OperatorDescription, made)
