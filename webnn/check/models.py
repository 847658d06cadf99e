"""What a check says of an ONNX model: its nodes, and how ONNX Runtime Web would partition it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from webnn.builder.description import FormatError
from webnn.check.report import KeptNode, ModelNode, ModelReport, PartitionReport
from webnn.commands.models import name_options
from webnn.commands.text import replace_surrogates
from webnn.importing.values import Refused
from webnn.onnx.fixed import fix
from webnn.validation.errors import OperationError

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.onnx import Report
    from webnn.onnx.inputs import Settings
    from webnn.onnx.model import Model as OnnxModel
    from webnn.onnx.partition.predict import Partition, PlacedNode

__all__ = ["describe_model", "partition_model"]


def describe_model(report: Report, description: GraphDescription | None) -> ModelReport:
    """Return what a check says of an import."""
    operations: Mapping[int, str] = {} if description is None else {each.index: each.operation for each in description.operators}
    return ModelReport(
        nodes=tuple(
            [
                ModelNode(
                    name=replace_surrogates(node.name),
                    operator=replace_surrogates(node.operator),
                    outcome=node.outcome,
                    operations=tuple([operations[index] for index in node.operators if index in operations]),
                    reasons=_texts(node.refusals),
                )
                for node in report.nodes
            ]
        ),
        reasons=_texts(report.refusals),
        notes=_texts(report.notes),
    )


def partition_model(model: OnnxModel, settings: Settings, limits: Mapping[str, Any]) -> PartitionReport | None:
    """Predict how ONNX Runtime Web would partition a model in a context with some limits; None if the shapes of its inputs are unknown."""
    from webnn.onnx.partition.predict import partition  # noqa: PLC0415 (it loads the engine)

    try:
        return _describe_partition(partition(fix(model, settings), limits))
    except Refused:
        # The import says why.
        return None
    except (FormatError, OperationError) as error:
        return PartitionReport(nodes=len(model.proto.graph.node), webnn=0, note=f"nothing can be predicted: {error}")


def _describe_partition(partition: Partition) -> PartitionReport:
    """Return what a check says of a partition."""
    return PartitionReport(
        nodes=len(partition.nodes),
        webnn=len(partition.nodes) - len(partition.left),
        subgraphs=tuple([len(each.nodes) for each in partition.subgraphs]),
        kept=tuple([_keep(each, each.reason) for each in partition.left]),
        fails=tuple([_keep(each, each.fault) for each in partition.faulty]),
        splits=_texts([f"{each.before + 1} and {each.after + 1}: {', '.join(map(str, each.nodes))}" for each in partition.boundaries]),
        note=partition.note,
    )


def _keep(node: PlacedNode, reason: str) -> KeptNode:
    return KeptNode(operator=replace_surrogates(node.operator), name=replace_surrogates(node.name), reason=replace_surrogates(reason))


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple([replace_surrogates(name_options(str(each))) for each in values])
