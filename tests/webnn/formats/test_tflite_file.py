from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import webnn
from tests.support import CURRENT, make_context
from tests.webnn.tflite.cases import CASES


def test_a_model_is_loaded_by_its_suffix(tmp_path: Path) -> None:
    path = tmp_path / "m.TFLite"
    path.write_bytes(CASES["RELU"])
    assert [each.operation for each in webnn.load(path).operators] == ["relu"]


def test_a_graph_is_written_and_loaded_again(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(CASES["RELU"])
    description = webnn.load(path)
    description.save(tmp_path / "again.tflite")
    again = webnn.load(tmp_path / "again.tflite")
    assert (again.inputs, [each.operation for each in again.operators]) == (description.inputs, ["relu"])
    assert b"WebNN 2026-06, written by webnn" in (tmp_path / "again.tflite").read_bytes()


def test_a_refused_graph_leaves_the_file(tmp_path: Path) -> None:
    builder = webnn.MLGraphBuilder(make_context(CURRENT))
    x = builder.input("x", dataType="int64", shape=[2])
    path = tmp_path / "m.tflite"
    path.write_bytes(b"before")
    with pytest.raises(webnn.FormatError, match=r"m\.tflite: \[half\] div needs DIV"):
        webnn.describe({"y": builder.div(x, x, label="half")}).save(path)
    assert path.read_bytes() == b"before"


@pytest.mark.processes
def test_without_the_package_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    code = f"""
import sys
sys.modules["tflite"] = None
import webnn
builder = webnn.MLGraphBuilder(webnn.ML().createContextSync())
x = builder.input("x", dataType="float32", shape=[2])
try:
    webnn.describe({{"y": builder.relu(x)}}).save({str(tmp_path / "m.tflite")!r})
except ImportError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.startswith("TFLite models need the package tflite: ")
    assert said.count("\n") == 1
