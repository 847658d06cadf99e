"""Whole models, which show what a session costs. The expected outputs are those of ONNX Runtime on the CPU of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import ModelProto, TensorProto, helper, numpy_helper

from tools.evidence.ort_web.cases import IR_VERSION, Array, Test, inputs_of

__all__ = ["collect_models", "make_cnn"]

#: Models of the package `onnx`: real structures, with weights that are all the same and made by the model itself.
LIGHT = ("squeezenet", "shufflenet", "resnet50")
_RUNS = 20


def collect_models() -> Iterator[Test]:
    """Make the tests of whole models."""
    rng = np.random.default_rng(0)
    cnn = make_cnn(rng)
    yield _test("model_cnn", cnn, rng.standard_normal((1, 3, 32, 32), np.float32))
    light = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    for name in LIGHT:
        yield _test(f"model_{name}", onnx.load(light / f"light_{name}.onnx"), rng.random((1, 3, 224, 224), np.float32))


def make_cnn(rng: np.random.Generator) -> ModelProto:
    """Make a small network that classifies images: [1, 3, 32, 32] to [1, 10].

    Args:
        rng: Draws its weights.
    """
    shapes = {"w1": (16, 3, 3, 3), "b1": (16,), "w2": (32, 16, 3, 3), "b2": (32,), "w3": (10, 32), "b3": (10,)}
    weights = [numpy_helper.from_array(0.2 * rng.standard_normal(shape, np.float32), name) for name, shape in shapes.items()]
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["conv1"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["conv1"], ["relu1"]),
        helper.make_node("MaxPool", ["relu1"], ["pool"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["pool", "w2", "b2"], ["conv2"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["conv2"], ["relu2"]),
        helper.make_node("GlobalAveragePool", ["relu2"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"]),
        helper.make_node("Gemm", ["flat", "w3", "b3"], ["scores"], transB=1),
        helper.make_node("Softmax", ["scores"], ["y"], axis=1),
    ]
    sides = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", [1, 3, 32, 32]), ("y", [1, 10]))]
    graph = helper.make_graph(nodes, "cnn", sides[:1], sides[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=min(10, IR_VERSION))


def _test(name: str, model: ModelProto, x: Array) -> Test:
    (input,) = inputs_of(model)
    options = onnxruntime.SessionOptions()
    # No warnings: an old model has weights that nothing uses.
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    outputs = session.run(None, {input.name: x})
    return Test(name=name, model=model, inputs=[x], outputs=outputs, rtol=1e-4, atol=1e-6, runs=_RUNS)
