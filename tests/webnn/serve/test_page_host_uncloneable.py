"""No object of WebNN can be cloned or sent by a page of ``webnn serve``: in a window, and in a worker."""

from __future__ import annotations

import os
from typing import Any

import pytest

pytest.importorskip("aiohttp", reason="the extra serve is not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="the extra browser is not installed")

# ruff: noqa: E402 - these need the extras
from tests.webnn.javascript.test_binding_uncloneable import SCRIPT, check
from tools.evidence.pages.serving import Reports, open_emulator
from webnn.browser.chromium import VARIABLE
from webnn.browser.launch import flags
from webnn.javascript.files import File
from webnn.serve.options import Options

pytestmark = [pytest.mark.processes, pytest.mark.skipif(not os.environ.get(VARIABLE), reason=f"{VARIABLE} names no browser")]

_WORKER = f"""
const {{port1}} = new MessageChannel();
({SCRIPT})({{'postMessage()': value => postMessage(value), 'MessagePort': value => port1.postMessage(value)}}).then(postMessage, error => {{
  throw error;
}});
"""
_FILES = {
    "/a.html": File(b"<!doctype html><meta charset=utf-8><title>page</title><iframe></iframe>", "text/html"),
    "/worker.js": File(_WORKER.encode(), "text/javascript"),
    "/empty.js": File(b"", "text/javascript"),
}
_PAGE = f"""
async () => {{
  const {{port1}} = new MessageChannel(), worker = new Worker('empty.js'), channel = new BroadcastChannel('b');
  return ({SCRIPT})({{
    'postMessage()': value => postMessage(value), 'to a frame': value => frames[0].postMessage(value, '*'),
    'MessagePort': value => port1.postMessage(value), 'MessagePort, transfer': value => port1.postMessage(1, [value]),
    'Worker': value => worker.postMessage(value), 'BroadcastChannel': value => channel.postMessage(value),
    'history': value => history.pushState(value, ''),
  }});
}}
"""
_IN_WORKER = "() => new Promise((done, fail) => Object.assign(new Worker('worker.js'), {onmessage: ({data}) => done(data), onerror: fail}))"


def test_in_a_page() -> None:
    with playwright.sync_playwright() as driver, open_emulator(_FILES.get, Options(), Reports()) as server:
        browser = driver.chromium.launch(
            executable_path=os.environ[VARIABLE], args=flags(native=False, sandboxed=False), chromium_sandbox=False
        )
        page: Any = browser.new_page()
        page.goto(f"{server.url}/a.html")
        outcome = page.evaluate(_PAGE)
        assert outcome["wrong"] == []
        # Of the seven ways one is a list of what is transferred.
        assert outcome["count"] == 7 * (3 * 7 + 2)
        check(page.evaluate(_IN_WORKER), 2)
        browser.close()
