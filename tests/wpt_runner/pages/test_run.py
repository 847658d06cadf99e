"""HTML tests without a browser: the behaviours of the Permissions Policy, and what becomes of good pages and of bad ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from tests.webnn.javascript.engines import needs_quickjs
from tests.wpt_runner.checkouts import PAGES, copy_web, make_checkout
from tests.wpt_runner.clock import Clock
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.harness import run_test
from webnn.wpt_runner.observing import Instrument
from webnn.wpt_runner.results import FileResult
from webnn.wpt_runner.runner import OneByOne
from webnn.wpt_runner.settings import Settings

pytestmark = needs_quickjs

SETTINGS = Settings(timeout_multiplier=0.5)
HEAD = '<!doctype html><script src="/resources/testharness.js"></script><script src="/resources/testharnessreport.js"></script>'


def outcomes(result: FileResult) -> dict[str, str]:
    return {subtest.name: subtest.status.value for subtest in result.subtests}


def run(root: Path, page: str, files: dict[str, str] | None = None, settings: Settings = SETTINGS, **rest: Any) -> FileResult:
    """Run a page of a small checkout."""
    checkout = Checkout(make_checkout(root, {"x.https.html": HEAD + page, **(files or {})}))
    return run_test(checkout, checkout.tests(["x.https.html"])[0], settings, **rest)


#: The pages about the Permissions Policy, and how many subtests each has.
POLICIES = {
    "attribute-change.https.sub.html": 1,
    "attribute.https.sub.html": 22,
    "default.https.sub.html": 7,
    "header-everyone.https.sub.html": 6,
    "header-list.https.sub.html": 5,
    "header-nobody.https.sub.html": 8,
    "header-of-frame.https.sub.html": 7,
    "header-self.https.sub.html": 6,
    "redirect.https.sub.html": 9,
    "shared-worker-nobody.https.sub.html": 1,
    "shared-worker.https.sub.html": 1,
    "supported.html": 4,
}


def test_no_page_is_forgotten() -> None:
    assert {file.name for file in (PAGES / "permissions-policy").glob("*.html")} == set(POLICIES)


@pytest.mark.parametrize("name", POLICIES)
def test_permissions_policy(tmp_path: Path, name: str) -> None:
    checkout = Checkout(copy_web(tmp_path, "permissions-policy"))
    [test] = checkout.tests([f"/{name}"])
    result = run_test(checkout, test, SETTINGS)
    assert (result.status, result.message) == ("OK", "")
    assert [each for each in result.subtests if each.status != "PASS"] == []
    assert len(result.subtests) == POLICIES[name]
    assert result.test == f"/webnn/permissions-policy/{name}"


@pytest.mark.processes
def test_behind_walls(tmp_path: Path) -> None:
    """A page does not go to Node, whatever it names."""
    checkout = Checkout(copy_web(tmp_path, "permissions-policy"))
    runner = OneByOne(checkout, SETTINGS)
    try:
        result = runner.run(checkout.tests(["header-nobody"])[0])
    finally:
        runner.close()
    assert (result.status, set(outcomes(result).values())) == ("OK", {"PASS"}), result.message


#: Pages, their other files, and what becomes of them: the status, a part of the message, and the subtests.
NEVER = "promise_test(() => new Promise(() => {}), 'never');"
ENDS: list[Any] = [
    ("<script>test(() => {}, 'a')</script>", {}, "OK", "", {"a": "PASS"}),
    ("<script>test(() => {}, 'a'); }{</script>", {}, "ERROR", "/webnn/x.https.html: SyntaxError", {}),
    ("<script>}{</script><script>test(() => {}, 'a')</script>", {}, "ERROR", "SyntaxError", {}),
    ("<script src=missing.js></script>", {}, "ERROR", "/webnn/missing.js: there is no file /webnn/missing.js in the checkout", {}),
    ("<script type=module>test(() => {}, 'a')</script>", {}, "ERROR", "webnn/x.https.html has a script that is a module", {}),
    ("<script src=a.sub.js></script>", {"a.sub.js": "{{nothing}}"}, "ERROR", "does not know the expression {{nothing}} of /webnn/a.sub.js",
     {}),
    ("<script>test(() => {}, 'a'); location = '/elsewhere';" + NEVER + "</script>", {}, "ERROR",
     "the test leads its own page to https://web-platform.test:8443/elsewhere", {"a": "PASS", "never": "TIMEOUT"}),
    ("<script>test(() => {}, 'a');" + NEVER + "</script>", {}, "TIMEOUT", "it waits for something that will not happen",
     {"a": "PASS", "never": "TIMEOUT"}),
    ("<script>(function again() { setTimeout(again, 100); })();" + NEVER + "</script>", {}, "TIMEOUT", "it was not done after 5 s",
     {"never": "TIMEOUT"}),
    ("<iframe src=y.html></iframe><script>" + NEVER + "</script>", {"y.html": "<script>setInterval(() => {}, 10)</script>"}, "TIMEOUT",
     "it was not done after 5 s", {"never": "TIMEOUT"}),
    ("<iframe src=y.html></iframe><script>" + NEVER + "</script>",
     {"y.html": "<script>(function again() { Promise.resolve().then(again); })();</script>"}, "TIMEOUT", "it was not done after 5 s",
     {"never": "TIMEOUT"}),
    ("", {}, "ERROR", "the file has no tests", {}),
]  # fmt: skip


@pytest.mark.parametrize(("page", "files", "status", "message", "subtests"), ENDS, ids=range(len(ENDS)))
def test_how_a_page_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str, files: dict[str, str], status: str, message: str, subtests: dict[str, str]
) -> None:
    Clock(monkeypatch)
    result = run(tmp_path, page, files)
    assert (result.status, outcomes(result)) == (status, subtests)
    assert message in result.message


def test_a_fault_of_the_emulator_in_a_frame_is_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webnn.MLGraphBuilder.relu", Mock(side_effect=LookupError("a fault")))
    frame = """
        <script>
        navigator.ml.createContext().then(context => {
          const builder = new MLGraphBuilder(context);
          builder.relu(builder.constant('float32', 1));
        }).catch(() => parent.postMessage(1));
        </script>
    """
    page = "<iframe src=y.html></iframe><script>promise_test(() => new Promise(resolve => { onmessage = resolve; }), 'a')</script>"
    result = run(tmp_path, page, {"y.html": frame})
    assert (result.status, outcomes(result)) == ("CRASH", {"a": "PASS"})
    assert "LookupError: a fault" in result.message


def test_memory_of_a_frame(tmp_path: Path) -> None:
    frame = "<script>const keep = []; for (;;) keep.push({});</script>"
    result = run(tmp_path, f"<iframe src=y.html></iframe><script>{NEVER}</script>", {"y.html": frame}, Settings(memory=1 << 25))
    assert (result.status, result.message) == ("ERROR", "it used up its memory, 32 MiB")


def test_stacks_console_title_and_subtests(tmp_path: Path) -> None:
    script = "\n\ntest(() => {\n  assert_equals(1, 2);\n}, 'wrong'); test(() => console.log('hi'), 'right');"
    page = f"<title> My page </title><script>{script}</script>"
    result = run(tmp_path, page)
    [wrong, _] = result.subtests
    assert wrong.stack.splitlines()[0].startswith("at <anonymous> (webnn/x.https.html:4:")
    assert (result.output, result.title) == ("log: hi", "My page")
    only = run(tmp_path / "only", page, settings=Settings(subtests=("RIGHT",)))
    assert outcomes(only) == {"right": "PASS"}


def test_traces_and_instruments(tmp_path: Path) -> None:
    seen = []

    class Eye(Instrument):
        script = "(global, emit) => emit('hello', '1')"

        def observe(self, target: object, member: str, values: Any, result: Any) -> None:
            seen.append(member)

        def tell(self, kind: str, content: Any) -> None:
            seen.append(kind)

    page = "<script>promise_test(async () => { await navigator.ml.createContext(); }, 'a')</script>"
    result = run(tmp_path, page, settings=Settings(trace=True), instrument=Eye())
    assert result.subtests[0].trace == "ml.createContext() -> context1"
    assert seen == ["hello", "createContext"]


def test_variants_and_long_pages(tmp_path: Path) -> None:
    head = '<meta name="timeout" content="long"><meta name=variant content="?a=1"><meta name=variant content="?a=2">'
    page = "<script>test(() => assert_equals(location.search, new URL(document.URL).search), location.search)</script>"
    checkout = Checkout(make_checkout(tmp_path, {"x.https.html": HEAD + head + page}))
    tests = checkout.tests()
    assert [(test.name, test.address, test.file.long) for test in tests] == [
        (f"webnn/x.https.html?a={each}", "/webnn/x.https.html", True) for each in (1, 2)
    ]
    results = [run_test(checkout, test, SETTINGS) for test in tests]
    assert [outcomes(each) for each in results] == [{"?a=1": "PASS"}, {"?a=2": "PASS"}]
    assert [each.test for each in results] == ["/webnn/x.https.html?a=1", "/webnn/x.https.html?a=2"]
