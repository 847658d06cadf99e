"""The order of nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import webnn.onnx
from tests.webnn.onnx.models import compute
from webnn.onnx.model import read_node
from webnn.onnx.order import sort_nodes


def relu(taken: Sequence[str], made: str) -> onnx.NodeProto:
    return helper.make_node("Sum", taken, [made], made)


ORDERS = [
    # In order: as they are.
    ([(["x"], "a"), (["a"], "b"), (["x"], "c")], "abc"),
    # A node comes as early as it can, and the first of the file comes first.
    ([(["b"], "a"), (["x"], "b"), (["x"], "c")], "bac"),
    ([(["c", "b"], "a"), (["c"], "b"), (["x"], "c")], "cba"),
    # A value that nothing makes, and circles.
    ([(["y"], "a"), (["a"], "b")], "ab"),
    ([(["b"], "a"), (["a"], "b"), (["d"], "c"), (["x"], "d")], "dcab"),
    ([(["a"], "a"), (["c"], "b"), (["x"], "c")], "cba"[:2] + "a"),
    ([], ""),
]


@pytest.mark.parametrize(("nodes", "order"), ORDERS)
def test_orders(nodes: Sequence[tuple[Sequence[str], str]], order: str) -> None:
    found = sort_nodes([read_node(relu(*each)) for each in nodes])
    assert "".join(node.name for node in found) == order


def make_model(nodes: Sequence[onnx.NodeProto]) -> onnx.ModelProto:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", "y"))
    return helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_a_model_whose_nodes_are_not_in_order() -> None:
    model = make_model([helper.make_node("Neg", ["a"], ["y"], "second"), helper.make_node("Abs", ["x"], ["a"], "first")])
    imported = webnn.onnx.load(model)
    assert [each.label for each in imported.description.operators] == ["first", "second"]
    # The report is in the order of the import.
    assert [each.name for each in imported.report.nodes] == ["first", "second"]
    found = compute(model, {"x": np.array([-1, 2, -3], np.float32)})
    assert found["y"].tolist() == [-1, -2, -3]


def test_a_body_takes_a_value_that_comes_later() -> None:
    y = helper.make_tensor_value_info("z", TensorProto.FLOAT, [3])
    bodies = {
        name: helper.make_graph([helper.make_node(operator, ["a"], ["z"])], name, [], [y])
        for name, operator in (("then_branch", "Neg"), ("else_branch", "Abs"))
    }
    condition = helper.make_node("Constant", [], ["c"], value=helper.make_tensor("c", TensorProto.BOOL, [], [True]))
    model = make_model([helper.make_node("If", ["c"], ["y"], **bodies), condition, helper.make_node("Relu", ["x"], ["a"])])
    assert [each.operation for each in webnn.onnx.load(model).description.operators] == ["relu", "neg"]
