"""Replays recorded cases through the public API: over buffers or tensors, whichever the draft of a case has."""

from __future__ import annotations

import numpy as np

import webnn
from webnn.wpt_runner.levels import level_of
from webnn.wpt_runner.vectors.cases import Case, Outcome, Status
from webnn.wpt_runner.vectors.comparison import Comparison, compare
from webnn.wpt_runner.vectors.corrections import Correction
from webnn.wpt_runner.vectors.format import Array, CaseError, Descriptor, parse
from webnn.wpt_runner.vectors.graphs import RecordedGraph, read_graph

__all__ = ["build", "compute", "run_case"]


def run_case(case: Case, context: webnn.MLContext, correction: Correction | None = None) -> Outcome:
    """Build a case's graph, compute it, and compare its outputs.

    Args:
        case: The case.
        context: The context, of the revision of the case's level.
        correction: The case's correction, if it has one.
    """
    try:
        recorded = read_graph(case, level_of(case.level))
        outputs = compute(recorded, context)
        found = compare(outputs, recorded.expected, case.metric, case.tolerance)
        if found.failure and correction is not None and not correction.error:
            right = {correction.output: correction.elements}
            corrected = compare(outputs, recorded.expected, case.metric, case.tolerance, right)
            return _outcome(case, corrected, Status.CORRECTED)
    except CaseError as error:
        return Outcome(case=case, status=Status.ERROR, failure=f"the case cannot run: {error}", worst=None)
    except (webnn.DOMException, TypeError) as error:
        if correction is not None and correction.error and correction.error in str(error):
            return Outcome(case=case, status=Status.CORRECTED, worst=None)
        return Outcome(case=case, status=Status.ERROR, failure=f"{type(error).__name__}: {error}", worst=None)
    return _outcome(case, found, Status.PASSED)


def _outcome(case: Case, found: Comparison, success: Status) -> Outcome:
    status = Status.FAILED if found.failure else success
    return Outcome(case=case, status=status, failure=found.failure, worst=found.worst, difference=found.difference)


def compute(recorded: RecordedGraph, context: webnn.MLContext) -> dict[str, Array]:
    """Build and compute a graph: over tensors, or over buffers if the draft has no tensors."""
    return (_dispatch if hasattr(context, "dispatch") else _compute)(recorded, context)


def _compute(recorded: RecordedGraph, context: webnn.MLContext) -> dict[str, Array]:
    """Compute a graph over buffers."""
    compiled, inputs, wanted = build(recorded, context)
    buffers = {name: np.zeros(operand.shape(), operand.dataType()) for name, operand in wanted.items()}
    return context.computeSync(compiled, inputs, buffers)["outputs"]


def _dispatch(recorded: RecordedGraph, context: webnn.MLContext) -> dict[str, Array]:
    """Compute a graph over tensors, and release everything."""
    compiled, arrays, wanted = build(recorded, context)
    inputs: dict[str, webnn.MLTensor] = {}
    for name in arrays:
        given = recorded.graph.inputs[name]
        inputs[name] = context.createTensorSync(dataType=given.dataType, shape=given.shape, writable=True)
    types = {name: parse(Descriptor, {"dataType": operand.dataType, "shape": list(operand.shape)}) for name, operand in wanted.items()}
    outputs: dict[str, webnn.MLTensor] = {}
    for name, descriptor in types.items():
        outputs[name] = context.createTensorSync(dataType=descriptor.dataType, shape=descriptor.shape, readable=True)
    for name, array in arrays.items():
        context.writeTensor(inputs[name], array)
    context.dispatch(compiled, inputs, outputs)
    computed = {name: types[name].unpack(_read(context, tensor)) for name, tensor in outputs.items()}
    for each in (*inputs.values(), *outputs.values()):
        each.destroy()
    compiled.destroy()
    return computed


def _read(context: webnn.MLContext, tensor: webnn.MLTensor) -> Array:
    content = context.readTensorSync(tensor)
    assert content is not None  # without a buffer of its own, that is what is returned
    return content


def build(recorded: RecordedGraph, context: webnn.MLContext) -> tuple[webnn.MLGraph, dict[str, Array], dict[str, webnn.MLOperand]]:
    """Build a graph; return it with the values of its inputs, and the operands of its outputs."""
    builder = webnn.MLGraphBuilder(context)
    try:
        wanted = recorded.graph.build(builder)
    except webnn.DescriptionError as error:
        raise CaseError(error.message, f"graph.{error.path}") from None
    compiled = builder.buildSync(wanted)
    # The compiled graph lacks inputs that the outputs do not need.
    needed = recorded.graph.select(wanted).inputs
    return compiled, {name: recorded.inputs[name] for name in needed}, wanted
