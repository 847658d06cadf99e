"""The notebook runs, and shows what it says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.shared import ROOT
from tools import run_notebook

NOTEBOOK = ROOT / "examples" / "look_inside.ipynb"


def notebook(*cells: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": source.splitlines(keepends=True), "outputs": []} for source in cells]})


def test_it_shows_what_it_says() -> None:
    source = NOTEBOOK.read_text(encoding="utf-8")
    ran = run_notebook.run(source)
    saved: dict[str, Any] = json.loads(source)
    assert run_notebook.texts(ran) == run_notebook.texts(saved)
    pages = ["".join(each["data"].get("text/html", "")) for cell in ran["cells"] for each in cell.get("outputs", []) if "data" in each]
    # Contexts, operands, builders, descriptions, graphs, placements: each has a page.
    assert len(pages) == 7
    assert all(page.startswith("<div>") for page in pages)
    assert sum("data:image/svg+xml" in page for page in pages) == 3


def test_cells_share_names() -> None:
    ran = run_notebook.run(notebook("x = 1\nprint('one')\nx", "def f():\n    return x + 1\nf()", "x = None\nx"))
    assert run_notebook.texts(ran) == [["one\n", "1"], ["2"], []]


def test_a_cell_that_fails() -> None:
    with pytest.raises(ZeroDivisionError):
        run_notebook.run(notebook("x = 1", "x / 0"))


def test_the_command(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text(notebook("1 + 1"), encoding="utf-8")
    assert run_notebook.main([str(file), "--check"]) == 1
    assert "cell 1 shows ['2'], the file has []" in capsys.readouterr().err
    assert run_notebook.main([str(file)]) == 0
    assert run_notebook.main([str(file), "--check"]) == 0
