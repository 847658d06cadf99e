"""Replays recorded cases through the public API: over buffers or tensors, whichever the draft of a case has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import webnn
from webnn.validation.descriptor import unpack
from webnn.wpt_runner.levels import LEVELS, level_of
from webnn.wpt_runner.vectors.cases import Case, Outcome, Status, load_cases
from webnn.wpt_runner.vectors.comparison import Comparison, compare
from webnn.wpt_runner.vectors.corrections import Correction
from webnn.wpt_runner.vectors.files import bundled_archives
from webnn.wpt_runner.vectors.format import Array, CaseError
from webnn.wpt_runner.vectors.graphs import RecordedGraph, read_graph

__all__ = ["CaseError", "compute", "load_builds", "load_recorded", "run_case"]

#: The outcomes of errors, by their rules.
_STATUSES: Mapping[str, Status] = {"device": Status.REFUSED, "lost": Status.CRASHED}


def run_case(case: Case, context: webnn.MLContext, correction: Correction | None = None) -> Outcome:
    """Build a case's graph in a context of its level's revision, compute it, and compare its outputs."""
    left: tuple[str, ...] = ()
    try:
        recorded = read_graph(case)
        built = _build(recorded, context)
        left = tuple(dict.fromkeys(each.operation for each in built[0].placement.fallbacks))
        outputs = _compute(recorded, context, *built)
        found = compare(outputs, recorded.expected, case.metric, case.tolerance)
        if found.failure and correction is not None and not correction.error:
            right = {correction.output: correction.values}
            found = compare(outputs, recorded.expected, case.metric, case.tolerance, right)
            return _outcome(case, found, Status.CORRECTED, left)
    except CaseError as error:
        return Outcome(case=case, status=Status.ERROR, failure=f"the case cannot run: {error}", worst=None)
    except (webnn.DOMException, TypeError) as error:
        if correction is not None and correction.error and correction.error in str(error):
            return Outcome(case=case, status=Status.CORRECTED, worst=None)
        status = _STATUSES.get(getattr(error, "rule", ""), Status.ERROR)
        return Outcome(case=case, status=status, failure=f"{type(error).__name__}: {error}", worst=None, left=left)
    return _outcome(case, found, Status.PASSED, left)


def _outcome(case: Case, found: Comparison, success: Status, left: tuple[str, ...]) -> Outcome:
    status = Status.FAILED if found.failure else success
    return Outcome(case=case, status=status, failure=found.failure, worst=found.worst, difference=found.difference, left=left)


def load_builds(path: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the cases of a file for `webnn check`: the name of each, and a function that builds its graph in a context of its own.

    The function raises `CaseError` if the case does not follow the format, and otherwise the errors of the emulator.

    Raises:
        OSError: The file cannot be read.
        ValueError: It does not hold cases.
    """
    for case in load_cases([path]):
        yield case.name, partial(_build_alone, case)


def load_recorded(revision: str) -> Iterator[RecordedGraph]:
    """Yield the graphs of the package's cases of a draft with their inputs, those of which the form is right."""
    names = {level.name for level in LEVELS if level.revision == revision}
    for case in load_cases([path for path in bundled_archives() if path.stem in names]):
        with suppress(CaseError, TypeError):
            yield read_graph(case)


def _build_alone(case: Case) -> None:
    _build(read_graph(case), level_of(case.level).make_ml().createContextSync())


def compute(recorded: RecordedGraph, context: webnn.MLContext) -> dict[str, Array]:
    """Build and compute a graph: over tensors, or over buffers if the draft has no tensors."""
    return _compute(recorded, context, *_build(recorded, context))


def _compute(
    recorded: RecordedGraph,
    context: webnn.MLContext,
    compiled: webnn.MLGraph,
    arrays: Mapping[str, Array],
    wanted: Mapping[str, webnn.MLOperand],
) -> dict[str, Array]:
    if not hasattr(context, "dispatch"):
        buffers = {name: np.zeros(operand.shape(), operand.dataType()) for name, operand in wanted.items()}
        return context.computeSync(compiled, arrays, buffers)["outputs"]
    inputs, outputs = {}, {}
    for name, array in arrays.items():
        given = recorded.graph.inputs[name]
        inputs[name] = context.createTensorSync(dataType=given.dataType, shape=given.shape, writable=True)
        context.writeTensor(inputs[name], array)
    for name, operand in wanted.items():
        descriptor: Any = {"dataType": operand.dataType, "shape": operand.shape, "readable": True}
        outputs[name] = context.createTensorSync(descriptor)
    context.dispatch(compiled, inputs, outputs)
    computed = {name: unpack(_read(context, tensor), tensor.dataType, tensor.shape) for name, tensor in outputs.items()}
    for each in (*inputs.values(), *outputs.values()):
        each.destroy()
    compiled.destroy()
    return computed


def _read(context: webnn.MLContext, tensor: webnn.MLTensor) -> Array:
    content = context.readTensorSync(tensor)
    assert content is not None  # without a buffer of its own, that is what is returned
    return content


def _build(recorded: RecordedGraph, context: webnn.MLContext) -> tuple[webnn.MLGraph, dict[str, Array], dict[str, webnn.MLOperand]]:
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
