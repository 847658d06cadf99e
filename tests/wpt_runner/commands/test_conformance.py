"""``webnn conformance``: it runs cases, reads earlier reports, and writes a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from tests.command_line import call
from tests.html_page import Page
from tests.webnn.processes.pools import run_tasks_here
from webnn.wpt_runner.commands.conformance import command
from webnn.wpt_runner.vectors import batch

app = typer.Typer(rich_markup_mode=None)
app.command()(command)


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "run_tasks", run_tasks_here)


def invoke(*arguments: str | Path) -> tuple[int, str, str]:
    return call(*arguments, app=app)


def test_a_run_and_an_earlier_one(tmp_path: Path) -> None:
    report, page = tmp_path / "report.json", tmp_path / "page.html"
    code, output, errors = invoke("-k", "tile: ", "-k", "sign", "--json", report)
    assert (code, errors) == (0, "")
    assert "more operations are right on every device" in output
    # A report of another machine may hold any text.
    other = json.loads(report.read_text(encoding="utf-8"))["runs"][0]
    other |= {"device": "gpu", "adapter": "<b>card</b> (1)"}
    other["cases"][0] |= {"status": "failed", "worst": 7, "tolerance": 2, "failure": "<script>"}
    foreign = tmp_path / "foreign.json"
    foreign.write_text(json.dumps(other), encoding="utf-8")
    code, output, errors = invoke(foreign, "--device", "cpu", "-k", "tile: ", "--html", page)
    assert (code, errors) == (0, "")
    assert "1 wrong by 3.5 tolerances" in output
    texts = [text for _, text in Page(page.read_text(encoding="utf-8")).parts]
    assert {"gpu <b>card</b>", "<script>"} <= {*texts}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--device", "npu", "-k", "tile: "], "there is no npu to compare"),
        (["missing.json"], "No such file"),
        (["--html", "missing/x.html"], "--html must be a file in a folder that exists"),
        (["-k", "no such case"], "no case fits the filter"),
    ],
)
def test_wrong_calls(arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBNN_SIMULATORS", "0")
    code, _, errors = invoke(*arguments)
    assert code in {1, 2}
    assert message in errors
