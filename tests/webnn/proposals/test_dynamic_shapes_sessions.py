"""dynamic-shapes: which sizes share a session, and what the graphs of such a session say and do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webnn
import webnn.inspect
from tests.support import PATIENCE, Array
from tests.webnn.proposals.test_dynamic_shapes import REVISION, constant, dispatch, make_builder, matrix
from tests.webnn.proposals.test_dynamic_shapes_dispatch import _block
from webnn import MLGraphBuilder
from webnn.context.engine.session import CompiledGraph
from webnn.proposals.dynamic_shapes.graph import MOST_COMPILED


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the models of the sessions that are made from now on."""
    made: list[Any] = []
    begin = CompiledGraph.__init__

    def note(self: CompiledGraph, model: Any, *arguments: Any, **named: Any) -> None:
        made.append(model)
        begin(self, model, *arguments, **named)

    monkeypatch.setattr(CompiledGraph, "__init__", note)
    return made


def _rows(*shape: int) -> Array:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 7 - 3


def test_a_growing_cache_has_one_session_for_a_token(sessions: list[Any]) -> None:
    b = make_builder()
    y, keys, values = _block(b, "tokens", "past")
    graph = b.buildSync({"y": y, "keys": keys, "values": values})
    cache = {name: _rows(1, 2, 1, 4) for name in ("keys", "values")}
    for _ in range(MOST_COMPILED + 8):
        found = dispatch(graph, {"x": _rows(1, 1, 8), **cache})
        cache = {name: found[name] for name in cache}
    assert cache["keys"].shape == (1, 2, MOST_COMPILED + 9, 4)
    assert len(sessions) == 1
    for _ in range(2):
        dispatch(graph, {"x": _rows(1, 3, 8), **cache})
    # A row alone is multiplied by other nodes.
    assert len(sessions) == 2
    assert {dim.dim_param for each in sessions[0].proto.graph.input for dim in each.type.tensor_type.shape.dim} == {
        "",
        "'tokens'",
        "'past'",
    }


def _count_rows(b: Any, x: Any, dtype: str = "int32") -> Any:
    rows = b.cast(b.slice(b.shape(x), [0], [1]), dtype)
    return b.range(constant(b, np.array([0], dtype)), rows, constant(b, np.array([1], dtype)))


def test_a_growing_cache_is_not_copied() -> None:
    context: Any = webnn.ML(revision=REVISION).createContextSync()
    b: Any = MLGraphBuilder(context)
    cache, new = b.input("cache", {"dataType": "float32", "shape": ["past", 256]}), matrix(b, "new", 1, 256)
    graph = b.buildSync({"grown": b.concat([cache, new], 0)})

    def tensor(rows: int) -> Any:
        return context.createTensorSync({"dataType": "float32", "shape": [rows, 256], "readable": True, "writable": True})

    kept, added = tensor(1), tensor(1)
    context.writeTensor(added, np.ones((1, 256), np.float32))
    with webnn.inspect.record_waste(context) as recorder:
        for past in range(1, 8):
            grown = tensor(past + 1)
            context.dispatch(graph, {"cache": kept, "new": added}, {"grown": grown})
            kept.destroy()
            kept = grown
    assert recorder.report().total.copies == 0
    np.testing.assert_array_equal(context.readTensorSync(kept), np.pad(np.ones((7, 256), np.float32), [(1, 0), (0, 0)]), strict=True)


#: Graphs of "x", float32 [n, 4], and the numbers of rows that share a session. The others have one alone.
SHARED: dict[str, tuple[Callable[[Any, Any], Any], int]] = {
    "reshape": (lambda b, x: b.reshapeDynamic(x, b.concat([b.slice(b.shape(x), [0], [1]), constant(b, np.uint32([2, 2]))], 0)), 1),
    "flat": (lambda b, x: b.reshapeDynamic(x, b.mul(b.slice(b.shape(x), [0], [1]), constant(b, np.uint32([4])))), 1),
    "expand": (lambda b, x: b.expandDynamic(constant(b, np.ones((1, 1), np.float32)), b.shape(x)), 1),
    "slice": (lambda b, x: b.sliceDynamic(x, constant(b, np.uint32([0, 1])), b.sub(b.shape(x), constant(b, np.uint32([1, 1])))), 1),
    "tile": (lambda b, x: b.tile(x, [2, 1]), 1),
    "argMax": (lambda b, x: b.argMax(x, 0), 1),
    "softmax": (lambda b, x: b.softmax(x, 0), 1),
    "layerNormalization": (lambda b, x: b.layerNormalization(x, axes=[0]), 1),
    "data of a shape": (lambda b, x: b.add(b.cast(b.slice(b.shape(x), [0], [1]), "float32"), x), 1),
    "range": (lambda b, x: b.add(b.unsqueeze(b.cast(_count_rows(b, x), "float32"), [1]), x), 1),
    "range of float32": (lambda b, x: b.add(b.unsqueeze(_count_rows(b, x, "float32"), [1]), x), 3),
    "indices": (lambda b, x: b.gather(x, b.cast(b.reduceSum(x, axes=[0]), "int32")), 1),
    "coordinates": (lambda b, x: b.gatherND(x, b.slice(b.cast(x, "uint32"), [0, 0], [2, 2])), 1),
    "integers": (lambda b, x: b.cast(b.reduceSum(b.cast(x, "int32"), axes=[0]), "float32"), 3),
    "mirror": (lambda b, x: b.pad(x, [1, 0], [2, 0], mode="reflection"), 1),
}


@pytest.mark.parametrize("name", SHARED)
def test_the_sizes_that_an_operation_must_know(name: str, sessions: list[Any]) -> None:
    make, count = SHARED[name]
    context: Any = webnn.ML(revision=REVISION).createContextSync()
    b: Any = MLGraphBuilder(context)
    graph = b.buildSync({"y": b.neg(make(b, matrix(b, "x", "n", 4)))})
    for rows in (3, 5, 8, 5, 3):
        found = dispatch(graph, {"x": _rows(rows, 4)}, context)["y"]
        fixed: Any = MLGraphBuilder(context)
        expected = fixed.buildSync({"y": fixed.neg(make(fixed, matrix(fixed, "x", rows, 4)))})
        np.testing.assert_array_equal(found, dispatch(expected, {"x": _rows(rows, 4)}, context)["y"], strict=True)
    assert len(sessions) == count + 5


def test_a_size_that_does_not_matter_is_not_in_the_key(sessions: list[Any]) -> None:
    b = make_builder()
    x, y = matrix(b, "x", "n", 4), matrix(b, "y", "m", 4)
    total = b.reduceSum(b.cast(x, "int32"), axes=[0])
    graph = b.buildSync({"total": total, "y": b.neg(y)})
    for rows, others in [(3, 2), (3, 7), (5, 7), (5, 2), (3, 9)]:
        found = dispatch(graph, {"x": _rows(rows, 4), "y": _rows(others, 4)})
        np.testing.assert_array_equal(found["y"], -_rows(others, 4))
    assert len(sessions) == 2


def test_run_takes_the_same_memory_with_other_sizes() -> None:
    b = make_builder()
    graph = b.buildSync({"y": b.relu(matrix(b, "x", "n", 4))})
    memory = _rows(8, 4)
    for rows in (8, 2, 8, 3):
        np.testing.assert_array_equal(graph.run(x=memory[:rows])["y"], np.maximum(memory[:rows], 0))
        np.testing.assert_array_equal(dispatch(graph, {"x": memory[:rows]})["y"], np.maximum(memory[:rows], 0))


def test_small_integers_are_bound_by_their_sizes(sessions: list[Any]) -> None:
    revision = "2026-06+dynamic-shapes+browsers"
    context: Any = webnn.ML(revision=revision).createContextSync()
    b: Any = MLGraphBuilder(context)
    x = b.input("x", {"dataType": "int4", "shape": ["n"]})
    graph = b.buildSync({"y": b.cast(x, "int32")})
    for count in (2, 6, 4):
        given = context.createTensorSync({"dataType": "int4", "shape": [count], "writable": True})
        context.writeTensor(given, np.arange(count // 2, dtype=np.uint8))
        wanted = context.createTensorSync({"dataType": "int32", "shape": [count], "readable": True})
        context.dispatch(graph, {"x": given}, {"y": wanted})
        expected = [each for byte in range(count // 2) for each in (byte & 15, byte >> 4)]
        np.testing.assert_array_equal(context.readTensorSync(wanted), expected)
    assert len(sessions) == 1


def test_placement_and_description_have_sizes() -> None:
    b = make_builder()
    x = matrix(b, "x", "n", 4)
    graph = b.buildSync({"y": b.relu(b.reshapeDynamic(x, b.shape(x)), label="last")})
    for rows in (3, 5):
        dispatch(graph, {"x": _rows(rows, 4)})
        placement = graph.placement
        assert [each.label for each in placement.operators if each.label] == ["last"]
        assert [(each.inputBytes, each.outputBytes) for each in placement.partitions] == [(16 * rows, 16 * rows)]


def test_a_profile_asks_once_for_all_sizes_that_it_takes(sessions: list[Any]) -> None:
    context: Any = webnn.ML(revision=REVISION, profile="tflite-chromium153", engine="onnxruntime").createContextSync()
    b: Any = MLGraphBuilder(context)
    graph = b.buildSync({"y": b.relu(matrix(b, "x", "n", 4))})
    for rows in (3, 5):
        np.testing.assert_array_equal(dispatch(graph, {"x": _rows(rows, 4)}, context)["y"], np.maximum(_rows(rows, 4), 0))
        assert graph.placement.devices
    assert len(sessions) == 1


def test_threads_share_a_session(sessions: list[Any]) -> None:
    b = make_builder()
    graph = b.buildSync({"y": b.softmax(matrix(b, "x", "n", 4), 1)})
    dispatch(graph, {"x": _rows(1, 4)})
    errors: list[BaseException] = []

    def work(first: int) -> None:
        try:
            for rows in range(first, 60, 3):
                total = dispatch(graph, {"x": _rows(rows, 4)})["y"].sum(1)
                np.testing.assert_allclose(total, np.ones(rows), rtol=1e-6)
        except BaseException as error:  # it fails the test below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(first,)) for first in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not errors
    assert len(sessions) == 1


def test_hooks_get_graphs_with_sizes() -> None:
    built: list[Any] = []
    ml = webnn.ML(revision=REVISION)
    ml._watch(lambda source, graph: built.append((source, graph)), lambda *_: None)
    context: Any = ml.createContextSync()
    b: Any = MLGraphBuilder(context)
    graph = b.buildSync({"y": b.relu(matrix(b, "x", "n", 4))})
    for rows in (3, 5):
        dispatch(graph, {"x": _rows(rows, 4)}, context)
    assert [source.inputs["x"].descriptor.dimensions for source, _ in built] == [("n", 4), (3, 4), (5, 4)]
    assert [each.description.inputs["x"].dimensions for _, each in built] == [("n", 4), (3, 4), (5, 4)]


def test_a_lost_context_ends_all_graphs_of_a_session() -> None:
    context: Any = webnn.ML(revision=REVISION).createContextSync()
    b: Any = MLGraphBuilder(context)
    graph = b.buildSync({"y": b.relu(matrix(b, "x", "n", 4))})
    kept = []
    for rows in (3, 5):
        dispatch(graph, {"x": _rows(rows, 4)}, context)
        kept.append(graph._implementation.last)
    context.destroy()
    assert [each._implementation for each in kept] == [None, None]
    with pytest.raises(webnn.InvalidStateError, match="lost"):
        graph.computeShapes({"x": [3, 4]})


def test_the_reference_compiles_for_each_set_of_sizes(sessions: list[Any]) -> None:
    context: Any = webnn.ML(revision=REVISION, reference=True).createContextSync()
    b: Any = MLGraphBuilder(context)
    graph = b.buildSync({"y": b.relu(matrix(b, "x", "n", 4))})
    for rows in (3, 5, 3):
        np.testing.assert_array_equal(dispatch(graph, {"x": _rows(rows, 4)}, context)["y"], np.maximum(_rows(rows, 4), 0))
    assert not any(each.implementation for each in graph._implementation._variants)
    assert not sessions


def test_an_engine_that_refuses_names_gets_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = CompiledGraph.__init__

    def refuse(self: CompiledGraph, model: Any, *arguments: Any, **named: Any) -> None:
        if any(dim.dim_param for each in model.proto.graph.input for dim in each.type.tensor_type.shape.dim):
            raise webnn.OperationError("build: no names")
        begin(self, model, *arguments, **named)

    monkeypatch.setattr(CompiledGraph, "__init__", refuse)
    b = make_builder()
    graph = b.buildSync({"y": b.relu(matrix(b, "x", "n", 4))})
    for rows in (3, 5, 3):
        np.testing.assert_array_equal(dispatch(graph, {"x": _rows(rows, 4)})["y"], np.maximum(_rows(rows, 4), 0))


def test_data_may_have_more_elements_than_shapes() -> None:
    """A range as long as a dimension is data: it has a placement with any size."""
    b = make_builder()
    x = b.input("x", {"dataType": "int32", "shape": ["n"]})
    length = b.reshape(b.cast(b.shape(x), "int32"), [])
    graph = b.buildSync({"y": b.add(x, b.range(b.constant("int32", 0), length, b.constant("int32", 1)), label="sum")})
    for size in (3, 5000):
        assert dispatch(graph, {"x": np.ones(size, np.int32)})["y"][-1] == size
        assert [each.label for each in graph.placement.operators if each.label] == ["sum"]
