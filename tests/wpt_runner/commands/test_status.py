"""`webnn wpt status`: reports become the file of the working group."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import call
from tests.wpt_runner.test_scores import OTHER, RELU, SEARCH, report, write
from tests.wpt_runner.test_status import BASE


def test_marks_that_change(tmp_path: Path) -> None:
    base = write(tmp_path / "base.json", BASE)
    path = report({RELU: (3, 5), OTHER: (1, 1)}, tmp_path / "a.json")
    code, output, errors = call("wpt", "status", f"tflite={path}", "--base", base, "-o", tmp_path / "new.json", "--check")
    assert code == 1, errors
    lines = [line.split() for line in output.splitlines()]
    assert ["relu", "3/5", "4,", "now", "3"] in lines
    assert ["softmax", "4"] in lines
    assert "1 operation of 6 with another mark than in" in " ".join(output.split())
    written = json.loads((tmp_path / "new.json").read_text(encoding="utf-8"))
    assert [each["tflite_progress"] for each in written["impl_status"]] == [3, 4, 3, 2, 4, 4]
    # The new file is right.
    assert call("wpt", "status", f"tflite={path}", "--base", tmp_path / "new.json", "--check")[0] == 0


def test_a_new_file(tmp_path: Path) -> None:
    path = report({RELU: (5, 5)}, tmp_path / "a.json")
    code, output, _ = call("wpt", "status", f"webnn={path}")
    assert code == 0
    assert output.split() == ["operation", "webnn", "mark", "relu", "5/5", "4"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["@"], "must be BACKEND=FILE, such as tflite=report.json, got '@'"),
        (["Chrome=a.json"], "must be lower case letters, digits and _, such as tflite, got 'Chrome'"),
        (["a=there-is-none.json"], "there-is-none.json"),
        (["tflite=a.json", "tflite=a.json"], "tflite must not be given twice"),
        (["tflite=search.json"], "search.json must have one run, got 2"),
        (["tflite=other.json"], "the reports have no conformance tests of WebNN"),
        (["tflite=a.json", "--check"], "--check needs --base"),
        (["tflite=a.json", "--base", "a.json"], "a.json is not a webnn_status.json"),
    ],
)
def test_wrong_calls(arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    report({RELU: (5, 5)}, tmp_path / "a.json")
    report({OTHER: (5, 5)}, tmp_path / "other.json")
    write(tmp_path / "search.json", SEARCH)
    code, _, errors = call("wpt", "status", *arguments)
    assert code == 2
    assert message in " ".join(errors.split())
