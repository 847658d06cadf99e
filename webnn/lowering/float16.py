"""A graph in float16: `to_float16`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from webnn.builder.describe import describe_graph, value_key
from webnn.builder.description import GraphDescription, OperatorDescription
from webnn.builder.graph import collect
from webnn.builder.graph_builder import LabellingBuilder, make_sketch
from webnn.builder.operand import MLOperand
from webnn.builder.transform import Rebuilder
from webnn.lowering.staying import LARGEST, LEAST, Rounding, find_staying, round_constant
from webnn.validation import webidl
from webnn.validation.descriptor import DataType, OperandDescriptor
from webnn.validation.drafts import find_revision
from webnn.validation.errors import WebNNTypeError
from webnn.validation.suggestions import nearest

__all__ = ["Float16", "StayingOperator", "to_float16"]

_NO_TYPE = "the draft has no float16 there"


@dataclass(frozen=True, slots=True, kw_only=True)
class StayingOperator:
    """An operator that stays in float32.

    Attributes:
        name: The name of its first result.
        operation: Its operation.
        label: Its label.
        reason: Why it stays.
    """

    name: str
    operation: str
    label: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Float16:
    """A graph in float16: the result of `to_float16`.

    Attributes:
        description: The graph. Values have the names that they have in the graph in float32.
        staying: The operators that stay in float32; those that only move or read values of others do not count.
        saturated: How many elements of each constant are beyond the range of float16, and became its largest number.
        vanished: How many elements of each constant are too small for float16. A constant of one element became the smallest number above
            0; in others, such elements are 0.
    """

    description: GraphDescription
    staying: tuple[StayingOperator, ...]
    saturated: dict[str, int]
    vanished: dict[str, int]


def to_float16(description: GraphDescription, *, keep: Collection[str] = (), inputs: bool = False) -> Float16:
    """Return a graph with float16 in place of float32, without its calls of subgraphs, whose operators stay.

    Inputs and outputs stay float32, with casts behind and before them. An operator stays in float32 if it is kept, if the draft has no
    float16 for it, or if its numbers cannot be float16: it multiplies with a constant beyond the range or below the normal range of
    float16, it computes with integers alone, or it adds products of integers.

    Args:
        description: The graph.
        keep: The operators that stay in float32: operations, labels, or names of results. Case does not count.
        inputs: Make inputs and outputs float16, too.

    Raises:
        ValueError: There is no such operator to keep.
        WebNNTypeError: The draft refuses the graph.
        DescriptionError: The description contradicts itself.
    """
    # A kernel of a call takes operands of the types that it had.
    description = replace(description.infer(), calls=())
    revision = find_revision(description.draft, imports=False)
    _check_names(description, keep, revision.operations)
    lowering = _Float16(make_sketch(LabellingBuilder, revision), description, keep, inputs=inputs)
    outputs = lowering.build(lowering.source)
    made = describe_graph(collect(outputs), description.name, lowering.names())
    ordered = {name: made.inputs[name] for name in description.inputs if name in made.inputs}
    return Float16(
        description=replace(made, draft=description.draft, inputs=ordered),
        staying=tuple(lowering.staying),
        saturated={name: each.overflows for name, each in lowering.used.items() if each.overflows},
        vanished={name: each.vanishes for name, each in lowering.used.items() if each.vanishes},
    )


def _check_names(description: GraphDescription, keep: Collection[str], operations: Collection[str]) -> None:
    known = {*operations}
    for operator in description.operators:
        known.update((operator.label, *operator.outputs))
    lower = {name.lower() for name in known}
    for name in keep:
        if not name or name.lower() not in lower:
            meant = nearest(name, known)
            advice = f"; did you mean {meant}?" if meant else ""
            raise ValueError(f"keep must be operations, labels or results of the graph, got {webidl.describe(name)}{advice}")


class _Float16(Rebuilder):
    """The state of one `to_float16`. `Rebuilder.operands` has each value in the type in which it was made."""

    def __init__(self, builder: LabellingBuilder, description: GraphDescription, keep: Collection[str], *, inputs: bool) -> None:
        super().__init__(builder)
        self._labels = builder
        self._known = description.descriptors()
        self._description = description
        self.source = description
        if inputs:
            descriptors = {name: _as_float16(each) for name, each in description.inputs.items()}
            self.source = replace(description, inputs=descriptors)
        constants = description.constants.items()
        self._roundings = {name: round_constant(each.value) for name, each in constants if each.descriptor.dataType == "float32"}
        odd = {name: each for name, each in self._roundings.items() if each.overflows or each.vanishes or each.subnormal}
        found = find_staying(description, odd, keep, inputs=not inputs)
        self._reasons, self._saturating = found.reasons, found.saturating
        #: The type in which the next operands and outputs are wanted.
        self._type: DataType = "float16"
        self._outer: DataType = "float16" if inputs else "float32"
        #: Values in their other type.
        self._others: dict[str, MLOperand] = {}
        #: Casts to float32 that are not made yet, since float16 may be wanted: the source and the label.
        self._casts: dict[str, tuple[MLOperand, str]] = {}
        self._number = -1
        self.staying: list[StayingOperator] = []
        #: The constants that are in the graph as float16.
        self.used: dict[str, Rounding] = {}

    def names(self) -> dict[object, str]:
        """Return the names of the values, by `value_key`."""
        # Few constants are there in both types.
        names: dict[object, str] = {
            value_key(operand): name if name in self._description.constants else f"{name}_{operand.descriptor.dataType}"
            for name, operand in self._others.items()
        }
        # A cast to the type that a value has already is that value, and keeps its first name.
        return names | {value_key(operand): name for name, operand in reversed(self.operands.items())}

    def _build(self, description: GraphDescription, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        super()._build(replace(description, outputs={}), inputs)
        self._type = self._outer
        return {name: self._find(value) for name, value in description.outputs.items()}

    def _call(self, operator: OperatorDescription) -> None:
        self._number += 1
        self._labels.label = operator.label
        reason = self._reasons.get(self._number)
        if operator.operation == "cast" and self._cast(operator):
            self._note(operator, reason or "")
            return
        self._type = "float16" if reason is None else "float32"
        if reason is None and operator.options.get("epsilon", 1) < LEAST:
            # 0 would not keep the divisor away from 0.
            operator = replace(operator, options={**operator.options, "epsilon": LEAST})
        path = self._path
        try:
            super()._call(operator)
        except WebNNTypeError:
            if reason is not None or all(self._known[value].dataType != "float32" for _, _, value in operator.named_values()):
                raise
            self._type, self._path, reason = "float32", path, _NO_TYPE
            super()._call(operator)
        self._note(operator, reason or "")

    def _cast(self, operator: OperatorDescription) -> bool:
        """Put off a cast to float32, and leave out a cast of float32 to float16; tell whether it is one of them."""
        [(_, _, source)], [name] = operator.named_values(), operator.outputs
        types = self._known[source].dataType, self._known[name].dataType
        if types == ("float32", "float16"):
            self._type = "float16"
            self._give(name, self._find(source))
        elif types[0] != "float32" and types[1] == "float32":
            self._casts[name] = super()._find(source), operator.label
        else:
            return False
        return True

    def _note(self, operator: OperatorDescription, reason: str) -> None:
        if reason:
            name = operator.outputs[0]
            self.staying.append(StayingOperator(name=name, operation=operator.operation, label=operator.label, reason=reason))

    def _find(self, name: str) -> MLOperand:
        """Return an operand in the type that is wanted, if it is float32 in the source."""
        wanted = self._type
        cast = self._casts.get(name)
        operand = self.operands.get(name) if cast is not None else super()._find(name)
        if operand is not None and (self._known[name].dataType != "float32" or operand.descriptor.dataType == wanted):
            return operand
        other = self._others.get(name)
        if other is not None:
            return other
        made = self._make(name, cast, wanted)
        if operand is None:
            self.operands[name] = made
        else:
            self._others[name] = made
        return made

    def _make(self, name: str, cast: tuple[MLOperand, str] | None, wanted: DataType) -> MLOperand:
        rounding = self._roundings.get(name)
        if rounding is not None:
            self.used[name] = rounding
            return self._labels.constantOver("float16", rounding.array)
        label = self._labels.label
        source, self._labels.label = cast or (super()._find(name), name)
        if source.descriptor.dataType != wanted:
            if wanted == "float16" and name in self._saturating:
                source = self._builder.clamp(source, minValue=-LARGEST, maxValue=LARGEST)
            source = self._builder.cast(source, wanted)
        self._labels.label = label
        return source


def _as_float16(descriptor: OperandDescriptor) -> OperandDescriptor:
    return OperandDescriptor("float16", descriptor.dimensions) if descriptor.dataType == "float32" else descriptor
