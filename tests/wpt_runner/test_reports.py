"""The reports of a run: wptreport.json, JUnit XML, the page."""

from __future__ import annotations

import gzip
import json
import re
import xml.etree.ElementTree as ET
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from tests.html_page import Page
from tests.support import each_row
from webnn.commands.text import cut, one_line, show_controls
from webnn.wpt_runner.reports.annotations import annotate
from webnn.wpt_runner.reports.html import render_html, write_html
from webnn.wpt_runner.reports.junit import write_junit
from webnn.wpt_runner.reports.wptreport import read_wptreport, write_wptreport
from webnn.wpt_runner.results import FileResult, FileStatus, RunResult, Subtest, SubtestStatus

RELU = "webnn/validation_tests/relu.https.any.js"
#: Texts that test programs may put into names and messages, and how they are shown.
NASTY = [
    ("</script><script>alert(1)</script>", "</script><script>alert(1)</script>"),
    ("<!-- <b> &amp; ]]> @data@ @title@", "<!-- <b> &amp; ]]> @data@ @title@"),
    ("\u2028 \u2029 \u00a0 \ufeff", "\u2028 \u2029 \u00a0 \ufeff"),
    ("emoji \U0001f600, \u4e2d\u6587", "emoji \U0001f600, \u4e2d\u6587"),
    ("lone \ud800 and \udfff", "lone U+d800 and U+dfff"),
    ("\x00\x1b[31m\x7f\x85\ufffe", "\\x00\\x1b[31m\\x7f\\x85\\ufffe"),
    ("line\r\nline\ttab", "line\nline\ttab"),
    ("\rback", "\\rback"),
    ("\u202egnp.exe\u202c \u2066\u2069", "\\u202egnp.exe\\u202c \\u2066\\u2069"),
    ("\u061c\u200e\u200f\u202a\u202b\u202d\u2067\u2068", "\\u061c\\u200e\\u200f\\u202a\\u202b\\u202d\\u2067\\u2068"),
]


def subtest(name: str = "a", status: str = "PASS", message: str = "", expected: str | None = None, reason: str = "") -> Subtest:
    wanted = None if expected is None else SubtestStatus(expected)
    return Subtest(name=name, status=SubtestStatus(status), message=message, expected=wanted, reason=reason)


def result(status: str = "OK", *subtests: Subtest, file: str = RELU, variant: str = "?cpu", **others: Any) -> FileResult:
    return FileResult(file=file, variant=variant, status=FileStatus(status), subtests=list(subtests), **others)


#: One of each kind.
KINDS = RunResult(
    results=[
        result(
            "OK",
            subtest("passes"),
            subtest("fails", "FAIL", "assert_equals: expected 1 but got 2\n  at relu.js:3"),
            subtest("fails as expected", "FAIL", "no MLBuffer", "FAIL", "never in the draft"),
            subtest("passes unexpectedly", "PASS", "", "FAIL", "float16"),
            subtest("is late", "TIMEOUT"),
            subtest("gets no turn", "NOTRUN", "", "NOTRUN"),
            title="relu",
            output="hello",
            seconds=1.25,
        ),
        result("CRASH", subtest(), variant="?gpu", message="the worker ended with signal 9", seconds=0.5),
        result("CRASH", variant="?npu", expected=FileStatus.CRASH, reason="known"),
        result("OK", subtest(), file="webnn/b.any.js", variant="", expected=FileStatus.TIMEOUT),
    ],
    started=1_718_884_800.0,
    seconds=61.5,
    info={"product": "webnn", "product_version": "1.0", "engine": "quickjs-ng", "revision": "f776985725aabb", "webnn": "2024-06"},
    problems=["there is no subtest <b> & 'c'"],
)
EMPTY = RunResult(results=[])


# Text.


@each_row(("text", "shown"), NASTY)
def test_show_controls(text: str, shown: str) -> None:
    assert show_controls(text) == shown


def test_one_line_and_cut() -> None:
    assert one_line("\n  \n first\tline \nsecond", 100) == "first line"
    assert one_line("", 100) == ""
    assert cut("x" * 2000, 3) == "xxx ... (1,997 characters more)"
    assert cut("xxx", 3) == "xxx"


# wptreport.json.


def written(run: RunResult, folder: Path) -> Any:
    write_wptreport(run, folder / "wptreport.json")
    return json.loads((folder / "wptreport.json").read_text(encoding="utf-8"))


def test_wptreport_is_what_other_tools_read(tmp_path: Path) -> None:
    run = RunResult(
        results=[result("OK", subtest("a"), subtest("b", "FAIL", "why"), subtest("c", "FAIL", "", "FAIL"), seconds=0.1234)],
        started=1_718_884_800.5,
        seconds=2.0,
        info={"product": "webnn", "product_version": "1.0"},
    )
    assert written(run, tmp_path) == {
        "run_info": {"product": "webnn", "browser_version": "1.0"},
        "time_start": 1_718_884_800_500,
        "time_end": 1_718_884_802_500,
        "subsuites": {},
        "results": [
            {
                "test": "/webnn/validation_tests/relu.https.any.html?cpu",
                "subsuite": "",
                "subtests": [
                    {"name": "a", "status": "PASS", "message": None, "known_intermittent": []},
                    {"name": "b", "status": "FAIL", "message": "why", "expected": "PASS", "known_intermittent": []},
                    {"name": "c", "status": "FAIL", "message": None, "known_intermittent": []},
                ],
                "status": "OK",
                "message": None,
                "known_intermittent": [],
                "duration": 123,
            }
        ],
    }


def without_words(run: RunResult) -> RunResult:
    """Return a run as the format can keep it: it has no reasons, titles, output and problems."""
    results = []
    for each in run.results:
        subtests = [subtest(one.name, one.status, one.message, one.expected) for one in each.subtests]
        words = {"message": each.message, "seconds": each.seconds, "expected": each.expected}
        results.append(result(each.status, *subtests, file=each.file, variant=each.variant, **words))
    ordered = sorted(results, key=lambda each: (each.file, each.variant))
    return RunResult(results=ordered, started=run.started, seconds=run.seconds, info=run.info)


@pytest.mark.parametrize("run", [KINDS, EMPTY, RunResult(results=[result("OK", subtest("m", "FAIL", "x" * 10**6))])])
def test_wptreport_round_trip(run: RunResult, tmp_path: Path) -> None:
    written(run, tmp_path)
    assert read_wptreport(tmp_path / "wptreport.json") == without_words(run)


IDENTIFIERS = [
    ("/webnn/relu.https.any.html?cpu", "webnn/relu.https.any.js", "?cpu"),
    ("/webnn/relu.https.any.html", "webnn/relu.https.any.js", ""),
    ("/webnn/page.https.window.html?gpu", "webnn/page.https.window.js", "?gpu"),
    ("/webnn/relu.any.html#part", "webnn/relu.any.js", "#part"),
    ("/webnn/relu.any.html?a#b?c", "webnn/relu.any.js", "?a#b?c"),
    ("/webnn/relu.https.any.worker.html?cpu", "webnn/relu.https.any.js", "?cpu"),
    ("/webnn/relu.https.any.sharedworker.html", "webnn/relu.https.any.js", ""),
    ("/webnn/relu.https.any.worker-module.html", "/webnn/relu.https.any.worker-module.html", ""),
    ("/webnn/relu.any.js", "/webnn/relu.any.js", ""),
    ("/dom/nodes/a.html", "/dom/nodes/a.html", ""),
    ("/svg/a.svg", "/svg/a.svg", ""),
    ("//a.any.html", "//a.any.html", ""),
    ("/", "/", ""),
    ("/w/\u4e2d \U0001f600\n.any.html?\n", "w/\u4e2d \U0001f600\n.any.js", "?\n"),
]


@pytest.mark.parametrize(("identifier", "file", "variant"), IDENTIFIERS)
def test_an_identifier_stays(identifier: str, file: str, variant: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"results": [{"test": identifier, "status": "OK", "subtests": []}]}), encoding="utf-8")
    (read,) = read_wptreport(path).results
    assert (read.file, read.variant, read.test) == (file, variant, identifier)
    assert written(read_wptreport(path), tmp_path)["results"][0]["test"] == identifier


@each_row(("text", "shown"), NASTY)
def test_wptreport_escapes_surrogates_only(text: str, shown: str, tmp_path: Path) -> None:
    report = written(RunResult(results=[result("ERROR", subtest(text, "FAIL", text), message=text)]), tmp_path)
    expected = shown if "\ud800" in text else text
    (test,) = report["results"]
    assert (test["message"], test["subtests"][0]["name"], test["subtests"][0]["message"]) == (expected,) * 3


#: As a browser's run has it: more members, other statuses, flavours of workers, a subtest that is flaky.
BROWSER: dict[str, Any] = {
    "run_info": {"product": "chrome", "browser_version": "128.0", "debug": False, "bits": 64, "wasm": None, "extras": {"a": 1}},
    "time_start": 1000,
    "time_end": 61500.5,
    "lsan_leaks": [],
    "results": [
        {
            "test": "/webnn/relu.https.any.worker.html?gpu",
            "subsuite": "webnn-gpu",
            "status": "OK",
            "message": None,
            "duration": 1500,
            "screenshots": {},
            "subtests": [
                {"name": "a", "status": "FAIL", "message": "no \ud800", "expected": "PASS", "known_intermittent": []},
                {"name": "b", "status": "FAIL", "message": None, "expected": "PASS", "known_intermittent": ["FAIL"]},
                {"name": "c", "status": "ASSERT", "message": None},
            ],
        },
        {"test": "/webnn/crash.any.html", "status": "CRASH", "expected": "OK", "subtests": []},
        {"test": "/css/ref.html", "status": "PASS", "message": "", "subtests": [], "known_intermittent": []},
        {"test": "/css/off.html", "status": "SKIP", "subtests": []},
    ],
}


@pytest.mark.parametrize("compressed", [False, True])
def test_a_report_of_a_browser(compressed: bool, tmp_path: Path) -> None:
    data = json.dumps(BROWSER).encode()
    path = tmp_path / "report"
    path.write_bytes(gzip.compress(data, mtime=0) if compressed else data)
    run = read_wptreport(path)
    assert run.info == {"product": "chrome", "product_version": "128.0", "debug": "false", "bits": "64"}
    assert (run.started, run.seconds) == (1.0, 60.5005)
    skipped, ref, crash, worker = run.results
    assert (skipped.status, ref.status, ref.unexpected) == (FileStatus.SKIP, FileStatus.PASS, False)
    assert (worker.subsuite, worker.seconds, worker.test) == ("webnn-gpu", 1.5, "/webnn/relu.https.any.worker.html?gpu")
    wanted = [("a", "no U+d800", True), ("b", "", False), ("c", "", False)]
    assert [(each.name, each.message, each.unexpected) for each in worker.subtests] == wanted
    assert (crash.status, crash.unexpected) == (FileStatus.CRASH, True)


def one_result(**members: Any) -> Any:
    return {"results": [{"test": "/a", "status": "OK", "subtests": [], **members}]}


BAD: list[tuple[Any, str]] = [
    (b"", "it is not JSON"),
    (b"\xff\xfe\x00", "it is not JSON"),
    (b"{'a': 1}", "it is not JSON"),
    (b"[" * 100_000, "it is not JSON"),
    (gzip.compress(b"{}", mtime=0)[:-4], "it is broken gzip data"),
    (b"\x1f\x8b nothing", "it is broken gzip data"),
    ([], "it must be an object, got []"),
    ({}, "it has no member 'results'"),
    ({"results": {}}, "results must be an array, got {}"),
    ({"results": [], "time_start": "now"}, 'time_start must be a number, got "now"'),
    ({"results": [], "time_end": 1e300}, "time_end must be a time in milliseconds since 1970, got 1e+300"),
    ({"results": [], "time_start": -1}, "time_start must be a time in milliseconds since 1970, got -1"),
    ({"results": [], "run_info": []}, "run_info must be an object, got []"),
    ({"results": [None]}, "results[0] must be an object, got null"),
    ({"results": [{"test": "/a", "subtests": []}]}, "results[0] has no member 'status'"),
    (one_result(test="a.html"), "results[0].test must begin with '/', got \"a.html\""),
    (one_result(test=1), "results[0].test must be a string, got 1"),
    (one_result(status="ok"), "results[0].status must be one of 'OK', 'ERROR', 'TIMEOUT', 'CRASH', "),
    (one_result(duration=float("nan")), "results[0].duration must be a finite number, got NaN"),
    (one_result(duration=True), "results[0].duration must be a number, got true"),
    (one_result(subtests=None), "results[0].subtests must be an array, got null"),
    (one_result(subtests=[{"status": "PASS"}]), "results[0].subtests[0] has no member 'name'"),
    (one_result(subtests=[{"name": "a", "status": "OK"}]), "results[0].subtests[0].status must be one of 'PASS', 'FAIL', "),
    (one_result(subtests=[{"name": "a", "status": "PASS", "message": "x" * 999}, 7]), "results[0].subtests[1] must be an object, got 7"),
    (one_result(message=["x" * 999]), 'results[0].message must be a string, got ["xxxxxxxx'),
]


@pytest.mark.parametrize(("content", "message"), BAD)
def test_no_wptreport(content: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with pytest.raises(ValueError, match=re.escape(f"{path} is not a wptreport: {message}")) as caught:
        read_wptreport(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 250


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_wptreport(tmp_path / "none.json")


# JUnit.


def junit(run: RunResult, folder: Path) -> ET.Element:
    write_junit(run, folder / "junit.xml")
    return ET.parse(folder / "junit.xml").getroot()


def test_junit(tmp_path: Path) -> None:
    root = junit(KINDS, tmp_path)
    wanted = {"tests": "12", "failures": "5", "errors": "1", "skipped": "3", "time": "61.500"}
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped", "time")} == wanted
    found = {
        (suite.get("name"), case.get("name")): [(outcome.tag, outcome.get("type"), outcome.get("message")) for outcome in case]
        for suite in root
        for case in suite.iter("testcase")
    }
    relu, other = "/webnn/validation_tests/relu.https.any.html", "/webnn/b.any.html"
    problem = KINDS.problems[0]
    assert found == {
        (f"{relu}?cpu", "passes"): [],
        (f"{relu}?cpu", "fails"): [("failure", "FAIL", "assert_equals: expected 1 but got 2")],
        (f"{relu}?cpu", "fails as expected"): [("skipped", "FAIL", "never in the draft")],
        (f"{relu}?cpu", "passes unexpectedly"): [("failure", "PASS", "passes, but the expectations say FAIL")],
        (f"{relu}?cpu", "is late"): [("failure", "TIMEOUT", "TIMEOUT")],
        (f"{relu}?cpu", "gets no turn"): [("skipped", "NOTRUN", "expected, without a reason")],
        (f"{relu}?gpu", f"{relu}?gpu"): [("error", "CRASH", "the worker ended with signal 9")],
        (f"{relu}?gpu", "a"): [],
        (f"{relu}?npu", f"{relu}?npu"): [("skipped", "CRASH", "known")],
        (other, other): [("failure", "OK", "passes, but the expectations say TIMEOUT")],
        (other, "a"): [],
        ("expectations", problem): [("failure", "expectations", problem)],
    }
    for suite in root:
        cases = suite.findall("testcase")
        assert suite.get("tests") == str(len(cases))
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert suite.get(attribute) == str(len(suite.findall(f"testcase/{tag}")))
    first = root[0]
    assert (first.get("time"), first.get("timestamp"), first.findtext("system-out")) == ("1.250", "2024-06-20T12:00:00", "hello")
    assert first.findtext("testcase/failure") == "assert_equals: expected 1 but got 2\n  at relu.js:3"


def test_junit_of_nothing(tmp_path: Path) -> None:
    root = junit(EMPTY, tmp_path)
    assert (root.tag, root.get("tests"), len(root)) == ("testsuites", "0", 0)


def test_a_test_without_subtests_is_a_case(tmp_path: Path) -> None:
    assert junit(RunResult(results=[result()]), tmp_path).get("tests") == "1"


@each_row(("text", "shown"), NASTY)
def test_junit_holds_any_text(text: str, shown: str, tmp_path: Path) -> None:
    root = junit(RunResult(results=[result("ERROR", subtest(text, "FAIL", text), message=text, output=text)]), tmp_path)
    (suite,) = root
    assert suite.findtext("system-out") == shown
    assert [case.get("name") for case in suite.iter("testcase")][1:] == [shown]
    assert [case.findtext("*") for case in suite.iter("testcase")] == [shown, shown]


def test_junit_cuts_huge_messages(tmp_path: Path) -> None:
    root = junit(RunResult(results=[result("OK", subtest("a", "FAIL", "x" * 10**6))]), tmp_path)
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    assert "999,700 characters more" in failure.get("message", "")
    assert "980,000 characters more" in (failure.text or "")


# The page.


def data_of(page: Page) -> str:
    assert ("script", {"type": "application/json", "id": "data"}) in page.elements
    return page.texts("script")[0]


def data(page: Page) -> Any:
    return json.loads(data_of(page))


def test_the_page_has_the_data(tmp_path: Path) -> None:
    write_html(KINDS, tmp_path / "page.html")
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    relu = "/webnn/validation_tests/relu.https.any.html"
    assert data(page) == [
        [
            f"{relu}?cpu",
            "OK",
            1250,
            [
                ["passes", "PASS"],
                ["fails", "FAIL", "assert_equals: expected 1 but got 2\n  at relu.js:3"],
                ["fails as expected", "FAIL", "no MLBuffer", "FAIL", "never in the draft"],
                ["passes unexpectedly", "PASS", "", "FAIL", "float16"],
                ["is late", "TIMEOUT"],
                ["gets no turn", "NOTRUN", "", "NOTRUN"],
            ],
            "",
            "",
            "",
            "relu",
            "hello",
        ],
        [f"{relu}?gpu", "CRASH", 500, [["a", "PASS"]], "the worker ended with signal 9"],
        [f"{relu}?npu", "CRASH", 0, [], "", "CRASH", "known"],
        ["/webnn/b.any.html", "OK", 0, [["a", "PASS"]], "", "TIMEOUT"],
    ]
    assert "".join(page.texts("title")) == "web-platform-tests: 5 unexpected results, 1 problem of the expectations"
    assert "".join(page.texts("dd")) == "44 of 81 min 2 swebnn 1.0quickjs-ng2024-06f7769857252024-06-20 12:00 UTC"
    assert "".join(page.texts("li")).endswith("there is no subtest <b> & 'c'")


def test_the_page_of_nothing() -> None:
    page = Page(render_html(EMPTY))
    assert data(page) == []
    assert "".join(page.texts("title")) == "web-platform-tests: no tests"
    assert "".join(page.texts("dd")) == "00 of 0"
    assert ("span", {"class": "verdict known"}) in page.elements


def test_a_page_without_surprise() -> None:
    page = Page(render_html(RunResult(results=[result("OK", subtest())])))
    assert "".join(page.texts("title")) == "web-platform-tests: everything as expected"
    assert ("span", {"class": "verdict pass"}) in page.elements


@each_row(("text", "shown"), NASTY)
def test_the_page_holds_any_text(text: str, shown: str) -> None:
    run = RunResult(
        results=[result("ERROR", subtest(text, "FAIL", text, None, text), message=text, title=text, output=text)],
        info={"product": text},
        problems=[text],
    )
    page = Page(render_html(run))
    ((_, _, _, (only,), message, _, _, title, output),) = data(page)
    assert (message, title, output, only[0], only[2], only[4]) == (shown,) * 6
    assert "".join(page.texts("li")) == shown
    assert " ".join(shown.split()) in "".join(page.texts("dd"))


def test_the_page_cuts_huge_texts() -> None:
    text = render_html(RunResult(results=[result("OK", subtest("a", "FAIL", "x" * 10**6), output="y" * 10**6)]))
    assert len(text) < 150_000
    assert "characters more" in text


def test_the_page_refers_to_nothing_outside() -> None:
    text = render_html(KINDS)
    page = Page(text)
    assert all({"src", "href", "action", "srcset", "data"}.isdisjoint(attributes) for _, attributes in page.elements)
    assert re.findall(r"https?:|//[a-z]|@import|url\(|\bfetch\(|XMLHttpRequest|import\(", text.replace(data_of(page), "")) == []
    assert "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'" in [each.get("content") for _, each in page.elements]


def test_the_script_finds_its_elements() -> None:
    script = (resources.files("webnn.wpt_runner.reports") / "page.js").read_text(encoding="utf-8")
    used = set(re.findall(r'\$\("([\w-]+)"\)', script))
    ids = [attributes["id"] for _, attributes in Page(render_html(EMPTY)).elements if "id" in attributes]
    assert used >= {"data", "query", "tests"}
    assert used - set(ids) == set()
    assert len(ids) == len(set(ids))
    assert "innerHTML" not in script


# Annotations


def test_annotations() -> None:
    relu = "file=wpt/webnn/validation_tests/relu.https.any.js"
    assert [line.replace("\\", "/") for line in annotate(KINDS, Path("wpt"))] == [
        f"::error {relu},title=webnn wpt%3A /webnn/validation_tests/relu.https.any.html?cpu%3A fails"
        "::assert_equals: expected 1 but got 2%0A  at relu.js:3",
        f"::error {relu},title=webnn wpt%3A /webnn/validation_tests/relu.https.any.html?cpu%3A passes unexpectedly"
        "::passes, but the expectations say FAIL",
        f"::error {relu},title=webnn wpt%3A /webnn/validation_tests/relu.https.any.html?cpu%3A is late::TIMEOUT",
        f"::error {relu},title=webnn wpt%3A /webnn/validation_tests/relu.https.any.html?gpu::the worker ended with signal 9",
        "::error file=wpt/webnn/b.any.js,title=webnn wpt%3A /webnn/b.any.html::passes, but the expectations say TIMEOUT",
        "::error title=webnn wpt%3A expectations::there is no subtest <b> & 'c'",
    ]
    assert list(annotate(EMPTY, Path("wpt"))) == []
