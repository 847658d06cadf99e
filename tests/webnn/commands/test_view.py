"""``webnn show --open`` and its files, and ``webnn diff --html``."""

from __future__ import annotations

import json
import sys
import webbrowser
from pathlib import Path
from typing import Any

import onnx
import pytest

from tests.command_line import call
from tests.html_page import Page
from tests.webnn.commands.test_show import PROGRAM
from tests.webnn.formats.networks import chain, encoder
from tests.webnn.javascript.node_support import require_node
from webnn.validation.caller import PLACE

JAVASCRIPT = """const context = await navigator.ml.createContext();
const builder = new MLGraphBuilder(context);
const x = builder.input("x", {dataType: "float32", shape: [2]});
const sum = builder.add(
  x, x);
await builder.build({y: builder.relu(sum)});
"""


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The addresses that a browser was to open. Temporary files are in the folder of the test."""
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: addresses.append(address) or True)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return addresses


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    file = tmp_path / "encoder.webnn.json"
    encoder(2).save(file)
    return file


def documents(file: Path) -> list[dict[str, Any]]:
    page = Page(file.read_text(encoding="utf-8"))
    (data,) = [json.loads(text) for tag, text in page.parts if tag == "script" and text.startswith("{")]
    found: list[dict[str, Any]] = data["documents"]
    return found


def titles(file: Path) -> list[str]:
    return [each["title"] for each in documents(file)]


def lines(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [(node["title"], node.get("line", "")) for node in document["nodes"] if node["kind"] == "operator"]


def test_open(saved: Path, opened: list[str]) -> None:
    code, out, error = call("show", "--open", saved)
    assert (code, out) == (0, "")
    (address,) = opened
    file = Path(error.strip())
    assert address == file.as_uri()
    assert titles(file) == ["encoder"]


def test_no_browser(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[str]) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    page = tmp_path / "page.html"
    assert call("show", "--open", "-o", page, saved) == (0, "", f"no browser was found: open {page}\n")
    assert opened == []


def test_every_graph_of_a_program(tmp_path: Path, opened: list[str]) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    code, out, _ = call("show", "-o", tmp_path / "page.html", program, "--", "--an-option")
    assert (code, out, opened) == (0, "", [])
    assert titles(tmp_path / "page.html") == ["1: first, rest", "2: second, rest"]


def test_the_lines_of_a_python_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[str]) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert call("show", "-o", "page.html", "--onnx", "graph.onnx", "--graph", "2", "program.py")[0] == 0
    (document,) = documents(tmp_path / "page.html")
    assert lines(document) == [(name, "program.py:10") for name in ("relu", "neg", "abs")]
    nodes = onnx.load(tmp_path / "graph.onnx").graph.node
    assert {each.value for node in nodes for each in node.metadata_props if each.key == "webnn.line"} == {"program.py:10"}


@pytest.mark.processes
def test_the_lines_of_a_javascript_program(tmp_path: Path) -> None:
    require_node()
    program = tmp_path / "program.mjs"
    program.write_text(JAVASCRIPT, encoding="utf-8")
    code, _, errors = call("show", "-o", tmp_path / "page.html", program)
    assert code == 0, errors
    (document,) = documents(tmp_path / "page.html")
    assert lines(document) == [("add", "/program.mjs:4"), ("relu", "/program.mjs:6")]
    assert PLACE.get() is None


def test_two_graphs(saved: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.webnn.json"
    chain(("relu", "neg")).save(other)
    for arguments, code in (
        (("show", "-o", tmp_path / "page.html", saved, other), 0),
        (("diff", "--html", tmp_path / "page.html", saved, other), 1),
    ):
        (tmp_path / "page.html").unlink(missing_ok=True)
        assert call(*arguments)[0] == code
        assert titles(tmp_path / "page.html") == ["encoder.webnn.json and other.webnn.json"]


def test_files_for_other_programs(saved: Path, tmp_path: Path) -> None:
    explorer, model = tmp_path / "graph.json", tmp_path / "graph.onnx"
    code, out, error = call("show", "--model-explorer", explorer, "--onnx", model, "--times", "--placement", saved)
    assert (code, out) == (0, ""), error
    (graph,) = json.loads(explorer.read_text())["graphs"]
    ids = {node["id"] for node in graph["nodes"]}
    for name in ("time", "device", "bytes"):
        (data,) = json.loads((tmp_path / f"graph.{name}.json").read_text()).values()
        assert set(data["results"]) <= ids
    notes = [{each.key: each.value for each in node.metadata_props} for node in onnx.load(model).graph.node]
    assert {each["webnn.device"] for each in notes} == {"cpu"}
    assert any(float(each.get("webnn.time", 0)) > 0 for each in notes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--times", "SAVED"], "--times needs --open, --html, --model-explorer or --onnx"),
        (["-o", "page.html", "SAVED", "SAVED", "SAVED"], "two graphs beside each other are a page of two files"),
        (["-o", "page.html", "--times", "SAVED", "SAVED"], "two graphs beside each other are a page of two files"),
        (["-o", "page.html", "SAVED", "missing.webnn"], "missing.webnn is"),
        (["-o", "missing/page.html", "SAVED"], "missing"),
    ],
)
def test_wrong_calls(arguments: list[str], message: str, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, error = call("show", *[str(saved) if each == "SAVED" else each for each in arguments])
    assert code in (1, 2)
    assert (out, message in error) == ("", True), error
    assert not (tmp_path / "page.html").exists()
