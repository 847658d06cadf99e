"""The written files of `upstream/browser`."""

from __future__ import annotations

import pytest

from tools.evidence.faults.entries import BROWSER, FAULTS, UPSTREAM, load_faults
from tools.evidence.faults.index import README, RESULTS, browser_files, cell

pytestmark = pytest.mark.skipif(not UPSTREAM.is_dir(), reason="the source distribution has no folder upstream/")


def test_the_files_are_up_to_date_and_no_other_is_there() -> None:
    files = browser_files()
    for path, text in files.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: python -m tools.evidence.faults write"
    assert {*BROWSER.iterdir()} == {*files, FAULTS, RESULTS}


def test_the_index_has_each_fault_the_worst_first() -> None:
    rows = [line.split(" | ") for line in README.read_text(encoding="utf-8").splitlines() if line.startswith("| [")]
    assert len(rows) == len(load_faults().faults)
    severities = [row[3] for row in rows]
    assert severities == sorted(severities, key=["high", "medium", "low"].index)


def test_cells() -> None:
    assert cell("a|b\nc<d") == "a\\|b; c&lt;d"
