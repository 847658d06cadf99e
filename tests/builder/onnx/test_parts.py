"""Parts of translated graphs: their nodes, their forms, and graphs with values of unknown shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.property.quantized import run
from tests.support import BROWSERS, shared_context
from webnn import MLGraphBuilder
from webnn.builder.graph import collect
from webnn.builder.onnx.parts import Parts
from webnn.builder.onnx.translate import OnnxModel, translate

RNG = np.random.default_rng(5)
X = RNG.normal(size=(4, 6)).astype(np.float32)


def make(axis: int = 1, count: int = 40) -> OnnxModel:
    """Make a graph: two equal layer normalizations with other constants, a product with a large constant, and an output between them."""
    b = MLGraphBuilder(shared_context(BROWSERS))
    x = b.input("x", {"dataType": "float32", "shape": [4, 6]})

    def constant(*shape: int) -> Any:
        values = np.asarray(RNG.normal(size=shape), np.float32)
        return b.constant({"dataType": "float32", "shape": list(shape)}, values)

    first = b.layerNormalization(x, axes=[axis])
    second = b.layerNormalization(b.matmul(first, constant(6, count)), axes=[1])
    third = b.layerNormalization(b.matmul(second, constant(count, 6)), axes=[1])
    return translate(collect({"y": b.sigmoid(third), "z": first}), "fast", provider="QNNExecutionProvider")


def names_of(model: OnnxModel, index: int) -> set[str]:
    """Return the names of an operator's nodes."""
    return {node.name for position, node in enumerate(model.proto.graph.node) if index in Parts(model).owners[position]}


def known_of(model: OnnxModel) -> set[str]:
    """Return the values that a model has."""
    graph = model.proto.graph
    given = [*(each.name for each in graph.input), *(each.name for each in graph.initializer)]
    return {"", *given, *(value for node in graph.node for value in node.output)}


def test_a_part_is_a_model_of_the_nodes_of_an_operator() -> None:
    model = make()
    taken = [Parts(model).take(index) for _, index, _ in model.operators]
    assert all(taken)
    assert sum(len(part.proto.graph.node) for part in taken if part) == len(model.proto.graph.node)
    for part in taken:
        assert part
        assert not {value for node in part.proto.graph.node for value in node.input} - known_of(part)
        # Only the products have large constants.
        assert len(part.weights) == (part.operators[0][0] == "matmul")
    assert Parts(model).take(99) is None


def test_equal_parts_have_the_same_form() -> None:
    model, other = make(), make(axis=0, count=41)

    def forms(model: OnnxModel) -> list[str]:
        parts = Parts(model)
        return [parts.form(part) for _, index, _ in model.operators if (part := parts.take(index))]

    names = [name for name, _, _ in model.operators]
    assert names == ["layerNormalization", "matmul", "layerNormalization", "matmul", "layerNormalization", "sigmoid"]
    first, again, others = forms(model), forms(make()), forms(other)
    assert first == again
    # The constants of a node of the second model have other shapes.
    assert [a == b for a, b in zip(first, others, strict=True)] == [False, False, False, False, True, True]
    assert first[0] == first[4]
    assert len(set(first)) == len(first) - 1


@pytest.mark.parametrize("index", range(1, 7))
def test_the_nodes_of_an_operator_get_values_of_unknown_shapes(index: int) -> None:
    model = make()
    kept = names_of(model, index)
    changed = Parts(model).without(kept)
    assert changed
    graph = changed.proto.graph
    inputs = {each.name for each in graph.input} - {each.name for each in model.proto.graph.input}
    constants = {each.name for each in graph.initializer}
    # The engine does not rely on the values of these inputs.
    assert inputs < constants
    unknown = {node.output[0] for node in graph.node if inputs.intersection(node.input)}
    taken = {value for node in graph.node if node.name in kept for value in node.input}
    assert taken - constants == unknown
    # The other nodes take what they did.
    others = {node.name: list(node.input) for node in model.proto.graph.node if node.name not in kept}
    assert {node.name: list(node.input) for node in graph.node if node.name in others} == others
    made = {value for node in graph.node if node.name in kept for value in node.output}
    leaving = made.intersection(value for values in others.values() for value in values)
    declared = {each.name for each in (*graph.value_info, *graph.output)}
    assert leaving <= declared
    before, after = run(model, {"x": X}), run(changed, {"x": X})
    for name in ("y", "z"):
        np.testing.assert_allclose(after[name], before[name], rtol=1e-5, atol=1e-6)


def test_a_value_without_a_shape_has_no_way() -> None:
    model = make()
    for node in model.proto.graph.node:
        if node.op_type == "MatMul":
            node.op_type = "Unheard"
    assert Parts(model).without(names_of(model, 6)) is None
