"""The memory of transferred arrays."""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import refused
from webnn.context.buffers import TransferredMemory


def test_a_byte_length_that_nobody_uses_leaves_nothing_behind() -> None:
    context = webnn.ML(revision="2024-06").createContextSync()

    def compute_twice(size: int) -> None:
        builder = webnn.MLGraphBuilder(context)
        x = builder.input("x", {"dataType": "uint8", "dimensions": [size]})
        graph = builder.buildSync({"y": builder.identity(x)})
        arrays = context.computeSync(graph, {"x": np.zeros(size, np.uint8)}, {"y": np.zeros(size, np.uint8)})
        context.computeSync(graph, {"x": arrays["inputs"]["x"]}, {"y": arrays["outputs"]["y"]})

    gc.collect()
    before = len(ctypes.Array.__subclasses__())
    for size in range(5000, 5040):
        compute_twice(size)
    gc.collect()
    assert len(ctypes.Array.__subclasses__()) <= before


def test_memory_goes_from_hand_to_hand() -> None:
    context = webnn.ML(revision="2024-06").createContextSync()
    graphs = []
    for _ in range(2):
        builder = webnn.MLGraphBuilder(context)
        graphs.append(builder.buildSync({"y": builder.relu(builder.input("x", {"dataType": "float32", "dimensions": [3]}))}))
    arrays = context.computeSync(graphs[0], {"x": np.zeros(3, np.float32)}, {"y": np.zeros(3, np.float32)})
    owner = arrays["outputs"]["y"].base
    assert isinstance(owner, TransferredMemory)
    again = context.computeSync(graphs[1], {"x": arrays["outputs"]["y"]}, {"y": arrays["inputs"]["x"]})
    # The memory as a whole goes from hand to hand, with no chain of owners behind it.
    assert again["inputs"]["x"].base is owner


def change_shape(array: Any) -> Any:
    array.shape = (3, 2)
    return array


def change_type(array: Any) -> Any:
    array.dtype = np.int32
    return array


def lock(array: Any) -> Any:
    array.flags.writeable = False
    return array


#: Changes of a result before a program passes it on; the elements that the graph then sees, or a part of the refusal.
CHANGES: list[tuple[str, Callable[[Any], Any], list[float] | str]] = [
    ("nothing", lambda array: array, [0, 1, 2, 3, 4, 5]),
    ("another type, in place", change_type, "type"),
    ("another shape, in place", change_shape, [0, 1, 2, 3, 4, 5]),
    ("a view of another shape", lambda array: array.reshape(6), [0, 1, 2, 3, 4, 5]),
    ("a view", lambda array: array[...], [0, 1, 2, 3, 4, 5]),
    ("read-only, in place", lock, "writeable"),
    ("transposed", lambda array: array.T, "layout"),
    ("another type", lambda array: array.view(np.int32), "type"),
    ("a part", lambda array: array[:1], "byte-length"),
    ("a subclass", lambda array: array.view(np.recarray), [0, 1, 2, 3, 4, 5]),
    ("a list", lambda array: array.tolist(), "conversion"),
    ("a copy", np.copy, [0, 1, 2, 3, 4, 5]),
]


@pytest.mark.parametrize(("change", "expected"), [each[1:] for each in CHANGES], ids=[each[0] for each in CHANGES])
def test_results_that_are_not_passed_on_as_they_are(change: Callable[[Any], Any], expected: list[float] | str) -> None:
    context = webnn.ML(revision="2024-06").createContextSync()
    builder = webnn.MLGraphBuilder(context)
    x, y = (builder.input(name, {"dataType": "float32", "dimensions": [2, 3]}) for name in ("x", "y"))
    graph = builder.buildSync({"z": builder.add(x, y)})
    start = np.arange(6, dtype=np.float32).reshape(2, 3)
    result = context.computeSync(graph, {"x": start, "y": np.zeros((2, 3), np.float32)}, {"z": np.empty((2, 3), np.float32)})
    # The first input can be passed on; the second one is looked at after it.
    inputs = {"y": result["inputs"]["y"], "x": change(result["inputs"]["x"])}
    if isinstance(expected, str):
        with refused(rule=expected, operation="compute", argument="inputs['x']"):
            context.computeSync(graph, inputs, result["outputs"])
        # Nothing was transferred.
        assert result["inputs"]["y"].tolist() == [[0, 0, 0], [0, 0, 0]]
        inputs["x"] = np.arange(6, dtype=np.float32)
        expected = [0, 1, 2, 3, 4, 5]
    shape = np.shape(inputs["x"])
    again = context.computeSync(graph, inputs, result["outputs"])
    assert again["outputs"]["z"].ravel().tolist() == expected
    assert again["inputs"]["x"].shape == shape
    # The earlier arrays are detached, all three.
    for name, stale in (("x", inputs["x"]), ("y", inputs["y"])):
        with refused(rule="detached", operation="compute"):
            context.computeSync(graph, {**again["inputs"], name: stale}, again["outputs"])
    with refused(rule="detached", operation="compute", argument="outputs['z']"):
        context.computeSync(graph, again["inputs"], result["outputs"])


def test_a_result_that_is_given_twice() -> None:
    context = webnn.ML(revision="2024-06").createContextSync()
    builder = webnn.MLGraphBuilder(context)
    x, y = (builder.input(name, {"dataType": "float32", "dimensions": [3]}) for name in ("x", "y"))
    graph = builder.buildSync({"z": builder.add(x, y)})
    ones = [np.ones(3, np.float32) for _ in range(3)]
    result = context.computeSync(graph, {"x": ones[0], "y": ones[1]}, {"z": ones[2]})
    one = result["inputs"]["x"]
    for inputs, outputs in (({"x": one, "y": one}, result["outputs"]), (result["inputs"], {"z": one})):
        with refused(rule="overlap", operation="compute"):
            context.computeSync(graph, inputs, outputs)
    assert context.computeSync(graph, result["inputs"], result["outputs"])["outputs"]["z"].tolist() == [2, 2, 2]


def test_threads_that_pass_on_one_result() -> None:
    """Only one of them gets it, and the others transfer nothing."""
    context = webnn.ML(revision="2024-06").createContextSync()
    builder = webnn.MLGraphBuilder(context)
    x, y = (builder.input(name, {"dataType": "float32", "dimensions": [3]}) for name in ("x", "y"))
    graph = builder.buildSync({"z": builder.add(x, y)})

    def fresh() -> Any:
        return np.ones(3, np.float32)

    shared = context.computeSync(graph, {"x": fresh(), "y": fresh()}, {"z": fresh()})["inputs"]["x"]
    barrier = threading.Barrier(4)

    def work(_: int) -> Any:
        mine = context.computeSync(graph, {"x": fresh(), "y": fresh()}, {"z": fresh()})
        barrier.wait()
        try:
            return context.computeSync(graph, {"y": mine["inputs"]["y"], "x": shared}, mine["outputs"])["inputs"]["x"]
        except webnn.WebNNTypeError:
            # It still has its own memory.
            context.computeSync(graph, mine["inputs"], mine["outputs"])
            return None

    for _ in range(50):
        with ThreadPoolExecutor(4) as pool:
            winners = [each for each in pool.map(work, range(4)) if each is not None]
        assert len(winners) == 1
        (shared,) = winners


def test_what_a_program_makes_of_the_owner() -> None:
    context = webnn.ML(revision="2024-06").createContextSync()
    builder = webnn.MLGraphBuilder(context)
    graph = builder.buildSync({"y": builder.neg(builder.input("x", {"dataType": "float32", "dimensions": [3]}))})
    result = context.computeSync(graph, {"x": np.arange(3, dtype=np.float32)}, {"y": np.zeros(3, np.float32)})
    owner: Any = result["inputs"]["x"].base
    for array in (owner, owner[:], owner.view(np.ndarray), owner[:].view(np.ndarray)):
        with refused(rule="detached", operation="compute", argument="inputs['x']"):
            context.computeSync(graph, {"x": array}, result["outputs"])
    wanted = [0, -1, -2]
    assert context.computeSync(graph, {"x": owner.copy().view(np.ndarray).copy()}, result["outputs"])["outputs"]["y"].tolist() == wanted
    assert result["inputs"]["x"].tolist() == [0, 1, 2]


def negated(context: webnn.MLContext, data: Any) -> tuple[Any, webnn.MLGraph]:
    """Return the array to which a computation transfers a vector, and the graph, which takes vectors of this type and length."""
    builder = webnn.MLGraphBuilder(context)
    x = builder.input("x", {"dataType": data.dtype.name, "dimensions": list(data.shape)})
    graph = builder.buildSync({"y": builder.neg(x)})
    return context.computeSync(graph, {"x": data}, {"y": np.zeros_like(data)})["inputs"]["x"], graph


def test_results_of_other_graphs() -> None:
    """All views of a call are results, of another length or type, or over memory of other owners."""
    context = webnn.ML(revision="2024-06").createContextSync()
    output, graph = negated(context, np.arange(6, dtype=np.float32))
    for data in (np.arange(12, dtype=np.float32), np.arange(3, dtype=np.float32), np.arange(6, dtype=np.int32)):
        other, own = negated(context, data)
        with refused(rule="type" if data.dtype == np.int32 else "byte-length", operation="compute", argument="inputs['x']"):
            context.computeSync(graph, {"x": other}, {"y": output})
        spare, _ = negated(context, data.copy())
        assert context.computeSync(own, {"x": other}, {"y": spare})["outputs"]["y"].tolist() == (-data).tolist()
    # The type was changed in place.
    changed, _ = negated(context, np.arange(6, dtype=np.int32))
    changed.dtype = np.float32
    result = context.computeSync(graph, {"x": changed}, {"y": output})
    assert [array.dtype for array in (result["inputs"]["x"], result["outputs"]["y"])] == [np.float32] * 2
    output = result["outputs"]["y"]
    # Two owners lie over one memory.
    memory = (ctypes.c_float * 8)(*range(8))
    first, second = (
        negated(context, np.frombuffer((ctypes.c_float * 6).from_buffer(memory, 4 * start), np.float32))[0] for start in (0, 1)
    )
    with refused(rule="overlap", operation="compute", argument="view 'y'"):
        context.computeSync(graph, {"x": first}, {"y": second})
    assert context.computeSync(graph, {"x": first}, {"y": output})["outputs"]["y"].tolist() == [0, -1, -2, -3, -4, -5]
