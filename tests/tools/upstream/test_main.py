"""``python -m tools.upstream``."""

from __future__ import annotations

import pytest

from tools.upstream import __main__ as tool
from tools.upstream import browser


def test_nothing_is_outdated(capsys: pytest.CaptureFixture[str]) -> None:
    assert tool.main(["--check"]) == 0
    assert capsys.readouterr().err == ""


def test_a_result_that_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    version, results = browser.load()
    name = min(results)
    monkeypatch.setattr(browser, "load", lambda: (version, {other: each for other, each in results.items() if other != name}))
    assert tool.main(["--check"]) == 1
    said = capsys.readouterr().err
    assert f"{name} must run in Chromium again" in said
    assert "README.md is outdated" in said


@pytest.mark.parametrize("option", [["--measure"], ["--browser", "chromium"]])
def test_runs_need_a_checkout(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        tool.main(option)
    assert "--measure and --browser need --wpt" in capsys.readouterr().err
