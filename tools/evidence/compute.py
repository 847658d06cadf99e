"""Computes a described graph on the emulator, in the draft that it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import webnn
from webnn.context import once
from webnn.validation.descriptor import unpack
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
    context = webnn.ML(revision=for_devices(find_revision(description.draft))).createContextSync()
    builder = webnn.MLGraphBuilder(context)
    graph = builder.buildSync(description.build(builder))
    outputs = once.compute(context, graph, feeds)
    for name, found in graph._outputDescriptors.items():
        outputs[name] = unpack(outputs[name], found.dataType, found.dimensions)
    return outputs
