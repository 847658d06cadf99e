"""The binary form of nodes."""

from __future__ import annotations

from typing import Any

import pytest
from onnx import GraphProto, TensorProto, helper

from webnn.builder.onnx.messages import Attribute, Graph

#: Names whose lengths take one, two and three bytes.
NAMES = ["x", "x" * 127, "x" * 128, "x" * 300, "x" * 16383, "x" * 16384]


def check(op_type: str, inputs: list[str], name: str, outputs: list[str], domain: str = "", **attributes: Any) -> None:
    """Compare a node with the one that `onnx.helper` makes, between two others."""
    relu = helper.make_node("Relu", ["a"], ["b"], name="relu")
    expected = helper.make_graph([relu, helper.make_node(op_type, inputs, outputs, name, domain=domain or None), relu], "graph", [], [])
    for key, value in attributes.items():
        expected.node[1].attribute.append(helper.make_attribute(key, value))
    graph = Graph(GraphProto(name="graph"))
    for each in (relu, None, relu):
        if each is None:
            graph.add(op_type, inputs, name, outputs, attributes, domain)
        else:
            graph.add(each.op_type, each.input, each.name, each.output, {})
    assert graph.finish() == expected


@pytest.mark.parametrize("name", NAMES, ids=len)
def test_names_of_any_length(name: str) -> None:
    check("Add", [name, "y"], "node", ["z"])
    check("Add", ["x", "y"], "node", [name])
    check("Add", ["x", "y"], name, ["z"])
    check("Add", ["x", "y"], "node", ["z"], domain=name)
    check(name, ["x", "y"], "node", ["z"])


def test_values_that_are_left_out() -> None:
    check("Clip", ["x", "", "high"], "node", ["y"])
    graph = Graph(GraphProto())
    graph.add("Clip", ["x", None, "high"], "node", ["y"], {})
    assert list(graph.finish().node[0].input) == ["x", "", "high"]
    check("TopK", ["x", "k"], "node", ["", "indices"])
    check("RandomNormal", [], "node", ["y"])


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(-1, id="int"),
        pytest.param(0.1, id="float"),
        pytest.param("größe €", id="str"),
        pytest.param([-(2**63), 2**63 - 1], id="ints"),
        pytest.param([0.1, float("inf")], id="floats"),
        pytest.param(["", "ß"], id="strings"),
        pytest.param(helper.make_graph([helper.make_node("Relu", ["x" * 200], ["y"])], "body", [], []), id="graph"),
    ],
)
def test_attributes(value: Attribute) -> None:
    check("Some", ["x"], "node", ["y"], "ai.other", first=value, second=7)


def test_a_graph_is_finished_twice() -> None:
    graph = Graph(GraphProto(name="graph"))
    graph.add("Relu", ["x"], "relu", ["y"], {})
    assert len(graph.finish().node) == 1
    graph.add("Relu", ["y"], "relu", ["z"], {})
    assert [node.input[0] for node in graph.finish().node] == ["x", "y"]


@pytest.mark.parametrize("name", NAMES, ids=len)
@pytest.mark.parametrize("shape", [[], [2, 3], [200, 70000, 2**32 - 1]], ids=str)
def test_initializers(name: str, shape: list[int]) -> None:
    data = bytes(range(256)) * 3
    graph = Graph(GraphProto(name="graph"))
    graph.initialize(name, TensorProto.FLOAT, shape, data)
    graph.initialize(name, TensorProto.INT4, shape, None)
    inside, outside = graph.finish().initializer
    assert inside == TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, raw_data=data)
    expected = TensorProto(name=name, data_type=TensorProto.INT4, dims=shape, data_location=TensorProto.EXTERNAL)
    expected.external_data.add(key="location", value=name)
    assert outside == expected


def test_equal_attributes_of_several_types() -> None:
    check("Node", ["x"], "node", ["y"], a=1, b=1.0, c=[1, 2], d=[1.0, 2.0], e=(1, 2))
    check("Node", ["x"], "node", ["y"], a=1.0, b=1, c=[1.0, 2.0], d=[1, 2], e="1")
    for zero in (0.0, -0.0, 0):
        graph = Graph(GraphProto())
        graph.add("Node", [], "node", [], {"a": zero})
        (attribute,) = graph.finish().node[0].attribute
        assert str(helper.get_attribute_value(attribute)) == str(zero)
