"""The graphs of recorded cases: read into a `webnn.GraphDescription` and the values that the case gives and expects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import webnn
from webnn.wpt_runner.levels import Level, level_of
from webnn.wpt_runner.vectors.cases import Case
from webnn.wpt_runner.vectors.format import Array, CaseError, Graph, Operator, Tensor, decode_argument, pack, parse, within

__all__ = ["RecordedGraph", "read_graph"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedGraph:
    """The graph of a case, with the file's names of values; what its outputs must be; and its inputs, as the API takes them."""

    graph: webnn.GraphDescription
    inputs: Mapping[str, Array]
    expected: Mapping[str, Tensor]


class _Reference(str):
    """The name of a value where a file refers to an operand."""

    __slots__ = ()


def read_graph(case: Case) -> RecordedGraph:
    """Read the graph of a case.

    Raises:
        CaseError: The case does not follow the format.
        WebNNTypeError: An operation takes other arguments.
    """
    if case.fault:
        raise CaseError(case.fault)
    level = level_of(case.level)
    graph = parse(Graph, case.graph, "graph")
    inputs: dict[str, webnn.OperandDescriptor] = {}
    constants: dict[str, webnn.ConstantDescription] = {}
    values: dict[str, Array] = {}
    for name, tensor in graph.inputs.items():
        with within(f"graph.inputs.{name}"):
            value = pack(tensor.array(), tensor.descriptor.dataType)
        descriptor = webnn.OperandDescriptor(tensor.descriptor.dataType, tuple(tensor.descriptor.shape))
        if tensor.constant:
            constants[name] = webnn.ConstantDescription(descriptor=descriptor, value=value)
        else:
            inputs[name], values[name] = descriptor, value
    known = set(graph.inputs)
    operators: list[webnn.OperatorDescription] = []
    for number, operator in enumerate(graph.operators):
        with within(f"graph.operators[{number}]"):
            operators.append(_read_operator(operator, known, level))
    for name, tensor in graph.expectedOutputs.items():
        with within(f"graph.expectedOutputs.{name}"):
            tensor.check_size()
            if name not in known:
                raise CaseError("no operator returns it")
    description = webnn.GraphDescription(
        name=case.name,
        draft=level.revision,
        inputs=inputs,
        constants=constants,
        operators=tuple(operators),
        outputs={name: name for name in graph.expectedOutputs},
    )
    return RecordedGraph(graph=description, inputs=values, expected=graph.expectedOutputs)


def _read_operator(operator: Operator, known: set[str], level: Level) -> webnn.OperatorDescription:
    """Read an operator; add its results to the names of the values that are known."""

    def find(name: str) -> _Reference:
        if name not in known:
            raise CaseError(f"there is no operand {name!r} yet")
        return _Reference(name)

    with within("arguments"):
        arguments = decode_argument(operator.arguments, find)
    options = {}
    for key, option in (operator.options or {}).items():
        with within(f"options.{key}"):
            options[level.renamed.get(key, key)] = decode_argument(option, find)
    try:
        described = webnn.OperatorDescription.from_call(level.revision, operator.name, arguments, options, operator.outputs)
    except webnn.DescriptionError as error:
        raise CaseError(error.message, "name") from None
    for argument, _, value in described.named_values():
        if not isinstance(value, _Reference):
            raise CaseError(f"{argument} must be {{'operand': NAME}}, got {value!r}")
    for name in operator.outputs:
        if name in known:
            raise CaseError(f"there is an operand {name!r} already", "outputs")
        known.add(name)
    return described
