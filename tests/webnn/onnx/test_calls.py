"""Operators of an import that are calls, in drafts with subgraphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import webnn
import webnn.onnx
from webnn import MLGraphBuilder
from webnn.validation.drafts import find_revision


def load(revision: str, feeds: dict[str, Any], operator: str = "RMSNormalization") -> Any:
    """Import a node; return the graph under fast numerics."""
    types = {
        name: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape) for name, each in feeds.items()
    }
    node = helper.make_node(operator, list(feeds), ["y"], axis=-1, epsilon=0.25)
    graph = helper.make_graph([node], "graph", [*types.values()], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])
    context = webnn.ML(revision=find_revision(revision), numerics="fast").createContextSync()
    builder = MLGraphBuilder(context)
    return builder.buildSync(dict(webnn.onnx.load(model, builder).outputs))


FEEDS = {"x": np.random.default_rng(3).standard_normal((2, 3, 8), np.float32), "scale": np.linspace(0.5, 2, 8, dtype=np.float32)}


@pytest.mark.parametrize("operator", ["RMSNormalization", "SimplifiedLayerNormalization"])
def test_normalization_is_a_call(operator: str) -> None:
    graph = load("2026-06+subgraphs", FEEDS, operator)
    [call] = graph.description.calls
    assert (call.name, call.config, call.kernel) == ("RMSNormalization", {"epsilon": 0.25}, "SimplifiedLayerNormalization")
    wide = FEEDS["x"].astype(np.float64)
    expected = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 0.25) * FEEDS["scale"]
    np.testing.assert_allclose(graph.run(FEEDS)["y"], expected, rtol=1e-6)


def test_another_draft_has_no_calls() -> None:
    assert load("2026-06", FEEDS).description.calls == ()
