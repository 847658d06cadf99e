"""``webnn show``: tables and pictures of files and of programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.command_line import call
from tests.shared import ROOT
from tests.webnn.formats.networks import builder, encoder, hostile
from tests.webnn.javascript.node_support import require_node
from webnn import describe, load
from webnn._extras import install_command
from webnn.commands.main import app
from webnn.formats.dot import as_dot
from webnn.formats.mermaid import as_mermaid
from webnn.formats.summary import as_data, as_text
from webnn.formats.svg import draw

PROGRAM = """
import sys
import webnn

print("from the program", *sys.argv[1:])
context = webnn.ML(revision="2026-06").createContextSync()
for name in ("first", "second"):
    builder = webnn.MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=[2])
    builder.buildSync({name: builder.relu(x), "rest": builder.abs(builder.neg(x))})
"""


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program runs in this process: `sys.argv` and `sys.path` become its own. The table is as wide as a terminal."""
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM, encoding="utf-8")
    return file


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    file = tmp_path / "encoder.webnn.json"
    encoder(3).save(file)
    return file


def show(*arguments: object) -> tuple[int, str, str]:
    return call("show", *arguments)


def test_a_file(saved: Path) -> None:
    assert show(saved) == (0, f"{as_text(encoder(3), width=80)}\n", "")


def test_a_program(program: Path) -> None:
    code, out, _ = show(program, "--", "--an-option")
    assert code == 0
    lines = out.splitlines()
    headings = [line for line in lines if line.startswith("==")]
    assert headings == ["== 1 of 2: first, rest", "== 2 of 2: second, rest"]
    assert sum(line.split()[1:2] == ["relu"] for line in lines) == 2
    assert not any("from the program" in line for line in lines)


@pytest.mark.parametrize("choice", ["2", "second, rest"])
def test_one_graph(program: Path, choice: str) -> None:
    code, out, _ = show(program, "--graph", choice)
    assert code == 0
    assert out.splitlines()[:2] == ["graph, draft 2026-06", "inputs   x  float32 2"]
    assert "outputs  second  float32 2" in out


def test_one_output(program: Path) -> None:
    _, out, _ = show(program, "--graph", "1", "--output", "first")
    assert "1 operator, 0 parameters" in out


def test_json(program: Path, saved: Path) -> None:
    code, out, _ = show(program, "--json")
    assert code == 0
    assert [list(graph["outputs"]) for graph in json.loads(out)] == [["first", "rest"], ["second", "rest"]]
    assert json.loads(show(saved, "--json")[1]) == [as_data(encoder(3))]


def test_pictures(saved: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.svg", "a.dot", "a.mmd", "all.svg", "all.mmd", "wide.svg")]
    assert show(saved, "--svg", files[0], "--dot", files[1], "--mermaid", files[2]) == (0, "", "")
    assert show(saved, "--svg", files[3], "--mermaid", files[4], "--all") == (0, "", "")
    assert show(saved, "--svg", files[5], "--width", "200") == (0, "", "")
    graph = encoder(3)
    assert [file.read_text(encoding="utf-8") for file in files] == [
        draw(graph),
        as_dot(graph),
        as_mermaid(graph),
        draw(graph, fold=False),
        as_mermaid(graph, fold=False),
        draw(graph, width=200),
    ]


def test_a_picture_and_json(saved: Path, tmp_path: Path) -> None:
    code, out, _ = show(saved, "--svg", tmp_path / "a.svg", "--json")
    assert (code, json.loads(out)[0]["name"]) == (0, "encoder")
    assert (tmp_path / "a.svg").exists()


def test_what_is_refused(program: Path, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = tmp_path / "wrong.webnn.json"
    wrong.write_text("{", encoding="utf-8")
    calls: list[tuple[list[object], int, str]] = [
        (["none.webnn"], 2, "none.webnn is not there"),
        ([wrong], 2, "wrong.webnn.json"),
        ([program, "--graph", "3"], 2, "--graph must be a number from 1 to 2"),
        ([program, "--svg", tmp_path / "a.svg"], 2, "builds 2 graphs: choose one with --graph: 1 first, rest; 2 second, rest"),
        ([program, "--output", "third"], 2, "--output must name outputs of the graph, which has first, rest; second, rest, got 'third'"),
        ([saved, "--svg", tmp_path / "none" / "a.svg"], 1, "No such file"),
    ]
    for arguments, code, message in calls:
        given, out, err = show(*arguments)
        assert (given, out) == (code, ""), arguments
        assert message in err.splitlines()[-1]
    assert not (tmp_path / "a.svg").exists()
    monkeypatch.setitem(sys.modules, "graphlay", None)
    assert show(saved, "--svg", tmp_path / "a.svg")[2] == f"webnn: a picture needs the package graphlay: {install_command('pictures')}\n"


def test_hostile_names(tmp_path: Path) -> None:
    hostile().save(tmp_path / "a.webnn.json")
    code, out, _ = show(tmp_path / "a.webnn.json")
    assert code == 0
    assert all(line.isprintable() for line in out.splitlines())
    assert out == f"{as_text(hostile(), width=80)}\n"


def test_an_output_that_takes_ascii_only(tmp_path: Path) -> None:
    b = builder()
    describe({"y": b.relu(b.input("層", dataType="float32", shape=[2]))}).save(tmp_path / "a.webnn.json")
    result = CliRunner(charset="ascii").invoke(app, ["show", str(tmp_path / "a.webnn.json")])
    assert result.exit_code == 0
    assert "inputs   \\u5c64  float32 2" in result.output


@pytest.mark.processes
def test_a_javascript_program() -> None:
    require_node()
    code, out, err = show(ROOT / "examples" / "js" / "add.mjs")
    assert code == 0, err
    assert "add" in out


def test_placement(saved: Path) -> None:
    code, out, err = show(saved, "--placement", "--profile", "coreml", "--json")
    assert (code, err) == (0, "")
    (told,) = json.loads(out)
    assert (told["profile"], told["simulated"], told["requested"]) == ("coreml", True, "gpu")
    assert [each["operation"] for each in told["operators"]] == [each.operation for each in load(saved).operators]
    code, out, err = show(saved, "--placement")
    assert (code, err) == (0, "")
    assert "CPU" in out
    code, _, err = show(saved, "--placement", "--profile", "nothing")
    assert (code, err.count("\n")) == (1, 1)
