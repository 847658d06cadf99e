"""The computational graph that `build()` hands to the translation: `#api-mlgraphbuilder-build`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from webnn.builder.operand import MLOperand, Operator
from webnn.validation.errors import WebNNTypeError
from webnn.validation.webidl import describe

__all__ = ["ComputationalGraph", "collect", "reach"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputationalGraph:
    """A snapshot of what the outputs need; later calls of the builder do not change it.

    Attributes:
        operators: The operators, each after those that make its inputs.
    """

    inputs: Mapping[str, MLOperand]
    operators: tuple[Operator, ...]
    outputs: Mapping[str, MLOperand]


def reach(outputs: Mapping[str, MLOperand]) -> tuple[tuple[Operator, ...], list[MLOperand]]:
    """Find all operators, in order, and all inputs that the outputs need.

    A work list, which grows while it is read, in place of recursion: a graph may be a chain of many thousand operators.
    """
    operators: dict[int, Operator] = {}
    found: dict[int, MLOperand] = {}
    work = list(outputs.values())
    # 7. From the outputs backwards, each operator once.
    for operand in work:
        operator = operand._operator
        if operator is None:
            if operand._name is not None:
                found[id(operand)] = operand
        elif operator.index not in operators:
            operators[operator.index] = operator
            work.extend(operator.inputs)
            if operator.members:
                work.extend([member for _, member in operator.members])
    return tuple([operators[index] for index in sorted(operators)]), list(found.values())


def collect(outputs: Mapping[str, MLOperand]) -> ComputationalGraph:
    """Find all operators and inputs that the outputs need: steps 3 to 8 of ``build()``.

    Raises `WebNNTypeError` if two of the inputs have one name.
    """
    operators, found = reach(outputs)
    inputs: dict[str, MLOperand] = {}
    for operand in found:
        name = operand._name
        assert name is not None  # only named operands were put there
        # [#api-mlgraphbuilder-build 8; 2026-06: -] No two inputs have the same name.
        if name in inputs:
            raise WebNNTypeError(
                f"build: inputs must have different names, got two that are named {describe(name)}",
                operation="build",
                argument="outputs",
                anchor="#api-mlgraphbuilder-build",
                rule="different",
            )
        inputs[name] = operand
    return ComputationalGraph(inputs=inputs, operators=operators, outputs=dict(outputs))
