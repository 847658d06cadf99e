"""Pages of a real browser: how long their sessions live, what they can send, and what they see of a native WebNN."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

pytest.importorskip("aiohttp", reason="the extra serve is not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="the extra browser is not installed")

# ruff: noqa: E402 - these need the extras
import webnn
from tools.evidence.pages.serving import Reports, open_emulator
from webnn.browser.chromium import VARIABLE
from webnn.browser.launch import flags
from webnn.javascript.files import File
from webnn.serve.options import Options
from webnn.serve.server import Server

pytestmark = [pytest.mark.processes, pytest.mark.skipif(not os.environ.get(VARIABLE), reason=f"{VARIABLE} names no browser")]

_PATIENCE = 60.0
_EMPTY = File(b"<!doctype html><meta charset=utf-8><title>page</title>", "text/html")
#: A worker that never stops to call: some calls have answers, others do not.
_BUSY = File(
    b"""(async () => {
  const context = await navigator.ml.createContext();
  postMessage('begun');
  for (;;) {
    const builder = new MLGraphBuilder(context);
    let x = builder.input('x', {dataType: 'float32', shape: [2]});
    for (let index = 0; index < 20; index++) x = builder.relu(x);
    try { builder.relu(1); } catch {}
    builder.build({x});
  }
})();""",
    "text/javascript",
)
_FILES = {"/a.html": _EMPTY, "/b.html": _EMPTY, "/busy.js": _BUSY}
_CONTEXT = "async () => { globalThis.context = await navigator.ml.createContext(); }"


@pytest.fixture(scope="module", params=[False, True], ids=["without WebNN", "with WebNN"])
def browser(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A browser, with and without its own WebNN."""
    with playwright.sync_playwright() as driver:
        yield driver.chromium.launch(
            executable_path=os.environ[VARIABLE], args=flags(native=request.param, sandboxed=False), chromium_sandbox=False
        )


@pytest.fixture
def emulator() -> Iterator[tuple[Server, Reports]]:
    """A server with two empty pages and a busy worker; there are no faults at its end."""
    reports = Reports()
    with open_emulator(_FILES.get, Options(), reports) as server:
        yield server, reports
    assert not reports.faults


def wait_until(condition: Callable[[], bool], page: Any = None) -> None:
    """Wait for a condition, while the browser goes on."""
    tick = threading.Event()
    for _ in range(int(_PATIENCE / 0.02)):
        if condition():
            return
        tick.wait(0.02)
        if page is not None:
            page.evaluate("0")
    raise AssertionError("the condition was never met")


def living(server: Server) -> int:
    return len(server.sessions.living)


def test_sessions_end_with_their_tabs(browser: Any, emulator: tuple[Server, Reports]) -> None:
    server, _ = emulator
    pages = [browser.new_page() for _ in range(10)]
    for page in pages:
        page.goto(f"{server.url}/a.html")
        page.evaluate(_CONTEXT)
    assert (living(server), server.sessions.begun) == (10, 10)
    for page in pages:
        page.close()
    wait_until(lambda: living(server) == 0)


def test_reloads_frames_and_crashes(browser: Any, emulator: tuple[Server, Reports]) -> None:
    server, _ = emulator
    page = browser.new_page()
    page.goto(f"{server.url}/a.html")
    page.evaluate(_CONTEXT)
    (first,) = server.sessions.living
    page.reload()
    page.evaluate(_CONTEXT)
    wait_until(lambda: living(server) == 1 and first not in server.sessions.living, page)
    page.evaluate("""() => new Promise(done => {
      const frame = document.createElement('iframe');
      frame.onload = () => frame.contentWindow.navigator.ml.createContext().then(() => done());
      frame.src = '/b.html';
      document.body.append(frame);
    })""")
    assert living(server) == 2
    page.evaluate("document.querySelector('iframe').remove()")
    wait_until(lambda: living(server) == 1, page)
    with suppress(playwright.Error):
        page.goto("chrome://crash")
    wait_until(lambda: living(server) == 0)
    page.close()


def test_a_page_that_comes_back(browser: Any, emulator: tuple[Server, Reports]) -> None:
    server, _ = emulator
    page = browser.new_page()
    page.goto(f"{server.url}/a.html")
    page.evaluate(_CONTEXT)
    page.evaluate("() => { globalThis.lost = context.lost.then(({message}) => { globalThis.why = message; }); }")
    page.goto(f"{server.url}/b.html")
    page.go_back()
    assert page.evaluate("async () => (await navigator.ml.createContext()) instanceof MLContext")
    # A browser that kept the page shows that its context is lost; one that loaded it again has a new page.
    assert page.evaluate(
        "async () => { if (globalThis.context) await globalThis.lost; return !globalThis.context || globalThis.why !== ''; }"
    )
    page.close()
    wait_until(lambda: living(server) == 0)


def test_pages_that_go_while_their_workers_call(browser: Any, emulator: tuple[Server, Reports]) -> None:
    server, _ = emulator
    rounds, workers = int(os.environ.get("WEBNN_ROUNDS", "6")), 3
    for _ in range(rounds):
        page = browser.new_page()
        page.goto(f"{server.url}/a.html")
        page.evaluate(
            """count => Promise.all(Array.from({length: count}, () => new Promise(done => {
              new Worker('/busy.js').onmessage = done;
            })))""",
            workers,
        )
        page.close()
    wait_until(lambda: living(server) == 0)
    assert server.sessions.begun >= rounds * workers


def test_a_large_constant(browser: Any, emulator: tuple[Server, Reports]) -> None:
    server, _ = emulator
    page = browser.new_page()
    page.goto(f"{server.url}/a.html")
    answer = page.evaluate("""async () => {
      const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);
      const shape = [6000, 6000], values = new Float32Array(6000 * 6000).fill(0.5);
      values[values.length - 1] = 7;
      const large = builder.constant({dataType: 'float32', shape}, values);
      const graph = await builder.build({y: builder.reduceMax(large), z: builder.reduceMin(large)});
      const tensors = {};
      for (const name of ['y', 'z']) tensors[name] = await context.createTensor({dataType: 'float32', shape: [], readable: true});
      context.dispatch(graph, {}, tensors);
      return Promise.all(['y', 'z'].map(async name => new Float32Array(await context.readTensor(tensors[name]))[0]));
    }""")
    assert answer == [7, 0.5]
    page.close()


def test_a_native_webnn_is_replaced(browser: Any, emulator: tuple[Server, Reports]) -> None:
    server, _ = emulator
    page = browser.new_page()
    page.goto(f"{server.url}/a.html")
    names = page.evaluate("Object.getOwnPropertyNames(globalThis).filter(name => /^ML([A-Z]|$)/.test(name)).sort()")
    assert names == ["ML", "MLContext", "MLGraph", "MLGraphBuilder", "MLOperand", "MLTensor"]
    assert page.evaluate("""() => {
      const getter = Object.getOwnPropertyDescriptor(Navigator.prototype, 'ml').get;
      return navigator.ml instanceof ML && Object.getPrototypeOf(navigator.ml) === ML.prototype && getter.call(navigator) === navigator.ml;
    }""")
    page.evaluate(_CONTEXT)
    (session,) = server.sessions.living.values()
    assert len(session.contexts()) == 1
    page.close()


def test_delays_do_not_stop_a_page(browser: Any) -> None:
    reports = Reports()
    with open_emulator(_FILES.get, Options(faults=webnn.Faults(delay=0.5)), reports) as server:
        page = browser.new_page()
        page.goto(f"{server.url}/a.html")
        steps, ticks, gap = page.evaluate("""async () => {
          const {port1, port2} = new MessageChannel();
          let last = performance.now(), gap = 0, ticks = 0, steps = [];
          port1.onmessage = () => {
            const now = performance.now();
            gap = Math.max(gap, now - last);
            last = now;
            ticks++;
            port2.postMessage(0);
          };
          port2.postMessage(0);
          const step = async promise => { const from = ticks, value = await promise; steps.push(ticks - from); return value; };
          const context = await step(navigator.ml.createContext()), descriptor = {dataType: 'float32', shape: [4]};
          const builder = new MLGraphBuilder(context), x = builder.input('x', descriptor);
          const graph = await step(builder.build({y: builder.relu(x)}));
          const from = await context.createTensor({...descriptor, writable: true});
          const to = await context.createTensor({...descriptor, readable: true});
          context.writeTensor(from, new Float32Array([-1, 2, -3, 4]));
          context.dispatch(graph, {x: from}, {y: to});
          await step(context.readTensor(to));
          port1.close();
          return [steps, ticks, gap];
        }""")
        page.close()
    print(f"longest gap {gap:.1f} ms, {ticks} ticks")
    # The page went on while it waited for each of them: without that, there would be a tick or two.
    assert min(steps) > 20
    assert not reports.faults
