"""Helpers for the tests of faults: contexts with faults, a graph of June 2024, and the outcomes of calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.context.tensors import SHAPE, full
from tests.support import CURRENT
from webnn import ML, DOMException, MLContext, MLGraph, MLGraphBuilder, WebNNTypeError
from webnn.context.faults import Faults

#: A delay that a test can afford, in seconds.
DELAY = 0.05


def current(faults: Faults) -> MLContext:
    return ML(revision=CURRENT, faults=faults).createContextSync()


def former(faults: Faults) -> MLContext:
    return ML(revision="2024-06", faults=faults).createContextSync()


def double(context: MLContext) -> MLGraph:
    """x * 2 as "y", in a context of June 2024."""
    builder = MLGraphBuilder(context)
    x = builder.input("x", {"dataType": "float32", "dimensions": SHAPE})
    return builder.buildSync({"y": builder.mul(x, builder.constant("float32", 2))})


def compute(context: MLContext, graph: MLGraph) -> float:
    """Return the one number that all elements of the output are, for inputs of 1."""
    result = context.computeSync(graph, {"x": full(1)}, {"y": full(0)})
    (number,) = set(result["outputs"]["y"].ravel().tolist())
    return float(number)


def outcome(call: Callable[[], Any]) -> str:
    """Return what a call does, in a word."""
    try:
        call()
    except (DOMException, WebNNTypeError) as error:
        return error.name if isinstance(error, DOMException) else "TypeError"
    return "ok"


def constant_tensor(context: MLContext) -> Any:
    return context.createConstantTensorSync({"dataType": "float32", "shape": SHAPE}, full(0))
