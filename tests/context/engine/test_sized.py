"""A session that several graphs share."""

from __future__ import annotations

from typing import Any

import numpy as np

import webnn
from tests.support import shared_context
from webnn.context.engine.sized import SizedGraph
from webnn.context.runs import Bound


def test_graphs_take_turns_with_one_address() -> None:
    builder: Any = webnn.MLGraphBuilder(shared_context("2026-06"))
    x = builder.input("x", {"dataType": "float32", "shape": [4, 2]})
    shared = builder.buildSync({"y": builder.neg(x)})._implementation
    descriptors = [shared.inputs["x"].descriptor]
    first, second = (SizedGraph(shared, descriptors, descriptors) for _ in range(2))
    memory = np.arange(8, dtype=np.float32).reshape(4, 2)
    for sized in (first, second, first, first):
        bound = Bound(sized, {"x": memory})
        np.testing.assert_array_equal(bound.run()["y"], -memory)
        assert shared.inputs is sized.inputs
        bound.release()
        memory += 1
    assert first.providers == second.providers == ["CPUExecutionProvider"]
    assert first.in_place
    second.took(1.0)
    assert not first.quick
    second.forget()
    assert first.last is None
