"""``webnn wpt vectors``: what it prints and writes, and what it survives."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console

from tests.command_line import call
from tests.shared import ROOT
from tests.support import PATIENCE, wait_until
from tests.webnn.processes import violence
from tests.webnn.processes.pools import expire
from webnn.context.devices.selection import CPU, Device
from webnn.wpt_runner.commands import vectors
from webnn.wpt_runner.commands.vectors import command
from webnn.wpt_runner.devices import Found
from webnn.wpt_runner.vectors import batch
from webnn.wpt_runner.vectors.report import _table

pytestmark = pytest.mark.processes

app = typer.Typer(rich_markup_mode=None)
app.command()(command)

DESCRIPTOR = {"shape": [2], "dataType": "float32"}


def record(name: str, expected: Any, operation: str = "neg") -> dict[str, Any]:
    """Return a case as a file holds it: an operation of 1 and 2."""
    graph = {
        "inputs": {"x": {"data": [1.0, 2.0], "descriptor": DESCRIPTOR}},
        "operators": [{"name": operation, "arguments": [{"operand": "x"}], "outputs": ["y"]}],
        "expectedOutputs": {"y": {"data": expected, "descriptor": DESCRIPTOR}},
    }
    return {"name": name, "tolerance": {"metricType": "ULP", "value": 4}, "graph": graph}


def write(path: Path, *tests: Any, level: str = "") -> Path:
    path.write_text(json.dumps({"level": level, "tests": tests}), encoding="utf-8")
    return path


def invoke(*arguments: str | Path) -> tuple[int, str, str]:
    code, output, errors = call(*arguments, app=app)
    # No line depends on the clock.
    return code, re.sub(r"\d+\.\d+( s)?$", r"0.0\1", output, flags=re.MULTILINE), errors


def test_all_pass(tmp_path: Path) -> None:
    first = write(tmp_path / "unary.json", record("one", [-1, -2]), record("two [x]", [-1, -2.0000005]))
    second = write(tmp_path / "other.json", record("three", [1, 2], "abs"))
    report = tmp_path / "report.json"
    assert invoke(first, second, "--json", report, "-v") == (
        0,
        "passed     unary: one  0 of 4 ULP, 0.0 s\n"
        "passed     unary: two [x]  2 of 4 ULP (50 %), 0.0 s\n"
        "passed     other: three  0 of 4 ULP, 0.0 s\n"
        "operation  run  passed  failed  corrected  worst distance     seconds\n"
        "neg          2       2       0          0  2 of 4 ULP (50 %)     0.0\n"
        "abs          1       1       0          0  0 of 4 ULP            0.0\n"
        "\n"
        "3 passed, 0 failed in 0.0 s\n",
        "",
    )
    content = json.loads(report.read_text(encoding="utf-8"))
    assert content["totals"] == {"run": 3, "passed": 3, "failed": 0, "corrected": 0, "expected": 0, "refused": 0}
    assert (content["provider"], content["adapter"]) == (CPU, "")
    assert (content["device"], content["jobs"], content["notes"], content["stale"]) == ("cpu", 1, [], [])
    assert {"webnn", "python", "numpy", "onnx", "system"} < content["versions"].keys()
    seconds = content["cases"][1].pop("seconds")
    assert 0 < seconds < content["seconds"]
    assert content["cases"][1] == {
        "name": "two [x]",
        "file": "unary",
        "level": "",
        "operations": ["neg"],
        "types": "float32",
        "left": [],
        "status": "passed",
        "metric": "ULP",
        "tolerance": 4,
        "worst": 2,
        "failure": "",
        "first_difference": None,
    }


@pytest.mark.usefixtures("in_this_process")
def test_failures_are_cut_and_reported(tmp_path: Path) -> None:
    """Names from files cannot write to the terminal what they like; a report holds them as they are."""
    name = "[red]\x1b[31m日本\n\ud800"
    file = write(tmp_path / "unary.json", record(name, [-1, "NaN"]), {"name": "broken"}, *[record("same", [7, 7])] * 20)
    report = tmp_path / "report.json"
    code, output, errors = invoke(file, "-k", "unary", "--json", report, "-j", "2")
    assert (code, errors) == (1, "")
    lines = output.splitlines()
    assert lines[:8] == [
        "operation  run  passed  failed  corrected  worst distance  seconds",
        "neg         21       0      21          0  inf of 4 ULP       0.0",
        "unary        1       0       1          0  -                  0.0",
        "",
        "unary: [red]\\x1b[31m日本 U+d800",
        "  y[1] is -2.0, expected nan: inf ULP, allowed 4 (1 of 2 elements differ)",
        "unary: broken",
        "  the case cannot run: tolerance: field required (and 1 more)",
    ]
    assert lines[-3:] == ["... and 2 more failures: --json FILE writes all of them", "", "0 passed, 22 failed in 0.0 s"]
    content = json.loads(report.read_text(encoding="utf-8"))
    assert (content["totals"]["failed"], len(content["cases"])) == (22, 22)
    first, broken, *_ = content["cases"]
    assert (first["name"], first["status"], first["worst"]) == (name, "failed", "Infinity")
    wanted = {"output": "y", "index": 1, "actual": -2, "expected": "NaN", "distance": "Infinity", "wrong": 1, "compared": 2}
    assert first["first_difference"] == wanted
    assert (broken["status"], broken["worst"], broken["operations"]) == ("error", None, [])


@pytest.mark.usefixtures("in_this_process")
def test_corrections_and_filters(tmp_path: Path) -> None:
    file = write(tmp_path / "unary.json", record("needs it", [7, -2]), record("needs none", [-1, -2]), record("hidden", [7, 7]))
    entry = '[[correction]]\ncase = "{}"\nfile = "unary"\noutput = "y"\nreason = "because"\nelements = {{ 0 = -1 }}\n'
    corrections = tmp_path / "mine.toml"
    corrections.write_text(entry.format("needs it") + entry.format("hidden"), encoding="utf-8")
    code, output, _ = invoke(file, "-k", "Needs", "--expectations", corrections)
    assert code == 0
    assert "neg          2       2       0          1  0 of 4 ULP" in output
    assert output.endswith("\n2 passed (1 with a correction), 0 failed in 0.0 s\n")
    corrections.write_text(entry.format("needs none") + entry.format("gone"), encoding="utf-8")
    code, output, _ = invoke(file, "-k", "needs none", "--expectations", corrections)
    assert code == 1
    assert output.endswith(
        "\nstale expectation: the case 'needs none' passes without its correction\n"
        "stale expectation: there is no case 'gone'\n"
        "1 passed, 0 failed, 2 stale expectations in 0.0 s\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere",), "webnn: nowhere does not exist\n"),
        (("empty.json",), "webnn: there are no cases in empty.json\n"),
        (("wrong.json",), "webnn: wrong.json is not JSON: Expecting value: line 1 column 1 (char 0)\n"),
        (("folder",), "webnn: folder holds no JSON files\n"),
        (("good.json", "-k", "one", "-k", "two"), "webnn: no case fits the filter 'two'\n"),
        (("good.json", "--expectations", "1999"), "webnn: expectations must be a file, none, or one of "),
        (("good.json", "--expectations", "wrong.json"), "webnn: wrong.json is not TOML: "),
        (("good.json", "--expectations", "folder"), "webnn: "),
        (("good.json", "--json", "folder"), "webnn: --json must be a file in a folder that exists, got folder\n"),
        (("good.json", "--json", "none/report.json"), "webnn: --json must be a file in a folder that exists, got "),
        (("--level", "1999"), "webnn: no case is of the level '1999': there are '2024-06', '2025-03'\n"),
        (("wrong.zip",), "webnn: wrong.zip is not a ZIP archive: File is not a zip file\n"),
        (("good.json", "--device", "tpu"), "'tpu' is not one of 'cpu', 'gpu', 'npu'"),
        (("good.json", "--jobs", "0"), "Invalid value for '--jobs'"),
        (("good.json", "--timeout", "nan"), "Invalid value for '--timeout'"),
    ],
)
def test_bad_input(arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "good.json", record("one", [-1, -2]))
    write(tmp_path / "empty.json")
    for name in ("wrong.json", "wrong.zip"):
        (tmp_path / name).write_text("?", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    code, output, errors = invoke(*arguments)
    assert (code, output) == (2, "")
    assert message in errors
    if message.startswith("webnn: "):
        assert errors.count("\n") == 1


def test_processes_may_die_hang_and_raise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "prepare", violence.prepare)
    # It takes a note when it hangs.
    expire(monkeypatch, lambda _, notes: len(notes) == 1)
    names = ["first", "dies", "hangs", "raises", "last"]
    file = write(tmp_path / "unary.json", *(record(name, [-1, -2]) for name in names))
    report = tmp_path / "report.json"
    code, output, errors = invoke(file, "-j", "2", "--timeout", "60", "--json", report)
    assert (code, errors) == (1, "")
    cases = json.loads(report.read_text(encoding="utf-8"))["cases"]
    assert [(case["name"], case["status"]) for case in cases] == list(
        zip(names, ["passed", "crashed", "timeout", "error", "passed"], strict=True)
    )
    for message in ("the process died (", "took longer than 60 s", "KeyError: 'nothing' (in violence.py, line "):
        assert message in output
    assert output.endswith("\n2 passed, 3 failed in 0.0 s\n")


def test_processes_may_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "prepare", violence.prepare)
    monkeypatch.setattr(vectors, "find_device", lambda _: Found(device=Device(provider=CPU, type="cpu"), notes=("no such device",)))
    code, output, errors = invoke(write(tmp_path / "unary.json", record("one", [])), "--device", "npu")
    assert (code, output) == (1, "")
    assert errors.startswith("webnn: no such device\nwebnn: a process could not start: RuntimeError: cannot begin (in violence.py, line ")


PROGRAM = """
import typer
from rich.console import Console
from tests.webnn.processes import violence
from webnn.wpt_runner.commands.vectors import command
from webnn.wpt_runner.vectors import batch
from webnn.wpt_runner.vectors.report import _table
batch.prepare = violence.prepare
typer.run(command)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="an interrupt reaches a single process only by its console")
def test_an_interrupt_ends_everything_at_once(tmp_path: Path) -> None:
    """As from the keyboard: all processes of the terminal get it."""
    pids = [tmp_path / "pid1", tmp_path / "pid2"]
    files = [write(tmp_path / f"{pid.name}.json", record("hangs", [-1, -2]), level=str(pid)) for pid in pids]
    arguments = [sys.executable, "-c", PROGRAM, *map(str, files), "-j", "2"]
    process = subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        wait_until(lambda: all(pid.exists() and pid.read_text(encoding="utf-8") for pid in pids))
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, output, errors) == (130, "", "webnn: interrupted after 0 of 2 cases\n")
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid.read_text(encoding="utf-8")), 0)


@pytest.mark.usefixtures("in_this_process")
def test_the_cases_of_the_package() -> None:
    """Without a path it runs the cases that the package holds: of all levels, or of some."""
    code, output, errors = invoke("--level", "2024-06", "-k", "l2Pool2d", "-k", "cast: ")
    assert (code, errors) == (0, "")
    assert re.search(r"^l2Pool2d +14 +14 +0 +2  \d of \d+ ULP", output, re.MULTILINE)
    assert re.search(r"^cast +46 +46 +0 +0 ", output, re.MULTILINE)
    assert output.endswith("\n60 passed (2 with a correction), 0 failed in 0.0 s\n")
    code, output, errors = invoke("-k", "tile: ", "-k", "relu: ")
    assert (code, errors) == (0, ""), output
    assert re.search(r"^tile +3 +3 +0 +0 ", output, re.MULTILINE)
    assert re.search(r"^relu +2\d +2\d +0 +0 ", output, re.MULTILINE)


@pytest.mark.usefixtures("in_this_process")
def test_cases_of_an_archive(tmp_path: Path) -> None:
    file = write(tmp_path / "unary.json", record("one", [-1, -2]))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(file, file.name)
    code, output, errors = invoke(tmp_path / "all.zip", "-v")
    assert (code, errors) == (0, ""), output
    assert output.startswith("passed     unary: one  ")


@pytest.mark.parametrize(("width", "gap"), [(90, "  "), (89, " ")])
def test_columns_move_together_on_a_narrow_terminal(width: int, gap: str) -> None:
    console = Console(width=width, file=io.StringIO())
    console.print(_table(console, []))
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().startswith(f"operation{gap}run{gap}passed")
