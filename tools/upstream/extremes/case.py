"""A row of the tables: one call of an operation, with the numbers of its operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

import webnn
from tools.upstream.files import DRAFT
from webnn.reference import compute
from webnn.reference.wpt_tolerances import find_tolerance
from webnn.validation.drafts import find_revision
from webnn.wpt_runner.writing.cases import ConformanceCase

__all__ = ["FLOATS", "INTEGERS", "Array", "Extreme", "array", "largest", "limits", "smallest", "special", "values_of"]

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

FLOATS = ("float32", "float16")
INTEGERS = ("int32", "uint32", "int64", "uint64", "int8", "uint8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extreme:
    """A call of an operation.

    Attributes:
        operation: Its name.
        about: The extreme in it, in a few words: unique among the rows of the operation.
        operands: The numbers of its operands; a list of arrays for a sequence of operands.
        arguments: The other arguments.
        options: The options. An array is an operand.
        signed: The sign of zeros counts.
    """

    operation: str
    about: str
    operands: Sequence[Any]
    arguments: Sequence[Any] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    signed: bool = False

    def call(self, builder: webnn.MLGraphBuilder) -> tuple[Any, dict[str, Array]]:
        """Call the operation; return its result, and the numbers of the inputs."""
        inputs: dict[str, Array] = {}

        def make(name: str, value: Any) -> Any:
            if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
                return [make(f"{name}{number}", each) for number, each in enumerate(value, start=1)]
            if not isinstance(value, np.ndarray):
                return value
            inputs[name] = value
            return builder.input(name, dataType=value.dtype.name, shape=list(value.shape))

        row = find_revision(DRAFT).operations[self.operation]
        names = row.operands if not row.variadic else ("inputs",)
        given = [make(name, value) for name, value in zip(names, self.operands, strict=True)]
        options = {name: make(name, value) for name, value in self.options.items()}
        return getattr(builder, self.operation)(*given, *self.arguments, **options), inputs

    def case(self) -> ConformanceCase:
        """Compute the right results in float64.

        Raises:
            WebNNTypeError: The draft refuses the call.
        """
        builder = webnn.MLGraphBuilder(webnn.ML(revision=find_revision(DRAFT), reference=True).createContextSync())
        result, inputs = self.call(builder)
        outputs = {f"output{number}": each for number, each in enumerate(result)} if isinstance(result, list) else {"output": result}
        graph = webnn.describe(outputs).infer()
        return ConformanceCase(
            name=f"[{self.operation}] {self.about}",
            graph=graph,
            inputs=inputs,
            expected=compute(graph, inputs),
            tolerance=find_tolerance(graph, inputs),
        )


def array(dataType: str, values: Any, shape: Sequence[int] | None = None) -> Array:
    """Make an array; numbers that are too large for the type become infinities."""
    with np.errstate(over="ignore"):
        made = np.array(values, dataType)
    return made if shape is None else made.reshape(shape)


def largest(dataType: str) -> Any:
    """Return the largest finite number of a type."""
    return np.iinfo(dataType).max if dataType in INTEGERS else float(np.finfo(dataType).max)


def smallest(dataType: str) -> Any:
    """Return the smallest integer of a type, or the smallest positive normal number."""
    return np.iinfo(dataType).min if dataType in INTEGERS else float(np.finfo(dataType).smallest_normal)


def special(dataType: str) -> list[float]:
    """Return the special numbers of a floating-point type."""
    return [0.0, -0.0, np.inf, -np.inf, np.nan, largest(dataType), -largest(dataType), 1.0]


def limits(dataType: str) -> list[int]:
    """Return eight integers at both ends of a type and around 0."""
    low, high = smallest(dataType), largest(dataType)
    return [low, low + 1, high, high - 1, 0, 1, high // 2, high // 2 + 1]


def values_of(dataType: str) -> Array:
    """Return eight numbers that an operation must copy as they are."""
    return array(dataType, special(dataType) if dataType in FLOATS else limits(dataType))


#: Makes rows for a data type.
Rows: TypeAlias = Callable[[str], Sequence[Extreme]]
