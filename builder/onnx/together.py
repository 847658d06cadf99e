"""Operators that are not translated one by one: several that make one node, or one that is computed without those before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from webnn.builder.graph import ComputationalGraph
from webnn.builder.numerics import Numerics
from webnn.builder.onnx.emitter import Emitter
from webnn.builder.operand import MLOperand, Operator

__all__ = ["FactorType", "Setting", "Single", "Together", "find_maker", "find_needed"]


#: Returns the type of constant factors.
FactorType = Callable[[], Literal["int8", "uint8"]]


@dataclass(frozen=True, slots=True)
class Setting:
    """The arguments of a search for operators that are computed together; see `webnn.builder.onnx.translate.translate`."""

    numerics: Numerics
    contributed: bool
    factors: FactorType | None


class Together(Protocol):
    """Nodes that make the results of some operators."""

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of the operators. The nodes are emitted in place of the first one."""

    @property
    def operands(self) -> tuple[MLOperand, ...]:
        """The operands of the nodes: constants, and operands that are made before the first operator."""

    def emit(self, e: Emitter, inputs: Sequence[str]) -> dict[int, Sequence[str]]:
        """Emit the nodes; return the values of the operators' results, by the operators' numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Single:
    """A base for nodes that compute one operator without those before it."""

    operator: Operator

    @property
    def members(self) -> tuple[int]:
        """The number of the operator."""
        return (self.operator.index,)


def find_maker(operand: MLOperand, *operations: str) -> Operator | None:
    """Return the operator that makes an operand, if it is of one of these operations."""
    operator = operand._operator
    return operator if operator is not None and operator.operation.name in operations else None


def find_needed(graph: ComputationalGraph, together: Mapping[int, Together]) -> set[int]:
    """Return the numbers of the operators that are left to translate; where there are nodes for several, the first one of them."""
    owners = {member: each for each in together.values() for member in each.members}
    needed = {operand._operator.index for operand in graph.outputs.values() if operand._operator is not None}
    for operator in reversed(graph.operators):
        if operator.index not in needed:
            continue
        one = owners.get(operator.index)
        operands = [*operator.inputs, *(member for _, member in operator.members)] if one is None else one.operands
        needed.update(operand._operator.index for operand in operands if operand._operator is not None)
        if one is not None:
            needed.discard(operator.index)
            needed.add(one.members[0])
    return needed
