"""Tests of a checkout in a browser: the pages, the results, and the comparison with the emulator; with WEBNN_BROWSER the browser itself."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from typer.testing import CliRunner

from tests.wpt_runner.checkouts import copy_web, make_checkout
from webnn.browser.chromium import PageCrashError, PageError, PageTimeoutError
from webnn.commands.main import app
from webnn.wpt_runner.browser.pages import answer_pages, read_pages
from webnn.wpt_runner.browser.pair import TestBrowser, _Records, compare_results
from webnn.wpt_runner.checkout import Checkout, Test
from webnn.wpt_runner.flavours import Flavour
from webnn.wpt_runner.harness import run_test
from webnn.wpt_runner.reports.wptreport import read_wptreport
from webnn.wpt_runner.results import FileResult, FileStatus, Subtest, SubtestStatus
from webnn.wpt_runner.serving import Server
from webnn.wpt_runner.settings import Settings

#: A harness that waits for the page, as the real one does.
PAGE_HARNESS = """
const done = [], ended = [], running = [];
var add_result_callback = callback => done.push(callback), add_completion_callback = callback => ended.push(callback);
var assert_true = value => { if (!value) throw new Error('assert_true'); };
var promise_test = (body, name) => running.push((async () => {
  const result = {name, status: 0, message: null};
  try { await body(); } catch (error) { Object.assign(result, {status: 1, message: error.message}); }
  for (const callback of done) callback(result);
})());
var test = promise_test;
addEventListener('load', async () => { await Promise.all(running); for (const callback of ended) callback([], {status: 0}); });
"""
META = "// META: title=A <title>\n// META: script=../resources/utils.js\n// META: timeout=long\n// META: variant=?cpu\n"
FILES = {
    "good.https.any.js": f"{META}test(() => assert_true(helper()), 'a'); promise_test(async () => {{ console.log('hello'); }}, 'b');",
    "differs.any.js": "test(() => { assert_true('mark' in globalThis); }, 'mark'); test(() => {}, 'always');",
}


def checkout_of(tmp_path: Path, files: dict[str, str] = FILES) -> Checkout:
    root = make_checkout(tmp_path, files)
    (root / "resources" / "utils.js").write_text("function helper() { return true; }")
    return Checkout(root)


def test_the_page_of_a_test(tmp_path: Path) -> None:
    checkout = checkout_of(tmp_path)
    read = read_pages(checkout, "mark")
    page = read("/webnn/good.https.any.html")
    assert page is not None
    assert page.type == "text/html"
    text = page.content.decode()
    order = ["testharness.js", "/-/report.js", "/resources/utils.js", "/webnn/good.https.any.js"]
    places = [text.index(f'<script src="{"" if each.startswith("/") else "/resources/"}{each}">') for each in order]
    assert places == sorted(places)
    assert '<meta name="timeout" content="long">' in text
    assert "<title>A &lt;title&gt;</title>" in text
    script = read("/webnn/good.https.any.js")
    assert script is not None
    assert (script.type, script.content) == ("text/javascript", FILES["good.https.any.js"].encode())
    worker = read("/webnn/good.https.any.worker.js")
    assert worker is not None
    order[1:2] = []
    places = [worker.content.decode().index(f'importScripts("{"" if each.startswith("/") else "/resources/"}{each}")') for each in order]
    assert places == sorted(places)
    for flavour, words in (("worker", "new Worker("), ("sharedworker", "new SharedWorker("), ("serviceworker", "serviceWorker.register(")):
        start = read(f"/webnn/good.https.any.{flavour}.html")
        assert start is not None
        assert f'{words}"/webnn/good.https.any.{flavour}.js"' in start.content.decode()
    assert read("/webnn/missing.any.html") is None
    assert read("/webnn/missing.any.worker.html") is None
    assert read("/webnn/missing.any.js") is None


def test_the_addresses_of_pages(tmp_path: Path) -> None:
    files = {"x.https.sub.html": "{{host}}", "x.https.sub.html.headers": "Permissions-Policy: webnn=()", "a.js": ""}
    answer = answer_pages(Server(checkout_of(tmp_path, files)), "mark", 2)
    page = answer("https://www1.web-platform.test:8443/webnn/x.https.sub.html")
    headers = {"permissions-policy": "webnn=()", "content-type": "text/html", "cache-control": "no-store"}
    assert page == (200, headers, b"web-platform.test")
    report = answer("https://web-platform.test:8443/resources/testharnessreport.js")
    assert report is not None
    assert (report[1]["content-type"], b"timeout_multiplier: 2" in report[2], b'"mark"' in report[2]) == ("text/javascript", True, True)
    missing = answer("http://web-platform.test:8000/none")
    assert missing is not None
    assert (missing[0], missing[2]) == (404, b"there is no file /none in the checkout")
    assert answer("http://127.0.0.1:8000/webnn/a.js") is None


def test_a_script_with_expressions(tmp_path: Path) -> None:
    script = read_pages(checkout_of(tmp_path, {"a b.sub.js": "'{{host}}'"}), "mark")("/webnn/a b.sub.js")
    assert script is not None
    assert script.content == b"'web-platform.test'"


class Page:
    """Replaces the browser: it has the results of a realm of this process, in which a fault may be planted."""

    name, version = "Chromium 1.2", "1.2"

    def __init__(self, checkout: Checkout, records: _Records, end: Exception | None = None) -> None:
        self.checkout, self.records, self.end = checkout, records, end

    def open(self, address: str, **options: Any) -> None:
        assert options["secure"]
        stem = address.removeprefix("http://test/").removesuffix(".html").partition(".html?")[0]
        path, flavour = stem.removesuffix(".worker") + ".js", Flavour.WORKER if stem.endswith(".worker") else Flavour.WINDOW
        self.found: list[list[str]] = []

        def note(subtest: Subtest) -> None:
            content = {"name": subtest.name, "status": subtest.status, "message": subtest.message, "stack": ""}
            self.found.append(["subtest", json.dumps(content)])
            self.records.hear("debug", self.records.mark + json.dumps(self.found[-1]))

        test = Test(self.checkout.load(path), "", flavour)
        result = run_test(self.checkout, test, Settings(revision="2026-06", dialect="browsers-2026"), note)
        self.records.hear("log", "from the console")
        if self.end is not None:
            raise self.end
        self.found.append(["complete", json.dumps({"status": result.status, "message": result.message, "stack": result.stack})])

    def evaluate(self, *_: Any, **__: Any) -> Any:
        return self.found


ENDS = [
    (None, FileStatus.OK, ""),
    (PageTimeoutError("late"), FileStatus.TIMEOUT, "the page was not done after 63 s"),
    (PageCrashError("the page ended"), FileStatus.CRASH, "the page ended"),
    (PageError("Error", "not found"), FileStatus.ERROR, "Error: not found"),
]


@pytest.mark.parametrize(("end", "status", "message"), ENDS)
def test_how_a_page_may_end(tmp_path: Path, end: Exception | None, status: FileStatus, message: str) -> None:
    checkout, records = checkout_of(tmp_path), _Records()
    browser = TestBrowser(Page(checkout, records, end), "http://test/", Settings(revision="2024-06"), records)
    test, worker = checkout.tests(["good"])
    result = browser.run(test)
    assert (result.file, result.variant, result.title) == ("webnn/good.https.any.js", "?cpu", "A <title>")
    assert (result.status, result.message) == (status, message)
    assert {each.name: each.status for each in result.subtests} == {"a": SubtestStatus.PASS, "b": SubtestStatus.PASS}
    assert result.output == "log: from the console"
    # The next test begins anew.
    other, _ = checkout.tests(["differs"])
    assert [each.name for each in browser.run(other).subtests] == ["mark", "always"]
    assert browser.run(worker).test == "/webnn/good.https.any.worker.html?cpu"


PAGES = [("x.https.html", "https://web-platform.test:8443", True), ("x.html", "http://web-platform.test:8000", False)]


@pytest.mark.parametrize(("name", "origin", "secure"), PAGES)
def test_the_address_of_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, origin: str, secure: bool) -> None:
    opened: list[Any] = []
    monkeypatch.setattr(Page, "open", lambda _, address, **options: opened.append((address, options["secure"])))
    monkeypatch.setattr(Page, "evaluate", lambda *_, **__: [["complete", '{"status": "OK", "message": "", "stack": ""}']])
    head = '<script src="/resources/testharness.js"></script><meta name=variant content="?cpu">'
    checkout, records = checkout_of(tmp_path, {name: head}), _Records()
    result = TestBrowser(Page(checkout, records), "http://test/", Settings(), records).run(checkout.tests()[0])
    assert (result.status, result.test) == ("OK", f"/webnn/{name}?cpu")
    assert opened == [(f"{origin}/webnn/{name}?cpu", secure)]


#: Values that a page may put in the place of its results.
MADE_UP: list[Any] = [
    5,
    [5],
    [["complete", "{}"]],
    [["complete", "[]"]],
    [["subtest", '{"name": "a", "status": "MINE", "message": "", "stack": ""}']],
    [["subtest", "[" * 100_000]],
    [["subtest", "{}", "more"]],
]


@pytest.mark.parametrize("found", MADE_UP, ids=range(len(MADE_UP)))
def test_a_page_makes_up_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: Any) -> None:
    checkout, records = checkout_of(tmp_path), _Records()
    monkeypatch.setattr(Page, "evaluate", lambda *_, **__: found)
    (test,) = checkout.tests(["good"], (), [Flavour.WINDOW])
    result = TestBrowser(Page(checkout, records), "http://test/", Settings(revision="2024-06"), records).run(test)
    assert (result.status, result.message.startswith("the page made up a result: ")) == (FileStatus.ERROR, True), result.message


def result(status: FileStatus = FileStatus.OK, **subtests: SubtestStatus) -> FileResult:
    return FileResult(file="webnn/a.any.js", status=status, subtests=[Subtest(name=name, status=each) for name, each in subtests.items()])


PASS, FAIL = SubtestStatus.PASS, SubtestStatus.FAIL
PAIRS = [
    (result(a=PASS), result(a=PASS), False, []),
    (result(a=FAIL), result(a=FAIL), False, []),
    (result(a=PASS, b=FAIL), result(a=FAIL, b=FAIL), True, [("a", "a")]),
    (result(a=PASS), result(FileStatus.CRASH), True, [("a", None)]),
    (result(), result(a=PASS), True, [(None, "a")]),
    (result(), result(FileStatus.TIMEOUT), True, []),
]


@pytest.mark.parametrize(("emulator", "browser", "differs", "names"), PAIRS)
def test_comparison(emulator: FileResult, browser: FileResult, differs: bool, names: list[Any]) -> None:
    pair = compare_results(emulator, browser)
    assert pair.differs is differs
    assert [(our and our.name, their and their.name) for our, their in pair.differing] == names


def replace_the_browser(monkeypatch: pytest.MonkeyPatch, end: Exception | None = None) -> None:
    @contextmanager
    def start(checkout: Checkout, _: Path, settings: Settings) -> Iterator[TestBrowser]:
        records = _Records()
        yield TestBrowser(Page(checkout, records, end), "http://test/", settings, records)

    monkeypatch.setattr(TestBrowser, "start", start)


@pytest.mark.processes
def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = checkout_of(tmp_path)
    replace_the_browser(monkeypatch)
    # In the "browser", and only there, `mark` is defined.
    monkeypatch.setattr("tests.wpt_runner.test_browser.run_test", planted)
    report = tmp_path / "report.json"
    command = ["browser", "wpt", "--wpt", str(checkout.root), "--browser", sys.executable]
    found = CliRunner().invoke(app, [*command, "good", "differs", "--wptreport", str(report), "--flavour", "window"])
    assert found.exit_code == 1, found.output
    assert "same    webnn/good.https.any.js?cpu  emulator OK 2/2, browser OK 2/2" in found.output
    assert "differs webnn/differs.any.js  emulator OK 1/2, browser OK 2/2" in found.output
    assert "emulator FAIL" in found.output
    assert "browser  PASS" in found.output
    assert "4 subtests in 2 tests; 1 differ, in 1 of the tests: 0 pass in the emulator only, 1 in the browser only" in found.output
    run = read_wptreport(report)
    assert run.info["product"] == "chromium"
    assert [(each.file, len(each.subtests)) for each in run.results] == [("webnn/differs.any.js", 2), ("webnn/good.https.any.js", 2)]
    assert CliRunner().invoke(app, [*command, "good"]).exit_code == 0


@pytest.mark.processes
def test_what_did_not_run_is_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = checkout_of(tmp_path)
    replace_the_browser(monkeypatch, PageCrashError("the page ended"))
    monkeypatch.setattr(_Records, "hear", Mock())
    found = CliRunner().invoke(app, ["browser", "wpt", "good", "--wpt", str(checkout.root), "--browser", sys.executable])
    assert found.exit_code == 1, found.output
    assert "browser  CRASH: the page ended" in found.output
    assert "2 subtests did not run in both" in found.output
    assert "no such subtest" not in found.output


def planted(checkout: Checkout, test: Test, settings: Settings, note: Any) -> FileResult:
    from webnn.wpt_runner.observing import Instrument

    class Planted(Instrument):
        script = "global => { global.mark = true; }"

    return run_test_here(checkout, test, settings, note, Planted())


run_test_here = run_test


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["good", "--browser", "missing"], "missing is not a program"),
        (["nothing", "--browser", sys.executable], "no test file of"),
        (["good", "--browser", sys.executable, "--wptreport", "/none/there.json"], "there is no folder /none"),
    ],
)
def test_wrong_calls(tmp_path: Path, arguments: list[str], message: str) -> None:
    found = CliRunner().invoke(app, ["browser", "wpt", "--wpt", str(checkout_of(tmp_path).root), *arguments])
    assert found.exit_code == 2
    assert message in found.output


# With a browser.


@pytest.mark.processes
def test_pages_in_a_browser(browser_program: Path, tmp_path: Path) -> None:
    files = {
        **FILES,
        "hangs.any.js": "test(() => {}, 'first'); promise_test(() => new Promise(() => setTimeout(() => { for (;;); }, 50)), 'second');",
        "origin.any.js": "test(() => { assert_true(isSecureContext && GLOBAL.isWindow() && 'ml' in navigator); }, 'window');",
    }
    checkout = checkout_of(tmp_path, files)
    (checkout.root / "resources" / "testharness.js").write_text(PAGE_HARNESS)
    with TestBrowser.start(checkout, browser_program, Settings(revision="2024-06", timeout_multiplier=0.1)) as browser:
        assert browser.version
        results = {test.file.path: browser.run(test) for test in checkout.tests((), (), [Flavour.WINDOW])}
    statuses = {path: (each.status, [subtest.status for subtest in each.subtests]) for path, each in results.items()}
    assert statuses == {
        "webnn/differs.any.js": (FileStatus.OK, [FAIL, PASS]),
        "webnn/good.https.any.js": (FileStatus.OK, [PASS, PASS]),
        "webnn/hangs.any.js": (FileStatus.TIMEOUT, [PASS]),
        "webnn/origin.any.js": (FileStatus.OK, [PASS]),
    }
    assert "log: hello" in results["webnn/good.https.any.js"].output


#: The pages that end otherwise in Chromium 153: a shared worker ends the page, and interfaces are there without HTTPS.
IN_CHROMIUM = {
    "shared-worker-nobody.https.sub.html": (FileStatus.CRASH, []),
    "shared-worker.https.sub.html": (FileStatus.CRASH, []),
    "supported.html": (FileStatus.OK, ["no interfaces"]),
}


@pytest.mark.processes
def test_permissions_policy_in_a_browser(browser_program: Path, tmp_path: Path) -> None:
    """The pages with two origins and more end as in the emulator."""
    checkout = Checkout(copy_web(tmp_path, "permissions-policy"))
    with TestBrowser.start(checkout, browser_program, Settings(timeout_multiplier=3)) as browser:
        results = {test.file.path.rpartition("/")[2]: browser.run(test) for test in checkout.tests()}
    assert len(results) >= 12
    for name, result in results.items():
        failed = [each.name for each in result.subtests if each.status != "PASS"]
        assert (result.status, failed) == IN_CHROMIUM.get(name, (FileStatus.OK, [])), (name, result.message)
    assert sum(len(each.subtests) for each in results.values()) >= 75
