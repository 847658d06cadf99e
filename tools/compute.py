"""Computes a described graph on the emulator, in the draft that it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import webnn
from webnn.validation.descriptor import NUMPY_DTYPES, SMALL_TYPES, unpack
from webnn.validation.drafts import find_revision, for_devices

__all__ = ["compute"]

Array = np.ndarray[Any, np.dtype[Any]]


def compute(description: webnn.GraphDescription, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """Build a graph, and compute it.

    Args:
        description: The graph.
        feeds: The inputs by name, in the data types of the graph; integers of 4 bits are packed.

    Returns:
        The outputs by name; integers of 4 bits are int8.
    """
    context = webnn.ML(revision=for_devices(find_revision(description.draft)).name).createContextSync()
    builder = webnn.MLGraphBuilder(context)
    operands = description.build(builder)
    graph = builder.buildSync(operands)
    descriptors = {name: operand._descriptor for name, operand in operands.items()}
    outputs = {name: np.zeros(each.array_shape, NUMPY_DTYPES[each.dataType]) for name, each in descriptors.items()}
    if hasattr(context, "computeSync"):
        # The arrays are transferred.
        context.computeSync(graph, {name: array.copy() for name, array in feeds.items()}, outputs)
        return outputs
    tensors: dict[str, Any] = {}
    for name, each in {**description.inputs, **descriptors}.items():
        descriptor: Any = {"dataType": each.dataType, "shape": list(each.dimensions)}
        descriptor |= {"readable": name in outputs, "writable": name not in outputs}
        tensors[name] = context.createTensorSync(descriptor)
    for name, array in feeds.items():
        context.writeTensor(tensors[name], array)
    context.dispatch(graph, {name: tensors[name] for name in feeds}, {name: tensors[name] for name in outputs})
    for name, array in outputs.items():
        read = np.asarray(context.readTensorSync(tensors[name])).view(array.dtype)
        found = descriptors[name]
        small = found.dataType in SMALL_TYPES
        outputs[name] = unpack(read, found.dataType, found.dimensions) if small else read.reshape(array.shape)
    return outputs
