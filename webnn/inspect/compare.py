"""Two devices, or two drafts, on one graph: `compare`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from webnn.builder.transform import build as rebuild
from webnn.context.context import MLContext
from webnn.context.graph_builder import MLGraphBuilder
from webnn.context.inspections import Inspection
from webnn.context.runs import Array, check_inputs
from webnn.inspect.distance import find_distance, relative_distance
from webnn.inspect.statistics import unpack
from webnn.inspect.subject import LIMIT, Subject, group
from webnn.validation import webidl
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.drafts import DRAFTS
from webnn.validation.errors import WebNNTypeError

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription, OperatorDescription

__all__ = ["Comparison", "ValueDifference", "compare", "compute_outputs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueDifference:
    """How far a result of an operator in one context is from that in another one.

    Attributes:
        name: The name of the value in the description.
        operation: The operation's name.
        label: The operator's label, empty if it has none.
        dataType: The data type.
        shape: The shape.
        relative: The largest difference that the operator makes from the same operands, divided by the largest value.
        ulp: The same in units of the last place of the type.
        accumulated: The largest difference in the whole graph, where the differences of all operators before are in it, divided by the
            largest value.
        position: The position of the largest difference that the operator makes.
        one: The element there in the first context.
        other: That in the second one.
    """

    name: str
    operation: str
    label: str
    dataType: str
    shape: tuple[int, ...]
    relative: float
    ulp: float
    accumulated: float
    position: tuple[int, ...]
    one: float
    other: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Inspection):
    """The differences between two contexts: the result of `compare`.

    Attributes:
        one: The first context, for people.
        other: The second one.
        values: The results of the operators, the one with the largest `ValueDifference.relative` first.
    """

    one: str
    other: str
    values: tuple[ValueDifference, ...]


def compare(
    description: GraphDescription, inputs: Mapping[str, Any], one: MLContext, other: MLContext, *, limit: int = LIMIT
) -> Comparison:
    """Compute a graph in two contexts, and compare the operators one by one.

    Each operator is computed in the second context twice: in the whole graph, and from the operands that it has in the first context. So an
    operator is not blamed for the differences of those before it.

    Args:
        description: The graph. A context of a later draft gets the lifted graph.
        inputs: For each input of the graph an array of its element type and byte length.
        one: A context: its results are the expected ones.
        other: Another context: of another device, another draft, or the reference.
        limit: How many bytes of results of each context are in memory at once.

    Raises:
        WebNNTypeError: An argument is wrong, an input does not fit, or a context refuses the graph.
        DescriptionError: The graph has something without counterpart in the draft of a context.
        OperationError: An engine fails.
    """
    for name, context in (("one", one), ("other", other)):
        if not webidl.isInstance(context, MLContext):
            raise WebNNTypeError(
                f"compare: {name} must be an MLContext, got {webidl.describe(context)}", operation="compare", argument=name
            )
    arrays = check_inputs("compare", description.inputs, inputs)
    graphs = [_adapt(description.infer(), context) for context in (one, other)]
    known = graphs[0].descriptors()
    leaves = {**{name: each.value for name, each in graphs[0].constants.items()}, **arrays}
    # No value has a name that ends like this.
    suffix = "'" * (1 + max((len(name) - len(name.rstrip("'")) for name in known), default=0))
    found: list[ValueDifference] = []
    for positions, names in group(graphs[0], limit, operands=True):
        expected = compute_outputs(replace(graphs[0], outputs={name: name for name in names}), one, arrays)
        whole = compute_outputs(replace(graphs[1], outputs={name: name for name in names}), other, arrays)
        operators = [graphs[1].operators[position] for position in positions]
        alone = compute_outputs(_part(graphs[1], operators, suffix), other, {**leaves, **expected})
        for operator in graphs[0].operators[positions.start : positions.stop]:
            for name in operator.outputs:
                found += [_differ(operator, name, known[name], expected[name], alone[name + suffix], whole[name])]
    return Comparison(one=_name(one), other=_name(other), values=tuple(sorted(found, key=lambda each: (-each.relative, -each.ulp))))


def _adapt(description: GraphDescription, context: MLContext) -> GraphDescription:
    """Return the graph in the draft of a context, if that is a later one."""
    own, target = description.draft.partition("+")[0], context._revision.name.partition("+")[0]
    if own in DRAFTS and target in DRAFTS and DRAFTS.index(own) < DRAFTS.index(target):
        return description.lift(target)
    return description


def compute_outputs(description: GraphDescription, context: MLContext, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Build a graph in a context, and compute it once."""
    needed = description.select(description.outputs)
    builder = MLGraphBuilder(context)
    subject = Subject.of(builder.buildSync(rebuild(needed, builder)), "compare")
    return subject.state.timeline.run(lambda: subject.run(arrays))[0]


def _part(description: GraphDescription, operators: Iterable[OperatorDescription], suffix: str) -> GraphDescription:
    """Return a graph of operators that are not connected: their operands from others are inputs, and the results have new names."""
    known = description.descriptors()
    inputs: dict[str, OperandDescriptor] = {}
    alone: list[OperatorDescription] = []
    for operator in operators:
        for _, _, value in operator.named_values():
            if value not in description.constants:
                inputs[value] = known[value]
        alone.append(replace(operator, outputs=tuple([name + suffix for name in operator.outputs])))
    return replace(
        description, inputs=inputs, operators=tuple(alone), outputs={name: name for operator in alone for name in operator.outputs}
    )


def _differ(
    operator: OperatorDescription, name: str, descriptor: OperandDescriptor, expected: Array, alone: Array, whole: Array
) -> ValueDifference:
    wanted = unpack(expected, descriptor)
    distance = find_distance(unpack(alone, descriptor), wanted, descriptor.dataType)
    return ValueDifference(
        name=name,
        operation=operator.operation,
        label=operator.label,
        dataType=descriptor.dataType,
        shape=descriptor.dimensions,
        relative=distance.relative,
        ulp=distance.ulp,
        accumulated=relative_distance(unpack(whole, descriptor), wanted),
        position=distance.position,
        one=distance.expected,
        other=distance.actual,
    )


def _name(context: MLContext) -> str:
    state = context._state
    profile = f", profile {state.profile.name}" if state.profile is not None else ""
    return f"{', '.join(name for name, _ in state.selection.providers)}, draft {state.revision.name}{profile}"
