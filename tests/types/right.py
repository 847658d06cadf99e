"""Programs that type checkers accept, as users write them: both drafts, both styles, lazy names."""

from __future__ import annotations

import array
from typing import assert_type

import numpy as np
import numpy.typing as npt

import webnn
from webnn import (
    ML,
    GPUDevice,
    MLComputeResult,
    MLContext,
    MLContextOptions,
    MLConv2dOptions,
    MLGraph,
    MLGraphBuilder,
    MLOperand,
    MLOperandDescriptor,
    MLTensor,
    WebNNTypeError,
    navigator,
)

DESCRIPTOR: MLOperandDescriptor = {"dataType": "float32", "dimensions": [2, 2]}
NEWER: MLOperandDescriptor = {"dataType": "float32", "shape": (2, 2)}
X: npt.NDArray[np.float32] = np.ones((2, 2), np.float32)


def compute() -> None:
    """The draft 2024-06."""
    context = navigator.ml.createContextSync(deviceType="gpu", powerPreference="low-power")
    assert_type(context, MLContext)
    builder = MLGraphBuilder(context)
    x = builder.input("x", DESCRIPTOR)
    assert_type(x, MLOperand)
    operands = [
        builder.input("y", dataType="float32", dimensions=[2, 2]),
        builder.constant(DESCRIPTOR, X),
        builder.constant(DESCRIPTOR, bytes(16)),
        builder.constant(DESCRIPTOR, array.array("f", [1, 2, 3, 4])),
        builder.constant(DESCRIPTOR, memoryview(bytes(16))),
        builder.constant("float32", 0.5),
        builder.constant("int32", 3),
        builder.clamp(x, minValue=0.0, maxValue=6),
        builder.gemm(x, x, {"alpha": 2, "aTranspose": True}),
        builder.reduceSum(x, axes=[0], keepDimensions=True),
        builder.reduceSum(x, axes=np.array([0])),
    ]
    graph = builder.buildSync({f"out{number}": operand for number, operand in enumerate(operands)})
    assert_type(graph, MLGraph)
    result = context.computeSync(graph, {"x": X, "y": bytearray(16)}, {"out0": np.empty((2, 2), np.float32)})
    assert_type(result, MLComputeResult)
    print(result["outputs"]["out0"])
    description = graph.description
    description.save("net.webnn")
    print(webnn.load("net.webnn").digest(), graph.placement, graph.devices)


async def dispatch() -> None:
    """The draft 2026-06, awaited."""
    context = await ML(revision="2026-06", profile="coreml", fallback="deny", numerics="fast").createContext({"accelerated": True})
    await ML(semantics={"clampNaN": "ignore"}).createContext()
    builder = MLGraphBuilder(context)
    x = builder.input("x", NEWER)
    graph = await builder.build({"y": builder.relu(x, label="first")})
    tensor = await context.createTensor(dataType="float32", shape=[2, 2], readable=True, writable=True)
    output = await context.createTensor({"dataType": "float32", "shape": [2, 2], "readable": True})
    assert_type(tensor, MLTensor)
    context.writeTensor(tensor, X)
    context.dispatch(graph, {"x": tensor}, {"y": output})
    print((await context.readTensor(output)).shape, context.readTensorSync(output).dtype)
    await context.readTensor(output, np.empty((2, 2), np.float32))
    weights = await context.createConstantTensor(NEWER, X)
    builder.constant(weights)
    context.createConstantTensorSync(NEWER, X.tobytes())


def options(context: MLContext, x: MLOperand, filter_: MLOperand) -> MLOperand:
    """Options as values, and every name of the package by its module."""
    chosen: MLConv2dOptions = {"padding": [1, 1, 1, 1], "inputLayout": "nhwc", "filterLayout": "ohwi"}
    wanted: MLContextOptions = {"deviceType": "npu"}
    webnn.ML().createContextSync(wanted)
    webnn.ML(revision="2026-06+browsers").createContextSync(GPUDevice())
    with webnn.emulate(profile="tflite", fallback="silent"):
        builder = webnn.MLGraphBuilder(context)
    try:
        return builder.conv2d(x, filter_, chosen)
    except WebNNTypeError as error:
        print(error)
        return builder.conv2d(x, filter_, strides=(2, 2), groups=2)


def models(context: MLContext) -> None:
    """Packages that load lazily."""
    outputs = webnn.onnx.load("model.onnx", MLGraphBuilder(context), dims={"batch": 1})
    print(outputs, webnn.__version__)
    print(webnn.stablehlo.load("program.mlir", MLGraphBuilder(context)))
    print(webnn.tflite.load("model.tflite", MLGraphBuilder(context), signature="serve"))
    description = webnn.load("net.webnn")
    webnn.reference.compute(description, {"x": X})
    with webnn.inspect.record_waste() as waste:
        print(waste.report().steps)
