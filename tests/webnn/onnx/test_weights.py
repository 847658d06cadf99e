"""Large weights that are read apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import webnn.onnx
from webnn.onnx import weights

SHAPE = [64, 1024]


def make_model() -> ModelProto:
    """Make a model with two large initializers, the last one of which has its fields in another order, and small ones around them."""
    random = np.random.default_rng(0)
    arrays = {"small": np.float32([1, 2]), "a": random.random(SHAPE), "b": random.random(SHAPE), "last": np.float32([3])}
    tensors = [numpy_helper.from_array(np.asarray(array, np.float32), name) for name, array in arrays.items()]
    nodes = [helper.make_node("Add", ["x", name], [f"{name}+"]) for name in ("a", "b", "last")]
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
        [helper.make_tensor_value_info(f"{name}+", TensorProto.FLOAT, SHAPE) for name in ("a", "b", "last")],
        tensors,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "_LEAST", 1)
    monkeypatch.setattr(weights, "_LARGE", 1 << 16)


def read(path: Path, content: bytes) -> tuple[bytes, dict[int, bytes]]:
    path.write_bytes(content)
    with path.open("rb", buffering=0) as file:
        return weights.read_apart(file)


def test_what_is_apart(tmp_path: Path) -> None:
    model = make_model()
    content, apart = read(tmp_path / "model.onnx", model.SerializeToString())
    assert {index: bytes(raw) for index, raw in apart.items()} == {index: model.graph.initializer[index].raw_data for index in (1, 2)}
    light = ModelProto.FromString(content)
    for index, raw in apart.items():
        light.graph.initializer[index].raw_data = raw
    assert light == model


def test_an_import_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(make_model().SerializeToString())
    found = webnn.onnx.load(path).description
    monkeypatch.setattr(weights, "_LEAST", 1 << 30)
    assert found == webnn.onnx.load(path).description


def _append_graph(content: bytes) -> bytes:
    return content + ModelProto(graph={"name": "again"}).SerializeToString()


def _write_twice(content: bytes) -> bytes:
    model = ModelProto.FromString(content)
    tensor = model.graph.initializer.pop()
    del model.graph.initializer[:]
    tensor.raw_data = bytes(1 << 17)
    twice = tensor.SerializeToString() * 2
    return model.SerializeToString()[:-1] + twice


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_append_graph, id="two graphs"),
        pytest.param(_write_twice, id="no message"),
        pytest.param(lambda content: content[:-5], id="cut"),
        pytest.param(lambda content: content + b"\x80" * 20, id="endless number"),
        pytest.param(lambda content: content + b"\x0b", id="group"),
        pytest.param(lambda content: content + b"\x3a\xff\xff\xff\xff\x0f", id="longer than the file"),
        pytest.param(lambda content: b"", id="empty"),
    ],
)
def test_other_files_are_read_as_they_are(change: Callable[[bytes], bytes], tmp_path: Path) -> None:
    content = change(make_model().SerializeToString())
    assert read(tmp_path / "model.onnx", content) == (content, {})
