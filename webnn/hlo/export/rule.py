"""The rule of an operation: how it becomes operations of StableHLO."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webnn.builder.operand import Operator
from webnn.hlo import types
from webnn.hlo.export.emitter import Array, Emitter, Tensor
from webnn.validation.descriptor import DATA_TYPES, SMALL_TYPES, DataType, OperandDescriptor

__all__ = ["ELEMENTS", "Op", "Rule", "RuleError", "wide"]

#: StableHLO's element types by WebNN's data types.
ELEMENTS: Mapping[DataType, str] = {name: types.ELEMENTS[name] for name in (*DATA_TYPES, *SMALL_TYPES)}


class RuleError(ValueError):
    """An operator has no counterpart in StableHLO. The message names the rule, and the value that breaks it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """An operator as its rule sees it.

    ``tensors`` are its operands, and those of its options that were given, by the IDL's names; ``inputs`` the operand arguments in order,
    also of a sequence; ``constants`` the elements of those operands that are constants, by the same names.
    """

    operator: Operator
    tensors: Mapping[str, Tensor]
    inputs: Sequence[Tensor]
    constants: Mapping[str, Array]

    def __getitem__(self, name: str) -> Tensor:
        return self.tensors[name]

    def get(self, name: str) -> Tensor | None:
        """Return an operand among the options, if it was given."""
        return self.tensors.get(name)

    @property
    def name(self) -> str:
        """The operation."""
        return self.operator.operation.name

    @property
    def options(self) -> Any:
        """The converted options; ``None`` if the operation has none."""
        return self.operator.options

    @property
    def arguments(self) -> dict[str, Any]:
        """The positional arguments that are not operands, converted, by name."""
        names = [argument.name for argument in self.operator.operation.arguments]
        return dict(zip(names, self.operator.arguments, strict=True))

    @property
    def outputs(self) -> tuple[OperandDescriptor, ...]:
        """The types and shapes of the results."""
        return self.operator.outputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How an operation becomes operations of StableHLO.

    Attributes:
        emit: Appends them, and returns the results. A result of i1 is converted to uint8.
        wide: Operands of float16 are computed in float32, and the results are rounded to float16.
    """

    emit: Callable[[Emitter, Op], Tensor | Sequence[Tensor]]
    wide: bool = False


def wide(emit: Callable[[Emitter, Op], Tensor | Sequence[Tensor]]) -> Rule:
    """Make a rule that computes float16 in float32."""
    return Rule(emit=emit, wide=True)
