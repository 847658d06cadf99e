"""Imported nodes GroupQueryAttention under fast numerics, as nodes of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

import webnn.onnx
from tests.support import each_row
from tests.webnn.onnx.contrib import floats, whole
from tests.webnn.proposals.subgraph_kernels import MULTI_HEAD, ROTATED, executed, shared
from tools.evidence.onnx_contrib.cases import Case, run_engine
from webnn import MLGraph, MLGraphBuilder
from webnn.context import once
from webnn.reference import compute as compute_reference
from webnn.reference.wpt_tolerances import distance, find_tolerance

GROUPED = "GroupQueryAttention"


def _case(
    heads: int = 4,
    groups: int = 2,
    rows: int = 1,
    size: int = 16,
    *,
    valid: tuple[int, ...] = (3,),
    table: tuple[int, int] = (8, 8),
    packed: bool = False,
    known: tuple[str, ...] = (),
    **attributes: Any,
) -> Case:
    """Return a node with a cache of 8 rows. ``valid`` has for each element of the batch the valid rows behind the step, less 1."""
    batch = len(valid)
    inputs: dict[str, Any] = {"q": floats(batch, rows, (heads + 2 * groups if packed else heads) * size)}
    inputs |= {name: None if packed else floats(batch, rows, groups * size) for name in "kv"}
    inputs |= {name: floats(batch, groups, 8, size) for name in "ef"} | {"s": whole(*valid), "t": np.array(max(valid) + 1, np.int32)}
    if attributes.get("do_rotary"):
        inputs |= {name: floats(*table) for name in ("cos", "sin")}
    attributes |= {"num_heads": heads, "kv_num_heads": groups}
    return Case(operator=GROUPED, inputs=inputs, attributes=attributes, outputs=("y", "p", "c"), known=known)


def _build(model: Any) -> MLGraph:
    builder = MLGraphBuilder(shared("fast"))
    return builder.buildSync(dict(webnn.onnx.load(model, builder).outputs))


USED: list[tuple[Mapping[str, Any]]] = [
    ({},),
    ({"heads": 4, "groups": 4},),
    ({"rows": 3},),
    ({"rows": 3, "valid": (2,)},),
    ({"valid": (7,)},),
    ({"valid": (3, 5)},),
    ({"valid": (3, 6), "do_rotary": 1},),
    ({"size": 8},),
    ({"do_rotary": 1},),
    ({"do_rotary": 1, "rotary_interleaved": 1},),
    ({"do_rotary": 1, "table": (20, 8)},),
    ({"do_rotary": 1, "known": ("cos", "sin")},),
    ({"local_window_size": 2},),
    ({"softcap": 1.5},),
    ({"scale": 0.3},),
    ({"packed": True, "do_rotary": 1},),
]


@each_row(("changes",), USED)
def test_the_node_stays_one(changes: Mapping[str, Any]) -> None:
    case = _case(**changes)
    graph = _build(case.model())
    assert [(call.kernel, call.reason) for call in graph.description.calls] == [(GROUPED, "")]
    assert set(executed(graph)) <= {GROUPED, "Clip", "Reshape"}
    feeds = case.feeds()
    given = {name: feeds[name] for name in graph.description.inputs}
    results, exact = once.compute(shared("fast"), graph, given), compute_reference(graph.description, given, exact=True)
    # Rounding may move the results of the operators as far.
    bound = find_tolerance(graph.description, given)
    for name, wanted in run_engine(case).items():
        np.testing.assert_allclose(results[name], wanted, rtol=1e-6, atol=1e-6)
        expected = exact[name] if bound.metric == "ATOL" else exact[name].astype(np.float32)
        assert distance(results[name].ravel(), expected.ravel(), bound.metric).max() <= bound.value


OTHERS: list[tuple[Mapping[str, Any], str]] = [
    # what is changed, and the kernels
    # The places are known: a slice and a concat.
    ({"known": ("s",)}, MULTI_HEAD),
    ({"known": ("s", "t")}, MULTI_HEAD),
    ({"valid": (3, 6), "rows": 2, "do_rotary": 1}, ROTATED),
    ({"do_rotary": 1, "table": (7, 8)}, ROTATED),
    ({"do_rotary": 1, "table": (8, 4)}, ROTATED),
    ({"do_rotary": 1, "size": 8, "table": (8, 4)}, ROTATED),
]


@each_row(("changes", "kernel"), OTHERS)
def test_nodes_that_become_their_operators(changes: Mapping[str, Any], kernel: str) -> None:
    case = _case(**changes)
    graph = _build(case.model())
    assert [call.kernel for call in graph.description.calls] == [kernel]
    feeds = case.feeds()
    given = {name: feeds[name] for name in graph.description.inputs}
    exact = compute_reference(graph.description, given, exact=True)
    for name, array in once.compute(shared("fast"), graph, given).items():
        np.testing.assert_allclose(array, exact[name], rtol=0, atol=4e-6)


@pytest.mark.parametrize("valid", [-2, 8, 2**31 - 1])
def test_rows_that_do_not_fit(valid: int) -> None:
    """The engine's node alone fails; here it takes the last place, or the first one."""
    graph = _build(_case(valid=(3,), do_rotary=1).model())
    feeds = _case(valid=(3,), do_rotary=1).feeds() | {"s": whole(valid)}
    results = once.compute(shared("fast"), graph, {name: feeds[name] for name in graph.description.inputs})
    assert all(np.isfinite(array).all() for array in results.values())


def test_two_layers() -> None:
    """They share operators that find the places, and these are computed if something else needs them."""
    model = _case(do_rotary=1).model()
    [node] = model.graph.node
    weights = numpy_helper.from_array(floats(64, 64), "w")
    model.graph.initializer.append(weights)
    model.graph.node.append(helper.make_node("MatMul", ["y", "w"], ["x"]))
    inputs = ["x", "k", "v", "e", "f", "s", "t", "cos", "sin"]
    again = helper.make_node(GROUPED, inputs, ["y2", "p2", "c2"], domain="com.microsoft")
    again.attribute.extend(node.attribute)
    model.graph.node.append(again)
    model.graph.output.extend([helper.make_empty_tensor_value_info(name) for name in ("y2", "p2", "c2")])
    graph = _build(model)
    assert [call.kernel for call in graph.description.calls] == [GROUPED] * 2
    assert executed(graph).count(GROUPED) == 2
    feeds = _case(do_rotary=1).feeds()
    given = {name: feeds[name] for name in graph.description.inputs}
    exact = compute_reference(graph.description, given, exact=True)
    for name, array in once.compute(shared("fast"), graph, given).items():
        np.testing.assert_allclose(array, exact[name], rtol=0, atol=1e-5)


@pytest.mark.parametrize("change", ["another number", "another operator"])
def test_operators_that_are_not_those_of_the_import(change: str) -> None:
    """A call that has the name and the config of the node, but one other operator, is not the node."""
    description = webnn.onnx.load(_case(do_rotary=1).model(), MLGraphBuilder(shared("fast"))).description
    if change == "another number":
        constants = {
            name: each for name, each in description.constants.items() if each.descriptor.dataType == "float32" and each.value.size == 1
        }
        [(name, scale)] = [(name, each) for name, each in constants.items() if float(each.value.item()) == 0.25]
        changed = {**description.constants, name: replace(scale, value=np.asarray(scale.value * 2))}
        changes: dict[str, Any] = {"constants": changed}
    else:
        operators = [replace(each, operation="lesser") if each.operation == "lesserOrEqual" else each for each in description.operators]
        assert operators != list(description.operators)
        changes = {"operators": tuple(operators)}
    assert [call.kernel for call in description.calls] == [GROUPED]
    builder: Any = MLGraphBuilder(shared("fast"))
    graph = builder.buildSync(replace(description, **changes).build(builder))
    assert [call.kernel for call in graph.description.calls] == [ROTATED]


SIZES = {"query": [1, 1, 32], "past_key": [1, 2, 8, 16], "past_value": [1, 2, 8, 16], "seqlens_k": [1]}


@each_row(
    ("config", "sizes"),
    [
        ({"num_heads": "two"}, {}),
        ({"num_heads": float("nan"), "kv_num_heads": 2}, {}),
        ({"num_heads": 2.5, "kv_num_heads": 2}, {}),
        ({"num_heads": 1e300, "kv_num_heads": -1e300}, {}),
        ({"num_heads": 2, "kv_num_heads": 2, "scale": float("inf")}, {}),
        ({"num_heads": 2, "kv_num_heads": 2, "other": True}, {}),
        ({"num_heads": 0, "kv_num_heads": 0}, {}),
        ({"num_heads": 3, "kv_num_heads": 2}, {}),
        ({"num_heads": 2, "kv_num_heads": 2}, {"query": [], "seqlens_k": []}),
        ({"num_heads": 2, "kv_num_heads": 2}, {"query": [32]}),
        ({"num_heads": 2, "kv_num_heads": 2}, {"past_key": [16]}),
        ({"num_heads": 2, "kv_num_heads": 2}, {"past_value": [1, 2, 7, 16]}),
        ({"num_heads": 2, "kv_num_heads": 2}, {"query": [1, 100_000, 32]}),
        ({"num_heads": 2, "kv_num_heads": 2}, {"seqlens_k": [3]}),
        ({"num_heads": 2, "kv_num_heads": 2}, {}),
    ],
)
def test_calls_that_only_look_like_the_node(config: Mapping[str, Any], sizes: Mapping[str, list[int]]) -> None:
    """They have the names of its inputs, and compute something else."""
    builder: Any = MLGraphBuilder(shared("fast"))

    def inputs() -> dict[str, Any]:
        types = {"seqlens_k": "int32"}
        return {
            name: builder.input(name, {"dataType": types.get(name, "float32"), "shape": shape})
            for name, shape in {**SIZES, **sizes}.items()
        }

    formal = inputs()
    results = {"output": builder.relu(formal["query"]), "present_key": builder.neg(formal["past_key"])}
    subgraph = builder.buildSubgraph(results, name="GroupQueryAttention", inputs=formal, config=config)
    [call] = builder.buildSync(builder.subgraph(subgraph, inputs())).description.calls
    assert (call.kernel, call.reason) == ("", "it must have one softmax, but has 0")
