"""Files for Model Explorer and Netron."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from tests.webnn.formats.networks import encoder
from webnn.formats import onnx_file
from webnn.viewer import as_model_explorer, as_node_data, as_notes, describe


def test_the_graph_for_model_explorer() -> None:
    document = describe(encoder(2))
    collection = as_model_explorer(document)
    (graph,) = collection["graphs"]
    nodes = {node["id"]: node for node in graph["nodes"]}
    assert len(nodes) == len(document["nodes"])
    query = next(node for node in graph["nodes"] if {"key": "label", "value": "layer1/query"} in node["attrs"])
    assert (query["label"], query["namespace"]) == ("matmul", "layer1")
    (edge,) = query["incomingEdges"]
    assert nodes[edge["sourceNodeId"]]["label"] == "add"
    assert query["outputsMetadata"][0]["attrs"][1:] == [{"key": "type", "value": "float32"}, {"key": "shape", "value": "4×8"}]


def test_node_data() -> None:
    document = describe(encoder(1), seconds={1: 0.5})
    graph = as_model_explorer(document)["graphs"][0]["id"]
    time = as_node_data(document, "time")[graph]
    assert (time["name"], time["results"]) == ("time (seconds)", {"2": {"value": 0.5}})
    assert [each["stop"] for each in time["gradient"]] == [0, 1]
    kind = as_node_data(document, "kind")[graph]["results"]
    assert kind["2"]["value"] == "arithmetic"
    with pytest.raises(ValueError, match="colouring must be one of kind, time, bytes, got 'device'"):
        as_node_data(document, "device")


def test_notes_of_an_onnx_model(tmp_path: Path) -> None:
    description = encoder(1)
    document = describe(description, seconds={1: 0.25}, errors={1: 0.5})
    file = tmp_path / "graph.onnx"
    onnx_file.write(description, file, as_notes(description, document))
    nodes = [{each.key: each.value for each in node.metadata_props} for node in onnx.load(file).graph.node]
    (position,) = [node for node in nodes if node.get("webnn.label") == "position"]
    assert position == {
        "webnn.operation": "add",
        "webnn.label": "position",
        "webnn.number": "1",
        "webnn.time": "0.25",
        "webnn.error": "0.5",
    }
    assert all("webnn.time" not in node for node in nodes if node is not position)
