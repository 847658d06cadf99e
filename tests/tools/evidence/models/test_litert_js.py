"""Comparisons with LiteRT.js. The package of npm is there on few machines."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tests.tools.evidence.models.toys import RELU, TOY
from tests.webnn.tflite.cases import CASES
from tools.evidence.models.litert_js import LiteRTJSError, compare, make_comparison

MODEL = replace(RELU, name="toy", inputs={}, archived=replace(TOY, file="toy/model.tflite"))
#: A program in place of LiteRT.js, which returns its input.
CORE = """
export class Tensor {
  constructor(data) { this.data = data; }
  async moveTo() { return this; }
  toTypedArray() { return this.data; }
}
export const loadLiteRt = async () => {};
export const loadAndCompile = async address => {
  const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);
  const x = builder.input('x', {dataType: 'float32', shape: [2]});
  await builder.build({y: builder.relu(x)});
  return {
    getInputDetails: () => [{name: 't0', dtype: 'float32', shape: [2, 5]}], run: async ({t0}) => ({y: new Tensor(t0.data)}), delete() {},
  };
};
"""


def test_without_the_package(tmp_path: Path) -> None:
    with pytest.raises(LiteRTJSError, match=r"there is no LiteRT.js in .*: npm install --prefix .* @litertjs/core"):
        next(compare([MODEL], [tmp_path / "model.tflite"], tmp_path, seed=0, seconds=60))


@pytest.mark.processes
def test_a_program_in_its_place(tmp_path: Path) -> None:
    pytest.importorskip("ai_edge_litert", reason="LiteRT, which tells the inputs, is not installed")
    package = tmp_path / "node_modules" / "@litertjs" / "core"
    for folder in ("dist", "wasm"):
        (package / folder).mkdir(parents=True)
    (package / "dist" / "index.js").write_text(CORE)
    (package / "wasm" / "litert_wasm_jspi_internal.js").write_text("0;")
    (package / "wasm" / "litert_wasm_jspi_internal.wasm").write_bytes(b"")
    file = tmp_path / "model.tflite"
    file.write_bytes(CASES["RELU"])
    (found,) = compare([MODEL], [file], tmp_path, seed=0, seconds=60)
    # The inputs are from 0 to 1: relu changes nothing.
    assert found == {"name": "toy", "graphs": 1, "theirs": 1, "ours": 1, "difference": 0.0, "error": ""}


def test_a_table() -> None:
    rows = [
        {"name": "a", "graphs": 1, "theirs": 3, "ours": 2, "difference": 2e-7, "error": ""},
        {"name": "b", "graphs": 0, "theirs": 0, "ours": 2, "difference": None, "error": "it failed"},
    ]
    text = StringIO()
    Console(file=text, width=100).print(make_comparison(rows))
    assert "2.0e-07" in text.getvalue()
    assert "it failed" in text.getvalue()
