"""Random graphs of several operations: what they are, how they are built, and what the reference says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.property.calls import Connected
from tests.support import Array
from webnn import MLGraphBuilder, MLOperand
from webnn.reference.operations import REFERENCE

__all__ = ["INPUT", "Program", "Step", "Value", "compute_step", "connect_program", "expected_program"]

#: The name of a step that makes an input or a constant.
INPUT = "input"


@dataclass(frozen=True)
class Value:
    """Stands in a step's arguments for the output of a step before it: all outputs are counted in their order."""

    index: int


@dataclass(frozen=True)
class Step:
    """One operation of a program, or with the name `INPUT` and an array under "value" an operand that is given."""

    name: str
    arguments: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Program:
    """A graph.

    Attributes:
        steps: The operations in their order.
        outputs: The values that are computed; one may be listed twice.
        constants: Which of the given operands are constants; the pattern is repeated.
    """

    steps: Sequence[Step]
    outputs: Sequence[int]
    constants: tuple[bool, ...] = (False,)


def _fill(value: Any, values: Sequence[Any]) -> Any:
    """Replace each `Value` by its operand or array."""
    if isinstance(value, Value):
        return values[value.index]
    if isinstance(value, Mapping):
        return {key: _fill(element, values) for key, element in value.items()}
    return [_fill(element, values) for element in value] if isinstance(value, list) else value


def compute_step(step: Step, values: Sequence[Array]) -> list[Array]:
    """Compute the outputs of a step from all values before it, with the reference: each is rounded to its type."""
    if step.name == INPUT:
        return [step.arguments["value"]]
    with np.errstate(all="ignore"):
        returned = REFERENCE[step.name](*_fill(step.arguments, values).values(), **_fill(step.options, values))
    return returned if isinstance(returned, list) else [returned]


def expected_program(program: Program) -> list[Array]:
    """Compute all values of a program."""
    values: list[Array] = []
    for step in program.steps:
        values += compute_step(step, values)
    return values


def connect_program(builder: MLGraphBuilder, program: Program) -> Connected:
    """Build a program up to its outputs."""
    values: list[MLOperand] = []
    feeds: dict[str, Array] = {}
    given = 0
    for step in program.steps:
        if step.name == INPUT:
            array = step.arguments["value"]
            descriptor: Any = {"dataType": array.dtype.name, "dimensions": list(array.shape)}
            if program.constants[given % len(program.constants)]:
                values.append(builder.constant(descriptor, array))
            else:
                feeds[f"input{given}"] = array
                values.append(builder.input(f"input{given}", descriptor))
            given += 1
            continue
        options = _fill(step.options, values)
        returned = getattr(builder, step.name)(*_fill(step.arguments, values).values(), *([options] if options else []))
        values += returned if isinstance(returned, list) else [returned]
    return Connected([values[index] for index in program.outputs], feeds)
