"""Scores of several runs as one table: reports, and what wpt.fyi exports."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from tests.support import each_row
from webnn.wpt_runner import foreign
from webnn.wpt_runner.commands.compare import command
from webnn.wpt_runner.reports.scores import render_scores
from webnn.wpt_runner.reports.wptreport import write_wptreport
from webnn.wpt_runner.results import FileResult, FileStatus, RunResult, Subtest, SubtestStatus
from webnn.wpt_runner.scores import Run, Score, make_table, read_runs, score_run

RELU, REDUCE, OTHER = (
    f"/webnn/{name}.https.any.html?cpu" for name in ("conformance_tests/relu", "validation_tests/reduce_l1", "idlharness")
)


def report(passed: dict[str, tuple[int, int]], path: Path, product: str = "webnn", **more: str) -> Path:
    """Write a report whose tests have some subtests, of which some pass."""
    results = []
    for test, (good, total) in passed.items():
        page, mark, variant = test.partition("?")
        statuses = [SubtestStatus.PASS] * good + [SubtestStatus.FAIL] * (total - good)
        subtests = [Subtest(name=f"{index}", status=status) for index, status in enumerate(statuses)]
        results.append(FileResult(file=page, variant=mark + variant, status=FileStatus.OK, subtests=subtests))
    info = {"product": product, "product_version": "1.0", "revision": "f" * 40, **more}
    write_wptreport(RunResult(results=results, info=info), path)
    return path


def status(passes: int, total: int, letter: str = "O", new: bool = True) -> dict[str, Any]:
    return {"passes": passes, "total": total, "status": letter, "newAggProcess": new}


ABSENT = status(0, 0, "", new=False)
SEARCH = {
    "runs": [
        {"id": 1, "browser_name": "chrome", "browser_version": "153.0", "os_name": "linux", "revision": "abcdef0123", "labels": ["stable"]},
        {"id": 2, "browser_name": "firefox", "browser_version": "140.0", "full_revision_hash": "1" * 40},
    ],
    "results": [
        {"test": RELU, "legacy_status": [status(10, 12), status(0, 12)]},
        {"test": RELU.replace("cpu", "gpu"), "legacy_status": [status(5, 6), status(0, 0, "T")]},
        {"test": REDUCE, "legacy_status": [status(3, 3), ABSENT]},
        {"test": OTHER, "legacy_status": [status(0, 0, "P"), status(1, 2)]},
        {"test": "/dom/other.html", "legacy_status": [status(1, 1), status(1, 1)]},
    ],
}
SUMMARY = {RELU: {"s": "O", "c": [7, 12]}, OTHER: {"s": "P", "c": [0, 0]}, "/dom/x.html": {"s": "O", "c": [1, 1]}}


def write(path: Path, content: object, *, packed: bool = False) -> Path:
    data = json.dumps(content).encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


def test_an_answer_of_the_search(tmp_path: Path) -> None:
    chrome, firefox = runs(write(tmp_path / "search.json", SEARCH))
    assert (chrome.name, chrome.revision, chrome.old) == ("chrome 153.0 linux", "abcdef0123", False)
    assert (firefox.name, firefox.revision) == ("firefox 140.0", "1" * 40)
    assert chrome.scores == {RELU: Score(10, 12), RELU.replace("cpu", "gpu"): Score(5, 6), REDUCE: Score(3, 3), OTHER: Score(1, 1)}
    # A test that broke off without a subtest is one that fails; one that the run has not is none.
    assert firefox.scores == {RELU: Score(0, 12), RELU.replace("cpu", "gpu"): Score(0, 1), OTHER: Score(1, 2)}


def runs(path: Path) -> list[Run]:
    found = read_runs(path)
    assert isinstance(found, list)
    return found


@each_row(
    ("name", "product"),
    [("chrome-130.0-linux-20.04-0a1b2c3d4e-summary_v2.json.gz", "chrome-130.0-linux-20.04"), ("mine.json", "mine.json")],
)
def test_a_summary(name: str, product: str, tmp_path: Path) -> None:
    [found] = runs(write(tmp_path / name, SUMMARY, packed=name.endswith("gz")))
    assert (found.name, found.old, found.scores) == (product, False, {RELU: Score(7, 12), OTHER: Score(1, 1)})


def test_a_summary_of_the_first_kind(tmp_path: Path) -> None:
    [found] = runs(write(tmp_path / "firefox-56.0-linux-summary.json", {RELU: [8, 13]}))
    assert (found.name, found.old, found.scores) == ("firefox-56.0-linux", True, {RELU: Score(8, 13)})


def test_the_table(tmp_path: Path) -> None:
    emulator = read_runs(report({RELU: (12, 12), REDUCE: (2, 3), "/webnn/x/reduceL1.https.any.html": (1, 1)}, tmp_path / "a.json"))
    assert isinstance(emulator, RunResult)
    first = score_run(tmp_path / "a.json", emulator)
    table = make_table([first, *runs(write(tmp_path / "search.json", SEARCH)), first])
    assert table.names == ["webnn 1.0", "chrome 153.0 linux", "firefox 140.0", "webnn 1.0 (2)"]
    wanted = [("reduceL1", ((3, 4), (3, 3), None, (3, 4))), ("relu", ((12, 12), (15, 18), (0, 13), (12, 12)))]
    assert [tuple(row) for row in table.operations] == wanted
    assert [tuple(row) for row in table.others] == [("idlharness", (None, (1, 1), (1, 2), None))]
    assert table.total.scores == ((15, 16), (19, 22), (1, 15), (15, 16))


def test_runs_of_one_product_have_the_names_of_what_differs(tmp_path: Path) -> None:
    tests = {RELU: (12, 12)}
    paths = [
        report(tests, tmp_path / "a.json", webnn="2024-06", dialect="wpt-2024-06", os="linux"),
        report(tests, tmp_path / "b.json", webnn="2026-06", os="linux"),
        report(tests, tmp_path / "c.json", webnn="2026-06", os="linux"),
        report(tests, tmp_path / "d.json", "chromium", webnn="2026-06", engine="Chromium 153"),
    ]
    found = [score_run(path, read) for path in paths if isinstance(read := read_runs(path), RunResult)]
    assert found[0].facts == {"draft": "2024-06", "dialect": "wpt-2024-06", "system": "linux"}
    table = make_table(found)
    second = "webnn 1.0, 2026-06, no dialect"
    assert table.names == ["webnn 1.0, 2024-06, wpt-2024-06", second, f"{second} (2)", "chromium 1.0"]
    page = render_scores(found, table)
    assert "<small>draft 2024-06</small><small>dialect wpt-2024-06</small><small>system linux</small>" in page
    assert "<small>engine Chromium 153</small>" in page


def test_shares_of_operations_in_one_file(tmp_path: Path) -> None:
    statuses = {"argMax float32 1D": SubtestStatus.PASS, "argMax float16 1D": SubtestStatus.FAIL, "argMin x": SubtestStatus.PASS}
    subtests = [Subtest(name=name, status=each) for name, each in {**statuses, "other": SubtestStatus.FAIL}.items()]
    test = "/webnn/conformance_tests/arg_min_max.https.any.html"
    result = FileResult(file=test, status=FileStatus.OK, subtests=subtests)
    run = score_run(tmp_path, RunResult(results=[result]))
    assert run.shares == {test: {"argMax": Score(1, 2), "argMin": Score(1, 1)}}
    # A file of one operation is not shared.
    assert score_run(tmp_path, RunResult(results=[FileResult(file=RELU, status=FileStatus.OK, subtests=subtests)])).shares == {}


def test_a_row_for_each_file(tmp_path: Path) -> None:
    path = report({RELU: (11, 12), RELU.replace("cpu", "gpu"): (1, 1), REDUCE: (2, 3)}, tmp_path / "a.json")
    read = read_runs(path)
    assert isinstance(read, RunResult)
    table = make_table([score_run(path, read)], files=True)
    assert not table.operations
    wanted = [("conformance_tests/relu", ((12, 13),)), ("validation_tests/reduce_l1", ((2, 3),))]
    assert [tuple(row) for row in table.others] == wanted
    assert "file" in render_scores([score_run(path, read)], table)


# The command.


@pytest.fixture
def app() -> typer.Typer:
    made = typer.Typer()
    made.command()(command)
    return made


def invoke(app: typer.Typer, *arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "200"})


def test_the_command(app: typer.Typer, tmp_path: Path) -> None:
    mine = report({RELU: (12, 12), REDUCE: (2, 3)}, tmp_path / "mine.json")
    search = write(tmp_path / "search.json", SEARCH)
    result = invoke(app, mine, search, "--json", tmp_path / "out.json", "--html", tmp_path / "out.html")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines()]
    assert ["relu", "12/12", "15/18", "0/13"] in lines
    assert ["total", "14/15", "19/22", "1/15"] in lines
    assert ["idlharness", "1/1", "1/2"] in lines
    content = json.loads((tmp_path / "out.json").read_text())
    assert [run["name"] for run in content["runs"]] == ["webnn 1.0", "chrome 153.0 linux", "firefox 140.0"]
    relu = {"name": "relu", "scores": [{"passed": 12, "total": 12}, {"passed": 15, "total": 18}, {"passed": 0, "total": 13}]}
    assert relu in content["operations"]
    assert content["operations"][0]["scores"][2] is None
    assert '<td class="some">15/18</td>' in (tmp_path / "out.html").read_text()


def test_two_reports_are_compared_unless_a_table_is_wanted(app: typer.Typer, tmp_path: Path) -> None:
    before, after = report({RELU: (2, 2)}, tmp_path / "before.json"), report({RELU: (1, 2)}, tmp_path / "after.json")
    compared = invoke(app, before, after)
    assert (compared.exit_code, "1 newly failing" in compared.output) == (1, True)
    others: list[list[str | Path]] = [["--table"], ["--html", tmp_path / "out.html"], [before]]
    for more in others:
        result = invoke(app, before, after, *more)
        assert (result.exit_code, "2/2" in result.output, "newly" in result.output) == (0, True, False)


def test_one_export_and_a_filter(app: typer.Typer, tmp_path: Path) -> None:
    result = invoke(app, write(tmp_path / "search.json", SEARCH), "--filter", "?gpu")
    assert (result.exit_code, "5/6" in result.output, "10/12" in result.output) == (0, True, False)


HOSTILE = "<script>alert(1)</script>\x1b[31m\ud800"


def test_hostile_names(app: typer.Typer, tmp_path: Path) -> None:
    content = {
        "runs": [{"browser_name": HOSTILE, "revision": HOSTILE}],
        "results": [{"test": f"/webnn/{HOSTILE}", "legacy_status": [status(1, 1)]}],
    }
    result = invoke(app, write(tmp_path / "search.json", content), "--html", tmp_path / "out.html")
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_the_page_of_nothing() -> None:
    run = Run(name="none", scores={})
    assert "<tbody>" not in render_scores([run], make_table([run]))


BAD = {
    "runs must be an array, got 3": {"runs": 3, "results": []},
    "it has no member 'results'": {"runs": []},
    "runs must have at most 64 elements": {"runs": [{"browser_name": "a"}] * 65, "results": []},
    "runs[0].browser_name must be a string, got 1": {"runs": [{"browser_name": 1}], "results": []},
    "results[0].test must begin with '/', got \"x\"": {"runs": [], "results": [{"test": "x", "legacy_status": []}]},
    "results[0].legacy_status must have 0 elements, got 1": {"runs": [], "results": [{"test": RELU, "legacy_status": [ABSENT]}]},
    "results[0].legacy_status[0].passes must be at least 0, got -1": {
        "runs": [{"browser_name": "a"}],
        "results": [{"test": RELU, "legacy_status": [status(-1, 1)]}],
    },
    "must be an integer, got true": {
        "runs": [{"browser_name": "a"}],
        "results": [{"test": RELU, "legacy_status": [{"passes": True, "total": 1}]}],
    },
    "c must have at least 2 elements": {RELU: {"s": "O", "c": [1]}},
    "must be an object, got 5": {RELU: 5},
    "is not a wptreport: it has no member 'results'": {"run": 1},
    "is not a wptreport: it must be an object": [],
}


@pytest.mark.parametrize("message", BAD)
def test_files_that_are_none(message: str, app: typer.Typer, tmp_path: Path) -> None:
    result = invoke(app, write(tmp_path / "bad.json", BAD[message]), write(tmp_path / "search.json", SEARCH))
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert message in result.output


def test_wrong_calls(app: typer.Typer, tmp_path: Path) -> None:
    mine, search = report({RELU: (1, 1)}, tmp_path / "mine.json"), write(tmp_path / "search.json", SEARCH)
    elsewhere = write(tmp_path / "elsewhere.json", {"/dom/x.html": {"s": "O", "c": [1, 1]}})
    calls: dict[str, list[str | Path]] = {
        "a report is compared with another one": [mine],
        "--all and --variant-blind can only be given for two reports": [mine, search, "--all"],
        "the files have no tests of WebNN": [elsewhere],
        "the files have no tests of WebNN with these texts": [search, "--filter", "nothing"],
        "cannot be written": [search, "--html", tmp_path / "no" / "folder.html"],
    }
    for message, arguments in calls.items():
        result = invoke(app, *arguments)
        assert (result.exit_code, message in result.output) == (2, True), result.output


def test_no_more_is_unpacked_than_the_limit(app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "_LARGEST", 1 << 20)
    (tmp_path / "bomb.json.gz").write_bytes(gzip.compress(b" " * (8 << 20) + b"{}"))
    result = invoke(app, tmp_path / "bomb.json.gz")
    assert (result.exit_code, "must be at most 1 MiB when it is unpacked" in result.output) == (2, True)
