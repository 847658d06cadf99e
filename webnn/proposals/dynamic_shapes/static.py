"""From names to sizes: a graph in which all shapes are known, of operations of the draft."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from webnn.builder.describe import describe_graph
from webnn.builder.description import GraphDescription
from webnn.builder.graph import ComputationalGraph, collect
from webnn.builder.graph_builder import Sketch, make_sketch
from webnn.builder.operand import MLOperand, Operator
from webnn.builder.transform import Rebuilder
from webnn.proposals.dynamic_shapes.chains import compute_alone, find_values, is_known
from webnn.proposals.dynamic_shapes.operations import OPERATIONS, STATIC, VALUE_OPERANDS
from webnn.proposals.dynamic_shapes.recording import Recording
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.drafts import find_revision
from webnn.validation.operation import Call
from webnn.validation.revision import Revision

__all__ = ["give_sizes", "specialize"]

_NAME = "dynamic-shapes"


def specialize(
    revision: Revision, description: GraphDescription, inputs: Mapping[str, OperandDescriptor], *, in_run: bool = False
) -> ComputationalGraph:
    """Return a graph with the shapes that follow from those of its inputs: of operations of the draft, but for the remainders.

    Args:
        revision: The draft.
        description: The graph.
        inputs: The descriptors of its inputs.
        in_run: Each run computes sizes that are data of the graph, if they are recorded sizes.

    Raises:
        WebNNTypeError: The draft refuses a shape that follows.
    """
    builder = make_sketch(Sketch, revision)
    rebuilder = Rebuilder(builder)
    # The description has the inputs in the order of their first use.
    graph = builder._collect(rebuilder.build(replace(description, inputs={name: inputs[name] for name in description.inputs})))
    for operator in graph.operators:
        _make_static(operator)
    # In this order, because others were computed of the first ones.
    for operator in reversed(collect(graph.outputs).operators):
        if operator.operation.name in {"range", "shape"}:
            _make_data(operator, in_run=in_run)
    return ComputationalGraph(
        inputs={name: rebuilder.operands[name] for name in inputs}, operators=collect(graph.outputs).operators, outputs=graph.outputs
    )


def record(
    revision: Revision, description: GraphDescription, named: Mapping[str, OperandDescriptor], recording: Recording, *, in_run: bool
) -> ComputationalGraph:
    """Return a graph with the shapes that follow from recorded sizes: the graph of all sizes about which the same facts hold.

    Args:
        revision: The draft.
        description: The graph.
        named: The descriptors of its inputs, whose dimensions have names.
        recording: The sizes, which notes the facts.
        in_run: As for `specialize`.

    Raises:
        WebNNTypeError: The draft refuses a shape that follows.
    """
    smallest, largest = revision.min_dimension, revision.max_dimension
    inputs = {}
    for name, each in named.items():
        sizes: Any = [recording.named(str(size), smallest, largest) if isinstance(size, str) else size for size in each.dimensions]
        inputs[name] = OperandDescriptor(each.dataType, tuple(sizes))
    return specialize(revision, description, inputs, in_run=in_run)


def give_sizes(description: GraphDescription, sizes: Mapping[str, int]) -> GraphDescription:
    """Give the dimensions with names their sizes. The graph no longer needs the proposal, unless it computes remainders.

    Args:
        description: A graph of the proposal.
        sizes: The sizes by the names.

    Raises:
        ValueError: A name is missing, or there is no such name.
        WebNNTypeError: The draft refuses a shape that follows.
    """
    names = {str(size) for each in description.inputs.values() for size in each.dimensions if isinstance(size, str)}
    if not names:
        raise ValueError(f"the graph has no dimensions with names, so that there must be no sizes of them, got {sorted(sizes)}")
    missing = sorted(names - set(sizes))
    if missing:
        raise ValueError(f"dims={{{', '.join([f'{name!r}: ...' for name in missing])}}} must be given for the graph, got {sorted(sizes)}")
    if names != set(sizes):
        raise ValueError(f"dims must name dimensions of the graph, {sorted(names)}, got {sorted(sizes)}")
    inputs = {
        name: OperandDescriptor(each.dataType, tuple([sizes.get(str(size), size) for size in each.dimensions]))
        for name, each in description.inputs.items()
    }
    graph = specialize(find_revision(description.draft, imports=False), description, inputs)
    made = describe_graph(graph, description.name)
    if {each.operation for each in made.operators}.isdisjoint({row.name for row in OPERATIONS}):
        made = replace(made, draft="+".join([each for each in made.draft.split("+") if each != _NAME]))
    return made


def _make_data(operator: Operator, *, in_run: bool) -> None:
    """Change an operator whose result is data, and not only a shape, to one of the draft. Recorded sizes may be computed ``in_run``."""
    builder = operator.inputs[0]._builder
    call = Call(operator.operation.name, operator.operation.anchor, builder._revision, operator.label)
    identity = builder._revision.operations["identity"]
    if in_run and (emit := _in_run(call, operator)) is not None:
        # The operand only has to be one of the graph.
        operator.operation, operator.options, operator.inputs = replace(identity, translation=emit), None, operator.inputs[:1]
        return
    values = find_values(call, "", MLOperand._create(builder, operator.outputs[0], operator))
    if values is None:
        # Too many numbers for a shape. Data may have more.
        values = compute_alone(operator, [find_values(call, "", each) for each in operator.inputs])
    operator.operation, operator.options = identity, None
    operator.inputs = (MLOperand._create(builder, operator.outputs[0], value=_resolved(call, values)),)


def _make_static(operator: Operator) -> None:
    """Change an operator that takes shapes to one of the draft, whose arguments are known."""
    name = operator.operation.name
    builder = operator.inputs[0]._builder
    rows = builder._revision.operations
    call = Call(name, operator.operation.anchor, builder._revision, operator.label)
    if name in STATIC:
        becomes, arrange = STATIC[name]
        operands = {**dict(zip(operator.operation.operands, operator.inputs, strict=True)), **dict(operator.members)}
        values = {}
        for argument in VALUE_OPERANDS.get(name, ()):
            if argument in operands:
                values[argument] = tuple(_resolved(call, find_values(call, argument, operands[argument])).tolist())
        row = rows[becomes]
        given: dict[str, Any] = {
            member: each for member, each in (operator.given or {}).items() if member not in operator.operation.members
        }
        if name == "resample2dDynamic":
            given |= {"sizes": list(values["sizes"])} if values else {}
        operator.operation, operator.inputs, operator.members = row, operator.inputs[:1], ()
        operator.arguments = arrange(operator.outputs[0].dimensions, *values.values())
        operator.options = None if row.options is None else row.options.convertMembers(given)
        operator.given = MappingProxyType(given)


def _in_run(call: Call, operator: Operator) -> Callable[[], Any] | None:
    """Return what makes the translation of an operator whose result is not the same for all sizes; ``None`` if it is known."""
    builder, output = operator.inputs[0]._builder, operator.outputs[0]
    isShape = operator.operation.name == "shape"
    sources = [MLOperand._create(builder, output, operator)] if isShape else operator.inputs
    values = [find_values(call, "", each) for each in sources]
    known = all(each is not None and is_known(each) and each.dtype.kind in "Oiu" for each in values)
    if not known or all(each.dtype != object for each in values):
        return None
    sizes = [size for each in values for size in each.reshape(-1).tolist()]

    def emit(e: Any, _: Any) -> Any:
        if isShape:
            return e.cast(e.ints(sizes), output.dataType)
        return e.cast(e.node("Range", [e.node("Squeeze", [e.ints([size])]) for size in sizes]), output.dataType)

    def load() -> Any:
        # Imported lazily because it loads onnx.
        from webnn.builder.onnx.emitter import Translation  # noqa: PLC0415

        return Translation(emit=emit)

    return load


def _resolved(call: Call, values: Any) -> Any:
    if values is None or not is_known(values):
        raise call.error(
            "", "cannot resolve this shape: it is computed of too many numbers, or by an operation that fails or is not known here"
        )
    return values
