"""The times of operators: what the engine ran, attributed to operators."""

from __future__ import annotations

import json
import threading
from typing import Any

import numpy as np
import pytest

from tests.support import make_context, refused
from tests.webnn.inspect.graphs import build, constant, float_input, network, network_inputs
from webnn import InvalidStateError, MLGraphBuilder, MLOperand, WebNNTypeError
from webnn.inspect.profile import TimedNode, measure, read_runs


@pytest.mark.parametrize("revision", ["2024-06", "2026-06"])
def test_each_operator_has_its_time_or_a_reason(revision: str) -> None:
    graph = build(network, revision)
    profile = graph.profile(network_inputs(), runs=3)
    assert [(each.index, each.operation) for each in profile.operators] == [
        (each.index, each.operation) for each in graph.description.operators
    ]
    assert profile.runs == 3
    for operator in profile.operators:
        assert bool(operator.nodes) == bool(operator.kernels)
        assert operator.nodes or operator.note, operator
        assert operator.nodes or not operator.seconds
    labelled = {each.label: each for each in profile.operators}
    assert labelled["bias"].note == "computed at the build"
    # The engine's convolution computes the ReLU.
    conv, act = labelled["conv"], labelled["act"]
    merged = conv if act.nodes == 0 else act
    other = act if merged is conv else conv
    assert merged.merged[0] == other.index
    assert merged.note.startswith(f"with {other.operation}#{other.index}")
    assert other.note == f"runs in {merged.operation}#{merged.index} {merged.label}"
    assert "Softmax" in labelled["probabilities"].kernels


def test_the_parts_sum_up() -> None:
    profile = build(network).profile(network_inputs())
    assert profile.plain > 0
    assert profile.overhead == profile.profiled / profile.plain
    assert profile.outside < profile.profiled
    assert profile.building > 0


def test_a_loop_counts_once() -> None:
    """The nodes inside a loop are a part of its time."""

    def make(builder: MLGraphBuilder) -> dict[str, MLOperand]:
        x = float_input(builder, "x", 20, 1, 4)
        weights, recurrent = (constant(builder, np.full((1, 16, 4), 0.1, np.float32)) for _ in range(2))
        return {"y": builder.lstm(x, weights, recurrent, 20, 4, {"label": "cells"})[0]}

    profile = build(make).profile({"x": np.ones((20, 1, 4), np.float32)}, runs=3)
    (operator,) = profile.operators
    assert "Scan" in operator.kernels
    assert "Tanh" not in operator.kernels
    assert operator.seconds <= profile.profiled


def test_the_inputs_stay_usable() -> None:
    graph = build(network, "2024-06")
    inputs = network_inputs()
    inputs["x"].flags.writeable = False
    before = inputs["x"].copy()
    graph.profile(inputs, runs=1)
    graph.profile({"x": np.asfortranarray(before)}, runs=1)
    np.testing.assert_array_equal(inputs["x"], before)
    # The graph computes as before, with other memory.
    context = make_context()
    graph = build(network, context=context)
    first = context.computeSync(graph, {"x": before.copy()}, {"y": np.empty((1, 784), np.float32)})["outputs"]["y"].copy()
    graph.profile(inputs, runs=1)
    again = context.computeSync(graph, {"x": before.copy()}, {"y": np.empty((1, 784), np.float32)})["outputs"]["y"]
    np.testing.assert_array_equal(first, again)


def transferred() -> Any:
    context = make_context()
    array = network_inputs()["x"]
    context.computeSync(build(network, context=context), {"x": array}, {"y": np.empty((1, 784), np.float32)})
    return array


BAD_INPUTS: list[tuple[Any, str]] = [
    ({}, r"profile: inputs must have every input of the graph, \['x'\], but lacks \['x'\]"),
    ({"x": network_inputs()["x"], "z": 1}, r"profile: inputs must name inputs of the graph, \['x'\], got 'z'"),
    ({"x": [1.0]}, r"profile: inputs\['x'\] must be a NumPy array or an object with a buffer, got"),
    ({"x": np.zeros((1, 3, 16, 16))}, r"profile: inputs\['x'\] must have elements of float32, got float64"),
    ({"x": np.zeros((1, 3, 16, 15), np.float32)}, r"profile: inputs\['x'\] must have 3072 bytes"),
    (7, "profile: inputs must be a mapping from names to arrays, got 7"),
]


@pytest.mark.parametrize(("inputs", "message"), BAD_INPUTS)
def test_inputs_that_do_not_fit(inputs: Any, message: str) -> None:
    with pytest.raises(WebNNTypeError, match=message) as caught:
        build(network).profile(inputs)
    assert caught.value.operation == "profile"


def test_an_array_that_was_transferred() -> None:
    with refused(rule="detached", operation="profile", argument="inputs['x']"):
        build(network).profile({"x": transferred()})


@pytest.mark.parametrize(("runs", "kind"), [(0, ValueError), (10_001, ValueError), (1.5, TypeError), (True, TypeError)])
def test_runs_out_of_range(runs: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="profile: runs must be"):
        build(network).profile(network_inputs(), runs=runs)


def test_a_graph_that_was_destroyed() -> None:
    graph = build(network)
    graph.destroy()
    for method in (graph.profile, graph.trace, graph.firstNaN):
        with pytest.raises(InvalidStateError, match="the graph must not be destroyed"):
            method(network_inputs())


def test_it_waits_for_queued_work() -> None:
    graph = build(network)
    started, go = threading.Event(), threading.Event()

    def wait() -> None:
        started.set()
        go.wait()

    graph._state.timeline.hurry(lambda: None)
    thread = threading.Thread(target=lambda: graph._state.timeline.run(wait))
    thread.start()
    started.wait()
    threading.Timer(0.01, go.set).start()
    assert graph.profile(network_inputs(), runs=1).runs == 1
    thread.join()


def test_what_is_printed_and_written() -> None:
    profile = build(network).profile(network_inputs(), runs=1)
    text = str(profile)
    assert text.startswith("Times\none run: ")
    assert "times as long" in text
    assert "probabilities" in text
    assert json.loads(profile.to_json())["operators"][0]["operation"] == "mul"


# The engine's events


def event(name: str, ts: int, dur: int = 1, kind: str = "Node", kernel: str = "Add") -> dict[str, Any]:
    return {"cat": kind, "name": name, "ts": ts, "dur": dur, "args": {"op_name": kernel}}


def run_of(*nodes: str, begin: int = 0) -> list[dict[str, Any]]:
    events = [event(f"{name}_kernel_time", begin + place) for place, name in enumerate(nodes)]
    return [*events, event("SequentialExecutor::Execute", begin, kind="Session"), event("model_run", begin, kind="Session")]


def test_an_unfinished_run_is_left_out() -> None:
    events = [*run_of("add#1.0", "add#2.0"), event("add#1.0_kernel_time", 50)]
    assert read_runs(events) == [[TimedNode("add#1.0", "Add", 1), TimedNode("add#2.0", "Add", 1)]]


def test_nodes_in_a_loop_are_left_out() -> None:
    inner = [event("add#1.1_kernel_time", 12), event("SequentialExecutor::Execute", 11, kind="Session")]
    events = [event("add#1.0_kernel_time", 5), *inner, *inner, event("add#1.2_kernel_time", 10, 9, kernel="Scan"), *run_of(begin=4)]
    assert read_runs(events) == [[TimedNode("add#1.0", "Add", 1), TimedNode("add#1.2", "Scan", 9)]]


def test_the_engine_s_own_nodes_and_named_fusions() -> None:
    def make(builder: MLGraphBuilder) -> dict[str, MLOperand]:
        x = float_input(builder, "x", 2)
        return {"y": builder.relu(builder.add(x, x))}

    nodes = [TimedNode("add#1.0/relu#2.0", "FusedAdd", 7), TimedNode("ReorderOutput", "ReorderOutput", 3)]
    op_types = {"add#1.0": "Add", "relu#2.0": "Relu"}
    profile = measure(build(make).description, op_types, [nodes, nodes], plain=1e-5, profiled=[2e-5, 2e-5], building=1.0)
    assert [(each.seconds, each.merged, each.note) for each in profile.operators] == [
        (7e-6, (2,), "with relu#2"),
        (0, (), "runs in add#1"),
    ]
    assert (profile.engine, profile.overhead) == (3e-6, 2.0)
    assert profile.outside == pytest.approx(1e-5)


def test_a_fused_node_belongs_to_the_part_whose_kernel_it_has() -> None:
    """The engine calls it by its last part."""

    def make(builder: MLGraphBuilder) -> dict[str, MLOperand]:
        x = float_input(builder, "x", 2, 2)
        return {"y": builder.relu(builder.matmul(x, x, label="dense"))}

    nodes = [TimedNode("relu#2.0", "MatMul", 7)]
    op_types = {"matmul#1.0": "MatMul", "relu#2.0": "Relu"}
    profile = measure(build(make).description, op_types, [nodes, nodes], plain=1e-5, profiled=[2e-5, 2e-5], building=1.0)
    assert [(each.seconds, each.kernels, each.merged, each.note) for each in profile.operators] == [
        (7e-6, ("MatMul",), (2,), "with relu#2"),
        (0, (), (), "runs in matmul#1 dense"),
    ]
