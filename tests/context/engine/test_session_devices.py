"""Sessions on a software GPU and on the simulator of an NPU."""

from __future__ import annotations

import numpy as np
import pytest

import webnn

DEVICES = [pytest.param(each, marks=pytest.mark.simulators(each)) for each in ("gpu", "npu")]


@pytest.fixture
def context(request: pytest.FixtureRequest) -> webnn.MLContext:
    return webnn.ML(simulators=True, fallback="deny").createContextSync(deviceType=request.param)


def multiply(context: webnn.MLContext, factor: float) -> webnn.MLGraph:
    builder = webnn.MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=[1])
    return builder.buildSync({"y": builder.mul(x, builder.constant({"dataType": "float32", "shape": [1]}, np.float32([factor])))})


def make_tensor(context: webnn.MLContext) -> webnn.MLTensor:
    return context.createTensorSync(dataType="float32", shape=[1], readable=True, writable=True)


@pytest.mark.parametrize("context", DEVICES, indirect=True)
def test_a_loop_over_the_same_tensors(context: webnn.MLContext) -> None:
    """A device has copies of its inputs: each run takes what the tensors hold by then."""
    double, triple = multiply(context, 2), multiply(context, 3)
    x, y = make_tensor(context), make_tensor(context)
    context.writeTensor(x, np.float32([1]))
    found = []
    for _ in range(3):
        context.dispatch(double, {"x": x}, {"y": y})
        context.dispatch(triple, {"x": y}, {"y": x})
        found.append(np.frombuffer(context.readTensorSync(x), np.float32).item())
    assert found == [6, 36, 216]


@pytest.mark.parametrize("context", DEVICES, indirect=True)
def test_a_loop_over_the_same_buffers(context: webnn.MLContext) -> None:
    graph = multiply(context, 2)
    inputs, outputs = {"x": np.zeros(1, np.float32)}, {"y": np.zeros(1, np.float32)}
    found = []
    for number in range(3):
        inputs["x"][0] = number
        result = context.computeSync(graph, inputs, outputs)
        inputs, outputs = dict(result["inputs"]), dict(result["outputs"])
        found.append(outputs["y"].item())
    assert found == [0, 2, 4]
