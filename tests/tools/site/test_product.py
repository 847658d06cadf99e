"""The pages of the package in a real browser, without axe-core; `.ci/browser` looks at them with it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="needs playwright, the extra `browser`")
pytest.importorskip("aiohttp", reason="needs aiohttp, the extra `serve`")

from tools.site.look import look
from tools.site.product import views


@pytest.mark.processes
def test_pages_of_the_package(browser_program: Path, tmp_path: Path) -> None:
    """Each is reached, fits the screen and loads nothing from elsewhere."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, views(tmp_path) as found:
        browser = playwright.chromium.launch(executable_path=browser_program, args=["--no-sandbox"])
        assert {"viewer", "inspect", "status", "playground"} <= {each.name for each in found}
        assert list(look(browser, found, "", None)) == []
