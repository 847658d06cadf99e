"""The code that the examples of operations share."""

import numpy as np

from webnn import ML, MLGraphBuilder

np.set_printoptions(precision=4, suppress=True)
context = ML(revision="2026-06").createContextSync()
builder = MLGraphBuilder(context)
values = {}


def tensor(name, array, dataType="float32"):
    """Make an input of the graph, and keep its values."""
    values[name] = np.asarray(array, dataType)
    return builder.input(name, dataType=dataType, shape=values[name].shape)


def constant(array, dataType="float32"):
    """Make a constant of the graph."""
    array = np.asarray(array, dataType)
    return builder.constant({"dataType": dataType, "shape": array.shape}, array)


def show(*outputs):
    """Build the graph, run it, and print the outputs."""
    names = ["y"] if len(outputs) == 1 else [f"y{index}" for index in range(len(outputs))]
    graph = builder.buildSync(dict(zip(names, outputs, strict=True)))
    inputs, results = {}, {}
    for name, array in values.items():
        inputs[name] = context.createTensorSync(dataType=array.dtype.name, shape=array.shape, writable=True)
        context.writeTensor(inputs[name], array)
    for name, operand in zip(names, outputs, strict=True):
        results[name] = context.createTensorSync(dataType=operand.dataType, shape=operand.shape, readable=True)
    context.dispatch(graph, inputs, results)
    for name in names:
        array = np.empty(results[name].shape, results[name].dataType)
        context.readTensorSync(results[name], array)
        print(array)
    return graph
