"""What an import returns: `Imported`, and how a finished import becomes one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from webnn.builder.describe import describe_graph
from webnn.builder.description import DescriptionError, GraphDescription
from webnn.builder.graph import collect
from webnn.importing.narrow import narrow
from webnn.importing.report import RefusedModelError, Report
from webnn.validation import webidl
from webnn.validation.drafts import DRAFTS
from webnn.validation.errors import NotSupportedError

if TYPE_CHECKING:
    from webnn.builder.graph_builder import GraphBuilder
    from webnn.builder.operand import MLOperand
    from webnn.importing.operands import Operands
    from webnn.importing.values import Value
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["DRAFT", "Imported", "build_import", "describe_import", "finish_import", "fit_integers", "note_unused"]

#: The draft that rules are written for.
DRAFT = "2026-06"
#: The most inputs that a note names.
_FEW = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A model as a WebNN graph.

    Attributes:
        description: The graph. Its operators are labelled with what they come from, and its values have the names of the model.
        inputs: The data types and shapes of the inputs, by their names. Booleans are uint8, float64 is float32.
        outputs: The operands of the outputs in the builder that was given; empty without one.
        report: What the import found.
    """

    description: GraphDescription
    inputs: Mapping[str, OperandDescriptor]
    outputs: Mapping[str, MLOperand]
    report: Report

    def _repr_html_(self) -> str:
        return f"<div>{self.description._repr_html_()}{self.report._repr_html_()}</div>"


def describe_import(operands: Operands, outputs: Mapping[str, Value], name: str) -> GraphDescription:
    """Return the graph of an import that refused nothing. Its inputs are in the order of the model."""
    graph = collect({name: operands.find(value) for name, value in outputs.items()})
    description = describe_graph(graph, name, operands.names)
    places = {name: place for place, name in enumerate(operands.inputs)}
    inputs = sorted(description.inputs.items(), key=lambda item: places.get(item[0], len(places)))
    return replace(description, inputs=dict(inputs))


def note_unused(report: Report, operands: Operands, description: GraphDescription) -> Report:
    """Return a report that names the inputs of the model that the graph does not have, because no output needs them."""
    unused = [name for name in operands.inputs if name not in description.inputs]
    if not unused:
        return report
    more = f" and {len(unused) - _FEW} more" if len(unused) > _FEW else ""
    names = ", ".join([webidl.describe(name) for name in unused[:_FEW]])
    return replace(report, notes=(*report.notes, f"no output needs the inputs {names}{more}, so the graph does not have them"))


def finish_import(
    description: GraphDescription | None, report: Report, file: str, builder: GraphBuilder | None, *, int32: bool = False
) -> Imported:
    """Return an import: its integers fit the builder's device, and the builder has its graph.

    Args:
        description: The graph; None if some of the model is refused.
        report: What the import found.
        file: The name of the model, for messages.
        builder: The builder that gets the graph, if there is one.
        int32: int64 becomes int32 everywhere.

    Raises:
        RefusedModelError: There is no graph.
        NotSupportedError: The builder's draft has no counterpart of an operator, or a constant does not fit into int32.
        WebNNTypeError: The builder refuses something, because of the limits of its device.
    """
    if description is None:
        raise RefusedModelError(file, report)
    acceptance = None if builder is None else builder._revision.acceptance
    description = fit_integers(description, None if acceptance is None else acceptance.limits(), int32=int32)
    outputs = {} if builder is None else build_import(description, builder)
    return Imported(description=description, inputs=description.inputs, outputs=outputs, report=report)


def fit_integers(description: GraphDescription, limits: Mapping[str, Any] | None, *, int32: bool) -> GraphDescription:
    """Return a graph with int64 as int32, if the caller promises that it fits, or as far as it is proven for a device that wants it.

    Args:
        description: The graph.
        limits: What ``opSupportLimits()`` returns; None without a device.
        int32: The caller promises it.
    """
    lacks = limits is not None and "int64" not in limits["constant"]["dataTypes"]
    return narrow(description, promised=int32) if int32 or lacks else description


def build_import(
    description: GraphDescription, builder: GraphBuilder, inputs: Mapping[str, MLOperand] = MappingProxyType({})
) -> dict[str, MLOperand]:
    """Build a graph in the draft of a builder.

    Args:
        description: The graph.
        builder: The builder.
        inputs: Operands of the builder that stand for inputs, by their names.

    Raises:
        NotSupportedError: The builder's draft has no counterpart of an operator.
        WebNNTypeError: The builder refuses something, because of the limits of its device.
    """
    draft = builder._revision.draft
    if draft in DRAFTS and DRAFTS.index(draft) < DRAFTS.index(DRAFT):
        try:
            description = description.lower(draft)
        except DescriptionError as error:
            raise NotSupportedError(f"the model cannot be imported in the draft {draft}: {error}") from None
    return description.build(builder, inputs)
