"""The page without a server in a real Chromium: Pyodide runs programs, checks every profile and draws graphs.

The environment variable WEBNN_PYODIDE names a folder with Pyodide's distribution, and with a folder ``wheels``: see docs/playground.md.
"""

from __future__ import annotations

import functools
import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import PATIENCE
from webnn.playground.assets import write_site

BROWSER, PYODIDE = os.environ.get("WEBNN_BROWSER"), os.environ.get("WEBNN_PYODIDE")
pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(not (BROWSER and PYODIDE), reason="WEBNN_BROWSER and WEBNN_PYODIDE do not both name something"),
]

ENDED = "() => /^(Done|The program failed|It cannot|Stopped)/.test(document.getElementById('message').textContent)"
ERROR = "import webnn\n\nwebnn.MLGraphBuilder(None)\n"


class _Files(http.server.SimpleHTTPRequestHandler):
    # The table of a system may lack the newer types.
    extensions_map = {  # noqa: RUF012 (the base class declares it of an instance)
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def log_message(self, *values: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    distribution, site = Path(str(PYODIDE)), tmp_path_factory.mktemp("site")
    write_site(site, distribution, sorted((distribution / "wheels").glob("*.whl")))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Files, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()


@pytest.fixture(scope="module")
def tab(address: str) -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright or greenlet is not installed", exc_type=ImportError)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.set_default_timeout(PATIENCE * 1000)
        tab.problems, tab.hosts = [], set()
        tab.on("pageerror", lambda error: tab.problems.append(str(error)))
        tab.on("request", lambda request: tab.hosts.add(request.url.split("/")[2]))
        tab.goto(address)
        tab.wait_for_function("() => document.getElementById('facts').textContent.startsWith('webnn ')")
        yield tab
        browser.close()


def press(tab: Any, button: str) -> str:
    tab.click(button)
    tab.wait_for_function(ENDED)
    text: str = tab.inner_text("#message")
    return text


def open_link(tab: Any, program: dict[str, str]) -> None:
    tab.evaluate("async (program) => { location.hash = await (await import('./links.js')).write(program); }", program)
    tab.wait_for_selector("#foreign:not([hidden])")


def test_each_example_runs(tab: Any) -> None:
    for label in tab.locator("#example option").all_inner_texts()[1:]:
        tab.select_option("#example", label=label)
        assert press(tab, "#run").startswith("Done"), (label, tab.inner_text("#problem"))
        assert tab.locator("#graphs canvas").first.evaluate("(canvas) => canvas.width") > 100
    assert tab.problems == []


def test_a_profile_refuses(tab: Any) -> None:
    tab.select_option("#example", label="An int8 graph")
    tab.select_option("select[name=profile]", "coreml")
    assert press(tab, "#run").startswith("The program failed")
    assert '"coreml"' in tab.inner_text("#problem-text")
    assert tab.inner_text("#go").startswith("Go to line ")
    tab.select_option("select[name=profile]", "")


def test_every_profile(tab: Any) -> None:
    tab.select_option("#example", label="An int8 graph")
    assert press(tab, "#check").startswith("Done")
    verdicts = dict(row.split("\t")[:2] for row in tab.locator("#tables tbody tr").all_inner_texts())
    assert (verdicts["(none)"], verdicts["coreml"], verdicts["dml"]) == ("builds", "refused", "builds")


def test_an_error_is_marked_at_its_line(tab: Any) -> None:
    open_link(tab, {"language": "python", "source": ERROR})
    assert press(tab, "#run").startswith("The program failed")
    assert "MLGraphBuilder: context must be an MLContext" in tab.inner_text("#problem-text")
    tab.click("#go")
    assert tab.locator(".cm-line").nth(2).locator(".cm-lintRange-error").count() == 1


def test_it_asks_no_other_host(tab: Any, address: str) -> None:
    assert tab.hosts == {address.split("/")[2]}
    assert tab.problems == []
