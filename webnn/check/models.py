"""The report about an ONNX model: its nodes, and how ONNX Runtime Web would partition it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import webnn
from webnn.builder.description import FormatError
from webnn.check.events import Engine, Job, Prediction, Sink
from webnn.check.report import KeptNode, ModelNode, ModelReport, PartitionReport
from webnn.commands.models import name_options
from webnn.commands.text import replace_surrogates
from webnn.context.profiles import load_profile
from webnn.display.text import size
from webnn.formats.cost import count_bytes
from webnn.importing.values import Refused
from webnn.onnx.fixed import fix
from webnn.validation.drafts import for_devices
from webnn.validation.errors import NotSupportedError, OperationError

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.onnx import Report
    from webnn.onnx.partition.predict import Partition, PlacedNode

__all__ = ["describe_model", "predict"]


def describe_model(report: Report, description: GraphDescription | None, path: Path) -> ModelReport:
    """Return the report about an import of a file."""
    sizes = () if description is None else (f"{size(count_bytes(description))} of weights, from a file of {size(path.stat().st_size)}",)
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
        notes=_texts((*report.notes, *sizes)),
    )


def predict(job: Job, notes: Sink) -> None:
    """Note whether ONNX Runtime takes a model, and how ONNX Runtime Web would partition it without a profile and on each of a job.

    Nothing is noted if the shapes of its inputs are unknown, or if the model cannot be read: the import says why.
    """
    from webnn.onnx.partition.optimize import find_refusal, optimize  # noqa: PLC0415 (they load the engine)
    from webnn.onnx.partition.predict import partition_optimized  # noqa: PLC0415 (as above)

    path = Path(job.program)
    try:
        model = fix(*job.options.read(path, weights=False))
    except (Refused, ImportError, NotSupportedError, ValueError, OSError):
        return
    nodes = len(model.graph.node)
    note, optimized = "ONNX Runtime refuses the model", None
    try:
        refusal = find_refusal(model, path.name)
        notes.write(Engine(refusal=replace_surrogates(refusal)))
        if not refusal:
            optimized = optimize(model)
    except (FormatError, OperationError) as error:
        note = str(error)
    own = webnn.ML(revision=for_devices()).createContextSync().opSupportLimits()
    for name, limits in ((None, own), *((each, load_profile(each).limits()) for each in job.replay)):
        try:
            found = None if optimized is None else _describe_partition(partition_optimized(optimized, limits))
        except OperationError as error:
            found, note = None, str(error)
        failed = PartitionReport(nodes=nodes, webnn=0, note=replace_surrogates(f"nothing can be predicted: {note}"))
        notes.write(Prediction(on=name, partition=found or failed))


def _describe_partition(partition: Partition) -> PartitionReport:
    """Return the report about a partition."""
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
