"""The memory of a session is bounded, and keeps nothing of the page alive."""

from __future__ import annotations

import gc
import json
import weakref

import numpy as np
import pytest

import webnn
from tests.support import wait_until
from webnn.serve import record as module
from webnn.serve.record import Record

FLOATS = {"dataType": "float32", "shape": [2, 2]}

#: The request, the member and the arguments as a person reads them.
REQUESTS = [
    ('["MLGraphBuilder","relu",5,[{"$h":4},{"label":"a"}],[],[]]', "MLGraphBuilder.relu", '#4, {label: "a"}'),
    ('["ML","createContext",0,[{"$x":"GPUDevice"}],[],[]]', "ML.createContext", "GPUDevice"),
    (
        '["MLGraphBuilder","clamp",5,[{"$h":-4},{"minValue":{"$n":"-Infinity"}}],[],[],[-5]]',
        "MLGraphBuilder.clamp",
        "#-4, {minValue: -Infinity}",
    ),
    (
        '["MLContext","writeTensor",2,[{"$h":4},{"$v":0}],[{"kind":"Float32Array","buffer":0,"offset":0,"length":16}],[]]',
        "MLContext.writeTensor",
        "#4, Float32Array of 16 bytes",
    ),
    ('["MLContext","dispatch",2,[{"$h":4},{"$r":[["x",{"$h":5}]]}],[],[]]', "MLContext.dispatch", "#4, {x: #5}"),
    ('["MLGraphBuilder","constant",3,["int64",{"$b":"1f"}],[],[]]', "MLGraphBuilder.constant", '"int64", 0x1f'),
    ('["A","b",3,[{"$v":7},{"$v":null},{"$r":5},{"$r":[5]}],[],[]]', "A.b", "view, view, {$r: 5}, {}"),
    (f'["MLGraphBuilder","concat",3,[[{", ".join(["{}"] * 500)}', "MLGraphBuilder.concat", f"[{', '.join(['{}'] * 500)}"[:157] + "..."),
    ("nothing", "", "nothing"),
    ("[[[[", "", "[[[["),
    (r'["A","\u202e\ud800",3,[],[],[]]', r"A.\u202e\ud800", ""),
]


@pytest.mark.parametrize(("text", "member", "arguments"), REQUESTS)
def test_requests_in_short(text: str, member: str, arguments: str) -> None:
    record = Record()
    record.called(text, '{"value": null}', 0.001, 0, 0)
    ((call,), _) = record.calls()
    assert (call.member, call.arguments, call.result, call.refused) == (member, arguments, "", False)


#: The answer, and how a person reads it.
ANSWERS = [
    ('{"value": {"$i": "MLGraph", "$h": 7}}', "MLGraph #7", False),
    ('{"value": {"$i": "MLOperand", "$h": 7, "$a": {"dataType": "float32", "shape": [1, 2]}}}', "MLOperand #7 float32 [1, 2]", False),
    ('{"value": [1, "a"]}', '[1, "a"]', False),
    ('{"error": ["TypeError", "relu: input must be"]}', "TypeError: relu: input must be", True),
    ("", "", False),
]


@pytest.mark.parametrize(("answer", "result", "refused"), ANSWERS)
def test_answers_in_short(answer: str, result: str, refused: bool) -> None:
    record = Record()
    record.called('["ML","createContext",0,[],[],[]]', answer, 0.001, 3, 4)
    ((call,), _) = record.calls()
    assert (call.result, call.refused, call.received, call.sent) == (result, refused, 3, 4)
    assert record.refused == refused


def test_a_long_error_is_cut() -> None:
    record = Record()
    record.called("", json.dumps({"error": ["TypeError", "x" * 10_000]}), 0.0, 0, 0)
    ((call,), _) = record.calls()
    assert call.refused
    assert call.result.startswith('"TypeError", "xxx')
    assert len(call.result) <= 400


def test_the_last_calls_are_kept() -> None:
    record = Record()
    for number in range(1000):
        record.called(f'["A","b{number}",0,[],[],[]]', "", 0.0, 0, 0)
    calls, more = record.calls()
    assert [each.number for each in calls] == list(range(1000, 800, -1))
    assert [calls[0].member, calls[-1].member] == ["A.b999", "A.b800"]
    assert more == 800
    assert record.counts() == (1000, 0)


def test_warnings_are_told() -> None:
    told: list[str] = []
    record = Record(on_warning=told.append)
    for message in ("a", "a", "x" * 1000):
        record.warned(message)
    assert told == ["a", "a", "x" * 600]


def test_warnings_are_counted() -> None:
    record = Record()
    for number in range(60):
        record.warned(f"w{number}")
        record.warned("w0")
    kept, more = record.warnings()
    assert (len(kept), kept["w0"], kept["w49"], more) == (50, 61, 1, 10)


# Graphs


def build(record: Record, *, profile: str | None = None, count: int = 1) -> tuple[webnn.MLContext, list[webnn.MLGraph]]:
    context = record.watch(webnn.ML(revision="2026-06", profile=profile, fallback="silent")).createContextSync(deviceType="npu")
    graphs = []
    for _ in range(count):
        builder = webnn.MLGraphBuilder(context)
        x = builder.input("x", **FLOATS)
        graphs.append(builder.buildSync({"y": builder.sin(x)}))
    return context, graphs


def compute(context: webnn.MLContext, graph: webnn.MLGraph, value: float) -> None:
    tensors = [context.createTensorSync(**FLOATS, writable=True, readable=True) for _ in range(2)]
    context.writeTensor(tensors[0], np.full((2, 2), value, np.float32))
    context.dispatch(graph, {"x": tensors[0]}, {"y": tensors[1]})
    context.readTensorSync(tensors[1])


def test_a_graph() -> None:
    record = Record()
    _, [graph] = build(record, profile="coreml")
    ((built,), more) = record.graphs()
    assert (built.number, built.inputs, built.outputs, built.operators, more) == (1, "x: float32 [2, 2]", "y: float32 [2, 2]", 1, 0)
    assert built.placement is graph.placement
    assert built.find() is graph
    assert (built.values, built.computations, built.note) == (None, 0, "the page has not computed it")
    assert record.graph(1) is built
    assert record.graph(2) is None


def test_the_constants_of_a_graph() -> None:
    record = Record()
    context = record.watch(webnn.ML(revision="2026-06")).createContextSync()
    builder = webnn.MLGraphBuilder(context)
    x, c = builder.input("x", **FLOATS), builder.constant(FLOATS, np.ones((2, 2), np.float32))
    scale = builder.constant("float32", 2)
    y = builder.layerNormalization(builder.add(builder.mul(x, c), c), scale=c, axes=[0, 1])
    graph = builder.buildSync({"y": builder.mul(y, scale), "z": y})
    ((built,), _) = record.graphs()
    assert (built.inputs, built.outputs) == ("x: float32 [2, 2]", "y: float32 [2, 2], z: float32 [2, 2]")
    assert built.operators == len(graph.description.operators) == 4
    assert built.constants == sum(each.value.nbytes for each in graph.description.constants.values()) == 20


def test_the_inputs_of_a_computation(monkeypatch: pytest.MonkeyPatch) -> None:
    record = Record()
    context, [graph] = build(record)
    built = record.graphs()[0][0]
    assert built.placement is None
    monkeypatch.setattr(module, "_INTERVAL", float("inf"))
    compute(context, graph, 1.0)
    compute(context, graph, 2.0)
    assert built.values is None  # the interval has not passed
    monkeypatch.setattr(module, "_INTERVAL", 0.0)
    compute(context, graph, 3.0)
    assert built.values is not None
    np.testing.assert_array_equal(built.values["x"], np.full((2, 2), 3.0))
    assert built.computations == 3
    monkeypatch.setattr(module, "_INPUT_BYTES", 15)
    compute(context, graph, 4.0)
    assert built.values is None
    assert built.note == "its inputs have 16 bytes, and a session keeps at most 15 bytes of inputs"


def test_only_its_own_contexts_are_watched() -> None:
    records = Record(), Record()
    build(records[0])
    assert [each.counts() for each in records] == [(0, 1), (0, 0)]


def test_a_graph_is_not_kept_alive() -> None:
    record = Record()
    context, graphs = build(record, profile="coreml")
    compute(context, graphs[0], 1.0)
    built = record.graphs()[0][0]
    assert built.values is not None
    gone = weakref.ref(graphs.pop())
    gc.collect()
    # The thread of the timeline may hold its last job for a moment.
    wait_until(lambda: gone() is None)
    assert built.values is None
    assert built.find() is None
    assert built.placement is not None


def test_a_destroyed_graph_keeps_no_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_INPUT_BYTES", 16)
    record = Record()
    context, graphs = build(record, count=2)
    compute(context, graphs[0], 1.0)
    graphs[0].destroy()
    compute(context, graphs[1], 2.0)
    newest, oldest = record.graphs()[0]
    assert oldest.values is None
    assert newest.values is not None


def test_the_last_graphs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_GRAPHS", 2)
    record = Record()
    context, graphs = build(record, count=3)
    kept, more = record.graphs()
    assert ([each.number for each in kept], more) == ([3, 2], 1)
    compute(context, graphs[0], 1.0)  # it is not kept any more
    assert [each.computations for each in kept] == [0, 0]
