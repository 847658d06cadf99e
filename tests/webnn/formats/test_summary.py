"""The table of a graph, at 80 columns and wide, and the same as data."""

from __future__ import annotations

import json

import numpy as np
import pytest

import webnn
from tests.webnn.formats.networks import HOSTILE, builder, chain, encoder, hostile, weights
from webnn.formats.summary import as_data, as_text

NARROW = """\
graph encoder, draft 2026-06
inputs   x     float32 4x8
         mask  float32 4x8
outputs  y  float32 4x8

 #  operation  label          result       params  mul-adds
 1  add        position       float32 4x8       8
 2  matmul     layer0/query   float32 4x8      64       256
 3  matmul     layer0/key     float32 4x8      64       256
 4  add                       float32 4x8
 5  transpose                 float32 8x4
 6  matmul     layer0/scores  float32 4x4               128
 7  softmax                   float32 4x4
 8  matmul     layer0/out     float32 4x8      32       128
 9  relu                      float32 4x8
10  add                       float32 4x8
11  tanh                      float32 4x8

11 operators, 168 parameters (672 bytes), 768 multiply-adds
largest tensors
  256 bytes  layer0/query_b  constant  float32 8x8
  256 bytes  layer0/key_b    constant  float32 8x8
  128 bytes  x               input     float32 4x8
  128 bytes  mask            input     float32 4x8
  128 bytes  layer0/out_b    constant  float32 4x8"""


def test_narrow() -> None:
    text = as_text(encoder(1), width=80)
    assert text == NARROW
    assert max(map(len, text.splitlines())) <= 80


def test_wide() -> None:
    text = as_text(encoder(1), width=140)
    [heading, *rows] = text.splitlines()[5:17]
    assert heading.split() == ["#", "operation", "label", "result", "params", "mul-adds", "operands", "options"]
    assert rows[1].endswith("position, layer0/query_b")
    assert rows[6].endswith("axis=1")
    assert max(map(len, text.splitlines())) <= 140


def test_print(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    description = encoder(1)
    assert str(description) == as_text(description, width=90)
    assert repr(description) == "<GraphDescription 'encoder': (x, mask) -> (y), 11 operators>"


def test_a_long_graph_is_shortened() -> None:
    description = chain(("relu", "abs") * 60)
    lines = as_text(description, width=80).splitlines()
    assert "... 40 more operators ..." in lines
    assert sum(line.split()[1:2] == ["relu"] for line in lines) == 40
    assert sum(line.split()[1:2] == ["relu"] for line in as_text(description, width=80, whole=True).splitlines()) == 60


def test_labels_are_cut_before_the_table_gets_wider() -> None:
    b = builder()
    x = b.input("x", dataType="float32", shape=[2])
    lines = as_text(webnn.describe({"y": b.relu(x, label="層" * 30)}), width=60).splitlines()
    assert "層層層..." in lines[5]
    # A wide character takes two columns.
    assert max(len(line) + line.count("層") for line in lines) <= 60


def test_hostile_names() -> None:
    for text in (as_text(hostile(), width=80), as_text(hostile(), width=200)):
        assert all(line.isprintable() for line in text.splitlines())
        assert len(text.splitlines()) < 30


def test_several_results_and_many_inputs() -> None:
    b = builder()
    inputs = [b.input(f"x{number}", dataType="float32", shape=[]) for number in range(15)]
    total = inputs[0]
    for each in inputs[1:]:
        total = b.add(total, each)
    parts = b.split(b.add(total, weights(b, 6)), [1, 5])
    lines = as_text(webnn.describe({"y": parts[0], "z": parts[1]}), width=80).splitlines()
    assert "inputs   x0   float32 scalar" in lines
    assert "         ... 3 more" in lines
    assert any("float32 1 +1" in line for line in lines)


def test_no_operators() -> None:
    description = encoder(1)
    empty = webnn.GraphDescription(draft=description.draft, inputs={}, constants={}, operators=(), outputs={})
    assert as_text(empty, width=80) == "graph, draft 2026-06\n\n0 operators, 0 parameters (0 bytes), 0 multiply-adds"


def test_data() -> None:
    data = as_data(encoder(1))
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["totals"] == {"operators": 11, "parameters": 168, "constantBytes": 672, "multiplyAdds": 768}
    assert data["operators"][5] == {
        "number": 6,
        "operation": "matmul",
        "label": "layer0/scores",
        "inputs": {"a": "add", "b": "transpose"},
        "arguments": {},
        "options": {},
        "operands": {},
        "outputs": [{"name": "layer0/scores", "dataType": "float32", "shape": [4, 4]}],
        "parameters": 0,
        "multiplyAdds": 128,
    }
    assert data["outputs"] == {"y": {"value": "y", "dataType": "float32", "shape": [4, 8]}}
    assert data["largest"][0] == {"name": "layer0/query_b", "kind": "constant", "bytes": 256, "dataType": "float32", "shape": [8, 8]}


def test_data_that_json_cannot_say() -> None:
    b = builder()
    x = b.input(HOSTILE, dataType="float32", shape=[2])
    lowest, highest = -float("inf"), float("inf")
    data = as_data(webnn.describe({"y": b.clamp(x, minValue=lowest, maxValue=highest)}))
    assert data["operators"][0]["options"] == {"minValue": "-Infinity", "maxValue": "Infinity"}
    json.dumps(data, allow_nan=False)


def test_small_integers() -> None:
    b = webnn.MLGraphBuilder(webnn.ML(revision="2026-06+browsers").createContextSync())
    x = b.constant({"dataType": "int4", "shape": [3]}, np.zeros(2, np.uint8))
    y = b.dequantizeLinear(x, weights(b, 1), b.constant({"dataType": "int4", "shape": [1]}, np.zeros(1, np.uint8)))
    assert "5 parameters (7 bytes)" in as_text(webnn.describe({"y": y}), width=80)
