"""The tables of the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tools.evidence.language_models import page
from tools.evidence.language_models.ways import WAYS

LENGTH = {"past": 128, "first": 0.01234, "token": 0.00456, "other": 0.004, "ratio": 1.14, "same": True}
FIGURES: dict[str, Any] = {
    "way": "named",
    "nodes": 7,
    "operators": 9,
    "calls": [4, 2],
    "engineNodes": 11,
    "left": 1,
    "loading": 0.5,
    "sessions": 2,
    "compiling": 0.25,
    "lengths": [LENGTH],
    "memory": 5 << 20,
    "cache": 1 << 20,
    "error": 1.23456e-7,
    "otherError": float("nan"),
}
PAGE = {"length": 128, "native": True, "loading": 0.2, "first": 0.003, "token": 0.0004, "tokens": [1, 2]}


def test_results_of_other_ways_stay(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    page.keep_results({"named": FIGURES}, [PAGE], file)
    page.keep_results({"static": {**FIGURES, "way": "static", "otherError": 1e-7}}, [], file)
    found = json.loads(file.read_text())
    assert list(found["ways"]) == ["static", "named"]
    assert found["pages"] == [PAGE]
    assert found["ways"]["named"]["error"] == 1.23e-7
    assert found["ways"]["named"]["otherError"] is None


def test_tables(tmp_path: Path) -> None:
    file, target = tmp_path / "results.json", tmp_path / "page.md"
    page.keep_results({"named": {**FIGURES, "otherError": 2e-7}}, [PAGE], file)
    target.write_text(
        "# A\n<!-- written by tools.evidence.language_models -->\n<!-- the end of what tools.evidence.language_models writes -->\n"
    )
    text = page.make_page(file, target)
    title = f"{WAYS['named'].title} (`named`)"
    assert f"| {title} | cpu | 7 | 9 | 4 in 2 | 11 | 1 | 2 | 0.25 s |" in text
    assert f"| {title} | cpu | 4.56 ms, 1.14 | yes |" in text
    assert f"| {title} | cpu | 12.3 ms | 5 MiB | 1 MiB | 1.2e-07 | 2.0e-07 |" in text
    assert "| Chromium's own | 128 | 200 ms | 3 ms | 0.4 ms |" in text


@pytest.mark.skipif(not page.RESULTS.exists(), reason="there are no results")
def test_the_page_is_what_the_results_give() -> None:
    assert page.make_page() == page.PAGE.read_text(encoding="utf-8")
