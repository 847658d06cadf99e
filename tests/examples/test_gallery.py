"""The gallery runs in a kernel of Jupyter, as a reader runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.shared import ROOT
from tests.support import PATIENCE
from tests.webnn.javascript.node_support import require_node

GALLERY = ROOT / "examples" / "gallery.ipynb"


def test_it_has_no_outputs() -> None:
    """They would differ from machine to machine."""
    cells = [cell for cell in nbformat.read(GALLERY, as_version=4).cells if cell.cell_type == "code"]
    assert len(cells) > 10
    assert [(cell.outputs, cell.execution_count) for cell in cells] == [([], None)] * len(cells)


def text_of(output: Any) -> str:
    data = output.get("data", {})
    return str(output.get("text", "")) + str(data.get("text/plain", "")) + str(data.get("text/html", ""))


@pytest.mark.processes
def test_it_runs(tmp_path: Path) -> None:
    require_node()
    # In a process of its own: the libraries of Jupyter give warnings, and leave sockets open.
    (tmp_path / "run.py").write_text(_RUN, encoding="utf-8")
    command = [sys.executable, str(tmp_path / "run.py"), str(GALLERY), str(tmp_path / "out.ipynb")]
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path), "JUPYTER_RUNTIME_DIR": str(tmp_path), "TMPDIR": str(tmp_path)}
    subprocess.run(command, check=True, cwd=GALLERY.parent, env=environment, timeout=PATIENCE)
    notebook = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    shown = {cell.id: "".join(map(text_of, cell.outputs)) for cell in notebook.cells if cell.cell_type == "code"}
    for name, fragments in EXPECTED.items():
        assert [fragment for fragment in fragments if fragment not in shown[name]] == [], shown[name]
    assert {*EXPECTED} == {*shown}
    # Nor the steps of its progress.
    assert "checking" not in shown["check-run"]
    assert not list(GALLERY.parent.glob("digits.*"))


#: Some of the outputs of the cells.
EXPECTED = {
    "setup": [],
    "former-graph": ["array([[1., 2.],"],
    "newest-graph": ["array([[1., 2.],"],
    "wrong-call": ["matmul: b must have 2 rows, the number of columns of a, got 3"],
    "model-train": ["trained with", "read correctly: 9"],
    "import-load": ["data:image/svg+xml;base64,", "Report: 8 converted"],
    "check-run": ["coreml", "tflite-chromium153", "builds on 3 of 3 profiles"],
    "device-placement": ["npu requested, simulated by the device profile", "<table"],
    "accuracy-table": ["Accuracy of the operators, each by itself", "<table"],
    "export-save": ["digits.mjs", "digits.svg", "digits.webnn"],
    "javascript-run": ["(index)", "digit"],
    "javascript-result": ["read: 4   shown: 4"],
}
_RUN = """
import sys
import nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""
