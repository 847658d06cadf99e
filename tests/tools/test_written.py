"""Pages that tools write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import each_row
from tools.written import fill, keep_pages

PAGE = "by hand\n<!-- written by tools.t -->\nold\n<!-- the end of what tools.t writes -->\nby hand, too\n"


def test_only_what_lies_between_the_lines_is_written(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    assert fill(page, "tools.t", "new\n") == PAGE.replace("old", "new")
    assert fill(page, "tools.t", "") == PAGE.replace("old\n", "")


@each_row("text", ["", PAGE.replace("written", "drawn"), PAGE.replace("the end", "an end"), PAGE.replace("tools.t ", "tools.u ")])
def test_a_page_without_the_lines(tmp_path: Path, text: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"page\.md must have the lines <!-- written by tools\.t --> and <!-- the end of what tools\.t writes -->"
    ):
        fill(page, "tools.t", "new\n")


def test_an_outdated_page_is_written_or_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, same, missing = (tmp_path / name for name in ("page.md", "same.md", "missing.md"))
    page.write_text("old", encoding="utf-8")
    same.write_text("same", encoding="utf-8")
    pages = {page: "new", same: "same", missing: "made"}
    assert keep_pages(pages, "tools.t", check=True) == 1
    assert capsys.readouterr().err.splitlines() == ["page.md is outdated: python -m tools.t", "missing.md is outdated: python -m tools.t"]
    assert page.read_text(encoding="utf-8") == "old"
    assert not missing.exists()
    assert keep_pages(pages, "tools.t", check=False) == 0
    assert capsys.readouterr().out.splitlines() == ["wrote page.md", "wrote missing.md"]
    assert keep_pages(pages, "tools.t", check=True) == 0
