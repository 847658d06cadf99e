"""``webnn run --inspect``: Python programs, JavaScript programs and saved graphs."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from tests.shared import ROOT
from tests.webnn.commands.test_program import run_here, write
from tests.webnn.inspect.graphs import build, network
from tests.webnn.javascript.node_support import require_node

PYTHON = """
import sys
import numpy as np
from webnn import MLGraphBuilder, navigator
context = navigator.ml.createContextSync()
builder = MLGraphBuilder(context)
x = builder.input("x", dataType="float32", dimensions=[3])
graph = builder.buildSync({"y": builder.relu(x, label="<b>the label</b>")})
context.computeSync(graph, {"x": np.ones(3, np.float32)}, {"y": np.zeros(3, np.float32)})
print("done")
{END}
"""
#: How the program ends, and the exit code.
ENDS = [("", 0), ("sys.exit(7)", 7), ("raise ValueError('an error of the program')", 1)]


@pytest.mark.parametrize(("end", "code"), ENDS)
def test_a_python_program(end: str, code: int, tmp_path: Path) -> None:
    program = write(tmp_path / "program.py", PYTHON.replace("{END}", end))
    page = tmp_path / "page.html"
    result = run_here("--inspect", page, program)
    assert (result.returncode, result.stdout) == (code, "done\n")
    assert "webnn: looking into 1 graph ...\n" in result.stderr
    assert f"webnn: wrote {page}\n" in result.stderr
    text = page.read_text(encoding="utf-8")
    assert "<h1>program.py</h1>" in text
    assert "Graph 1, computed once" in text
    assert re.search(r'"line":"[^"]*program\.py:\d+"', text)
    assert ("<b>the label</b>" in text, html.escape("<b>the label</b>") in text) == (False, True)


def test_a_saved_graph(tmp_path: Path) -> None:
    build(network).description.save(tmp_path / "graph.webnn")
    result = run_here("--inspect", tmp_path / "page.html", tmp_path / "graph.webnn")
    assert result.returncode == 0, result.stderr
    assert "computed once" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.processes
def test_a_javascript_program(tmp_path: Path) -> None:
    require_node()
    page = tmp_path / "page.html"
    result = run_here("--inspect", page, ROOT / "examples" / "js" / "add.mjs")
    assert result.returncode == 0, result.stderr
    text = page.read_text(encoding="utf-8")
    assert "computed once" in text
    assert "sum: float32 [2, 2]" in text
    assert '"line":"/add.mjs:' in text


def test_a_program_without_graphs(tmp_path: Path) -> None:
    program = write(tmp_path / "program.py", "print('nothing')")
    result = run_here("--inspect", tmp_path / "page.html", program)
    assert result.returncode == 0
    assert "the program built no graph" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("page.txt", "--inspect must name a file .html, got "),
        ("none/page.html", "--inspect must name a file in a folder that exists, got "),
    ],
)
def test_where_no_page_can_be(page: str, message: str, tmp_path: Path) -> None:
    """The program does not start."""
    program = write(tmp_path / "program.py", "print('started')")
    result = run_here("--inspect", tmp_path / page, program)
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "page.html").mkdir()
    program = write(tmp_path / "program.py", "print('started')")
    result = run_here("--inspect", tmp_path / "page.html", program)
    assert (result.returncode, result.stdout) == (1, "started\n")
    assert "webnn: --inspect cannot write " in result.stderr
