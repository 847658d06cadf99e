"""The default revision of Python: the newest draft, with `compute()` of the first one."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT, PATIENCE, each_row, limits_of, make_context, refused
from webnn import ML, InvalidStateError, MLContext, MLGraph, MLGraphBuilder, Navigator, WebNNTypeError
from webnn.validation.drafts import DEFAULT, NEWEST, find_revision
from webnn.validation.drafts.compute import COMPUTE
from webnn.validation.switch import explain_switch

WEIGHTS = np.array([1, 2, 3, 4], np.float32)
X = np.array([1, 0, 0, -1], np.float32)


@pytest.fixture(autouse=True)
def no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEBNN_REVISION", raising=False)


def build(context: MLContext, shape: str = "shape") -> MLGraph:
    """Build the graph of the README."""
    builder, matrix = MLGraphBuilder(context), {"dataType": "float32", shape: [2, 2]}
    x, w = builder.input("x", matrix), builder.constant(matrix, WEIGHTS)  # type: ignore[call-overload]
    return builder.buildSync({"y": builder.relu(builder.matmul(x, w))})


def compute(context: MLContext, graph: MLGraph, x: Any = X) -> list[float]:
    result = context.computeSync(graph, {"x": x.copy()}, {"y": np.empty(4, np.float32)})
    return [float(y) for y in result["outputs"]["y"]]


def test_the_default_is_the_newest_draft_with_compute() -> None:
    assert find_revision(DEFAULT).history == (*find_revision(NEWEST).history, COMPUTE.name)
    for ml in (ML(), Navigator().ml):
        assert ml.createContextSync()._revision.name == DEFAULT
    # All else is the newest draft's.
    assert find_revision(DEFAULT).operations == find_revision(NEWEST).operations
    assert find_revision(DEFAULT).limits == limits_of(NEWEST)
    assert find_revision(DEFAULT).members == find_revision(NEWEST).members | {"MLContext.compute"}


def test_the_environment_sets_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBNN_REVISION", "2024-06")
    assert ML().createContextSync()._revision.name == Navigator().ml.createContextSync()._revision.name == "2024-06"
    assert ML(revision=CURRENT).createContextSync()._revision.name == CURRENT


@each_row("shape", ["shape", "dimensions"])
def test_both_programs_of_the_readme(shape: str) -> None:
    context = ML().createContextSync(deviceType="cpu")
    graph, matrix = build(context, shape), {"dataType": "float32", shape: [2, 2]}
    assert compute(context, graph) == [1, 2, 0, 0]
    a: Any = context.createTensorSync({**matrix, "writable": True})  # type: ignore[call-overload]
    b: Any = context.createTensorSync({**matrix, "readable": True})  # type: ignore[call-overload]
    context.writeTensor(a, X)
    context.dispatch(graph, {"x": a}, {"y": b})
    assert context.readTensorSync(b).tolist() == [[1, 2], [0, 0]]
    assert context.createConstantTensorSync(matrix, WEIGHTS).shape == (2, 2)  # type: ignore[arg-type]


def test_arrays_and_tensors_in_turn() -> None:
    """Neither way of computing keeps the memory of the other one bound."""
    context = ML().createContextSync(accelerated=False)
    graph = build(context)
    a = context.createTensorSync(dataType="float32", shape=[2, 2], writable=True)
    b = context.createTensorSync(dataType="float32", shape=[2, 2], readable=True)
    for factor in (1, 2, 3):
        context.writeTensor(a, factor * X)
        context.dispatch(graph, {"x": a}, {"y": b})
        assert compute(context, graph, 10 * factor * X) == [10 * factor, 20 * factor, 0, 0]
        assert context.readTensorSync(b).reshape(-1).tolist() == [factor, 2 * factor, 0, 0]


def test_compute_transfers_its_arrays() -> None:
    context = ML().createContextSync()
    graph, x = build(context), X.copy()
    result = context.computeSync(graph, {"x": x}, {"y": np.empty(4, np.float32)})
    assert np.shares_memory(result["inputs"]["x"], x)
    tensor = context.createTensorSync(dataType="float32", shape=[2, 2], writable=True)
    with refused(rule="detached", operation="compute", argument="inputs['x']"):
        context.computeSync(graph, {"x": x}, {"y": np.empty(4, np.float32)})
    with refused(rule="detached", operation="writeTensor", argument="inputData"):
        context.writeTensor(tensor, x)


def test_a_destroyed_graph() -> None:
    context = ML().createContextSync()
    graph = build(context)
    graph.destroy()
    with refused(InvalidStateError, rule="destroyed", operation="compute"):
        compute(context, graph)


async def test_a_destroyed_context() -> None:
    context = ML().createContextSync()
    graph, go = build(context), asyncio.Event()
    loop = asyncio.get_running_loop()
    # The timeline waits, so that the call is still queued.
    context._state.timeline.post(lambda: asyncio.run_coroutine_threadsafe(go.wait(), loop).result(PATIENCE))
    promise = context.compute(graph, {"x": X.copy()}, {"y": np.empty(4, np.float32)})
    context.destroy()
    go.set()
    with refused(InvalidStateError, rule="lost", operation="compute"):
        await promise
    with refused(InvalidStateError, rule="lost", operation="compute"):
        await context.compute(graph, {"x": X.copy()}, {"y": np.empty(4, np.float32)})


def test_both_names_of_the_shape() -> None:
    """The newer name counts; exactly the newest draft has it alone."""
    builder = MLGraphBuilder(ML().createContextSync())
    assert builder.input("x", {"dataType": "int8", "shape": [2], "dimensions": [3]}).shape == (2,)  # type: ignore[arg-type]
    assert builder.input("y", {"dataType": "int8", "shape": (2, True), "dimensions": [3]}).shape == (2, 1)  # type: ignore[arg-type]
    assert builder.input("z", dataType="int8", dimensions=np.array([3])).shape == (3,)  # type: ignore[call-overload]
    with pytest.raises(WebNNTypeError) as caught:
        builder.input("w", dataType="int8")  # type: ignore[call-overload]
    assert caught.value.argument == "descriptor.shape"
    with pytest.raises(WebNNTypeError) as caught:
        MLGraphBuilder(make_context(CURRENT)).input("x", dataType="int8", dimensions=[3])
    assert caught.value.argument == "descriptor.shape"


def test_graphs_do_not_depend_on_it() -> None:
    """They are described, saved and compared as those of exactly the newest draft."""
    mine, exact = (build(ML(revision=name).createContextSync()).description for name in (DEFAULT, CURRENT))
    assert (mine.draft, mine, mine.digest()) == (CURRENT, exact, exact.digest())
    assert mine.lift() is mine
    limited = ML(profile="coreml").createContextSync()
    assert build(limited).description.draft == f"{CURRENT}+browsers"


def test_it_fits_drafts_without_compute_only() -> None:
    with pytest.raises(ValueError, match="'compute' comes after '2026-06', not after '2024-06'"):
        find_revision("2024-06+compute")


def test_the_switch() -> None:
    assert explain_switch(lambda revision: revision.activations).startswith('ML(revision="2024-06") has it')
    assert explain_switch(lambda revision: "MLContext.compute" in revision.members).startswith(
        'ML(revision="2026-06+compute") or ML(revision="2024-06") has it (WEBNN_REVISION=2024-06 '
    )
    assert explain_switch(lambda _: True).startswith('ML(revision="2026-06") has it')
    assert explain_switch(lambda _: False) == ""
