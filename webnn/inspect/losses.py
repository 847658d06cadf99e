"""The loss of each operator of a graph in float16: `find_losses`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from webnn.builder.transform import build as rebuild
from webnn.context.graph_builder import MLGraphBuilder
from webnn.context.inspections import Inspection
from webnn.inspect.accuracy import judge
from webnn.inspect.compare import compute_outputs
from webnn.inspect.distance import relative_distance
from webnn.inspect.subject import LIMIT, Subject, group
from webnn.validation.descriptor import FLOAT_FORMATS

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.context.context import MLContext

__all__ = ["LARGEST", "Loss", "Losses", "find_losses"]

#: The largest number of float16.
LARGEST: Final = FLOAT_FORMATS["float16"].largest


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A result of an operator in float16, beside that in float32.

    Attributes:
        name: The name of the value in both graphs.
        operation: The operation's name.
        label: The operator's label, empty if it has none.
        dataType: The data type in the graph in float16.
        relative: The largest difference that the operator makes from its own operands, as `MLGraph.accuracy` has it, divided by the largest
            value.
        accumulated: The largest difference from the graph in float32, divided by its largest value. It includes the losses of
            all operators before.
        largest: The size of the largest finite element in float32.
        overflows: How many elements are finite in float32 alone.
    """

    name: str
    operation: str
    label: str
    dataType: str
    relative: float
    accumulated: float
    largest: float
    overflows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses(Inspection):
    """The result of `find_losses`.

    Attributes:
        values: The results of operators, the one that loses the most by itself first.
        overflowing: The names of values that have elements beyond the range of float16 in float32, in the order of the graph.
    """

    values: tuple[Loss, ...]
    overflowing: tuple[str, ...]


def find_losses(
    exact: GraphDescription, rounded: GraphDescription, inputs: Mapping[str, Any], context: MLContext, *, limit: int = LIMIT
) -> Losses:
    """Compare a graph in float16, operator by operator, with the graph in float32 that it was made of.

    Args:
        exact: The graph in float32.
        rounded: The graph in float16. Values have the same names.
        inputs: An array for each input of both.
        context: The context that computes both.
        limit: How many bytes of results are in memory at once.

    Raises:
        WebNNTypeError: An input does not fit, or the context refuses a graph.
        OperationError: An engine fails.
    """
    exact, rounded = exact.infer(), rounded.infer()
    alone = _judge(rounded, inputs, context, limit)
    types = rounded.descriptors()
    made = {name: operator.operation for operator in exact.operators for name in operator.outputs}
    #: The names of values in float16 behind which a cast has the name that they have in float32: those of outputs.
    before = {
        operator.outputs[0]: value
        for operator in rounded.operators
        if operator.operation == "cast" and made.get(operator.outputs[0], "cast") != "cast"
        for _, _, value in operator.named_values()
    }
    found: list[Loss] = []
    overflowing: list[str] = []
    for positions, _ in group(exact, limit):
        operators = exact.operators[positions.start : positions.stop]
        floats = [
            name
            for operator in operators
            for name, each in zip(operator.outputs, operator.descriptors, strict=True)
            if each.dataType == "float32" and name in types
        ]
        if not floats:
            continue
        expected, actual = (
            compute_outputs(replace(graph, outputs={name: names.get(name, name) for name in floats}), context, inputs)
            for graph, names in ((exact, {}), (rounded, before))
        )
        for operator in operators:
            for name in set(operator.outputs).intersection(floats):
                wide, narrow = expected[name].astype(np.float64), actual[name].astype(np.float64)
                finite = np.isfinite(wide)
                largest = float(np.abs(wide[finite]).max(initial=0))
                if largest > LARGEST:
                    overflowing.append(name)
                found.append(
                    Loss(
                        name=name,
                        operation=operator.operation,
                        label=operator.label,
                        dataType=types[before.get(name, name)].dataType,
                        relative=alone.get(before.get(name, name), 0.0),
                        accumulated=relative_distance(narrow, wide),
                        largest=largest,
                        overflows=int((finite & ~np.isfinite(narrow)).sum()),
                    )
                )
    return Losses(
        values=tuple(sorted(found, key=lambda each: (-each.relative, -each.accumulated))),
        overflowing=tuple(overflowing),
    )


def _judge(description: GraphDescription, inputs: Mapping[str, Any], context: MLContext, limit: int) -> dict[str, float]:
    """Return the relative difference that each operator makes by itself."""
    builder = MLGraphBuilder(context)
    subject = Subject.of(builder.buildSync(rebuild(description, builder)), "accuracy")
    # The graph that is built has its own names, in the same order.
    operators = zip(subject.description.operators, description.operators, strict=True)
    names = {own: name for built, given in operators for own, name in zip(built.outputs, given.outputs, strict=True)}
    return {names[each.name]: each.relative for each in judge(subject, inputs, whole=False, limit=limit).operators}
