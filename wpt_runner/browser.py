"""Runs tests of a checkout in a real browser, as web-platform-tests' own server and runner would."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from webnn.browser.chromium import Chromium, PageCrashError, PageError, PageTimeoutError, Read, read_below, serve
from webnn.javascript.files import File
from webnn.javascript.realm import load_script
from webnn.wpt_runner.checkout import Checkout, CheckoutError, Test
from webnn.wpt_runner.harness import Settings, time_limit
from webnn.wpt_runner.results import FileResult, FileStatus, Subtest, SubtestStatus

__all__ = ["Pair", "TestBrowser", "compare_results", "read_pages"]

#: The harness in the page has its own limit, after which it reports what it waits for.
_GRACE = 3.0
_JAVASCRIPT = "text/javascript"
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
_REPORT_PATH = "/-/report.js"
_SCOPE = "self.GLOBAL = {isWindow: () => true, isWorker: () => false, isShadowRealm: () => false};"


def read_pages(checkout: Checkout, mark: str) -> Read:
    """Return what a server of a checkout sends: its files, and for each test file in JavaScript the page that runs it in a window.

    Args:
        checkout: The checkout.
        mark: What the records of the console begin with; the page has a promise of all of them under this name.
    """
    read_file = read_below(checkout.root)
    report = File((_REPORT % (json.dumps(mark), load_script("harness.js"))).encode(), _JAVASCRIPT)

    def read(path: str) -> File | None:
        if path == _REPORT_PATH:
            return report
        if path.endswith((".any.html", ".window.html")):
            page = _page(checkout, f"{path.removesuffix('.html').lstrip('/')}.js")
            if page is not None:
                return File(page.encode("utf-8", "replace"), "text/html")
        if path.endswith(".js"):
            # Some scripts are other files on the server.
            text = checkout.read(path)
            return None if text is None else File(text.encode(), _JAVASCRIPT)
        return read_file(path)

    return read


def _page(checkout: Checkout, path: str) -> str | None:
    """Write the page of a test file; ``None`` if there is no such file."""
    try:
        file = checkout.load(path)
    except CheckoutError:
        return None
    scripts = "".join(f"<script src={json.dumps(quote(each))}></script>\n" for each in (*file.scripts, f"/{path}"))
    timeout = '<meta name="timeout" content="long">\n' if file.long else ""
    return (
        f'<!doctype html>\n<meta charset="utf-8">\n<title>{escape(file.title)}</title>\n{timeout}<script>{_SCOPE}</script>\n'
        f'<script src="/resources/testharness.js"></script>\n<script src="{_REPORT_PATH}"></script>\n<div id="log"></div>\n{scripts}'
    )


class TestBrowser:
    """Runs tests in a browser, one after another.

    Attributes:
        version: The version of the browser.
    """

    __test__ = False

    def __init__(self, browser: Chromium, address: str, settings: Settings, records: _Records) -> None:
        self._browser = browser
        self._address = address
        self._settings = settings
        self._records = records
        self.version = browser.version

    @classmethod
    @contextmanager
    def start(cls, checkout: Checkout, executable: Path, settings: Settings) -> Iterator[TestBrowser]:
        """Start a browser beside a server of the checkout."""
        records = _Records()
        with serve(read_pages(checkout, records.mark)) as address, Chromium(executable, timeout=_GRACE, console=records.hear) as browser:
            yield cls(browser, address, settings, records)

    def run(self, test: Test) -> FileResult:
        """Run a test. A page that hangs or crashes is a result: the subtests that ended before are kept."""
        records, started = self._records, time.monotonic()
        records.clear()
        limit = time_limit(test, self._settings) + _GRACE
        path = quote(test.file.path.removesuffix(".js"))
        status, message = FileStatus.CRASH, ""
        try:
            self._browser.open(f"{self._address}{path}.html{test.variant}", timeout=limit)
            for kind, text in self._browser.evaluate(f"() => globalThis[{json.dumps(records.mark)}]", timeout=limit):
                records.add(kind, text)
        except PageTimeoutError:
            status, message = FileStatus.TIMEOUT, f"the page was not done after {limit:g} s"
        except PageCrashError as error:
            message = str(error)
        except PageError as error:
            status, message = FileStatus.ERROR, str(error)
        harness = records.harness or {"status": status, "message": message}
        return FileResult(
            file=test.file.path,
            variant=test.variant,
            status=FileStatus(harness["status"]),
            message=harness["message"],
            subtests=list(records.subtests.values()),
            seconds=time.monotonic() - started,
            title=test.file.title,
            output="\n".join(records.output),
        )


class _Records:
    """The records of one page, and what else it wrote to its console."""

    def __init__(self) -> None:
        self.mark = f"webnn-{secrets.token_hex(8)}"
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        self.subtests: dict[str, Subtest] = {}
        self.harness: dict[str, str] = {}
        self.output: list[str] = []

    def hear(self, level: str, line: str) -> None:
        """Take a line of the console."""
        head, found, text = line.partition(self.mark)
        if found and not head:
            self.add(*json.loads(text))
        else:
            self.output.append(f"{level}: {line}")

    def add(self, kind: str, text: str) -> None:
        """Take a record, perhaps a second time."""
        content: dict[str, Any] = json.loads(text)
        if kind == "complete":
            self.harness = content
        else:
            name = content["name"]
            self.subtests[name] = Subtest(name=name, status=SubtestStatus(content["status"]), message=content["message"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A test in the emulator and in the browser.

    Attributes:
        differing: The subtests whose statuses differ, those of the emulator first; ``None`` where one has no such subtest.
    """

    emulator: FileResult
    browser: FileResult
    differing: Sequence[tuple[Subtest | None, Subtest | None]] = field(default=())

    @property
    def differs(self) -> bool:
        """The test as a whole or a subtest has different statuses."""
        return self.emulator.status is not self.browser.status or bool(self.differing)


def compare_results(emulator: FileResult, browser: FileResult) -> Pair:
    """Compare the results of one test, subtest by subtest."""
    find: Callable[[FileResult], dict[str, Subtest]] = lambda result: {each.name: each for each in result.subtests}  # noqa: E731
    ours, theirs = find(emulator), find(browser)
    pairs = [(ours.get(name), theirs.get(name)) for name in {**ours, **theirs}]
    return Pair(
        emulator=emulator,
        browser=browser,
        differing=[(our, their) for our, their in pairs if our is None or their is None or our.status is not their.status],
    )
