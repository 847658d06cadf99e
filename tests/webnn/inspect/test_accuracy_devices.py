"""The accuracy of operators on a software GPU and on the simulator of an NPU."""

from __future__ import annotations

import numpy as np
import pytest

import webnn


@pytest.mark.parametrize("deviceType", [pytest.param(each, marks=pytest.mark.simulators(each)) for each in ("gpu", "npu")])
def test_devices_are_near_the_reference(deviceType: str) -> None:
    """Each operator is judged on the operands that the device itself computed."""
    context = webnn.ML(simulators=True, fallback="silent").createContextSync(deviceType=deviceType)
    builder = webnn.MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=[4, 8])
    weights = np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8)
    product = builder.matmul(x, builder.constant({"dataType": "float32", "shape": [8, 8]}, weights))
    graph = builder.buildSync({"y": builder.softmax(builder.add(product, x), 1)})
    assert deviceType in graph.devices
    accuracy = graph.accuracy({"x": np.linspace(-2, 2, 32, dtype=np.float32).reshape(4, 8)}, whole=True)
    assert sorted(each.index for each in accuracy.operators) == [1, 2, 3]
    assert {each.operation: each.relative for each in accuracy.operators if not each.relative < 1e-5} == {}
    assert accuracy.outputs[0].relative < 1e-4
