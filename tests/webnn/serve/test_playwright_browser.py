"""`webnn_page` and `Emulator` in a real browser, driven by Playwright."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.shared import ROOT
from webnn.serve.options import Options
from webnn.serve.playwright import Emulator

pytest_plugins = ["pytester"]

BROWSER = os.environ.get("WEBNN_BROWSER")
pytestmark = [pytest.mark.processes, pytest.mark.skipif(not BROWSER, reason="WEBNN_BROWSER names no browser")]

#: As root, and in containers, a browser has no sandbox.
_FLAGS = ["--no-sandbox", "--no-zygote", "--in-process-gpu", "--use-angle=swiftshader"]
_WORKER = """
(async () => {
  const mine = typeof navigator.ml, strict = (function () { return this === undefined; })();
  const context = mine === 'object' ? await navigator.ml.createContext() : undefined;
  postMessage(`${mine} ${strict} ${Object.prototype.toString.call(context)}`);
})();
"""
_FILES = {
    "/": ("text/html", "<!doctype html><title>plain</title>"),
    "/frames": ("text/html", "<!doctype html><iframe src='/'></iframe><iframe srcdoc='<p>'></iframe>"),
    "/classic.js": ("text/javascript", f"'use strict';{_WORKER}"),
    "/sloppy.js": ("text/javascript", _WORKER),
    "/module.mjs": ("text/javascript", f"import './part.mjs';{_WORKER}"),
    "/part.mjs": ("text/javascript", ""),
}
_BUILD = """
async () => {
  const builder = new MLGraphBuilder(await navigator.ml.createContext());
  const x = builder.input('x', {dataType: 'float32', shape: [2]});
  return String(await builder.build({y: builder.relu(x)}));
}
"""
_START = """
([address, options]) => new Promise((resolve, reject) => {
  const worker = new Worker(address, options);
  worker.onmessage = ({data}) => resolve(data);
  worker.onerror = ({message}) => reject(new Error(message));
})
"""


class Site(BaseHTTPRequestHandler):
    """Files, with a strict policy if the address has one."""

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        kind, content = _FILES.get(path, ("", ""))
        self.send_response(200 if kind else 404)
        self.send_header("Content-Type", kind or "text/plain")
        if query == "strict":
            self.send_header("Content-Security-Policy", "default-src 'none'; script-src 'nonce-abc'; worker-src 'self'")
        self.end_headers()
        self.wfile.write(content.encode())


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=BROWSER, args=_FLAGS, chromium_sandbox=False)
        yield found
        found.close()


@pytest.mark.parametrize("path", ["/", "/?strict"])
def test_a_page(webnn_page: Any, webnn_emulator: Emulator, site: str, path: str) -> None:
    webnn_page.goto(f"{site}{path}")
    assert webnn_page.evaluate(_BUILD) == "[object MLGraph]"
    counts = webnn_emulator.counts
    assert (counts.contexts, counts.builds, counts.calls["MLGraphBuilder.relu"]) == (1, 1, 1)
    assert [call.member for call in webnn_emulator.log][:2] == ["ML.createContext", "MLGraphBuilder.constructor"]
    assert (webnn_emulator.lost, webnn_emulator.warnings) == ([], [])


@pytest.mark.parametrize(
    ("script", "options", "found"),
    [
        ("/classic.js", {}, "object true [object MLContext]"),
        ("/sloppy.js", {}, "object false [object MLContext]"),
        ("/classic.js?strict", {}, "object true [object MLContext]"),
        ("/module.mjs", {"type": "module"}, "object true [object MLContext]"),
    ],
)
def test_a_worker(webnn_page: Any, site: str, script: str, options: dict[str, str], found: str) -> None:
    webnn_page.goto(f"{site}/")
    for _ in range(2):
        assert webnn_page.evaluate(_START, [script, options]) == found
    workers = f"Promise.all([1, 2, 3].map(_ => ({_START})(['{script}', {options}])))"
    assert webnn_page.evaluate(workers) == [found] * 3


def test_a_worker_of_a_blob(webnn_page: Any, site: str) -> None:
    webnn_page.goto(f"{site}/")
    start = f"source => ({_START})([URL.createObjectURL(new Blob([source])), {{}}])"
    assert webnn_page.evaluate(start, _WORKER) == "object false [object MLContext]"


def test_frames_and_windows(webnn_page: Any, site: str) -> None:
    webnn_page.goto(f"{site}/frames")
    for frame in webnn_page.frames:
        assert frame.evaluate(_BUILD) == "[object MLGraph]"
    with webnn_page.expect_popup() as popup:
        webnn_page.evaluate(f"() => void open('{site}/')")
    popup.value.wait_for_load_state()
    assert popup.value.evaluate(_BUILD) == "[object MLGraph]"


def test_a_page_of_another_machine(webnn_page: Any) -> None:
    headers = {"Content-Security-Policy": "default-src 'self'"}
    webnn_page.route("https://app.test/", lambda route: route.fulfill(body="<title>there", content_type="text/html", headers=headers))
    webnn_page.goto("https://app.test/")
    assert webnn_page.evaluate(_BUILD) == "[object MLGraph]"


def test_a_large_constant(webnn_page: Any, site: str) -> None:
    # Playwright sees the bodies of requests, and can hold none of this size.
    webnn_page.goto(f"{site}/")
    program = """async () => {
      const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context), shape = [6000, 6000];
      const values = new Float32Array(36e6).fill(1);
      values[35999999] = 7;
      const large = builder.constant({dataType: 'float32', shape}, values);
      const graph = await builder.build({y: builder.reduceMax(large), z: builder.reduceMin(large)});
      const tensors = [], make = () => context.createTensor({dataType: 'float32', shape: [], readable: true});
      const [y, z] = [await make(), await make()];
      context.dispatch(graph, {}, {y, z});
      for (const each of [y, z]) tensors.push(new Float32Array(await context.readTensor(each))[0]);
      return tensors;
    }"""
    assert webnn_page.evaluate(program) == [7, 1]


@pytest.mark.webnn(profile="coreml", fallback="deny")
def test_a_profile(webnn_page: Any, webnn_emulator: Emulator, site: str) -> None:
    webnn_page.goto(f"{site}/")
    build = _BUILD.replace("float32", "int64").strip()
    message = webnn_page.evaluate(f"() => ({build})().catch(error => error.message)")
    assert 'on the device profile "coreml", got int64' in message
    assert webnn_emulator.counts.refused == 1
    assert webnn_emulator.log[-1].refused


def test_ones_own_context(browser: Any, site: str) -> None:
    context = browser.new_context(bypass_csp=True)
    with Emulator(Options(revision="2024-06")) as emulator:
        emulator.add_to(context)
        page = context.new_page()
        page.goto(f"{site}/?strict")
        assert page.evaluate("async () => 'compute' in await navigator.ml.createContext()") is True
        context.close()
        assert emulator.faults == []


def test_a_policy_without_a_bypass(browser: Any, site: str) -> None:
    context = browser.new_context()
    with Emulator() as emulator:
        emulator.add_to(context)
        page = context.new_page()
        page.goto(f"{site}/?strict")
        with pytest.raises(Exception, match="the emulator does not answer"):
            page.evaluate(_BUILD)
        assert "bypass_csp=True" in emulator.faults[0]
        context.close()


def test_a_route_of_the_test_answers_a_worker(browser: Any, site: str) -> None:
    context = browser.new_context()
    with Emulator() as emulator:
        emulator.add_to(context)
        page = context.new_page()
        page.goto(f"{site}/")
        answer = {"content_type": "text/javascript"}
        page.route("**/classic.js", lambda route: route.fulfill(body=_WORKER, **answer))
        assert page.evaluate(_START, ["/classic.js", {}]) == "undefined false [object Undefined]"
        assert "another route of the test answers its script" in emulator.faults[0]
        page.route("**/sloppy.js", lambda route: route.fulfill(body=f'importScripts("{emulator.script_url}");{_WORKER}', **answer))
        assert page.evaluate(_START, ["/sloppy.js", {}]) == "object false [object MLContext]"
        context.close()


def test_other_drivers(browser: Any, site: str) -> None:
    """They load the script by its address, or have the browser run its text before each document's own scripts."""
    with Emulator() as emulator:
        context = browser.new_context(permissions=["local-network-access"])
        page = context.new_page()
        page.goto(f"{site}/")
        assert page.evaluate("navigator.ml") is None
        page.add_script_tag(url=emulator.script_url)
        assert page.evaluate(_BUILD) == "[object MLGraph]"
        session = context.new_cdp_session(page)
        session.send("Page.enable")
        session.send("Page.addScriptToEvaluateOnNewDocument", {"source": emulator.script})
        page.goto(f"{site}/")
        assert page.evaluate(_BUILD) == "[object MLGraph]"
        assert page.evaluate(_START, ["/classic.js", {}]) == "undefined true [object Undefined]"
        context.close()


def test_the_asynchronous_api(site: str) -> None:
    async def run() -> tuple[str, str]:
        from playwright.async_api import async_playwright

        async with async_playwright() as playwright:
            found = await playwright.chromium.launch(executable_path=BROWSER, args=_FLAGS, chromium_sandbox=False)
            context = await found.new_context(bypass_csp=True)
            with Emulator() as emulator:
                await emulator.add_to(context)
                page = await context.new_page()
                await page.goto(f"{site}/?strict")
                results = await page.evaluate(_BUILD), await page.evaluate(_START, ["/classic.js", {}])
                await found.close()
                assert emulator.faults == []
                return results

    thread_results: list[tuple[str, str]] = []
    # The browser of the other tests has the event loop of this thread.
    thread = threading.Thread(target=lambda: thread_results.append(asyncio.run(run())))
    thread.start()
    thread.join()
    assert thread_results == [("[object MLGraph]", "object true [object MLContext]")]


def test_the_example(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider\nasyncio_default_fixture_loop_scope = function\n")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    plugin = "tests.webnn.serve.test_playwright_browser"
    pytester.makeconftest(f"from {plugin} import browser\n")
    for file in Path(ROOT, "examples", "page").iterdir():
        if file.is_file():
            (pytester.path / file.name).write_bytes(file.read_bytes())
    pytester.runpytest_subprocess().assert_outcomes(passed=3)
