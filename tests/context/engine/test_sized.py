"""A session that graphs with several sizes share."""

from __future__ import annotations

from typing import Any

import numpy as np

import webnn
from webnn.context.engine.sized import SizedGraph
from webnn.context.runs import Bound
from webnn.validation.descriptor import OperandDescriptor


def test_graphs_take_turns_with_one_address() -> None:
    context: Any = webnn.ML(revision="2026-06+dynamic-shapes").createContextSync()
    builder: Any = webnn.MLGraphBuilder(context)
    x = builder.input("x", {"dataType": "float32", "shape": ["n", 2]})
    graph = builder.buildSync({"y": builder.neg(x)})
    memory = np.arange(8, dtype=np.float32).reshape(4, 2)
    graph.run(x=memory)
    first = graph._implementation.last._implementation
    assert isinstance(first, SizedGraph)
    descriptors = [OperandDescriptor("float32", (2, 2))]
    second = SizedGraph(first._shared, descriptors, descriptors)
    for sized, rows in ((first, 4), (second, 2), (first, 4)):
        bound = Bound(sized, {"x": memory[:rows]})
        np.testing.assert_array_equal(bound.run()["y"], -memory[:rows])
        bound.release()
    assert first.providers == second.providers == ["CPUExecutionProvider"]
    assert first.in_place
    second.took(1.0)
    assert not first.quick
    second.forget()
    assert first.last is None
