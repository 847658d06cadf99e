"""Frames of other origins in a browser that knows the feature "webnn": the emulator follows its decision."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("aiohttp", reason="the extra serve is not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="the extra browser is not installed")

# ruff: noqa: E402 - these need the extras
from tests.wpt_runner.checkouts import copy_web
from webnn.browser.chromium import VARIABLE
from webnn.browser.launch import flags
from webnn.serve.options import Options
from webnn.serve.playwright import Emulator
from webnn.wpt_runner.browser.pages import answer_pages
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.serving import Server

pytestmark = [pytest.mark.processes, pytest.mark.skipif(not os.environ.get(VARIABLE), reason=f"{VARIABLE} names no browser")]

#: Pages without workers, whose scripts the test's own route would answer.
PAGES = {"attribute": 22, "attribute-change": 1, "header-list": 5, "header-of-frame": 7, "redirect": 9}


def test_the_browser_decides(tmp_path: Path) -> None:
    server = Server(Checkout(copy_web(tmp_path, "permissions-policy")))
    answer = answer_pages(server, "results")

    def fulfill(route: Any) -> None:
        found = answer(route.request.url)
        assert found is not None
        route.fulfill(status=found[0], headers=dict(found[1]), body=found[2])

    with playwright.sync_playwright() as driver, Emulator(Options()) as emulator:
        browser = driver.chromium.launch(
            executable_path=os.environ[VARIABLE], args=flags(native=True, sandboxed=False), chromium_sandbox=False
        )
        for name, count in PAGES.items():
            context = browser.new_context()
            context.route(lambda url: server.hosts.has(url), fulfill)  # noqa: PLW0108 (the driver marks the function)
            emulator.add_to(context)
            page = context.new_page()
            page.goto(server.hosts.address(f"webnn/permissions-policy/{name}.https.sub.html"))
            told = [json.loads(text) for kind, text in page.evaluate("() => globalThis.results") if kind == "subtest"]
            assert [each for each in told if each["status"] != "PASS"] == [], name
            assert len(told) == count, name
            context.close()
        assert emulator.counts.contexts > 20
        assert not emulator.faults
        browser.close()
