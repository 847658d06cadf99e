"""Mistakes that type checkers find: behind each line stands what mypy and pyright must report for it."""

from __future__ import annotations

import numpy as np

import webnn
from webnn import ML, MLContext, MLContextOptions, MLConv2dOptions, MLGraph, MLGraphBuilder, MLOperand, MLTensor

X = np.ones(2, np.float32)


def misspelt(builder: MLGraphBuilder, x: MLOperand, ml: ML) -> None:
    """Names of members and of options."""
    builder.conv2d(x, x, stride=[1, 1])  # call-arg; reportCallIssue
    builder.conv2d(x, x, {"stride": [1, 1]})  # arg-type; reportArgumentType
    builder.clamp(x, min=0)  # call-arg; reportCallIssue
    builder.softmaxx(x)  # attr-defined; reportAttributeAccessIssue
    builder.input("x", dtype="float32", shape=[2])  # call-overload; reportCallIssue
    builder.input("x", {"dtype": "float32", "shape": [2]})  # call-overload; reportArgumentType
    builder.input("x", shape=[2])  # call-overload; reportCallIssue
    ml.createContextSync(device="gpu")  # call-arg; reportCallIssue
    ML(profil="coreml")  # call-arg; reportCallIssue
    options: MLContextOptions = {"devicetype": "gpu"}  # typeddict-unknown-key; reportAssignmentType
    print(webnn.navigatr, options)  # attr-defined; reportAttributeAccessIssue


def literals(builder: MLGraphBuilder, x: MLOperand, ml: ML) -> None:
    """Values of enumerations."""
    builder.input("x", dataType="float", shape=[2])  # call-overload; reportArgumentType
    builder.constant("double", 1.0)  # call-overload; reportArgumentType
    builder.cast(x, "float64")  # arg-type; reportArgumentType
    builder.conv2d(x, x, inputLayout="nwhc")  # arg-type; reportArgumentType
    layout: MLConv2dOptions = {"filterLayout": "oiwh"}  # typeddict-item; reportAssignmentType
    ml.createContextSync(deviceType="tpu")  # arg-type; reportArgumentType
    ML(revision="2027")  # arg-type; reportArgumentType
    ML(fallback="refuse")  # arg-type; reportArgumentType
    ML(numerics="quick")  # arg-type; reportArgumentType
    ML(semantics={"clampNaN": "min"})  # arg-type; reportArgumentType
    print(layout)


def buffers(builder: MLGraphBuilder, context: MLContext, graph: MLGraph, tensor: MLTensor) -> None:
    """Lists and numbers where buffers belong."""
    builder.constant({"dataType": "float32", "shape": [2]}, [1.0, 2.0])  # call-overload; reportArgumentType
    context.computeSync(graph, {"x": [1.0, 2.0]}, {"y": X})  # dict-item; reportArgumentType
    context.compute(graph, {"x": X}, {"y": [0.0]})  # dict-item; reportArgumentType
    context.computeSync(graph, {"x": X}, {"y": 2})  # dict-item; reportArgumentType
    context.writeTensor(tensor, [1.0, 2.0])  # arg-type; reportArgumentType
    context.readTensorSync(tensor, [0.0])  # call-overload; reportArgumentType
    context.createConstantTensorSync({"dataType": "float32", "shape": [2]}, [1.0, 2.0])  # arg-type; reportArgumentType
    context.dispatch(graph, {"x": X}, {"y": tensor})  # dict-item; reportArgumentType


def operands(builder: MLGraphBuilder, x: MLOperand) -> None:
    """Arrays and results in the place of operands."""
    builder.relu(X)  # call-overload; reportArgumentType
    builder.add(x, 1)  # arg-type; reportArgumentType
    builder.matmul(x, [[1.0]])  # arg-type; reportArgumentType
    builder.buildSync({"y": X})  # dict-item; reportArgumentType
    builder.reshape(x, "2")  # arg-type; reportArgumentType
    graph: MLGraph = builder.build({"y": x})  # assignment; reportAssignmentType
    print(graph)
