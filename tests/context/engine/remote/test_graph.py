"""Graphs of contexts with processes compute what they compute in this process, and can be looked into."""

from __future__ import annotations

import itertools
import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.context.engine.remote.isolated import ONES, build, host_of, isolated, started, stop
from tests.support import CURRENT
from webnn import ML, MLContext, MLGraph, MLGraphBuilder, OperationError, WebNNWarning
from webnn.context.devices.selection import CPU
from webnn.context.engine.remote.channel import Operation
from webnn.context.engine.remote.graph import RemoteGraph
from webnn.context.engine.remote.host import EngineError, Host
from webnn.context.faults import Faults

pytestmark = pytest.mark.processes
Array = np.ndarray[Any, np.dtype[Any]]


@pytest.fixture(scope="module")
def contexts() -> tuple[MLContext, MLContext]:
    """A context with a process, and one without."""
    return isolated("2026-06+compute"), ML(revision="2026-06+compute", isolate=False).createContextSync(deviceType="cpu")


def convolution(builder: MLGraphBuilder, x: Any) -> Any:
    weights = np.random.default_rng(1).normal(size=(16, 4, 3, 3)).astype(np.float32)
    return builder.relu(builder.conv2d(x, builder.constant({"dataType": "float32", "shape": [16, 4, 3, 3]}, weights)))


#: A function that makes the result of an input, and the type and shape of that.
GRAPHS: dict[str, tuple[Any, str, list[int]]] = {
    "no operator": (lambda b, x: b.identity(x), "float32", [2, 3]),
    "a scalar": (lambda b, x: b.sin(x), "float32", []),
    "softmax": (lambda b, x: b.softmax(x, 1), "float32", [64, 10]),
    "gelu": (lambda b, x: b.gelu(x), "float32", [1000]),
    "float16": (lambda b, x: b.matmul(x, x), "float16", [32, 32]),
    "integers": (lambda b, x: b.cast(b.add(x, x), "int32"), "int64", [7, 3]),
    "uint8": (lambda b, x: b.logicalNot(x), "uint8", [5]),
    "large weights": (convolution, "float32", [1, 4, 20, 20]),
    "several": (lambda b, x: b.concat([b.tanh(x), b.transpose(x), b.reduceMax(x, axes=[1], keepDimensions=True)], 1), "float32", [9, 9]),
}


def make(context: MLContext, name: str) -> MLGraph:
    emit, dataType, shape = GRAPHS[name]
    builder = MLGraphBuilder(context)
    return builder.buildSync({"y": emit(builder, builder.input("x", dataType=dataType, shape=shape))})


def numbers(name: str) -> Array:
    _, dataType, shape = GRAPHS[name]
    values = np.random.default_rng(2).normal(size=shape) * 3
    return np.asarray(np.maximum(values, 0) if dataType == "uint8" else values).astype(dataType)


@pytest.mark.parametrize("name", GRAPHS)
def test_same_results(contexts: tuple[MLContext, MLContext], name: str) -> None:
    x = numbers(name)
    results: list[list[Array]] = []
    for context in contexts:
        graph = make(context, name)
        assert isinstance(graph._implementation, RemoteGraph) is (context is contexts[0])
        ran = graph.run(x=x)["y"]
        computed = context.computeSync(graph, {"x": x.copy()}, {"y": np.empty_like(ran)})["outputs"]["y"]
        source, target = (
            context.createTensorSync(dataType=each.dtype.name, shape=list(each.shape), readable=True, writable=True) for each in (x, ran)
        )
        read = []
        for _ in range(2):  # the second one repeats the first
            context.writeTensor(source, x)
            context.dispatch(graph, {"x": source}, {"y": target})
            read.append(context.readTensorSync(target))
        results.append([ran, computed, *read])
    for mine, theirs in zip(*results, strict=True):
        assert mine.tobytes() == theirs.tobytes()
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)


def test_tensors_go_from_graph_to_graph_without_a_copy() -> None:
    context = isolated()
    graphs = [build(context, factor) for factor in (1.0, 2.0, 3.0)]
    tensors = [context.createTensorSync(dataType="float32", shape=[8, 8], readable=True, writable=True) for _ in range(4)]
    context.writeTensor(tensors[0], ONES)
    addresses = [tensor._memory.array.ctypes.data for tensor in tensors]  # type: ignore[union-attr]
    for _ in range(2):
        for graph, (source, target) in zip(graphs, itertools.pairwise(tensors), strict=True):
            context.dispatch(graph, {"x": source}, {"y": target})
    assert context.readTensorSync(tensors[-1]).tolist() == [[0.125] * 8] * 8
    assert addresses == [tensor._memory.array.ctypes.data for tensor in tensors]  # type: ignore[union-attr]
    # Nothing was allocated for copies.
    assert all(not graph._implementation._copies for graph in graphs)  # type: ignore[union-attr]


@pytest.mark.parametrize("size", [8, 1024])
def test_memory_that_comes_again_is_zero(size: int) -> None:
    context = isolated()
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=[size, size])
    graph = builder.buildSync({"y": builder.add(x, builder.constant("float32", 1))})

    def make() -> Any:
        return context.createTensorSync(dataType="float32", shape=[size, size], readable=True, writable=True)

    kept, places = make(), []
    for _ in range(6):
        # An input, an output, and a tensor that is read.
        given, wanted, read = (make() for _ in range(3))
        context.dispatch(graph, {"x": given}, {"y": kept})
        context.dispatch(graph, {"x": kept}, {"y": wanted})
        assert (context.readTensorSync(wanted) == 2).all()
        assert not context.readTensorSync(read).any()
        for tensor in (given, wanted, read):
            context.writeTensor(tensor, np.full((size, size), 7, np.float32))
            places.append(tensor._memory.place)
            tensor.destroy()
    assert len({*places}) < len(places)


def test_tensors_change_places_and_end() -> None:
    context = isolated()
    graph = build(context)
    for number in range(30):
        size = 8 if number % 3 else 1024
        builder = MLGraphBuilder(context)
        x = builder.input("x", dataType="float32", shape=[size, size])
        scaled = builder.buildSync({"y": builder.mul(x, builder.constant("float32", number))})
        a, b = (context.createTensorSync(dataType="float32", shape=[size, size], readable=True, writable=True) for _ in range(2))
        context.writeTensor(a, np.ones((size, size), np.float32))
        context.dispatch(scaled, {"x": a}, {"y": b})
        if size == 8:
            context.dispatch(graph, {"x": b}, {"y": a})
        assert context.readTensorSync(b).max() == number
        a.destroy()
        b.destroy()
        scaled.destroy()


def test_an_output_that_is_not_wanted(contexts: tuple[MLContext, MLContext]) -> None:
    context = contexts[0]
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=[4])
    graph = builder.buildSync({"a": builder.add(x, x), "b": builder.neg(x)})
    for wanted in (["a"], ["b"], ["a", "b"], ["b"]):
        outputs = context.computeSync(graph, {"x": np.ones(4, np.float32)}, {name: np.zeros(4, np.float32) for name in wanted})["outputs"]
        assert {name: each[0] for name, each in outputs.items()} == {name: {"a": 2, "b": -1}[name] for name in wanted}


def test_a_graph_is_looked_into() -> None:
    graph = build(isolated())
    inputs = {"x": ONES}
    assert [(each.operation, bool(each.kernels)) for each in graph.profile(inputs).operators] == [
        ("mul", True),
        ("matmul", True),
        ("softmax", True),
    ]
    assert [value.operation for value in graph.trace(inputs).values] == ["input", "mul", "matmul", "softmax"]
    assert max(each.relative for each in graph.accuracy(inputs).operators) < 1e-6
    assert graph.firstNaN(inputs) is None
    assert graph.devices == ["cpu"]


def test_the_program_reads_no_other_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text("[]")
    graph = build(isolated())
    request = Host.request

    def lie(host: Host, operation: Operation, body: bytes = b"", **told: str) -> bytes:
        answer = request(host, operation, body, **told)
        return str(secret).encode() if operation is Operation.END_PROFILE else answer

    monkeypatch.setattr(Host, "request", lie)
    with pytest.raises(OperationError, match="wrote no such file"):
        graph.profile({"x": ONES})


def test_the_engine_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error names the operator, as without a process, and the process goes on."""
    context = isolated("2026-06+compute")
    graph = build(context)

    def fail(*_: object, **__: object) -> bytes:
        raise EngineError("Non-zero status code returned while running MatMul node. Name:'matmul#2.0'", whole=False)

    with monkeypatch.context() as patch:
        patch.setattr(Host, "request", fail)
        with pytest.raises(OperationError, match="compute: the engine failed in the graph at matmul") as caught:
            graph.run(x=ONES)
        assert caught.value.operation == "matmul"
    assert graph.run(x=ONES)["y"][0, 0] == 0.125


def test_a_model_that_the_engine_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    context = isolated()
    monkeypatch.setattr("webnn.builder.onnx.translate.OnnxModel.serialize", lambda _: b"not a model")
    with pytest.raises(OperationError, match="build: the engine refused the graph"):
        build(context)
    monkeypatch.undo()
    assert build(context).run(x=ONES)["y"][0, 0] == 0.125


def test_the_cache(tmp_path: Path) -> None:
    folder = tmp_path / "models"

    def chain(context: MLContext) -> MLGraph:
        builder = MLGraphBuilder(context)
        x = builder.input("x", dataType="float32", shape=[4])
        for _ in range(12):
            x = builder.sin(x)
        return builder.buildSync({"y": x})

    first, second = (chain(isolated(cache=folder)).run(x=np.ones(4, np.float32))["y"] for _ in range(2))
    assert first.tobytes() == second.tobytes()
    assert list(folder.iterdir())
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.warns(WebNNWarning, match="the cache of models is not used"):
        chain(isolated(cache=blocked))


def test_faults_are_injected(contexts: tuple[MLContext, MLContext]) -> None:
    context = isolated(faults=Faults(failBuild=1))
    with pytest.raises(OperationError, match="failBuild"):
        build(context)


def test_the_process_has_the_engine_alone() -> None:
    """It does not load onnx, which takes long."""
    context = isolated()
    build(context)
    maps = Path(f"/proc/{started(context)}/maps")
    if not maps.exists():
        pytest.skip("this system does not tell which libraries a process has")
    loaded = maps.read_text()
    assert "onnxruntime" in loaded
    assert "onnx_cpp2py" not in loaded


def test_a_destroyed_graph_is_dropped() -> None:
    context = isolated()
    host = host_of(context)
    graph, other = build(context), build(context)
    graph.destroy()
    del graph
    assert list(host._dropped) == [1]
    other.run(x=ONES)
    assert not host._dropped


def test_where_contexts_have_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    def has(**options: Any) -> bool:
        context = ML(revision=CURRENT, **options).createContextSync(deviceType="cpu")
        return getattr(context._state.load_backend(), "_host", None) is not None

    assert [has(), has(isolate=True), has(isolate=False), has(reference=True, isolate=True)] == [False, True, False, False]
    assert has(profile="coreml", isolate=True)
    monkeypatch.setenv("WEBNN_ISOLATE", "1")
    assert has()
    assert not has(isolate=False)


def test_the_placement_is_the_processes() -> None:
    graph = build(isolated())
    implementation = graph._implementation
    assert implementation is not None
    assert implementation.providers == [CPU]
    assert json.dumps(graph.placement.to_dict())


def test_a_stopped_process_goes_on() -> None:
    """A short stop is not a hang."""
    context = isolated()
    graph = build(context)
    pid = stop(context)
    threading.Timer(0.3, os.kill, [pid, signal.SIGCONT]).start()
    assert graph.run(x=ONES)["y"][0, 0] == 0.125
