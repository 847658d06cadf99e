"""The command line: what is written, what is compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.evidence.faults import __main__ as command
from tools.evidence.faults.entries import UPSTREAM, load_results
from tools.evidence.faults.index import EMULATOR

pytestmark = pytest.mark.skipif(not UPSTREAM.is_dir(), reason="the source distribution has no folder upstream/")


def test_the_files_are_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "page.html"
    monkeypatch.setattr(command, "written_files", lambda: {path: "new"})
    assert command.main(["write", "--check"]) == 1
    assert "page.html is outdated: python -m tools.evidence.faults" in capsys.readouterr().err
    assert command.main(["write"]) == 0
    assert path.read_text(encoding="utf-8") == "new"
    assert command.main(["write", "--check"]) == 0


def test_changes() -> None:
    kept = {"a": {"Chromium 1": "2", EMULATOR: "1"}}
    assert command.changes(kept, {"a": {"Chromium 2": "7", EMULATOR: "1"}, "b": {EMULATOR: "1"}}) == []
    assert command.changes(kept, {"a": {"Chromium 1": "3"}}) == ["a in Chromium 1: '3', where '2' was kept"]


@pytest.mark.processes
def test_a_run(browser_program: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "results.json"
    monkeypatch.setattr(command, "RESULTS", kept)
    arguments = ["run", "constant-truncates", "--chromium", str(browser_program)]
    assert command.main([*arguments, "--write"]) == 0
    (results,) = load_results(kept).values()
    assert results.pop(EMULATOR) == "2"
    assert list(results.values()) == ["1"]
    kept.write_text(kept.read_text(encoding="utf-8").replace('"1"', '"5"'), encoding="utf-8")
    capsys.readouterr()
    assert command.main(arguments) == 1
    assert "'1', where '5' was kept" in capsys.readouterr().err
