"""dynamic-shapes: sessions for many sizes in the process of a context, and on devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import webnn
from tests.context.engine.remote.isolated import isolated
from tests.support import Array
from tests.webnn.proposals.test_dynamic_shapes import REVISION, dispatch, matrix
from tests.webnn.proposals.test_dynamic_shapes_cases import check_each_operation
from tests.webnn.proposals.test_dynamic_shapes_sessions import SHARED
from webnn import MLContext, MLGraphBuilder
from webnn.context.engine.remote.graph import RemoteGraph
from webnn.context.placement import Placement


def _device(deviceType: str, *, isolate: bool) -> MLContext:
    return webnn.ML(revision=REVISION, simulators=True, fallback="silent", isolate=isolate).createContextSync(deviceType=deviceType)


#: Contexts, by where they compute.
CONTEXTS = {
    "process": lambda: isolated(REVISION),
    "gpu": lambda: _device("gpu", isolate=False),
    "gpu process": lambda: _device("gpu", isolate=True),
}
#: The numbers of rows in `SHARED` that share a session there, where they differ.
ON_A_GPU = {"argMax": 3}
PLACES = [
    pytest.param("process", marks=pytest.mark.processes),
    pytest.param("gpu", marks=pytest.mark.simulators("gpu")),
    pytest.param("gpu process", marks=[pytest.mark.simulators("gpu"), pytest.mark.processes]),
]


#: Without the GPU in this process: its engine was seen to abort when hundreds of sessions ended together.
PROCESSES = [PLACES[0], PLACES[2]]


@pytest.fixture(scope="module")
def contexts() -> dict[str, MLContext]:
    """The contexts that were made, by their names."""
    return {}


@pytest.fixture
def context(request: pytest.FixtureRequest, contexts: dict[str, MLContext]) -> Any:
    return contexts.setdefault(request.param, CONTEXTS[request.param]())


def _numbers(*shape: int) -> Array:
    return np.random.default_rng(1).normal(size=shape).astype(np.float32).round(1)


@pytest.mark.parametrize("context", PROCESSES, indirect=True)
@pytest.mark.parametrize("name", SHARED)
def test_same_bits_as_with_numbers(name: str, context: Any) -> None:
    make, count = SHARED[name]
    b: Any = MLGraphBuilder(context)
    graph = b.buildSync({"y": b.neg(make(b, matrix(b, "x", "n", 4)))})
    for rows in (3, 5, 8, 5, 3):
        fixed: Any = MLGraphBuilder(context)
        expected = fixed.buildSync({"y": fixed.neg(make(fixed, matrix(fixed, "x", rows, 4)))})
        given = {"x": _numbers(rows, 4)}
        found, wanted = dispatch(graph, given, context)["y"], dispatch(expected, given, context)["y"]
        np.testing.assert_array_equal(found, wanted, strict=True)
        # `run` finds the memory of other sizes.
        np.testing.assert_array_equal(graph.run(given)["y"], found, strict=True)
    sessions = [each for each in graph._implementation._variants if each.implementation is not None]
    assert len(sessions) == (count if context._state.selection.is_default else ON_A_GPU.get(name, count))


@pytest.mark.parametrize("context", PROCESSES, indirect=True)
def test_some_cases_of_each_operation(context: Any) -> None:
    check_each_operation(context)


@pytest.mark.parametrize("context", PLACES, indirect=True)
def test_a_growing_cache_has_one_session(context: Any) -> None:
    b: Any = MLGraphBuilder(context)
    cache, new = b.input("cache", {"dataType": "float32", "shape": ["past", 4]}), matrix(b, "new", 1, 4)
    grown = b.concat([cache, new], 0)
    graph = b.buildSync({"grown": grown, "total": b.reduceSum(grown, axes=[0])})
    kept = _numbers(1, 4)
    for _ in range(6):
        found = dispatch(graph, {"cache": kept, "new": np.ones((1, 4), np.float32)}, context)
        np.testing.assert_array_equal(found["grown"], np.concatenate([kept, np.ones((1, 4), np.float32)]), strict=True)
        np.testing.assert_allclose(found["total"], found["grown"].sum(0), rtol=1e-6)
        kept = found["grown"]
    [variant] = graph._implementation._variants
    assert isinstance(variant.implementation, RemoteGraph) is (context._state.load_backend()._host is not None)


@pytest.mark.parametrize("context", PLACES[1:], indirect=True)
def test_the_placement_has_the_last_sizes(context: Any) -> None:
    b: Any = MLGraphBuilder(context)
    graph = b.buildSync({"y": b.softmax(matrix(b, "x", "n", 4), 1)})
    for rows in (3, 5):
        dispatch(graph, {"x": _numbers(rows, 4)}, context)
        found: Placement = graph.placement
        fixed: Any = MLGraphBuilder(context)
        assert found == fixed.buildSync({"y": fixed.softmax(matrix(fixed, "x", rows, 4), 1)}).placement
        assert (found.devices, found.transferredBytes) == (["gpu"], 2 * 16 * rows)


@pytest.mark.simulators("npu")
@pytest.mark.processes
def test_a_device_without_names_compiles_for_each_set_of_sizes() -> None:
    context: Any = _device("npu", isolate=True)
    b: Any = MLGraphBuilder(context)
    graph = b.buildSync({"y": b.relu(matrix(b, "x", "n", 4))})
    for rows in (3, 5, 3):
        np.testing.assert_array_equal(dispatch(graph, {"x": _numbers(rows, 4)}, context)["y"], np.maximum(_numbers(rows, 4), 0))
        assert graph.placement.devices == ["npu"]
    assert not any(each.implementation for each in graph._implementation._variants)
    assert len(graph._implementation._compiled) == 2
