"""The document of a graph: values, nodes, groupings and colourings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import webnn
from tests.webnn.formats.networks import builder, encoder, hostile
from webnn.viewer import describe


def test_nodes_and_values() -> None:
    document = describe(encoder(1))
    assert (document["format"], document["version"], document["title"]) == ("webnn-viewer", 1, "encoder")
    assert "operators" in document["facts"]
    nodes, values = document["nodes"], document["values"]
    assert [node["title"] for node in nodes if node["kind"] == "input"] == ["x", "mask"]
    assert [node["title"] for node in nodes if node["kind"] == "output"] == ["y"]
    (query,) = [node for node in nodes if node.get("label") == "layer0/query"]
    assert query["title"] == "matmul"
    assert [name for name, _ in query["inputs"]] == ["a", "b"]
    filter = values[query["inputs"][1][1]]
    assert (filter["type"], filter["shape"], filter["bytes"], filter["constant"]) == ("float32", "8×8", 256, True)
    softmax = next(node for node in nodes if node["title"] == "softmax")
    assert softmax["options"] == [["axis", "1"]]
    # Each value but the constants has one maker.
    made = [place for node in nodes for place in node["outputs"]]
    assert sorted(made) == [place for place, value in enumerate(values) if "constant" not in value]


def test_colourings() -> None:
    description = encoder(1)
    document = describe(description, seconds={1: 2e-3, 3: float("inf")}, errors={2: float("nan"), 3: 0.5})
    assert [each["name"] for each in document["colourings"]] == ["kind", "time", "error", "bytes"]
    kind, time, error, size = document["colourings"]
    count = len(document["nodes"])
    assert {len(kind["of"]), *(len(each["amounts"]) for each in (time, error, size))} == {count}
    # The inputs come first, then operators, then outputs, which have no colour.
    begin = len(description.inputs)
    assert kind["of"][:begin] == [-1, -1]
    assert kind["of"][-1] == -1
    assert {each["name"] for each in kind["classes"]} <= {"multiply", "activation", "arithmetic", "move"}
    assert (time["unit"], time["total"], time["amounts"][begin : begin + 2]) == ("seconds", "sum", [2e-3, None])
    assert (error["total"], error["amounts"][begin + 1 : begin + 3]) == ("max", [None, 0.5])
    assert size["amounts"][begin] == 4 * 8 * 4 + 8 * 4
    json.dumps(document, allow_nan=False)


def test_lines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    places = {1: (str(tmp_path / "model" / "layer.py"), 7), 2: ("/elsewhere/layer.py", 8), 3: ("https://app.test/page.mjs", 9)}
    nodes = {each.get("number"): each.get("line") for each in describe(encoder(1), lines=places)["nodes"]}
    assert [nodes[number] for number in (1, 2, 3, 4)] == [str(Path("model", "layer.py:7")), "/elsewhere/layer.py:8", "/page.mjs:9", None]


def test_devices() -> None:
    context = webnn.ML(revision="2026-06").createContextSync()
    b = webnn.MLGraphBuilder(context)
    x = b.input("x", dataType="float32", shape=[2])
    graph = b.buildSync({"y": b.relu(x)})
    document = describe(graph.description, placement=graph.placement)
    device = next(each for each in document["colourings"] if each["name"] == "device")
    assert [each["name"] for each in device["classes"]] == ["cpu"]
    assert device["of"] == [-1, 0, -1]


def test_hostile_names_are_short_and_without_controls() -> None:
    document = describe(hostile())
    text = json.dumps(document, ensure_ascii=False)
    assert not any(each in text for each in "\x00\x1b\u202e\ud800")
    long = builder()
    x = long.input("n" * 5000, dataType="float32", shape=[2])
    document = describe(webnn.describe({"y" * 5000: long.relu(x, label="l" * 5000)}))
    assert max(map(len, (*[node["title"] for node in document["nodes"]], document["nodes"][1]["label"]))) == 200
