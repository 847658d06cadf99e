"""Commands whose work runs on an executor: the same results as without, and `webnn batch`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import webnn
from tests.support import each_row
from tests.webnn.javascript.engines import needs_quickjs
from tests.webnn.scale.graphs import data, expected, several, times
from tests.wpt_runner.checkouts import make_checkout
from webnn.commands import main as cli
from webnn.fuzz.elsewhere import Setting, examine_elsewhere
from webnn.fuzz.programs import FuzzProgram
from webnn.processes.executors import Workers

GOOD = """// META: title=good
test(() => assert_true("ml" in navigator), "it is there");
test(() => assert_equals(1, 2), "it fails");
"""
HANGS = 'test(() => { while (true); }, "forever");'


def invoke(*arguments: str | Path) -> Any:
    return CliRunner().invoke(cli.app, list(map(str, arguments)), env={"COLUMNS": "200", "WEBNN_WPT": None})


@pytest.mark.processes
@needs_quickjs
def test_fuzz_finds_the_same(tmp_path: Path) -> None:
    reports = []
    for name, options in (("here", []), ("there", ["--executor", "processes:2"])):
        result = invoke("fuzz", "--calls", "60", "--graphs", "20", "--json", tmp_path / name, *options)
        assert result.exit_code == 0, result.output
        reports.append(json.loads((tmp_path / name).read_text()))
    assert reports[0] == reports[1]
    assert reports[0]["programs"] == 80
    assert reports[0]["graphs"] > 20


class Deadly(Workers):
    """Workers of which one program ends each."""

    def __init__(self, deadly: FuzzProgram) -> None:
        self.count = 2
        self.deadly = deadly

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        _, *given = arguments
        future: Future[Any] = Future()
        if self.deadly in given[-1]:
            future.set_exception(RuntimeError("gone"))
        else:
            future.set_result(function(lambda _, programs: ([[] for _ in programs], len(programs)), *given))
        return future


def test_a_program_that_ends_its_worker() -> None:
    programs = [FuzzProgram(f"call/{number}", [{"call": "view", "args": []}]) for number in range(9)]
    setting = Setting(ml=webnn.ML(revision="2026-06"), revision="2026-06", dialect=None)
    done = list(examine_elsewhere(Deadly(programs[4]), setting, [programs[:3], programs[3:6], programs[6:]]))
    assert [program for group, _, _ in done for program in group] == programs
    findings = {program.name: found for group, each, _ in done for program, found in zip(group, each, strict=True) if found}
    assert list(findings) == ["call/4"]
    assert findings["call/4"][0].kind == "crash"
    assert "RuntimeError: gone" in findings["call/4"][0].text


@pytest.mark.processes
def test_check_reports_the_same(tmp_path: Path) -> None:
    times().description.save(tmp_path / "graph.webnn")
    found = []
    for options in ([], ["--executor", "processes:1"]):
        result = invoke("check", tmp_path / "graph.webnn", "--profile", "coreml", "--profile", "dml", "--json", *options)
        assert result.exit_code == 0, result.output
        found.append([(run["profile"], run["verdict"], run["required"]) for run in json.loads(result.stdout)["profiles"]])
    assert found[0] == found[1]
    assert len(found[0]) == 2


@pytest.mark.processes
@needs_quickjs
def test_wpt_runs_the_same(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "wpt", {"good.https.any.js": GOOD, "hangs.https.any.js": HANGS, "more.https.any.js": GOOD})
    found = []
    for name, options in (("here", ["-j", "1"]), ("there", ["--executor", "processes:1"])):
        report = tmp_path / name
        options += ["--expectations", "none", "--timeout-multiplier", "0.2", "--wptreport", str(report), "--flavour", "window"]
        result = invoke("wpt", "run", "--wpt", checkout, *options)
        assert result.exit_code == 1, result.output
        results = json.loads(report.read_text())["results"]
        found.append([(each["test"], each["status"], [subtest["status"] for subtest in each["subtests"]]) for each in results])
    assert found[0] == found[1]
    assert [status for _, status, _ in found[0]] == ["OK", "TIMEOUT", "OK"]


REFUSED: list[tuple[list[str], str]] = [
    (["fuzz", "--executor", "nothing"], "--executor must be one of processes, processes:N"),
    (["fuzz", "--executor", "processes", "--browser", "chromium"], "--browser and --executor cannot be given together"),
    (["check", "graph.webnn", "--executor", "dask://nowhere"], "--executor must be one of"),
    (["wpt", "run", "--wpt", ".", "--executor", "x"], "--executor must be one of"),
    (["wpt", "run", "--wpt", ".", "--executor", "processes", "-j", "2"], "--executor and --jobs cannot be given together"),
    (["batch", "graph.webnn", "rows.npy", "-o", "out", "--executor", "x"], "executor must be one of"),
    (["batch", "graph.webnn", "rows.csv", "-o", "out"], "must be an array of NumPy, or a file .npy, .npz or .parquet"),
    (["batch", "graph.webnn", "none.npy", "-o", "out"], "none.npy"),
    (["batch", "graph.webnn", "z=rows.npy", "-o", "out"], "DATA must be NAME=FILE"),
    (["batch", "graph.webnn", "rows.npy", "-o", "rows.npy"], "rows.npy"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED, ids=[" ".join(arguments) for arguments, _ in REFUSED])
def test_wrong_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Sequence[str], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    times().description.save("graph.webnn")
    np.save("rows.npy", data(10))
    result = invoke(*arguments)
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.stderr.split())


@each_row("given", [["rows.npy"], ["x=rows.npy"], ["rows.npz"]])
def test_batch(tmp_path: Path, given: list[str]) -> None:
    folder = tmp_path / given[0].replace("=", "-")
    folder.mkdir()
    with working_in(folder):
        times().description.save("graph.webnn")
        np.save("rows.npy", data(50))
        np.savez("rows.npz", x=data(50))
        call = ["batch", "graph.webnn", *given, "-o", "out", "--batch-size", "20", "--executor", "threads:1"]
        first = invoke(*call)
        assert first.output.splitlines()[-1] == "50 rows in 3 parts, 3 computed now: out", first.output
        assert invoke(*call).output.splitlines()[-1] == "50 rows in 3 parts, 0 computed now: out"
        arrays = [np.load(file)["y"] for file in sorted(Path("out").glob("part-*.npz"))]
        np.testing.assert_allclose(np.concatenate(arrays), expected(data(50)), rtol=1e-5, atol=1e-6)


def test_batch_of_several_inputs(tmp_path: Path) -> None:
    with working_in(tmp_path):
        several().description.save("graph.webnn")
        np.save("a.npy", np.ones((4, 3), np.float32))
        np.save("b.npy", np.ones(4, np.int32))
        result = invoke("batch", "graph.webnn", "a=a.npy", "b=b.npy", "-o", "out", "--executor", "threads:1")
        assert result.output.splitlines()[-1] == "4 rows in 1 part, 1 computed now: out", result.output


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield
