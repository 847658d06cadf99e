"""Optimized models as they are stored: which tensors stay the program's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import GraphProto, ModelProto, TensorProto, helper

from webnn.builder.onnx.optimized import ALIGNMENT, pack
from webnn.builder.onnx.values import Weight

Array = np.ndarray[Any, Any]

DATA = np.arange(200, dtype=np.uint8)


def tensor(name: str, offset: int | None, length: int, location: str = "model.data") -> TensorProto:
    result = TensorProto(name=name, data_type=TensorProto.UINT8, dims=[length], data_location=TensorProto.EXTERNAL)
    entries = {"location": location, "length": str(length)} | ({} if offset is None else {"offset": str(offset)})
    for key, value in entries.items():
        result.external_data.add(key=key, value=value)
    return result


def model(*tensors: TensorProto, inner: GraphProto | None = None) -> bytes:
    nodes = [] if inner is None else [helper.make_node("Loop", [], [], body=inner)]
    return ModelProto(graph=helper.make_graph(nodes, "graph", [], [], list(tensors))).SerializeToString()


def entries(each: TensorProto) -> dict[str, str]:
    return {entry.key: entry.value for entry in each.external_data}


def test_unchanged_weights_stay_the_programs() -> None:
    weights = [
        Weight("same", DATA[10:60].reshape(5, 10).copy()),
        Weight("changed", DATA[100:150].copy()),
        Weight("shorter", DATA[:50].copy()),
    ]
    weights[1].data[49] ^= 1
    tensors = [
        tensor("same", 10, 50),
        tensor("changed", 100, 50),
        tensor("shorter", 0, 40),
        tensor("new", 150, 50),
        tensor("first", None, 7),
    ]
    packed = pack(model(*tensors), DATA, weights, "cache")
    found = {each.name: entries(each) for each in ModelProto.FromString(packed.model).graph.initializer}
    # In place: the whole in-memory file of that name.
    assert found["same"] == {"location": "same"}
    for name, content in (("changed", DATA[100:150]), ("shorter", DATA[:40]), ("new", DATA[150:]), ("first", DATA[:7])):
        own = found[name]
        assert own["location"] == "cache"
        assert int(own["length"]) == content.size
        assert int(own["offset"]) % ALIGNMENT == 0
        [stored] = [array for offset, array in packed.tensors if offset == int(own["offset"])]
        np.testing.assert_array_equal(stored, content)
    ends = [offset + array.size for offset, array in packed.tensors]
    assert all(end <= offset for end, (offset, _) in zip(ends, packed.tensors[1:], strict=False))
    assert ends[-1] <= packed.size < ends[-1] + ALIGNMENT


def test_graphs_inside_of_nodes_have_tensors_too() -> None:
    inner = helper.make_graph([], "body", [], [], [tensor("inner", 64, 20), tensor("same", 0, 10)])
    packed = pack(model(tensor("outer", 0, 30), inner=inner), DATA, [Weight("same", DATA[:10].copy())], "cache")
    graph = ModelProto.FromString(packed.model).graph
    body = graph.node[0].attribute[0].g
    assert [entries(each)["location"] for each in body.initializer] == ["cache", "same"]
    assert [array.size for _, array in packed.tensors] == [30, 20]


def test_small_tensors_stay_inside() -> None:
    inside = TensorProto(name="inside", data_type=TensorProto.UINT8, dims=[3], raw_data=b"abc")
    packed = pack(model(inside), np.empty(0, np.uint8), [], "cache")
    assert ModelProto.FromString(packed.model).graph.initializer[0].raw_data == b"abc"
    assert (packed.tensors, packed.size) == ((), 0)


@pytest.mark.parametrize(
    "tensors",
    [
        [tensor("w", 190, 20)],
        [tensor("w", 300, 5)],
        [tensor("w", -5, 5)],
        [tensor("w", 5, -5)],
        [tensor("w", 0, 5), tensor("v", 0, 5, "another")],
    ],
    ids=["cut", "behind the end", "before the beginning", "a negative length", "two files"],
)
def test_bytes_that_are_not_there(tensors: list[TensorProto]) -> None:
    with pytest.raises(ValueError, match="the engine's file of weights must have"):
        pack(model(*tensors), DATA, [], "cache")
