"""The pages and scripts that run a test file in its flavours, as a server of web-platform-tests sends them beside the files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from urllib.parse import quote, urlsplit

from webnn.browser.chromium import Answer, Read, read_below
from webnn.javascript.files import File
from webnn.javascript.realm import load_script
from webnn.wpt_runner.checkout import Checkout, CheckoutError, TestFile
from webnn.wpt_runner.serving import Server

__all__ = ["answer_pages", "read_pages"]

_JAVASCRIPT = "text/javascript"
_HARNESS, _REPORT_PATH, _HARNESS_REPORT = "/resources/testharness.js", "/-/report.js", "/resources/testharnessreport.js"
#: The page of a test, or the script of a worker.
_GENERATED = re.compile(
    r"/(?P<stem>.+\.any)(?P<flavour>\.(?:worker|sharedworker|serviceworker))?\.(?P<kind>html|js)|/(?P<window>.+\.window)\.html"
)
#: Hands the results of testharness.js to the host: each as a line of the console, in case that the page ends, and all at the end.
_REPORT = """
(() => {
  const debug = console.debug.bind(console), mark = %s, results = [];
  let finish;
  globalThis[mark] = new Promise(resolve => { finish = resolve; });
  (%s)(globalThis, (kind, text) => {
    results.push([kind, text]);
    debug(mark + JSON.stringify([kind, text]));
    if (kind === 'complete') finish(results);
  });
})();
"""
_SCOPE = "self.GLOBAL = {isWindow: () => %s, isWorker: () => %s, isShadowRealm: () => false};"
#: How a page starts the script of a worker, and takes its results.
_START = {
    ".worker": "fetch_tests_from_worker(new Worker(%s + location.search));",
    ".sharedworker": "fetch_tests_from_worker(new SharedWorker(%s + location.search));",
    ".serviceworker": """
promise_setup(async () => {
  const scope = 'no/such/page', known = await navigator.serviceWorker.getRegistration(scope);
  await known?.unregister();
  const registration = await navigator.serviceWorker.register(%s + location.search, {scope});
  fetch_tests_from_worker(registration.installing);
});
""",
}


def read_pages(checkout: Checkout, mark: str, timeout_multiplier: float = 1.0) -> Read:
    """Return the files that a server of a checkout sends: its files, and for each test file in JavaScript the pages that run it.

    ``mark`` is the prefix of the records of the console; the page has a promise of all of them under this name.
    """
    read_file, server = read_below(checkout.root), Server(checkout)
    report = File(_report(mark, timeout_multiplier).encode(), _JAVASCRIPT)

    def read(path: str) -> File | None:
        if path == _REPORT_PATH:
            return report
        match = _GENERATED.fullmatch(path)
        if match is not None and (match["flavour"] or match["kind"] != "js"):
            made = _generate(checkout, match["stem"] or match["window"], match["flavour"] or "", match["kind"] or "html")
            if made is not None:
                return made
        if path.endswith(".js"):
            # Some scripts are other files on the server, and some have expressions in them.
            text = server.read(quote(path))
            return None if text is None else File(text.encode(), _JAVASCRIPT)
        return read_file(path)

    return read


def answer_pages(server: Server, mark: str, timeout_multiplier: float = 1.0) -> Answer:
    """Return what the runner's own server answers for the addresses of tests that are pages, in the place of the network.

    The file ``testharnessreport.js`` is that of the runner; ``mark`` is that of `read_pages`.
    """
    report = _report(mark, timeout_multiplier).encode()

    def answer(url: str) -> tuple[int, Mapping[str, str], bytes] | None:
        if not server.hosts.has(url):
            return None
        found = server.answer(url)
        headers = {**found.headers, "content-type": found.type, "cache-control": "no-store"}
        if urlsplit(url).path == _HARNESS_REPORT:
            return 200, {"content-type": _JAVASCRIPT}, report
        return found.status, headers, found.content or found.problem.encode()

    return answer


def _report(mark: str, timeout_multiplier: float) -> str:
    return _REPORT % (json.dumps(mark), load_script("harness.js")) + f"setup({{timeout_multiplier: {timeout_multiplier:g}}});\n"


def _generate(checkout: Checkout, stem: str, flavour: str, kind: str) -> File | None:
    """Write the page or the worker's script of a test file; ``None`` if there is no such file."""
    try:
        file = checkout.load(f"{stem}.js")
    except CheckoutError:
        return None
    if kind == "js":
        return File(_worker(file).encode("utf-8", "replace"), _JAVASCRIPT)
    if flavour:
        script = json.dumps(quote(f"/{stem}{flavour}.js")).replace("<", "\\u003c")
        body = f"<script>{_START[flavour] % script}</script>\n"
    else:
        body = "".join(f"<script src={json.dumps(quote(each))}></script>\n" for each in file.sources)
    return File(_page(file, body).encode("utf-8", "replace"), "text/html")


def _page(file: TestFile, body: str) -> str:
    timeout = '<meta name="timeout" content="long">\n' if file.long else ""
    return (
        f'<!doctype html>\n<meta charset="utf-8">\n<title>{escape(file.title)}</title>\n{timeout}'
        f'<script>{_SCOPE % ("true", "false")}</script>\n<script src="{_HARNESS}"></script>\n<script src="{_REPORT_PATH}"></script>\n'
        f'<div id="log"></div>\n{body}'
    )


def _worker(file: TestFile) -> str:
    scripts = "".join(f"importScripts({json.dumps(quote(each))});\n" for each in (_HARNESS, *file.sources))
    return f"{_SCOPE % ('false', 'true')}\n{scripts}done();\n"
