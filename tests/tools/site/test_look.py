"""How the site is looked at in a real browser; `.ci/browser` looks at all of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs playwright, the extra `browser`")

from tools.site.look import look

_AXE = "axe = {run: async () => ({violations: [{id: 'color-contrast', nodes: [{target: ['p']}]}]})}"


@pytest.fixture
def browser(browser_program: Path) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=browser_program, args=["--no-sandbox"])


@pytest.mark.processes
def test_problems_of_a_page(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text('<p style="width: 500px">text</p>', encoding="utf-8")
    found = list(look(browser, tmp_path.as_uri(), _AXE, ["page"], tmp_path))
    assert found.count("page is 508 pixels wide on a screen of 400") == 2
    assert "page, 1280 pixels, dark: color-contrast (1 times): p" in found
    assert (tmp_path / "page-400-light.png").is_file()
