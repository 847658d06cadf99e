"""The outline of a graph: what a placement needs to know of it, without its operands, builder and constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from webnn.builder.graph import ComputationalGraph
    from webnn.builder.operand import MLOperand
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["Outline", "Step", "Value", "outline"]


@dataclass(frozen=True, slots=True)
class Value:
    """What stands on an edge of the graph.

    Attributes:
        kind: Where it comes from.
        name: What a person calls it: ``"input 'x'"``, ``"output 0 of split#3"``.
        size: Its size in bytes.
    """

    kind: Literal["input", "constant", "result"]
    name: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One operator. Values go by their position in `Outline.values`.

    Attributes:
        index: The number of the operator in its builder.
        operation: The operation's name.
        label: The operator's label, empty if it has none.
        operands: The argument's name, the row in tables of limits and the descriptor of each operand, options behind arguments.
        outputs: The outputs' descriptors.
        takes: The values that it takes, each once.
        makes: The values that it makes.
    """

    index: int
    operation: str
    label: str
    operands: tuple[tuple[str, str, OperandDescriptor], ...]
    outputs: tuple[OperandDescriptor, ...]
    takes: tuple[int, ...]
    makes: range


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The structure of a graph.

    Attributes:
        steps: The operators, each after those that make what it takes.
        values: Inputs, constants and results.
        outputs: The values that are outputs of the graph, each once.
    """

    steps: tuple[Step, ...]
    values: tuple[Value, ...]
    outputs: tuple[int, ...]


class _Survey:
    """The state of one `outline`: which number stands for which operand."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        # By id: the graph keeps the operands alive.
        self.leaves: dict[int, int] = {}
        self.results: dict[int, range] = {}

    def add(self, value: Value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def number(self, operand: MLOperand) -> int:
        """Return the number of an operand's value, adding a constant when it is met first."""
        if operand._operator is not None:
            return self.results[operand._operator.index][operand._position]
        number = self.leaves.get(id(operand))
        if number is None:
            number = self.leaves[id(operand)] = self.add(Value("constant", "constant", operand._descriptor.byte_length))
        return number


def outline(graph: ComputationalGraph) -> Outline:
    """Draw the outline of a graph. It keeps nothing of the graph alive but descriptors and texts."""
    survey = _Survey()
    for name, operand in graph.inputs.items():
        survey.leaves[id(operand)] = survey.add(Value("input", f"input {name!r}", operand._descriptor.byte_length))
    steps: list[Step] = []
    for operator in graph.operators:
        operation = operator.operation
        operands: list[tuple[str, str, OperandDescriptor]] = []
        for position, operand in enumerate(operator.inputs):
            row = operation.operands[0 if operation.variadic else position]
            operands.append((f"{row}[{position}]" if operation.variadic else row, row, operand._descriptor))
        operands += [(f"options.{member}", member, operand._descriptor) for member, operand in operator.members]
        taken = [survey.number(operand) for operand in (*operator.inputs, *(operand for _, operand in operator.members))]
        makes = survey.results[operator.index] = range(len(survey.values), len(survey.values) + len(operator.outputs))
        scope = f"{operation.name}#{operator.index}"
        for position, descriptor in enumerate(operator.outputs):
            survey.add(Value("result", scope if len(makes) == 1 else f"output {position} of {scope}", descriptor.byte_length))
        step = Step(
            index=operator.index,
            operation=operation.name,
            label=operator.label,
            operands=tuple(operands),
            outputs=operator.outputs,
            takes=tuple(dict.fromkeys(taken)),
            makes=makes,
        )
        steps.append(step)
    outputs = tuple(dict.fromkeys([survey.number(operand) for operand in graph.outputs.values()]))
    return Outline(steps=tuple(steps), values=tuple(survey.values), outputs=outputs)
