"""``webnn run --waste``: Python programs, and JavaScript programs with the lines of their scripts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support import CURRENT
from tests.webnn.commands.test_program import run_here, write
from tests.webnn.inspect.graphs import build, network
from tests.webnn.javascript.node_support import require_node

PYTHON = """
import sys
from webnn import ML, MLGraphBuilder
context = ML(revision="2026-06").createContextSync()
builder = MLGraphBuilder(context)
graph = builder.buildSync({"y": builder.relu(builder.input("x", dataType="float32", shape=[100]))})
x, y = (context.createTensorSync(dataType="float32", shape=[100], readable=True) for _ in range(2))
for _ in range(5):
    context.dispatch(graph, {"x": x}, {"y": y})
    context.readTensorSync(y)
print("done")
{END}
"""
JAVASCRIPT = """const context = await navigator.ml.createContext();
const builder = new MLGraphBuilder(context), some = {dataType: 'float32', shape: [100]};
const graph = await builder.build({y: builder.relu(builder.input('x', some))});
const [x, y] = await Promise.all([1, 2].map(() => context.createTensor({...some, readable: true, writable: true})));
const kept = [];
for (let step = 0; step < 6; step++) {
  kept.push(await context.createTensor(some));
  context.writeTensor(x, new Float32Array(100));
  context.dispatch(graph, {x}, {y});
  await context.readTensor(y);
}
console.log('done');
"""
#: How the program ends, and the exit code.
ENDS = [("", 0), ("sys.exit(7)", 7), ("raise ValueError('an error of the program')", 1)]


@pytest.mark.parametrize(("end", "code"), ENDS)
def test_a_python_program(end: str, code: int, tmp_path: Path) -> None:
    program = write(tmp_path / "program.py", PYTHON.replace("{END}", end))
    result = run_here("--waste", tmp_path / "report.json", program)
    assert (result.returncode, result.stdout) == (code, "done\n")
    assert f"webnn: wrote {tmp_path / 'report.json'}\n" in result.stderr
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert (report["count"], report["total"]["copies"]) == (3, 3)
    assert [(each["line"], each["method"]) for each in report["lines"] if each["copies"]] == [(10, "readTensor")]


def test_on_the_terminal(tmp_path: Path) -> None:
    result = run_here("--waste", "-", write(tmp_path / "program.py", PYTHON.replace("{END}", "")), environment={"COLUMNS": "100"})
    assert result.stdout == "done\n"
    assert re.search(r"^program\.py:10 +readTensor +3 +400 +1 +400$", result.stderr, re.MULTILINE), result.stderr


def test_a_page(tmp_path: Path) -> None:
    result = run_here("--waste", tmp_path / "report.html", write(tmp_path / "program.py", PYTHON.replace("{END}", "")))
    assert result.returncode == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h1>program.py</h1>" in page
    assert "program.py:10" in page


@pytest.mark.processes
def test_a_javascript_program(tmp_path: Path) -> None:
    require_node()
    program = write(tmp_path / "program.mjs", JAVASCRIPT)
    result = run_here("--revision", CURRENT, "--waste", tmp_path / "report.json", program)
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert {each["file"] for each in report["lines"]} == {"https://app.test/program.mjs"}
    found = {(each["line"], each["method"]): (each["steps"], each["copiedBytes"], each["allocations"]) for each in report["lines"]}
    assert found == {
        (4, "createTensor"): (0, 0, 0),
        (7, "createTensor"): (4, 0, 4),
        (8, "writeTensor"): (4, 1600, 0),
        (9, "dispatch"): (4, 0, 0),
        (10, "readTensor"): (4, 1600, 4),
    }
    [leak] = [each for each in report["lines"] if each["kept"]]
    assert (leak["line"], leak["kept"]) == (7, 4)


def test_a_draft_without_tensors(tmp_path: Path) -> None:
    program = write(tmp_path / "program.py", "from webnn import ML\nML(revision='2024-06').createContextSync()")
    assert "1 contexts were not recorded: their draft has no tensors" in run_here("--waste", "-", program).stderr


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("report.txt", "--waste must be -, or name a file .json or .html, got report.txt"),
        ("none/report.json", "--waste must name a file in a folder that exists, got "),
    ],
)
def test_where_no_report_can_be(target: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program does not start."""
    monkeypatch.chdir(tmp_path)
    program = write(tmp_path / "program.py", "print('started')")
    result = run_here("--waste", target, program)
    assert (result.returncode, result.stdout) == (2, "")
    assert message in " ".join(result.stderr.split())


def test_a_report_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "report.json").mkdir()
    result = run_here("--waste", tmp_path / "report.json", write(tmp_path / "program.py", "print('started')"))
    assert (result.returncode, result.stdout) == (1, "started\n")
    assert "webnn: --waste cannot write " in result.stderr


def test_a_saved_graph_has_no_steps(tmp_path: Path) -> None:
    build(network).description.save(tmp_path / "graph.webnn")
    result = run_here("--waste", "-", tmp_path / "graph.webnn")
    assert result.returncode == 2
    assert "--waste can only be given for a program: a saved graph makes no calls" in result.stderr
