"""`MLGraph.run`: arrays in, arrays out, in the contexts of all drafts."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import CURRENT, each_row, refused
from webnn import ML, Faults, InvalidStateError, MLGraph, MLGraphBuilder, OperationError, WebNNTypeError

DRAFTS = ("2024-06", CURRENT)
X = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)
POSITIVE = np.maximum(X, 0)


def build(revision: str = CURRENT, names: tuple[str, ...] = ("x",), **settings: Any) -> MLGraph:
    """Build a graph: y is the positive part of the sum of the inputs, n what is negated of it."""
    builder = MLGraphBuilder(ML(revision=revision, **settings).createContextSync())
    member = "dimensions" if revision == "2024-06" else "shape"
    first, *others = [builder.input(name, {"dataType": "float32", member: [2, 3]}) for name in names]  # type: ignore[misc]  # of either draft
    for other in others:
        first = builder.add(first, other)
    y = builder.relu(first)
    return builder.buildSync({"y": y, "n": builder.neg(y)})


def check(found: Mapping[str, Any], expected: Any = POSITIVE) -> None:
    assert list(found) == ["y", "n"]
    np.testing.assert_array_equal(found["y"], expected, strict=True)
    np.testing.assert_array_equal(found["n"], -expected, strict=True)


@pytest.mark.parametrize("settings", [{}, {"reference": True}, {"profile": "tflite"}, {"numerics": "fast"}], ids=str)
@each_row("revision", DRAFTS)
def test_a_run(revision: str, settings: dict[str, Any]) -> None:
    graph = build(revision, **settings)
    frozen, strided = X.copy(), np.asfortranarray(X)
    frozen.flags.writeable = False
    for x in (X, X.ravel(), frozen, strided, memoryview(X)):
        check(graph.run(x=x))
        check(graph.run({"x": x}))
    assert X.flags.writeable
    np.testing.assert_array_equal(frozen, X)


def test_the_results_are_new_each_time() -> None:
    graph = build()
    first, second = graph.run(x=X), graph.run(x=-X)
    check(first)
    check(second, np.maximum(-X, 0))
    arrays = [X, *first.values(), *second.values()]
    assert not any(np.shares_memory(a, b) for number, a in enumerate(arrays) for b in arrays[:number])


def test_names_that_are_no_identifiers() -> None:
    names = ("self", "inputs", "a b", "x:0")
    graph = build(names=names)
    check(graph.run(dict.fromkeys(names, X)), 4 * POSITIVE)
    check(build(names=("self", "inputs")).run(self=X, inputs=X), 2 * POSITIVE)


def test_types_and_shapes_of_outputs() -> None:
    builder = MLGraphBuilder(ML(revision=CURRENT).createContextSync())
    x = builder.input("x", dataType="float16", shape=[])
    wide = builder.constant({"dataType": "int64", "shape": [1, 2]}, np.array([[7, -7]]))
    found = builder.buildSync({"scalar": builder.abs(x), "wide": builder.neg(wide)}).run(x=np.float16([-2]))
    np.testing.assert_array_equal(found["scalar"], np.array(2, np.float16), strict=True)
    np.testing.assert_array_equal(found["wide"], np.array([[-7, 7]]), strict=True)


WRONG: dict[str, tuple[tuple[Any, ...], dict[str, Any], str, str]] = {
    "missing": ((), {}, "inputs", "name"),
    "missing in a mapping": (({},), {}, "inputs", "name"),
    "unknown": ((), {"x": X, "z": X}, "inputs", "name"),
    "both": (({"x": X},), {"x": X}, "inputs", "once"),
    "no mapping": ((X,), {}, "inputs", "conversion"),
    "type": ((), {"x": X.astype(np.float64)}, "inputs['x']", "type"),
    "length": ((), {"x": X[:1]}, "inputs['x']", "byte-length"),
    "shape": ((), {"x": X.T}, "inputs['x']", "shape"),
    "list": ((), {"x": X.tolist()}, "inputs['x']", "conversion"),
}


@pytest.mark.parametrize(("given", "named", "argument", "rule"), WRONG.values(), ids=WRONG)
@each_row("revision", DRAFTS)
def test_wrong_inputs(revision: str, given: Any, named: dict[str, Any], argument: str, rule: str) -> None:
    graph = build(revision)
    with refused(rule=rule, operation="run", argument=argument):
        graph.run(*given, **named)
    check(graph.run(x=X))


def test_between_other_calls_of_2024() -> None:
    context = ML(revision="2024-06").createContextSync()
    builder = MLGraphBuilder(context)
    graph = builder.buildSync({"y": builder.relu(builder.input("x", dataType="float32", dimensions=[2, 3]))})
    given = X.copy()
    result = context.computeSync(graph, {"x": given}, {"y": np.empty((2, 3), np.float32)})
    with pytest.raises(WebNNTypeError) as caught:
        graph.run(x=given)
    assert caught.value.argument == "inputs['x']"
    again = result["inputs"]["x"]
    np.testing.assert_array_equal(graph.run(x=again)["y"], POSITIVE, strict=True)
    # It was read, so it can be transferred.
    again *= -1
    result = context.computeSync(graph, {"x": again}, result["outputs"])
    np.testing.assert_array_equal(result["outputs"]["y"], np.maximum(-X, 0), strict=True)


def test_between_other_calls_since_2026() -> None:
    context = ML(revision=CURRENT).createContextSync()
    builder = MLGraphBuilder(context)
    graph = builder.buildSync({"y": builder.relu(builder.input("x", dataType="float32", shape=[2, 3]))})
    x = context.createTensorSync(dataType="float32", shape=[2, 3], writable=True)
    y = context.createTensorSync(dataType="float32", shape=[2, 3], readable=True)
    for number in range(3):
        context.writeTensor(x, X * number)
        context.dispatch(graph, {"x": x}, {"y": y})
        np.testing.assert_array_equal(graph.run(x=-X)["y"], np.maximum(-X, 0), strict=True)
        context.dispatch(graph, {"x": x}, {"y": y})
        np.testing.assert_array_equal(context.readTensorSync(y), POSITIVE * number, strict=True)


def test_two_threads() -> None:
    graph = build()
    wrong: list[Any] = []

    def work(factor: int) -> None:
        for _ in range(200):
            found = graph.run(x=X * factor)["y"]
            if not np.array_equal(found, np.maximum(X * factor, 0)):
                wrong.append(found)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, (-3, 2)))
    assert wrong == []


def test_a_graph_that_is_gone() -> None:
    graph = build()
    graph.destroy()
    with refused(InvalidStateError, rule="destroyed", operation="run"):
        graph.run(x=X)


def test_a_context_that_is_gone() -> None:
    context = ML(revision=CURRENT).createContextSync()
    builder = MLGraphBuilder(context)
    graph = builder.buildSync({"y": builder.relu(builder.input("x", dataType="float32", shape=[2, 3]))})
    context.destroy()
    with refused(InvalidStateError, rule="lost", operation="run", said="destroy() was called"):
        graph.run(x=X)


@each_row("revision", DRAFTS)
def test_faults(revision: str) -> None:
    faults = Faults(failCompute=2)
    graph = build(revision, faults=faults)
    check(graph.run(x=X))
    with pytest.raises(WebNNTypeError):
        graph.run()
    with refused(OperationError, rule="fault", operation="run", said="failCompute=2"):
        graph.run(x=X)
    faults.memoryLimit = X.nbytes
    with refused(OperationError, rule="fault", operation="run"):
        graph.run(x=X)
    faults.memoryLimit, faults.loseAfter, faults.delay = None, 2, 0.001
    check(graph.run(x=X))
    check(graph.run(x=X))
    with refused(InvalidStateError, rule="lost", operation="run", said="loseAfter=2"):
        graph.run(x=X)


def test_a_run_is_observed() -> None:
    seen: list[Mapping[str, Any]] = []
    with webnn.emulate(on_compute=lambda _, inputs: seen.append(inputs)):
        graph = build()
    check(graph.run(x=X))
    (inputs,) = seen
    np.testing.assert_array_equal(inputs["x"], X, strict=True)
    assert not inputs["x"].flags.writeable
