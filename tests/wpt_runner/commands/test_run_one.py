"""Work on one failing test: what the terminal and the reports say of it, which tests and subtests run, and debuggers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import types
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

# As in test_run.py: pytest must not unload NumPy.
from tests.webnn.javascript.engines import needs_quickjs
from tests.webnn.javascript.node_support import require_node
from tests.wpt_runner.checkouts import make_checkout
from webnn.commands.main import app
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.debugging import Stopper
from webnn.wpt_runner.reports.html import render_html
from webnn.wpt_runner.reports.junit import write_junit
from webnn.wpt_runner.reports.wptreport import read_wptreport, write_wptreport
from webnn.wpt_runner.results import FileResult, FileStatus, RunResult, Subtest, SubtestStatus
from webnn.wpt_runner.selection import choose_again, find_flaky, take_worst
from webnn.wpt_runner.serving import Server

pytest_plugins = ["pytester"]
pytestmark = needs_quickjs

MINE = """// META: title=mine
// META: timeout=long
'use strict';
const refused = builder => builder.reshape(builder.input('x', {dataType: 'float32', dimensions: [3]}), [2]);

promise_test(async () => {
  console.log('%d elements', 3);
  refused(new MLGraphBuilder(await navigator.ml.createContext()));
}, 'reshape');
test(() => assert_equals(1, 2, 'one is two'), 'equal');
test(() => {}, 'passes');
"""
OTHER = "// META: timeout=long\n// META: variant=?cpu\n// META: variant=?gpu\ntest(() => {}, 'other'); test(() => {}, 'equal, too');\n"
FRAMES = ["at refused (webnn/mine.window.js:4:", "at <anonymous> (webnn/mine.window.js:8:"]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkout(tmp_path_factory.mktemp("wpt"), {"mine.window.js": MINE, "other.window.js": OTHER})


here = pytest.mark.usefixtures("in_this_process")


def invoke(checkout: Path, *arguments: str | Path) -> Result:
    command = ["wpt", "run", "--wpt", checkout, "--expectations", "none", *arguments]
    return CliRunner().invoke(app, list(map(str, command)), env={"COLUMNS": "300", "WEBNN_WPT": None})


def lines_below(output: str, head: str) -> list[str]:
    """Return the lines that are indented more than one that begins with a text."""
    lines = output.splitlines()
    [first] = [index for index, line in enumerate(lines) if line.strip().startswith(head)]
    indent = len(lines[first]) - len(lines[first].lstrip())
    rest = lines[first + 1 :]
    count = next((index for index, line in enumerate(rest) if len(line) - len(line.lstrip()) <= indent), len(rest))
    return [line.strip() for line in rest[:count]]


# ---- What is said of a failing test


@here
def test_the_reports_say_where_and_what(checkout: Path, tmp_path: Path) -> None:
    reports = {name: tmp_path / name for name in ("wptreport", "junit", "html")}
    result = invoke(checkout, "mine", *(f"--{name}={path}" for name, path in reports.items()))
    assert result.exit_code == 1, result.output
    below = lines_below(result.output, "FAIL reshape: ")
    assert [line.startswith(frame) for line, frame in zip(below, FRAMES, strict=True)] == [True, True]
    assert lines_below(result.output, "console:") == ["log: 3 elements"]

    [test] = json.loads(reports["wptreport"].read_text())["results"]
    stacks = {each["name"]: each.get("stack", "").splitlines() for each in test["subtests"]}
    assert stacks["reshape"] == below
    assert (len(stacks["equal"]), stacks["passes"]) == (2, [])
    assert [each.stack for each in read_wptreport(reports["wptreport"]).results[0].subtests if each.name == "reshape"] == ["\n".join(below)]

    suite = ET.parse(reports["junit"]).getroot()[0]
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert (cases["reshape"].findtext("failure") or "").splitlines()[-2:] == below
    assert suite.findtext("system-out") == "log: 3 elements"
    assert all(float(case.get("time", "-1")) >= 0 for case in cases.values())
    assert "\\n".join(below).replace("<", "\\u003c") in reports["html"].read_text()


@here
def test_traces(checkout: Path) -> None:
    result = invoke(checkout, "mine", "--trace", "-q", "-k", "reshape")
    calls = [line for line in lines_below(result.output, "FAIL reshape: ") if line.startswith("|")]
    assert calls[:3] == [
        "| ml.createContext() -> context1",
        "| new MLGraphBuilder(context1) -> builder1",
        '| builder1.input("x", {dataType: "float32", dimensions: [3]}) -> operand1: float32 [3]',
    ]
    assert calls[3].startswith("| builder1.reshape(operand1, [2]) throws TypeError: reshape: ")
    assert len(calls) == 4


@pytest.mark.processes
def test_pytest_says_where_and_what(pytester: pytest.Pytester, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider -o asyncio_default_fixture_loop_scope=function")
    options = ["--wpt", str(checkout), "--wpt-expectations", "none"]
    outcome = pytester.runpytest(*options, "-k", "mine", "--wpt-subtest", "RESHAPE")
    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines(
        ["FAIL (expected PASS) reshape: *", *(f"    {frame}*" for frame in FRAMES), "*console*", "log: 3 elements"]
    )
    assert "one is two" not in outcome.stdout.str()


def run_of(*results: FileResult, **others: Any) -> RunResult:
    return RunResult(results=results, **others)


#: Statuses of a test and what was expected of it, and the colours of its bar; both of its subtests have passed.
BARS = [
    ("OK", None, {"pass": 2, "known": 0, "fail": 0, "surprise": 0}),
    ("TIMEOUT", None, {"pass": 2, "known": 0, "fail": 1, "surprise": 0}),
    ("TIMEOUT", "TIMEOUT", {"pass": 2, "known": 1, "fail": 0, "surprise": 0}),
    ("OK", "TIMEOUT", {"pass": 2, "known": 0, "fail": 0, "surprise": 1}),
]


@pytest.mark.parametrize(("status", "expected", "parts"), BARS, ids=range(len(BARS)))
def test_what_timed_out_is_not_green(status: str, expected: str | None, parts: dict[str, int]) -> None:
    import quickjs

    page = render_html(run_of(result_of("PP", status, expected=expected)))
    [data] = re.findall('id="data">(.*?)</script>', page)
    # The part of the page's script that needs no page.
    engine = quickjs.Context()
    engine.eval(page[page.index("function makeResult") : page.index("const rank =")])
    assert json.loads(engine.eval(f"JSON.stringify({data}.map(makeTest)[0].parts)")) == parts


# ---- Which subtests and tests run


@here
def test_only_some_subtests(checkout: Path) -> None:
    result = invoke(checkout, "-k", "EQUAL")
    assert "4 subtests" not in result.output
    assert re.search(r"^3 subtests in 3 tests: 2 passed, 0 failed as expected, 1 unexpected", result.output, re.M), result.output
    result = invoke(checkout, "-k", "other", "-k", "passes")
    assert re.search(r"^3 subtests in 3 tests: 3 passed", result.output, re.M), result.output
    assert result.exit_code == 0
    result = invoke(checkout, "-k", "none like this")
    assert (result.exit_code, result.output.splitlines()[-1]) == (2, "webnn: no subtest of these tests has 'none like this' in its name")


@here
def test_other_subtests_have_stale_expectations_no_more(checkout: Path, tmp_path: Path) -> None:
    expected = tmp_path / "expected.toml"
    expected.write_text('[[expected]]\nfile = "webnn/mine.window.js"\nreason = "known"\nsubtests = ["equal", "reshape"]\n')
    result = invoke(checkout, "mine", "-k", "equal", "--expectations", expected)
    assert (result.exit_code, "0 passed, 1 failed as expected, 0 unexpected" in result.output) == (0, True), result.output


@here
def test_lists(checkout: Path, tmp_path: Path) -> None:
    expected = tmp_path / "expected.toml"
    expected.write_text(
        '[[expected]]\nfile = "webnn/mine.window.js"\nreason = "known"\nsubtests = ["equal"]\n'
        '[[expected]]\nfile = "webnn/other.window.js"\nreason = "no GPU"\ntest = "ERROR"\nvariants = ["?gpu"]\n'
    )
    result = invoke(checkout, "--list", "--expectations", expected)
    assert result.output.splitlines() == [
        "webnn/mine.window.js", "webnn/other.window.js?cpu", "webnn/other.window.js?gpu  (expected ERROR: no GPU)", "3 tests",
    ]  # fmt: skip
    result = invoke(checkout, "--list", "-k", "e", "mine", "--expectations", expected)
    assert result.output.splitlines()[1:] == [
        "webnn/mine.window.js", "  reshape", "  equal  (expected FAIL: known)", "  passes", "3 subtests in 1 test",
    ]  # fmt: skip
    assert result.exit_code == 0


def result_of(statuses: str, status: str = "OK", variant: str = "", expected: str | None = None) -> FileResult:
    """Make a result: a letter for the status of each subtest, ``a``, ``b`` ..."""
    known = {"P": SubtestStatus.PASS, "F": SubtestStatus.FAIL}
    subtests = [Subtest(name=chr(97 + index), status=known[each]) for index, each in enumerate(statuses) if each in known]
    wanted = FileStatus(expected) if expected else None
    return FileResult(file="webnn/other.window.js", variant=variant, status=FileStatus(status), subtests=subtests, expected=wanted)


#: Reports, the product, and the variants that run again.
AGAIN = [
    ([result_of("PF", variant="?cpu"), result_of("PP", variant="?gpu")], "webnn", ["?cpu"]),
    ([result_of("P", "TIMEOUT", "?cpu"), result_of("P", "ERROR", "?gpu", "ERROR")], "webnn", ["?cpu"]),
    ([result_of("P", "OK", "?cpu", "ERROR")], "webnn", ["?cpu"]),
    ([result_of("P", "ERROR", "?cpu", "ERROR")], "webnn", []),
    ([result_of("P", "ERROR", "?cpu", "ERROR"), result_of("P", variant="?gpu")], "chrome", ["?cpu"]),
    ([result_of("PF", variant="?npu")], "chrome", []),
]


@pytest.mark.parametrize(("results", "product", "variants"), AGAIN, ids=range(len(AGAIN)))
def test_choose_again(checkout: Path, results: Sequence[FileResult], product: str, variants: list[str]) -> None:
    tests = Checkout(checkout).tests()
    assert [test.variant for test in choose_again(run_of(*results, info={"product": product}), tests)] == variants


def test_a_browsers_failures_run_again(checkout: Path, tmp_path: Path) -> None:
    write_wptreport(run_of(result_of("PF", variant="?cpu"), info={"product": "chrome"}), tmp_path / "r.json")
    # Read back, what happened counts as expected: the report does not say that it was not.
    text = (tmp_path / "r.json").read_text().replace('"expected": "PASS", ', "")
    (tmp_path / "r.json").write_text(text)
    result = invoke(checkout, "--rerun-failed", tmp_path / "r.json", "--list")
    assert result.output.splitlines() == ["webnn/other.window.js?cpu", "1 test"]


@here
def test_rerun_failed(checkout: Path, tmp_path: Path) -> None:
    report = tmp_path / "r.json"
    assert invoke(checkout, f"--wptreport={report}").exit_code == 1
    result = invoke(checkout, "--rerun-failed", report, "-q")
    assert re.search(r"^3 subtests in 1 tests: 1 passed, 0 failed as expected, 2 unexpected", result.output, re.M), result.output
    result = invoke(checkout, "other", "--rerun-failed", report)
    assert (result.exit_code, result.output) == (2, f"webnn: none of these tests went wrong in {report}\n")
    report.write_text("[]")
    assert "is not a wptreport" in invoke(checkout, "--rerun-failed", report).output


# ---- Repeated runs


def test_find_flaky() -> None:
    assert find_flaky([[result_of("PPF")], [result_of("PPF")]]) == []
    rounds = [[result_of("PP")], [result_of("PF")], [result_of("P", "TIMEOUT")], [result_of("PP")]]
    name = "/webnn/other.window.html"
    assert find_flaky(rounds) == [f"{name}: 3 OK, 1 TIMEOUT", f"{name}: b: 2 PASS, 1 FAIL, 1 without it"]
    assert [each.status for each in take_worst(rounds)[0].subtests] == ["PASS", "FAIL"]


@here
def test_repeat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "test(() => {}, 'firm'); promise_test(async () => assert_equals(await (await fetch('n.txt')).text(), '1'), 'shaky');"
    root = make_checkout(tmp_path, {"x.window.js": text, "n.txt": "1"})
    again = Server.read
    numbers = iter("121")

    def read(server: Server, url: str) -> str | None:
        return next(numbers) if url.endswith("n.txt") else again(server, url)

    monkeypatch.setattr(Server, "read", read)
    junit = tmp_path / "r.xml"
    result = invoke(root, "--repeat", "3", f"--junit={junit}")
    assert result.exit_code == 1
    assert "flaky  /webnn/x.window.html: shaky: 2 PASS, 1 FAIL" in result.output
    assert [line for line in result.output.splitlines() if line.startswith("run ")] == [f"run {number} of 3" for number in (1, 2, 3)]
    wanted = ["firm", "shaky", "/webnn/x.window.html: shaky: 2 PASS, 1 FAIL"]
    assert [case.get("name") for case in ET.parse(junit).iter("testcase")] == wanted
    assert "flaky" not in invoke(root, "--repeat", "2", "-k", "firm").output


def test_flaky_results_are_in_the_reports(tmp_path: Path) -> None:
    run = run_of(result_of("P"), flaky=["/webnn/other.window.html: a: 1 PASS, 1 FAIL"])
    assert run.failed
    page = render_html(run)
    assert "1 flaky result" in page
    assert "<h2>Flaky</h2><ul><li>/webnn/other.window.html: a: 1 PASS, 1 FAIL</li></ul>" in page
    write_junit(run, tmp_path / "r.xml")
    assert ET.parse(tmp_path / "r.xml").findtext("testsuite[@name='flaky']/testcase/failure") == run.flaky[0]


@pytest.mark.parametrize("option", [["--repeat", "2"], ["-k", "a"], ["--list"]])
def test_expectations_are_made_from_whole_runs(checkout: Path, tmp_path: Path, option: list[str]) -> None:
    result = invoke(checkout, "--expectations", tmp_path / "new.toml", "--update-expectations", *option)
    assert result.exit_code == 2
    assert "--update-expectations needs whole tests, each once" in result.output
    assert not (tmp_path / "new.toml").exists()


# ---- Debuggers


def refuse() -> Exception:
    try:
        raise TypeError("no")
    except TypeError as error:
        return error


#: The value of PYTHONBREAKPOINT, and the function that is called.
BREAKPOINTS = [("", ["pdb.post_mortem"]), ("0", []), ("mine.set_trace", ["mine.post_mortem"]), ("plain.start", ["plain.start"])]


@pytest.mark.parametrize(("name", "called"), BREAKPOINTS)
def test_the_debugger_of_python(name: str, called: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    calls: list[str] = []
    for module, members in {"mine": ["set_trace", "post_mortem"], "plain": ["start"]}.items():
        functions = {member: lambda *_, where=f"{module}.{member}": calls.append(where) for member in members}
        made = types.ModuleType(module)
        made.__dict__.update(functions)
        monkeypatch.setitem(sys.modules, module, made)
    monkeypatch.setattr("pdb.post_mortem", lambda trace: calls.append("pdb.post_mortem") if trace is not None else None)
    monkeypatch.setattr(sys, "breakpointhook", sys.__breakpointhook__)
    monkeypatch.setenv("PYTHONBREAKPOINT", name)
    stopper = Stopper()
    stopper.stop(refuse())
    assert (calls, stopper.stops) == (called, 1)
    assert capsys.readouterr().out == "refused: TypeError: no\n"


@pytest.mark.processes
def test_pdb_at_the_refused_call(checkout: Path) -> None:
    command = [sys.executable, "-m", "webnn", "wpt", "run", "mine", "--wpt", str(checkout), "--expectations", "none", "--debug", "python"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONBREAKPOINT"}
    done = subprocess.run(
        command, check=False, input="up\np argument\ncontinue\n", capture_output=True, text=True, env=environment, timeout=120
    )
    assert "refused: WebNNTypeError: reshape: " in done.stdout
    assert re.search(r"^> .*validation/\w+\.py\(\d+\)", done.stdout, re.M), done.stdout
    assert "FAIL reshape" in done.stdout
    assert done.returncode == 1


def test_node_debugs_one_test(checkout: Path) -> None:
    result = invoke(checkout, "other", "--debug", "node")
    assert (result.exit_code, "--debug=node needs one test of a window, and 2 are chosen" in result.output) == (2, True)


#: A debugger: it says where the program stops, and lets it go on.
ATTACH = """
const [address] = process.argv.slice(2), socket = new WebSocket(address), scripts = new Map();
let number = 0;
const send = (method, params) => socket.send(JSON.stringify({id: ++number, method, params}));
socket.onopen = () => { for (const method of ['Runtime.enable', 'Debugger.enable', 'Runtime.runIfWaitingForDebugger']) send(method); };
socket.onmessage = ({data}) => {
  const {method, params} = JSON.parse(data);
  if (method === 'Debugger.scriptParsed') scripts.set(params.scriptId, params.url);
  if (method === 'Runtime.executionContextDestroyed') socket.close();
  if (method !== 'Debugger.paused') return;
  const {location: {scriptId, lineNumber}} = params.callFrames[0], url = scripts.get(scriptId), inTest = url.endsWith('/mine.window.js');
  if (inTest) console.log(`${url}:${lineNumber + 1}`);
  send(inTest ? 'Debugger.resume' : 'Debugger.stepInto');
};
"""


@pytest.mark.processes
def test_node_waits_for_a_debugger_and_stops_in_the_subtest(checkout: Path, tmp_path: Path) -> None:
    node = require_node()
    command = [sys.executable, "-m", "webnn", "wpt", "run", "mine", "--wpt", str(checkout), "-k", "reshape", "--debug", "node"]
    (tmp_path / "attach.mjs").write_text(ATTACH)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        address = next(line.split()[-1] for line in child.stderr if "Debugger listening on" in line)
        assert address.startswith("ws://127.0.0.1:")
        done = subprocess.run([node.path, tmp_path / "attach.mjs", address], check=False, capture_output=True, text=True, timeout=120)
        printed, _ = child.communicate(timeout=120)
    assert done.stdout.splitlines() == ["https://app.test/webnn/mine.window.js:7"], done.stderr
    assert "3 elements" in printed
    assert re.search(r"^FAIL reshape: .*\n +at refused \(https://app.test/webnn/mine.window.js:4:", printed, re.M), printed
    assert "equal" not in printed


def test_node_shows_no_pages(tmp_path: Path) -> None:
    root = make_checkout(tmp_path, {"x.https.html": "<script src=/resources/testharness.js></script>"})
    result = invoke(root, "--debug", "node")
    assert result.exit_code == 2
    assert "--debug=node runs scripts, and webnn/x.https.html is a page" in result.output


@pytest.mark.processes
def test_a_page_runs_again(tmp_path: Path) -> None:
    page = "<script src=/resources/testharness.js></script><script>test(() => assert_true(%s), 'a')</script>"
    root = make_checkout(tmp_path, {"good.https.html": page % "true", "bad.https.html": page % "false"})
    report = tmp_path / "r.json"
    assert invoke(root, f"--wptreport={report}").exit_code == 1
    again = invoke(root, f"--rerun-failed={report}")
    assert "webnn/bad.https.html  1 fail" in again.output
    assert "good" not in again.output
