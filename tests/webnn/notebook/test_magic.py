"""``%%webnn_js`` in a shell of IPython."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

import webnn.viewer
from tests.webnn.notebook.engines import choose, make_shell
from webnn.notebook import magic
from webnn.notebook.cell import NoEngineError

pytestmark = pytest.mark.processes
#: Lines of a cell that build a graph with the builder ``b``.
BUILD = [
    "x = b.input('x', dataType='float32', shape=[2])",
    "y = b.relu(x)",
    "graph = b.buildSync({'y': b.neg(y)})",
]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    choose("node", monkeypatch)
    monkeypatch.chdir(tmp_path)
    for name in ("WEBNN_REVISION", "WEBNN_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    yield from make_shell(tmp_path / "profile", monkeypatch)


def run(shell: InteractiveShell, *lines: str) -> Any:
    """Run a cell; return what it raises."""
    result = shell.run_cell("\n".join(lines))
    return result.error_before_exec or result.error_in_exec


def load(shell: InteractiveShell) -> None:
    assert run(shell, "%load_ext webnn") is None


def test_values_come_from_the_notebook_and_go_back(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    load(shell)
    assert run(shell, "import numpy as np", "x, k = np.arange(4, dtype=np.int32).reshape(2, 2), 3") is None
    assert run(shell, "%%webnn_js -i x -i k -o y", "const y = x.map(each => each * k);", "y.shape = x.shape;", "console.log(k);") is None
    assert np.array_equal(shell.user_ns["y"], [[0, 3], [6, 9]])
    assert shell.user_ns["y"].dtype == np.int32
    assert capsys.readouterr().out == "3\n"


def test_a_cell_that_fails(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    load(shell)
    error = run(shell, "%%webnn_js -o y", "const y = 1;", "throw new TypeError('bad');")
    assert repr(error) == "CellError('TypeError: bad')"
    assert "y" not in shell.user_ns
    printed = capsys.readouterr()
    assert "cell.mjs:2:7" in printed.err
    assert (printed.out + printed.err).count("Traceback") == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-i none", "-i none: must be a variable of the notebook"),
        ("-i a-b", "-i a-b: must be a name that Python and JavaScript can have"),
        ("-o 'a b'", "must be a name that Python and JavaScript can have"),
        ("-i print_function", "print_function must be None, a bool, an int, .*, got function"),
        ("--revision 1999-01", "1999-01"),
        ("--dialect none", "the dialect for the revision 2026-06 must be one of browsers-2026, chromium-153, wpt-2025-03, got 'none'"),
        ("--profile none", "must be a device profile"),
        ("--fallback never", "never"),
        ("--numerics wrong", "wrong"),
        ("--wrong", "unrecognized arguments: --wrong"),
        ("name", "unrecognized arguments: name"),
    ],
)
def test_wrong_options(shell: InteractiveShell, line: str, message: str) -> None:
    load(shell)
    shell.push({"print_function": lambda: None})
    error = run(shell, f"%%webnn_js {line}", "0;")
    assert type(error).__name__ == "UsageError"
    head, _, tail = message.partition(".*")
    assert head in str(error)
    assert tail in str(error)


_DEVICE = """
const context = await navigator.ml.createContext({deviceType: 'gpu'});
const builder = new MLGraphBuilder(context);
let error = null;
try { builder.input('x', {dataType: 'int64', dimensions: [2]}); } catch (each) { error = each.message; }
"""


def test_devices(shell: InteractiveShell) -> None:
    load(shell)
    assert run(shell, "%%webnn_js --revision 2024-06 --fallback silent -o error", _DEVICE) is None
    assert shell.user_ns["error"] is None
    assert run(shell, "%%webnn_js --revision 2024-06 --profile coreml --fallback silent -o error", _DEVICE) is None
    assert 'on the device profile "coreml", got int64' in str(shell.user_ns["error"])
    assert "would run on the CPU here" in str(run(shell, "%%webnn_js --revision 2024-06 --profile tflite --fallback deny", _DEVICE))
    # Neither stays for the next cell.
    assert run(shell, "%%webnn_js --revision 2024-06 --fallback silent -o error", _DEVICE) is None
    assert shell.user_ns["error"] is None


@pytest.mark.parametrize(
    ("variables", "line", "found"),
    [
        ({}, "", True),
        ({}, "--revision 2024-06", False),
        ({}, "--dialect browsers-2026", True),
        ({"WEBNN_REVISION": "2024-06"}, "", False),
        ({"WEBNN_REVISION": "2024-06"}, "--revision 2026-06", True),
    ],
)
def test_the_draft(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], line: str, found: bool) -> None:
    load(shell)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert run(shell, f"%%webnn_js {line} -o found", "const found = 'MLTensor' in globalThis;") is None
    assert shell.user_ns["found"] is found


def test_an_interrupt(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    class Output(io.StringIO):
        def write(self, text: str) -> int:
            if text == "begin\n":
                raise KeyboardInterrupt
            return super().write(text)

    load(shell)
    monkeypatch.setattr(sys, "stdout", Output())
    assert repr(run(shell, "%%webnn_js", "console.log('begin'); for (;;) {}")) == "CellError('the cell was interrupted')"


def test_no_engine(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    load(shell)

    def refuse(*_: object) -> None:
        raise NoEngineError("Node is needed: install the extra js")

    monkeypatch.setattr(magic, "run", refuse)
    assert str(run(shell, "%%webnn_js", "0;")) == "%%webnn_js: Node is needed: install the extra js"


def test_the_help(shell: InteractiveShell) -> None:
    load(shell)
    help = str(shell.find_cell_magic("webnn_js").__doc__)
    assert [
        option
        for option in ("--input", "--output", "--revision", "--profile", "--fallback", "--numerics", "--dialect")
        if option not in help
    ] == []


def test_the_viewer_names_cells_and_lines(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InteractiveShell, "_instance", shell)
    load(shell)
    assert run(shell, "import webnn", "b = webnn.MLGraphBuilder(webnn.ML().createContextSync())", *BUILD) is None
    view = webnn.viewer.show(shell.user_ns["graph"])
    assert [each["line"] for each in view.document["nodes"] if "line" in each] == ["Cell In[1]:4", "Cell In[1]:5"]
    # Outside of cells nothing is noted.
    builder = webnn.MLGraphBuilder(webnn.ML().createContextSync())
    graph = builder.buildSync({"y": builder.relu(builder.input("x", dataType="float32", shape=[2]))})
    assert not any("line" in each for each in webnn.viewer.show(graph).document["nodes"])
