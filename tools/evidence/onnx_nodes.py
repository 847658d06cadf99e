"""ONNX's own tests of single operators, through WebNN calls."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import onnx
from onnx import numpy_helper

import webnn
import webnn.onnx
from webnn import DOMException, FormatError, MLGraphBuilder, WebNNTypeError

__all__ = ["Outcome", "Result", "collect", "judge", "make_context", "read_case"]

Array = np.ndarray[Any, np.dtype[Any]]

#: The draft that imports follow.
_DRAFT: Final = "2026-06"
#: ``right`` by WebNN calls; ``bound``: right, with inputs given as constants that WebNN takes at build time; ``folded``: right, and nothing
#: is left to compute; ``refused`` by name; ``skipped``: it has strings, sequences or types without a NumPy type; the others are faults.
Outcome = Literal["right", "bound", "folded", "refused", "skipped", "wrong", "failed"]


@dataclass(frozen=True)
class Result:
    """The result of a test."""

    outcome: Outcome
    reason: str = ""


@functools.cache
def collect() -> Mapping[str, Any]:
    """Return the tests by their names."""
    from onnx.backend.test.case.node import collect_testcases  # noqa: PLC0415 (takes seconds)

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return {case.name: case for case in collect_testcases(None)}


def judge(case: Any, context: webnn.MLContext) -> Result:
    """Import the model of a test, compute it, and compare."""
    model: onnx.ModelProto = case.model
    read = read_case(case)
    wanted = [_array(each) for each in case.data_sets[0][1]]
    if read is None or any(each is None for each in wanted):
        return Result("skipped", "values other than tensors of numbers")
    feeds: dict[str, Any] = dict(read)
    constants: dict[str, Any] = {}
    while True:
        shapes = {name: each.shape for name, each in feeds.items() if name not in constants}
        try:
            builder = MLGraphBuilder(context)
            imported = webnn.onnx.load(model, builder, shapes=shapes, constants=constants)
            break
        except webnn.onnx.RefusedModelError as error:
            advice = " ".join(each.advice for each in error.report.refusals if "constants=" in each.advice)
            needed = [name for name in feeds if f"{name!r}: ..." in advice]
            if not needed or not constants.keys().isdisjoint(needed):
                return Result("refused", "; ".join(f"{each.operator}: {each.reason}" for each in error.report.refusals))
            constants.update({name: feeds[name] for name in needed})
        except FormatError as error:
            return Result("refused", str(error))
        except (WebNNTypeError, DOMException) as error:
            return Result("failed", str(error))
    try:
        graph = builder.buildSync(dict(imported.outputs))
        results = _compute(context, graph, imported, feeds)
    except (WebNNTypeError, DOMException) as error:
        return Result("failed", str(error))
    for info, expected in zip(model.graph.output, wanted, strict=True):
        if info.name and expected is not None:
            reason = _compare(results[info.name], expected, case)
            if reason:
                return Result("wrong", f"{info.name}: {reason}")
    calls = [each for each in imported.description.operators if each.operation != "identity"]
    if not calls and not imported.description.inputs:
        return Result("folded")
    return Result("bound" if constants else "right")


def read_case(case: Any) -> Mapping[str, Array] | None:
    """Return the inputs of a test by their names; ``None`` if one is not a tensor of numbers."""
    given = [_array(each) for each in case.data_sets[0][0]]
    initializers = {each.name for each in case.model.graph.initializer}
    names = [each.name for each in case.model.graph.input if each.name not in initializers]
    found = {name: array for name, array in zip(names, given, strict=True) if array is not None}
    return found if len(found) == len(given) else None


def _compute(context: webnn.MLContext, graph: webnn.MLGraph, imported: webnn.onnx.Imported, feeds: Mapping[str, Array]) -> dict[str, Array]:
    inputs = {}
    for name, descriptor in imported.inputs.items():
        inputs[name] = context.createTensorSync({"dataType": descriptor.dataType, "shape": list(descriptor.shape), "writable": True})
        context.writeTensor(inputs[name], np.ascontiguousarray(feeds[name].astype(descriptor.dataType)))
    known = imported.description.descriptors()
    outputs = {}
    for name, value in imported.description.outputs.items():
        descriptor = known[value]
        outputs[name] = context.createTensorSync({"dataType": descriptor.dataType, "shape": list(descriptor.shape), "readable": True})
    context.dispatch(graph, inputs, outputs)
    return {name: np.asarray(context.readTensorSync(tensor)) for name, tensor in outputs.items()}


def _compare(actual: Array, expected: Array, case: Any) -> str:
    if actual.shape != expected.shape:
        return f"the shape is {actual.shape}, not {expected.shape}"
    rtol, atol = (1e-2, 1e-3) if expected.dtype == np.float16 else (case.rtol, case.atol)
    try:
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(actual.astype(np.float64), expected.astype(np.float64), rtol=rtol, atol=atol)
    except AssertionError as error:
        return " ".join(str(error).split())[:200]
    return ""


def _array(value: Any) -> Array | None:
    """Return a tensor of numbers, or None."""
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    if isinstance(value, Sequence) or value is None or isinstance(value, dict):
        return None
    array = np.asarray(value)
    return None if array.dtype.kind in "OSUV" else array


def make_context() -> webnn.MLContext:
    """Make a context of the draft that imports follow."""
    return webnn.ML(revision=_DRAFT).createContextSync()
