"""A program in the process that runs it: its graphs, its error and its end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from webnn.playground.order import Order
from webnn.playground.program import prepare, run

GRAPH = """
import webnn
context = webnn.ML().createContextSync()
builder = webnn.MLGraphBuilder(context)
builder.buildSync({"y": builder.relu(builder.input("x", dataType="float32", shape=[2]))})
"""


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WEBNN_REVISION", raising=False)
    monkeypatch.setattr("sys.argv", ["pytest"])
    monkeypatch.setattr("sys.path", [*sys.path])


def become(source: str, folder: Path) -> dict[str, Any]:
    order = Order(language="python", source=source)
    prepare(folder, order)
    return run(order, folder / "program", 0)


def test_graphs_and_no_error(tmp_path: Path) -> None:
    outcome = become(GRAPH, tmp_path)
    assert (outcome["error"], outcome["ended"]) == (None, True)
    assert [graph["name"] for graph in outcome["graphs"]] == ["y"]


def test_graphs_before_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = become(GRAPH + "1 / 0\n", tmp_path)
    assert outcome["error"] == {"message": "ZeroDivisionError: division by zero", "line": 6, "column": None}
    assert len(str(outcome["graphs"])) > 100
    assert 'File "program.py", line 6' in capsys.readouterr().err


@pytest.mark.parametrize("end", ["raise SystemExit", "raise SystemExit(0)", "import sys; sys.exit()"])
def test_a_good_end(end: str, tmp_path: Path) -> None:
    assert become(end, tmp_path)["error"] is None


def test_a_bad_end(tmp_path: Path) -> None:
    assert become("raise SystemExit('no')", tmp_path)["error"] == {"message": "the program ended with 'no'", "line": None, "column": None}
