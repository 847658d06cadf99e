"""Records of browsers beside the shipped profiles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.meta.specification import ROOT
from tools.evidence.browser_profiles import RESULTS, Record, judge, keep_records, main, tabulate
from webnn.context.profiles import load_profile

SOURCE = {"browser": "Chromium 160.1.2, Linux x86_64"}


def recorded(**changes: Any) -> dict[str, Any]:
    """Return what a recording of Chromium 153 would give, with changes. It knows no switches and no constant tensors."""
    profile = load_profile("tflite-chromium153")
    return {
        "_source": SOURCE,
        "_devices": dict(profile.devices),
        "_members": profile.members,
        **profile.limits(),
        **changes,
    }


def test_the_nearest_profile_is_found() -> None:
    same = judge("chrome-linux", recorded())
    assert (same.name, same.browser, same.backend, same.nearest) == ("chrome-linux", SOURCE["browser"], True, "tflite-chromium153")
    assert same.differences == []
    other = judge("chrome-linux", recorded(preferredInputLayout="nchw"))
    assert (other.nearest, other.differences) == ("tflite-chromium153", ["preferredInputLayout: nhwc, now nchw"])
    assert (same.alike, judge("chrome-linux", recorded(), "a: b; 4981 of 5000 calls are judged alike; 19 are not").alike) == (
        "",
        "4981 of 5000",
    )
    apple = load_profile("coreml").limits()
    assert judge("chrome-macos", {"_source": SOURCE, **apple}).nearest == "coreml"


def test_interfaces_without_a_backend() -> None:
    members: dict[str, Any] = {
        "interfaces": dict(load_profile("tflite").members["interfaces"]),
        "dictionaries": {"MLContextOptions": ["accelerated", "powerPreference"]},
    }
    members["interfaces"]["MLGraph"] = ["destroy", "devices", "label"]
    found = judge("chrome-linux", {"_source": SOURCE, "_members": members})
    assert (found.backend, found.nearest) == (False, "tflite-chromium153")
    assert found.differences == ["MLGraph: members: +label", "MLContextOptions: members: -deviceType +accelerated"]


def test_the_table_and_what_is_kept(tmp_path: Path) -> None:
    one = Record(name="b", browser="B", backend=True, nearest="tflite", differences=[f"{each}: x|y" for each in range(6)], alike="9 of 10")
    two = Record(name="a", browser="A", backend=False, nearest="tflite", differences=[])
    file = tmp_path / "records.json"
    assert keep_records([one], file) == [one]
    newer = Record(name="b", browser="B 2", backend=True, nearest="tflite", differences=[])
    assert keep_records([two, newer], file) == [two, newer]
    assert keep_records([], file) == [two, newer]
    assert tabulate([one, two], shown=2).splitlines()[2:] == [
        "| b | B | yes | `tflite` | 0: x\\|y; 1: x\\|y; 4 more | 9 of 10 |",
        "| a | A | no, interfaces only | `tflite` | none |  |",
    ]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "chrome-beta-linux.json"
    file.write_text(json.dumps(recorded()), encoding="utf-8")
    file.with_suffix(".txt").write_text(
        "tflite: the same opSupportLimits(); 4981 of 5000 calls are judged alike; 19 are not", encoding="utf-8"
    )
    assert main(["--nearest", str(file)]) == 0
    assert capsys.readouterr().out == "tflite-chromium153\n"
    assert main([str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| chrome-beta-linux | Chromium 160.1.2, Linux x86_64 | yes | `tflite-chromium153` | none | 4981 of 5000 |"
    ]


def test_the_page_has_the_records() -> None:
    records = [Record(**row) for row in json.loads(RESULTS.read_text(encoding="utf-8"))]
    assert tabulate(records) in (ROOT / "docs" / "profiles.md").read_text(encoding="utf-8")
