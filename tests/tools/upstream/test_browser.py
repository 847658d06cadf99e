"""The recorded results of Chromium: none is outdated, and a change of a file or of its helpers makes one so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tools.upstream import browser, files
from tools.upstream.browser import Recorded
from tools.upstream.files import OurFile, our_files
from webnn.wpt_runner.results import FileResult, FileStatus, Subtest, SubtestStatus


def test_every_file_has_a_result() -> None:
    version, results = browser.load()
    assert version.startswith("153.")
    assert browser.must_run(results) == []
    assert all(each.passed + each.unsupported + len(each.failed) > 0 for each in results.values())


def test_what_is_outdated() -> None:
    _, results = browser.load()
    name = our_files()[0].name
    assert browser.outdated({**results, name: replace(results[name], digest="0")}) == [name]
    assert browser.outdated({other: each for other, each in results.items() if other != name}) == [name]
    assert browser.outdated({**results, "gone.js": results[name]}) == ["gone.js"]
    proposal = next(name for name in results if ".tentative." in name)
    changed = {**results, proposal: replace(results[proposal], digest="0")}
    assert (browser.outdated(changed), browser.must_run(changed)) == ([proposal], [])


def test_the_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "FOLDER", tmp_path)
    monkeypatch.setattr(files, "FOLDER", tmp_path)
    (tmp_path / "webnn" / "resources").mkdir(parents=True)
    file, helper = tmp_path / "webnn" / "a.any.js", tmp_path / "webnn" / "resources" / "h.js"
    file.write_text("1")
    found = [browser.digest(OurFile("2026-06", "webnn/a.any.js"))]
    for path in (helper, file):
        path.write_text("2")
        found.append(browser.digest(OurFile("2026-06", "webnn/a.any.js")))
    assert len(set(found)) == 3


def test_what_is_kept_of_a_result() -> None:
    subtests = [
        Subtest(name="a", status=SubtestStatus.PASS),
        Subtest(name="b", status=SubtestStatus.PRECONDITION_FAILED, message="no float16"),
        Subtest(name="c", status=SubtestStatus.FAIL, message="two\n  lines"),
        Subtest(name="d", status=SubtestStatus.NOTRUN),
    ]
    result = FileResult(file="x.js", variant="", status=FileStatus.TIMEOUT, message="", subtests=subtests, seconds=0.0)
    kept = browser._sum_up("0", result)
    assert kept == Recorded(digest="0", status="TIMEOUT", passed=1, unsupported=1, failed={"c": "two lines", "d": "NOTRUN"})
    assert browser.render("153", {"x.js": kept}).count("two lines") == 1
