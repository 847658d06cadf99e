"""``webnn browser run``, with a second realm in place of the browser."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.webnn.browser.support import watch_program
from tests.webnn.browser.test_differences import CHECK, READ, REFUSE, moved
from webnn.browser import command_run
from webnn.browser.watch import Log
from webnn.commands.main import app


def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str, fault: str, *arguments: str) -> Any:
    def run_in_browser(*_: Any, **__: Any) -> tuple[Log, str]:
        return watch_program(program, fault=fault)[0], "Chromium 1.2"

    monkeypatch.setattr(command_run, "run_in_browser", run_in_browser)
    (tmp_path / "a.mjs").write_text(program)
    command = ["browser", "run", str(tmp_path / "a.mjs"), "--browser", sys.executable, "--dialect", "browsers-2026", *arguments]
    return CliRunner().invoke(app, command)


@pytest.mark.processes
def test_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result = run(monkeypatch, tmp_path, CHECK, "")
    assert result.exit_code == 0, result.output
    assert "browser   Chromium 1.2" in result.output
    assert "8 calls in the emulator, 8 in the browser: no differences" in result.output


@pytest.mark.processes
def test_a_difference(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result = run(monkeypatch, tmp_path, CHECK, REFUSE, "--json", str(tmp_path / "out.json"))
    assert result.exit_code == 1, result.output
    assert "accepted by one  call 4, MLGraphBuilder.relu(MLOperand@3)" in result.output
    assert "browser  TypeError: there is no relu" in result.output
    assert "2 differences" in result.output
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["browser"] == "Chromium 1.2"
    assert [each["kind"] for each in written["differences"]] == ["accepted by one", "console"]


@pytest.mark.processes
def test_numbers_within_the_tolerance_are_no_difference(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result = run(monkeypatch, tmp_path, READ, moved(2e-7))
    assert result.exit_code == 0, result.output
    assert "sigmoid: both are right" in result.output
    assert "no differences; numbers differ in 1 result, within the tolerances" in result.output
    result = run(monkeypatch, tmp_path, READ, moved(0.25))
    assert result.exit_code == 1
    assert "the browser is wrong" in result.output


@pytest.mark.processes
def test_what_neither_caught_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = "throw new RangeError('too far');"

    def run_in_browser(*_: Any, **__: Any) -> tuple[Log, str]:
        return Log(host="", uncaught=[("RangeError", "too far")]), "Chromium 1.2"

    monkeypatch.setattr(command_run, "run_in_browser", run_in_browser)
    (tmp_path / "a.mjs").write_text(program)
    result = CliRunner().invoke(app, ["browser", "run", str(tmp_path / "a.mjs"), "--browser", sys.executable])
    assert result.exit_code == 0, result.output
    assert "neither caught RangeError: too far" in result.output


WRONG = [
    (["missing.mjs"], "a program is a file .mjs, .js, .html, .htm, got missing.mjs"),
    (["program.py"], "a program is a file .mjs"),
    (["program.mjs", "--root", "other"], "the program must lie below --root"),
    (["program.mjs", "--browser", "none"], "none is not a program that can be run"),
    (["program.mjs"], "--browser PROGRAM or the environment variable WEBNN_BROWSER"),
    (["program.mjs", "--browser", sys.executable, "--dialect", "nothing"], "the dialect"),
    (["program.mjs", "--browser", sys.executable, "--profile", "nothing"], "profile"),
]


@pytest.mark.processes
@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WEBNN_BROWSER", raising=False)
    (tmp_path / "other").mkdir()
    for name in ("program.mjs", "program.py"):
        (tmp_path / name).write_text("")
    result = CliRunner().invoke(app, ["browser", "run", *arguments])
    assert result.exit_code == 2, result.output
    assert message in result.output
