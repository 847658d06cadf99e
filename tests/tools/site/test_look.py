"""How the site is looked at in a real browser; `.ci/browser` looks at all of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs playwright, the extra `browser`")
pytest.importorskip("aiohttp", reason="needs aiohttp, the extra `serve`")

from tools.site.look import look
from tools.site.product import View

_AXE = "axe = {run: async () => ({violations: [{id: 'color-contrast', nodes: [{target: ['p']}]}]})}"


@pytest.fixture
def browser(browser_program: Path) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=browser_program, args=["--no-sandbox"])


@pytest.mark.processes
def test_problems_of_a_page(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text('<p style="width: 500px">text</p>', encoding="utf-8")
    found = list(look(browser, [View("page", (tmp_path / "page.html").as_uri())], _AXE, tmp_path))
    assert found.count("page is 508 pixels wide on a screen of 400") == 2
    assert "page, 1280 pixels, dark: color-contrast (1 times): p" in found
    assert (tmp_path / "page-400-light.png").is_file()


@pytest.mark.processes
def test_a_page_that_loads_from_elsewhere(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text('<img src="http://127.0.0.1:9/a.png"><img src="data:,">', encoding="utf-8")
    found = set(look(browser, [View("page", (tmp_path / "page.html").as_uri())], "", None))
    assert found == {"page loads http://127.0.0.1:9/a.png"}
