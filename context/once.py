"""Computing a graph once, in a context of any draft."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.validation.descriptor import NUMPY_DTYPES

if TYPE_CHECKING:
    from webnn.context.context import MLContext
    from webnn.context.graph import MLGraph
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["compute"]

Array = np.ndarray[Any, np.dtype[Any]]


def compute(context: MLContext, graph: MLGraph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Compute all outputs of a graph, in a context of any draft. The arrays stay the caller's."""
    outputs = graph._outputDescriptors
    if not context._revision.tensors:
        buffers = {name: np.empty(each.array_shape, NUMPY_DTYPES[each.dataType]) for name, each in outputs.items()}
        result = context.computeSync(graph, {name: array.copy() for name, array in inputs.items()}, buffers)
        return dict(result["outputs"])
    given = {name: context.createTensorSync(_tensor(each, writable=True)) for name, each in graph._inputDescriptors.items()}
    wanted = {name: context.createTensorSync(_tensor(each, readable=True)) for name, each in outputs.items()}
    for name, tensor in given.items():
        context.writeTensor(tensor, inputs[name])
    context.dispatch(graph, given, wanted)
    found = {}
    for name, tensor in wanted.items():
        buffer = np.empty(outputs[name].array_shape, NUMPY_DTYPES[outputs[name].dataType])
        context.readTensorSync(tensor, buffer)
        found[name] = buffer
    return found


def _tensor(descriptor: OperandDescriptor, **rights: bool) -> Any:
    return {"dataType": descriptor.dataType, "shape": list(descriptor.dimensions), **rights}
