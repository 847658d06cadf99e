"""Calls of subgraphs: they mean their operators, may be nested, and are kept in descriptions."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support import Array, each_row
from tests.webnn.proposals.subgraph_bodies import (
    REVISION,
    attention,
    build,
    compute,
    gqa,
    gqa_arrays,
    new_context,
    norm,
    random_arrays,
)
from tests.webnn.proposals.test_subgraphs import REVISIONS, VECTOR, double
from webnn import ML, MLGraphBuilder, WebNNTypeError, describe
from webnn.builder.description import load
from webnn.formats.summary import as_data
from webnn.proposals import subgraphs
from webnn.proposals.subgraphs import MLSubgraph

# The meaning of a call: the same operators


def same_bits(one: Mapping[str, Array], other: Mapping[str, Array]) -> None:
    assert {name: (array.dtype, array.tobytes()) for name, array in one.items()} == {
        name: (array.dtype, array.tobytes()) for name, array in other.items()
    }


BODIES: list[tuple[str, Any, dict[str, Array]]] = [
    # the name, the body, its inputs
    ("attention", attention(), random_arrays(1, q=[2, 3, 8, 4], k=[2, 3, 9, 4], v=[2, 3, 9, 5])),
    ("attention", attention(masked=True), random_arrays(2, "float16", q=[2, 8, 4], k=[2, 9, 4], v=[2, 9, 5], mask=[8, 9])),
    ("RMSNorm", norm(), random_arrays(3, x=[2, 8, 32], weight=[32])),
    ("RMSNorm", norm(), random_arrays(3, "float16", x=[2, 8, 32], weight=[32])),
    ("GQA", gqa(), gqa_arrays()),
    ("GQA", gqa(0.08838, rotary=False), gqa_arrays("float16")),
]


@pytest.mark.parametrize("revision", REVISIONS)
@each_row(("name", "body", "arrays"), BODIES)
def test_exact_results(revision: str, name: str, body: Any, arrays: dict[str, Array]) -> None:
    context = new_context(revision=revision)
    called, inlined = (build(context, body, arrays, name=each) for each in (name, None))
    same_bits(compute(called, arrays), compute(inlined, arrays))
    one, other = (graph.description for graph in (called, inlined))
    assert [(each.operation, each.options) for each in one.operators] == [(each.operation, each.options) for each in other.operators]
    assert (len(one.calls), other.calls) == (1, ())


def test_a_kernel_for_bfloat16() -> None:
    context = new_context("fast", REVISIONS[1])
    values = {name: array.astype(ml_dtypes.bfloat16) for name, array in random_arrays(3, x=[4, 32], weight=[32]).items()}
    graph = build(context, norm(), values, name="RMSNorm", dataType="bfloat16")
    tensors = {
        name: context.createTensorSync({"dataType": "bfloat16", "shape": list(array.shape), "writable": True})
        for name, array in values.items()
    }
    output = context.createTensorSync({"dataType": "bfloat16", "shape": [4, 32], "readable": True})
    for name, array in values.items():
        context.writeTensor(tensors[name], array)
    context.dispatch(graph, tensors, {"y": output})
    computed = np.asarray(context.readTensorSync(output)).astype(np.float64)
    x, weight = (array.astype(np.float64) for array in values.values())
    expected = x / np.sqrt((x**2).mean(-1, keepdims=True) + float(ml_dtypes.bfloat16(1e-5))) * weight
    np.testing.assert_allclose(computed, expected, rtol=2**-8)
    assert graph.description.calls[0].kernel == "SimplifiedLayerNormalization"


def test_low_precision() -> None:
    revision = REVISIONS[1]
    arrays = {name: array.astype(ml_dtypes.bfloat16) for name, array in random_arrays(3, x=[4, 32], weight=[32]).items()}
    context = new_context(revision=revision)
    called, inlined = (build(context, norm(), arrays, name=each, dataType="bfloat16") for each in ("RMSNorm", None))
    # ONNX Runtime takes such arrays through its own values only: the nodes are compared.
    one, other = (graph.description for graph in (called, inlined))
    assert [str(each.descriptors) for each in one.operators] == [str(each.descriptors) for each in other.operators]
    assert one.operators[0].descriptors[0].dataType == "bfloat16"


@each_row("numerics", ["exact", "fast"])
def test_operands_without_elements(numerics: str) -> None:
    context = new_context(numerics, REVISIONS[1])
    for name, body, arrays in (
        ("RMSNorm", norm(), random_arrays(0, x=[0, 8], weight=[8])),
        ("attention", attention(), random_arrays(0, q=[2, 3, 4], k=[2, 0, 4], v=[2, 0, 5])),
    ):
        called, inlined = (build(context, body, arrays, name=each) for each in (name, None))
        same_bits(compute(called, arrays), compute(inlined, arrays))
        assert called.description.calls[0].reason == "all operands must have elements"


@each_row("order", ["dynamic-shapes+subgraphs", "subgraphs+dynamic-shapes"])
def test_dimensions_with_names(order: str) -> None:
    context = new_context("fast", f"2026-06+{order}")
    b: Any = MLGraphBuilder(context)
    shapes = {"x": ["rows", 8], "weight": [8]}
    formal, given = ({name: b.input(name, {"dataType": "float32", "shape": shape}) for name, shape in shapes.items()} for _ in range(2))
    subgraph = b.buildSubgraph(norm()(b, formal), inputs=formal, name="RMSNorm")
    with pytest.raises(WebNNTypeError, match=r"^subgraph: operands\['x'\] must be float32 .*, got float32"):
        b.subgraph(subgraph, {**given, "x": b.input("other", {"dataType": "float32", "shape": ["others", 8]})})
    graph = b.buildSync(b.subgraph(subgraph, given))
    [call] = graph.description.calls
    assert (call.kernel, call.reason) == ("", "its shapes are not known before the graph is dispatched")
    for rows in (3, 5):
        arrays = random_arrays(rows, x=[rows, 8], weight=[8])
        [accuracy] = graph.accuracy(arrays).calls
        assert accuracy.kernel == "SimplifiedLayerNormalization"
        assert accuracy.fusedRelative is not None
        assert accuracy.fusedRelative < 1e-6


def test_constants_are_captured() -> None:
    b: Any = MLGraphBuilder(new_context())
    x = b.input("x", VECTOR)
    table = b.constant(VECTOR, np.array([10, 20], np.float32))
    known = b.add(table, b.constant("float32", 1))
    subgraph = b.buildSubgraph({"y": b.add(x, known)}, inputs={"x": x})
    a = b.input("a", VECTOR)
    once = b.subgraph(subgraph, {"x": a})["y"]
    graph = b.buildSync({"y": b.subgraph(subgraph, {"x": once})["y"], "table": b.identity(table)})
    assert compute(graph, {"a": np.zeros(2, np.float32)})["y"].tolist() == [22, 42]
    # One constant for all calls.
    assert sum(each.value.tolist() == [10, 20] for each in graph.description.constants.values()) == 1


def test_operands_that_are_given_twice_and_constants() -> None:
    b: Any = MLGraphBuilder(new_context())
    x, y = b.input("x", VECTOR), b.input("y", VECTOR)
    subgraph = b.buildSubgraph({"sum": b.add(x, y), "parts": b.sub(x, y)}, inputs={"x": x, "y": y})
    a, three = b.input("a", VECTOR), b.constant(VECTOR, np.array([3, 3], np.float32))
    same, mixed = b.subgraph(subgraph, {"x": a, "y": a}), b.subgraph(subgraph, {"x": three, "y": a})
    graph = b.buildSync({"double": same["sum"], "nothing": same["parts"], "mixed": mixed["parts"]})
    computed = compute(graph, {"a": np.array([1, 2], np.float32)})
    assert {name: each.tolist() for name, each in computed.items()} == {"double": [2, 4], "nothing": [0, 0], "mixed": [2, 1]}
    # An output that nothing needs leaves no operator behind.
    assert [each.operation for each in graph.description.operators] == ["add", "sub", "sub"]


def test_operations_with_several_results_and_options() -> None:
    b: Any = MLGraphBuilder(new_context())
    x, low = b.input("x", {"dataType": "float32", "shape": [4]}), b.input("low", VECTOR)
    left, right = b.split(x, 2, axis=0)
    subgraph = b.buildSubgraph({"y": b.concat([right, left, low], 0)}, inputs={"x": x, "low": low})
    graph = b.buildSync(b.subgraph(subgraph, {"x": b.input("a", {"dataType": "float32", "shape": [4]}), "low": b.input("b", VECTOR)}))
    computed = compute(graph, {"a": np.array([1, 2, 3, 4], np.float32), "b": np.array([5, 6], np.float32)})
    assert computed["y"].tolist() == [3, 4, 1, 2, 5, 6]
    b = MLGraphBuilder(new_context())
    x, scale = b.input("x", {"dataType": "float32", "shape": [3, 2]}), b.input("scale", VECTOR)
    subgraph = b.buildSubgraph({"y": b.layerNormalization(x, axes=[1], scale=scale, label="norm")}, inputs={"x": x, "scale": scale})
    result = b.subgraph(subgraph, {"x": b.input("a", {"dataType": "float32", "shape": [3, 2]}), "scale": b.input("c", VECTOR)})
    graph = b.buildSync(result)
    [operator] = graph.description.operators
    assert (operator.label, operator.operands, operator.options) == ("norm", {"scale": "c"}, {"axes": (1,)})


# Nesting and size


def nest(b: Any, depth: int, *, twice: bool = False) -> MLSubgraph:
    """Return a subgraph that calls one that calls one, and so on: x + depth; or with two calls at each depth."""
    x = b.input("x", VECTOR)
    subgraph: MLSubgraph = b.buildSubgraph({"y": b.add(x, b.constant("float32", 1))}, inputs={"x": x}, name="0")
    for level in range(1, depth):
        result = b.subgraph(subgraph, {"x": x})["y"]
        if twice:
            result = b.subgraph(subgraph, {"x": result})["y"]
        else:
            result = b.add(result, b.constant("float32", 1))
        subgraph = b.buildSubgraph({"y": result}, inputs={"x": x}, name=str(level))
    return subgraph


@pytest.mark.parametrize("depth", [1, 2, subgraphs.DEEPEST])
def test_nesting(depth: int) -> None:
    b: Any = MLGraphBuilder(new_context())
    graph = b.buildSync(b.subgraph(nest(b, depth), {"x": b.input("a", VECTOR)}))
    assert compute(graph, {"a": np.array([0.5, -1], np.float32)})["y"].tolist() == [depth + 0.5, depth - 1]
    calls = graph.description.calls
    assert [call.name for call in calls] == [str(level) for level in reversed(range(depth))]
    assert [call.caller for call in calls] == list(range(-1, depth - 1))
    assert [len(call.operators) for call in calls] == list(range(depth, 0, -1))
    assert all(call.inputs == {"x": "a"} for call in calls)


def test_too_deep_and_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    b: Any = MLGraphBuilder(new_context())
    with pytest.raises(WebNNTypeError, match=r"^buildSubgraph: outputs must have calls that stand at most 64 deep in each other, got 65$"):
        nest(b, subgraphs.DEEPEST + 1)
    # Each subgraph is twice as large as the one that it calls.
    assert subgraphs.MOST_OPERATORS == 100_000
    monkeypatch.setattr(subgraphs, "MOST_OPERATORS", 1000)
    with pytest.raises(WebNNTypeError, match=r"^buildSubgraph: outputs must need at most 1000 operators, got 1024$"):
        nest(b, 40, twice=True)


def test_one_subgraph_500_times() -> None:
    b: Any = MLGraphBuilder(new_context())
    x = b.input("x", VECTOR)
    subgraph = b.buildSubgraph({"y": b.sub(b.constant("float32", 1), b.mul(x, b.constant("float32", 0.5)))}, inputs={"x": x}, name="step")
    value = b.input("a", VECTOR)
    for _ in range(500):
        value = b.subgraph(subgraph, {"x": value})["y"]
    graph = b.buildSync({"y": value})
    expected = np.array([3, -7], np.float32)
    for _ in range(500):
        expected = np.float32(1) - expected * np.float32(0.5)
    computed = compute(graph, {"a": np.array([3, -7], np.float32)})["y"]
    assert computed.tobytes() == expected.tobytes()
    assert len(graph.description.calls) == 500
    assert "500  step  2 operators  {}  one by one: the engine has no kernel for the name 'step'" in str(graph.description)


def test_calls_in_calls_of_several_graphs_share_nothing() -> None:
    """A subgraph that another one calls twice, once with a result of the other call."""
    b: Any = MLGraphBuilder(new_context())
    x = b.input("x", VECTOR)
    inner = b.buildSubgraph({"y": b.mul(x, b.constant("float32", 2))}, inputs={"x": x}, name="inner")
    first = b.subgraph(inner, {"x": x})["y"]
    second = b.subgraph(inner, {"x": b.add(first, x)})["y"]
    outer = b.buildSubgraph({"first": first, "second": second}, inputs={"x": x}, name="outer")
    one = b.subgraph(outer, {"x": b.input("a", VECTOR)})
    other = b.subgraph(outer, {"x": one["second"]})
    graph = b.buildSync({"y": other["second"], "z": one["first"]})
    assert {name: each.tolist() for name, each in compute(graph, {"a": np.array([1, 2], np.float32)}).items()} == {
        "y": [36, 72],
        "z": [2, 4],
    }
    described = [(call.name, call.caller, len(call.operators)) for call in graph.description.calls]
    assert described == [("outer", -1, 3), ("inner", 0, 1), ("inner", 0, 1), ("outer", -1, 3), ("inner", 3, 1), ("inner", 3, 1)]


def test_two_threads() -> None:
    context = new_context("fast")
    results: list[list[float]] = []

    def work(number: int) -> None:
        for _ in range(20):
            arrays = random_arrays(number, x=[4, 8], weight=[8])
            graph = build(context, norm(), arrays, name="RMSNorm", config={"epsilon": 1e-5})
            expected = arrays["x"] / np.sqrt((arrays["x"] ** 2).mean(-1, keepdims=True) + 1e-5) * arrays["weight"]
            results.append([float(np.abs(graph._state.timeline.run(lambda g=graph, a=arrays: compute(g, a))["y"] - expected).max())])  # type: ignore[misc]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 40
    assert max(max(each) for each in results) < 1e-5


# Kept facts


def test_descriptions_and_pickles() -> None:
    arrays = gqa_arrays()
    context = new_context("fast")
    graph = build(context, gqa(), arrays, name="GQA", config={"do_rotary": True, "scale": 0.08838})
    description = graph.description
    [call] = description.calls
    assert call.config == {"do_rotary": True, "scale": 0.08838}
    assert set(call.inputs) == set(arrays)
    assert call.outputs == {name: name for name in description.outputs}
    again = pickle.loads(pickle.dumps(description))
    assert (again, again.digest()) == (description, description.digest())
    plain = build(context, gqa(), arrays, name=None).description
    assert plain != description
    assert plain.digest() != description.digest()
    # A graph that is built from it has the calls.
    builder = MLGraphBuilder(context)
    rebuilt = builder.buildSync(again.build(builder))
    assert rebuilt.description == description
    assert rebuilt.description.calls[0].kernel == "RotaryEmbedding, MultiHeadAttention"
    same_bits(compute(rebuilt, arrays), compute(graph, arrays))
    travelled = pickle.loads(pickle.dumps(graph))
    assert travelled.description == description
    same_bits(compute(travelled, arrays), compute(graph, arrays))
    # A draft without subgraphs makes the operators.
    builder = MLGraphBuilder(new_context(revision="2026-06"))
    assert builder.buildSync(description.build(builder)).description.calls == ()


@each_row("suffix", [".webnn.json", ".webnn", ".onnx", ".mjs", ".py"])
def test_files_have_the_operators(tmp_path: Any, suffix: str) -> None:
    arrays = random_arrays(3, x=[2, 8], weight=[8])
    description = build(new_context(), norm(), arrays, name="RMSNorm").description
    file = tmp_path / f"graph{suffix}"
    description.save(file)
    assert file.stat().st_size > 0
    if suffix in (".mjs", ".py"):
        text = file.read_text(encoding="utf-8")
        assert "reduceMean" in text
        assert "buildSubgraph" not in text
        return
    loaded = load(file)
    assert loaded.calls == ()
    if suffix != ".onnx":
        assert [each.operation for each in loaded.operators] == [each.operation for each in description.operators]


def test_parts_and_other_drafts_of_a_description() -> None:
    b: Any = MLGraphBuilder(new_context())
    subgraph = double(b, name="double")
    one, other = (b.subgraph(subgraph, {"x": b.input(name, VECTOR)})["y"] for name in "ab")
    description = describe({"one": one, "other": other})
    part = description.select(["one"])
    assert [(each.name, each.operators) for each in part.calls] == [("double", ("one",))]
    assert description.select([]).calls == ()
    assert description.lower("2024-06").calls == ()
    data = as_data(description)["calls"]
    assert [(each["name"], each["inputs"], each["operators"]) for each in data] == [
        ("double", {"x": "a"}, ["one"]),
        ("double", {"x": "b"}, ["other"]),
    ]
    assert "calls" not in as_data(description.select([]))
    builder: Any = MLGraphBuilder(new_context())
    [call] = builder.buildSync(part.build(builder)).description.calls
    assert (call.name, call.operators, call.inputs) == ("double", ("one",), {"x": "a"})


def test_a_subgraph_of_a_class_of_the_program() -> None:
    class Mine(MLGraphBuilder):
        pass

    mine: Any = Mine(ML(revision=REVISION).createContextSync())
    assert type(mine).__name__ == "Mine"
    assert list(mine.subgraph(double(mine), {"x": mine.input("z", VECTOR)})) == ["y"]
