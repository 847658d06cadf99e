"""The memory of transferred arrays."""

from __future__ import annotations

import gc

import numpy as np

import webnn
from webnn.context.buffers import TransferredMemory


def test_a_byte_length_that_nobody_uses_leaves_nothing_behind() -> None:
    context = webnn.ML().createContextSync()

    def compute_twice(size: int) -> None:
        builder = webnn.MLGraphBuilder(context)
        x = builder.input("x", {"dataType": "uint8", "dimensions": [size]})
        graph = builder.buildSync({"y": builder.identity(x)})
        arrays = context.computeSync(graph, {"x": np.zeros(size, np.uint8)}, {"y": np.zeros(size, np.uint8)})
        context.computeSync(graph, {"x": arrays["inputs"]["x"]}, {"y": arrays["outputs"]["y"]})

    gc.collect()
    before = len(TransferredMemory.__subclasses__())
    for size in range(5000, 5040):
        compute_twice(size)
    gc.collect()
    assert len(TransferredMemory.__subclasses__()) <= before


def test_graphs_of_one_byte_length_share_its_class() -> None:
    context = webnn.ML().createContextSync()
    graphs = []
    for _ in range(2):
        builder = webnn.MLGraphBuilder(context)
        graphs.append(builder.buildSync({"y": builder.relu(builder.input("x", {"dataType": "float32", "dimensions": [3]}))}))
    arrays = context.computeSync(graphs[0], {"x": np.zeros(3, np.float32)}, {"y": np.zeros(3, np.float32)})
    owner = arrays["outputs"]["y"].base
    assert isinstance(owner, TransferredMemory)
    again = context.computeSync(graphs[1], {"x": arrays["outputs"]["y"]}, {"y": arrays["inputs"]["x"]})
    # The memory as a whole goes from hand to hand, with no chain of owners behind it.
    assert again["inputs"]["x"].base is owner
