"""From the description of a graph to a StableHLO program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module

import numpy as np

from webnn.builder.description import GraphDescription
from webnn.builder.operand import MLOperand, Operator
from webnn.builder.transform import survey
from webnn.hlo.export.emitter import Array, Emitter, Functions, Tensor
from webnn.hlo.export.rule import ELEMENTS, Op, Rule, RuleError
from webnn.hlo.ir import Function, Location, Module, RegionBuilder
from webnn.hlo.names import ARGUMENT, RESULT, write_result
from webnn.hlo.types import TensorType
from webnn.validation.descriptor import OperandDescriptor, unpack
from webnn.validation.errors import label_prefix
from webnn.validation.families import FAMILIES

__all__ = ["RULES", "Exporter", "export"]

#: The rule of each operation.
RULES: Mapping[str, Rule] = {name: rule for family in FAMILIES for name, rule in import_module(f"webnn.hlo.export.{family}").RULES.items()}


def export(description: GraphDescription) -> Module:
    """Return a graph as a StableHLO program.

    The function ``main`` takes the inputs and returns the outputs, each in the order of the description. The attributes ``jax.arg_info`` of
    its arguments and ``jax.result_info`` of its results are their names. The location of an operation is the label of the operator that it
    comes from, or its operation if it has no label.

    Args:
        description: The graph, of any draft.

    Raises:
        RuleError: An operator has no counterpart.
        WebNNTypeError: The draft refuses something.
        DescriptionError: The description contradicts itself.
    """
    graph, operands = survey(description)
    region = RegionBuilder([_type(each) for each in description.inputs.values()])
    functions = Functions()
    exporter = Exporter(Emitter(region, functions, Location()), RULES)
    for name, argument in zip(description.inputs, region.arguments, strict=True):
        exporter.leaves[id(operands[name])] = argument_tensor = exporter.emitter.tensor(argument)
        assert argument_tensor.shape == description.inputs[name].dimensions
    for operator in graph.operators:
        exporter.operator(operator)
    exporter.emitter.location = Location()
    exporter.emitter.end("func.return", [exporter.find(graph.outputs[name]) for name in description.outputs])
    main = Function(
        name="main",
        body=region.build(),
        argument_names=tuple(description.inputs),
        result_names=tuple(description.outputs),
        argument_attributes=tuple([{ARGUMENT: name} for name in description.inputs]),
        result_attributes=tuple([{RESULT: write_result(name)} for name in description.outputs]),
    )
    return Module(functions=(main, *functions.made), name=description.name)


def _type(descriptor: OperandDescriptor) -> TensorType:
    return TensorType(shape=descriptor.dimensions, element=ELEMENTS[descriptor.dataType])


class Exporter:
    """The state of an export: the value of each operand.

    Args:
        emitter: Appends operations.
        rules: The rule of each operation.
        target: The name of the format, for messages.
    """

    def __init__(self, emitter: Emitter, rules: Mapping[str, Rule], target: str = "StableHLO") -> None:
        self.emitter = emitter
        self._rules = rules
        self._target = target
        #: The inputs and constants, by the ids of their operands, which the graph keeps alive.
        self.leaves: dict[int, Tensor] = {}
        self._results: dict[int, Sequence[Tensor]] = {}

    def find(self, operand: MLOperand) -> Tensor:
        """Return the value of an operand; a constant is made when it is met first."""
        operator = operand._operator
        if operator is not None:
            return self._results[operator.index][operand._position]
        found = self.leaves.get(id(operand))
        if found is None:
            value = _elements(operand)
            assert value is not None  # inputs were declared before
            found = self.leaves[id(operand)] = self.constant(value, operand)
        return found

    def constant(self, value: Array, operand: MLOperand) -> Tensor:
        """Make a constant. Elements of small types are converted from those of a byte: NumPy has no such types."""
        return self.emitter.convert(self.emitter.constant(value), self.element(operand.descriptor))

    def element(self, descriptor: OperandDescriptor) -> str:
        """Return the element type of a data type."""
        return ELEMENTS[descriptor.dataType]

    def operator(self, operator: Operator) -> None:
        """Export one operator."""
        emitter, operation = self.emitter, operator.operation
        rule = self._rules.get(operation.name)
        if rule is None:
            raise RuleError(f"{operation.name} has no counterpart in {self._target}")
        emitter.location = Location(name=operator.label or operation.name)
        # The operands of a sequence have no names of their own.
        named = [*zip(() if operation.variadic else operation.operands, operator.inputs, strict=False), *operator.members]
        taken = {id(operand): self._take(operand, rule) for operand in (*operator.inputs, *[member for _, member in operator.members])}
        op = Op(
            operator=operator,
            tensors={name: taken[id(operand)] for name, operand in named},
            inputs=[taken[id(operand)] for operand in operator.inputs],
            constants={name: value for name, operand in named if (value := _elements(operand)) is not None},
        )
        try:
            emitted = rule.emit(emitter, op)
        except RuleError as error:
            raise RuleError(f"{label_prefix(operator.label)}{operation.name} {error}") from None
        results = [emitted] if isinstance(emitted, Tensor) else emitted
        self._results[operator.index] = [self._give(result, output, rule) for result, output in zip(results, operator.outputs, strict=True)]

    def _take(self, operand: MLOperand, rule: Rule) -> Tensor:
        tensor = self.find(operand)
        return self.emitter.convert(tensor, "f32") if rule.wide and tensor.element == "f16" else tensor

    def _give(self, result: Tensor, output: OperandDescriptor, rule: Rule) -> Tensor:
        element = self.element(output)
        if (result.element, element) == ("i1", "ui8") or (rule.wide and (result.element, element) == ("f32", "f16")):
            result = self.emitter.convert(result, element)
        if (result.shape, result.element) != (output.dimensions, element):
            raise AssertionError(f"a rule made {result.value.type} for {output}")
        return result


def _elements(operand: MLOperand) -> Array | None:
    """Return the elements of a constant in its shape, those of small types as bytes; ``None`` if it is none."""
    value, descriptor = operand._value, operand.descriptor
    if value is None:
        return None
    return np.asarray(unpack(value, descriptor.dataType, descriptor.dimensions)).reshape(descriptor.dimensions)
