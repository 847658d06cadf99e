"""Helpers for the tests of tensors: contexts of the draft 2026-06, graphs and tensors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from tests.support import CURRENT, PATIENCE, make_context
from webnn import MLContext, MLGraph, MLGraphBuilder
from webnn.context.tensor import MLTensor
from webnn.context.timeline import Timeline

SHAPE = (2, 3)


def current() -> MLContext:
    return make_context(CURRENT)


def full(value: float, dtype: Any = np.float32) -> Any:
    return np.full(SHAPE, value, dtype)


def make(context: MLContext, dataType: Any = "float32", shape: Any = SHAPE, *, readable: bool = True, writable: bool = True) -> MLTensor:
    return context.createTensorSync(dataType=dataType, shape=shape, readable=readable, writable=writable)


def filled(context: MLContext, value: float) -> MLTensor:
    tensor = make(context)
    context.writeTensor(tensor, full(value))
    return tensor


def value(context: MLContext, tensor: MLTensor) -> float:
    """Return the one number that all elements of a tensor are."""
    (number,) = set(context.readTensorSync(tensor).ravel().tolist())
    return float(number)


def add_graph(context: MLContext) -> MLGraph:
    """x + y as "sum", x - y as "difference"."""
    builder = MLGraphBuilder(context)
    x, y = (builder.input(name, dataType="float32", shape=SHAPE) for name in ("x", "y"))
    return builder.buildSync({"sum": builder.add(x, y), "difference": builder.sub(x, y)})


def scale_graph(context: MLContext, factor: float) -> MLGraph:
    """x * factor as "y"."""
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=SHAPE)
    return builder.buildSync({"y": builder.mul(x, builder.constant("float32", factor))})


def negation(former: MLContext) -> MLGraph:
    """-x as "y", in a context of June 2024."""
    builder = MLGraphBuilder(former)
    return builder.buildSync({"y": builder.neg(builder.input("x", {"dataType": "float32", "dimensions": SHAPE}))})


def ran_on(graph: MLGraph) -> list[int]:
    """Return a list to which each run of a graph appends its thread."""
    implementation: Any = graph._implementation
    threads: list[int] = []
    repeat = implementation.repeat
    implementation.repeat = lambda: (threads.append(threading.get_ident()), repeat())
    return threads


def held(context: MLContext) -> AbstractContextManager[Callable[[], None]]:
    """Hold the context's timeline, so that what is queued waits; the value releases it earlier."""
    return busy(context._state.timeline)


@contextmanager
def busy(timeline: Timeline) -> Iterator[Callable[[], None]]:
    """Hold a timeline, as `held` does."""
    gate, running = threading.Event(), threading.Event()

    def hold() -> None:
        running.set()
        gate.wait(PATIENCE)

    timeline.hurry(hold)
    assert running.wait(PATIENCE)
    try:
        yield gate.set
    finally:
        gate.set()
