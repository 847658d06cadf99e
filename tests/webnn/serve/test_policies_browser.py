"""Pages with Content Security Policies in a real browser, through the proxy: the emulator is in the page and in its workers."""

from __future__ import annotations

import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from webnn.browser.chromium import VARIABLE, Chromium
from webnn.serve.options import Options
from webnn.serve.proxy import Proxy
from webnn.serve.server import Server

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(VARIABLE not in os.environ, reason=f"name the browser by the environment variable {VARIABLE}"),
]

WORKER = "navigator.ml.createContext().then(() => postMessage('works'), error => postMessage(String(error)));"
FILES = {
    "/classic.js": f"'use strict'; {WORKER}",
    "/module.js": f"import {{nothing}} from './part.js'; nothing(); {WORKER}",
    "/part.js": "export const nothing = () => {};",
    "/side.js": WORKER,
}
#: Starts a worker, and waits for its word.
START = """
async ({address, type}) => {
  const url = address ?? URL.createObjectURL(new Blob([WORKER], {type: 'text/javascript'}));
  const worker = new Worker(self.trusted ? trusted.createScriptURL(url) : url, {type});
  return new Promise((resolve, reject) => {
    worker.onmessage = ({data}) => resolve(data);
    worker.onerror = event => reject(new Error(event.message ?? 'blocked'));
  });
}
""".replace("WORKER", f'"{WORKER}"')
SCRIPT = "(async () => { await navigator.ml.createContext(); document.title = 'works'; })();"
TRUSTED = "self.trusted = trustedTypes.createPolicy('page', {createScriptURL: url => url});"


class Pages(http.server.BaseHTTPRequestHandler):
    """A page with a policy in its header or in an element, and scripts of workers with the same policy."""

    policy = meta = script = ""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        element = f'<meta http-equiv="Content-Security-Policy" content="{self.meta}">' if self.meta else ""
        page = f"<!doctype html><html><head><meta charset=utf-8>{element}</head><body><script nonce=abc>{self.script}{SCRIPT}</script>"
        content = FILES.get(path, page).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if path in FILES else "text/html")
        self.send_header("Content-Length", str(len(content)))
        if self.policy:
            self.send_header("Content-Security-Policy", self.policy)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def address() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def chromium() -> Iterator[tuple[Chromium, list[str]]]:
    console: list[str] = []
    with Chromium(Path(os.environ[VARIABLE]), console=lambda _, text: console.append(text), native=False, timeout=15.0) as browser:
        yield browser, console


POLICIES = [
    "script-src 'nonce-abc'; worker-src 'self' blob:; connect-src 'none'",
    "default-src 'none'; script-src 'nonce-abc' 'strict-dynamic'; worker-src 'self' blob:",
    "default-src 'unsafe-inline' 'self' blob:",
    "default-src 'self' blob: 'nonce-abc'; object-src 'none'; base-uri 'none'; form-action 'none'",
    "default-src 'self' 'unsafe-inline'; child-src 'self' blob:, connect-src https://a.test",
    "script-src 'nonce-abc' 'self' blob:; trusted-types page; require-trusted-types-for 'script'",
]


@pytest.mark.parametrize("place", ["policy", "meta"])
@pytest.mark.parametrize(("policy", "isolate"), [*((policy, False) for policy in POLICIES), (POLICIES[0], True)])
def test_a_page_with_a_policy(
    chromium: tuple[Chromium, list[str]], address: str, monkeypatch: pytest.MonkeyPatch, place: str, policy: str, *, isolate: bool
) -> None:
    browser, console = chromium
    console.clear()
    monkeypatch.setattr(Pages, place, policy)
    monkeypatch.setattr(Pages, "script", TRUSTED if "trusted" in policy else "")
    faults: list[str] = []
    with Server(Proxy(address), Options(isolate=isolate), on_fault=faults.append) as server:
        browser.open(f"{server.url}/")
        title = browser.evaluate(
            "async () => { while (!document.title) await new Promise(done => setTimeout(done, 5)); return document.title; }"
        )
        assert title == "works"
        assert browser.evaluate("() => crossOriginIsolated") == isolate
        kinds: list[dict[str, Any]] = [
            {"address": "/classic.js", "type": "classic"},
            {"address": "/module.js", "type": "module"},
            {"address": "/side.js?a#b", "type": "module"},
            {"type": "classic"},
            {"type": "module"},
        ]
        # A page with Trusted Types cannot be given another Blob than its own.
        for kind in kinds[:3] if "trusted" in policy else kinds:
            assert browser.evaluate(START, kind) == "works", (kind, console)
    assert faults == []


@pytest.mark.parametrize(
    ("policy", "program"),
    [
        (
            "script-src 'nonce-abc'",
            "() => { const s = document.createElement('script'); s.src = '/side.js'; document.head.append(s); return once(s); }",
        ),
        ("script-src 'nonce-abc'; connect-src 'none'", "() => fetch('/part.js').then(() => 'loaded', () => 'blocked')"),
        ("default-src 'self' 'nonce-abc'", "() => { const s = new Image(); s.src = 'data:,'; document.body.append(s); return once(s); }"),
        ("script-src 'nonce-abc'; worker-src 'none'", "() => once(new Worker('/classic.js'))"),
    ],
)
def test_what_a_policy_forbids_stays_forbidden(
    chromium: tuple[Chromium, list[str]], address: str, monkeypatch: pytest.MonkeyPatch, policy: str, program: str
) -> None:
    browser, console = chromium
    console.clear()
    monkeypatch.setattr(Pages, "policy", policy)
    once = (
        "const once = it => new Promise(done => { it.onload = it.onmessage = () => done('loaded'); it.onerror = () => done('blocked'); });"
    )
    with Server(Proxy(address), Options()) as server:
        browser.open(f"{server.url}/")
        assert browser.evaluate(f"async () => {{ {once} return ({program})(); }}") == "blocked"
        assert any("Content Security Policy" in text for text in console)
