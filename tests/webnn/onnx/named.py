"""Comparisons of imports whose dimensions have names with those whose sizes are numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import onnx

import webnn
import webnn.onnx
from tests.webnn.onnx.nodes import make_context
from webnn import DOMException, FormatError, MLGraphBuilder, WebNNTypeError
from webnn.context import once

__all__ = ["NAMED", "Named", "compare", "import_fixed"]

Array = np.ndarray[Any, np.dtype[Any]]

#: The draft with names.
NAMED = "2026-06+dynamic-shapes"
#: ``same`` numbers, bit by bit; ``refused`` by the name of a dimension; ``assumed``: the sizes are not those that the import has assumed,
#: which an error of the graph says; ``unnamed``: no input has dimensions, or the import with numbers is refused; the others are faults.
Outcome = Literal["same", "refused", "assumed", "unnamed", "different", "failed"]
_ASSUMED = re.compile(r"the import has assumed that .*\bn\d+")


@dataclass(frozen=True)
class Named:
    """The result of a comparison."""

    outcome: Outcome
    reason: str = ""


def import_fixed(
    model: onnx.ModelProto, feeds: Mapping[str, Array], builder: webnn.MLGraphBuilder
) -> tuple[webnn.onnx.Imported, Mapping[str, Array]] | None:
    """Import a model with the shapes of its inputs, some of which are constants if it must be; ``None`` if it is refused."""
    constants: dict[str, Array] = {}
    while True:
        shapes = {name: each.shape for name, each in feeds.items() if name not in constants}
        try:
            return webnn.onnx.load(model, builder, shapes=shapes, constants=constants), constants
        except webnn.onnx.RefusedModelError as error:
            advice = " ".join(each.advice for each in error.report.refusals if "constants=" in each.advice)
            needed = {name: each for name, each in feeds.items() if f"{name!r}: ..." in advice}
            if not needed or not constants.keys().isdisjoint(needed):
                return None
            constants.update(needed)
        except (FormatError, WebNNTypeError):
            return None


def _open(model: onnx.ModelProto, names: Sequence[str], size: int | None) -> tuple[onnx.ModelProto, dict[str, str]]:
    """Return a model in which each size of some inputs is a name, or one size of them, and the names."""
    opened, dims = onnx.ModelProto(), {}
    opened.CopyFrom(model)
    for info in opened.graph.input:
        if info.name in names:
            for dim in info.type.tensor_type.shape.dim:
                if size is not None and dim.dim_value != size:
                    continue
                dim.dim_param = f"n{dim.dim_value}"
                dims[dim.dim_param] = dim.dim_param
    return opened, dims


def compare(model: onnx.ModelProto, feeds: Mapping[str, Array], size: int | None = None) -> Named:
    """Import a model twice, with the shapes of the inputs and with a name for each size, or for one, and compare the numbers."""
    context = make_context()
    builder = MLGraphBuilder(context)
    found = import_fixed(model, feeds, builder)
    if found is None:
        return Named("unnamed", "refused with numbers")
    fixed, constants = found
    opened, dims = _open(model, [name for name in feeds if name not in constants], size)
    if not dims or any(0 in each.shape for each in feeds.values()):
        return Named("unnamed", "no input has a dimension, or one has no elements")
    if not fixed.inputs:
        return Named("unnamed", "nothing is left to compute")
    graph = builder.buildSync(dict(fixed.outputs))
    given = {name: np.ascontiguousarray(feeds[name].astype(each.dataType)) for name, each in fixed.inputs.items()}
    wanted = once.compute(context, graph, given)
    context = webnn.ML(revision=NAMED).createContextSync()
    builder = MLGraphBuilder(context)
    try:
        imported = webnn.onnx.load(opened, builder, dims=dims, constants=constants)
    except webnn.onnx.RefusedModelError as error:
        reasons = "; ".join(f"{each.operator}: {each.reason}" for each in error.report.refusals)
        return Named("refused" if re.search(r"'n\d+'|\bn\d+\b", reasons) else "failed", reasons)
    try:
        graph = builder.buildSync(dict(imported.outputs))
        results = graph.run({name: feeds[name].astype(each.dataType) for name, each in imported.inputs.items()})
    except (WebNNTypeError, DOMException) as error:
        return Named("assumed" if _ASSUMED.search(str(error)) else "failed", str(error))
    for name, array in wanted.items():
        actual = np.asarray(results[name])
        if actual.shape != array.shape or not np.array_equal(actual, array, equal_nan=array.dtype.kind == "f"):
            return Named("different", f"{name}: {actual.shape} and {array.shape}")
    return Named("same")
