"""``webnn wpt run``, and the pytest plugin: a run on a checkout with everything that goes wrong in it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

# After a run in this process, pytest unloads the modules that the run has loaded, and NumPy cannot be loaded twice.
from tests.shared import ROOT
from tests.webnn.javascript.engines import needs_quickjs
from tests.webnn.processes.pools import expire
from tests.wpt_runner.checkouts import make_checkout
from webnn.commands.main import app
from webnn.wpt_runner.checkout import Test
from webnn.wpt_runner.expectations import load_expectations
from webnn.wpt_runner.results import Subtest

pytest_plugins = ["pytester"]
pytestmark = [needs_quickjs, pytest.mark.processes]

GOOD = """// META: title=a good file
// META: variant=?cpu
// META: variant=?gpu
promise_test(async () => {
  const context = await navigator.ml.createContext({deviceType: location.search.slice(1)});
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', {dataType: 'float32', dimensions: [2]});
  const graph = await builder.build({y: builder.relu(x)});
  const {outputs} = await context.compute(graph, {x: new Float32Array([-1, 2])}, {y: new Float32Array(2)});
  assert_array_equals([...outputs.y], [0, 2]);
}, 'relu');
"""
FAILING = "test(() => assert_equals(1, 2, 'one is two'), 'fails');\ntest(() => {}, 'passes');\n"
#: All may take long, but the one whose time is to run out. They run in a window only, but for those of the flavours' own tests.
FILES = {
    "forever.https.any.js": "// META: global=window\ntest(() => {}, 'before');\ntest(() => { for (;;); }, 'forever');\n",
    **{
        name: f"// META: global=window\n// META: timeout=long\n{source}"
        for name, source in {
            "good.https.any.js": GOOD,
            "failing.https.any.js": FAILING,
            "syntax.https.any.js": "test(() => {}, 'never'); )\n",
            "waits.https.any.js": "test(() => {}, 'before');\npromise_test(() => new Promise(() => {}), 'waits');\n",
            "greedy.https.any.js": "test(() => { new Uint8Array(2 ** 32).fill(1); }, 'allocates 4 GB');\n",
            "missing_script.https.any.js": "// META: script=../resources/none.js\ntest(() => {}, 'never');\n",
        }.items()
    },
}
STATUSES = {
    "good.https.any.js": "OK",
    "failing.https.any.js": "OK",
    "syntax.https.any.js": "ERROR",
    "forever.https.any.js": "TIMEOUT",
    "waits.https.any.js": "TIMEOUT",
    "greedy.https.any.js": "OK",
    "missing_script.https.any.js": "ERROR",
}


def invoke(*arguments: str | Path) -> Result:
    # Wide, so that the tests see whole lines.
    return CliRunner().invoke(app, ["wpt", "run", *map(str, arguments)], env={"COLUMNS": "300", "WEBNN_WPT": None})


def loops(test: Test, subtests: Sequence[Subtest]) -> bool:
    """Tell whether a test has come to its endless loop."""
    return "forever" in test.file.path and len(subtests) == 1


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkout(tmp_path_factory.mktemp("wpt"), FILES)


@pytest.fixture(scope="module")
def run(checkout: Path) -> tuple[Result, Path]:
    """Everything, once, with all reports."""
    reports = [f"--{name}={checkout / file}" for name, file in (("wptreport", "r.json"), ("junit", "r.xml"), ("html", "r.html"))]
    with pytest.MonkeyPatch.context() as patch:
        expire(patch, loops)
        result = invoke("--wpt", checkout, "--expectations", "none", "--timeout-multiplier", "0.5", "--memory-limit", "256", *reports)
    return result, checkout


def test_a_bad_file_is_its_own_result(run: tuple[Result, Path]) -> None:
    result, checkout = run
    assert result.exit_code == 1, result.output
    report = json.loads((checkout / "r.json").read_text())
    found = {(each["test"], each["status"]) for each in report["results"]}
    wanted = {
        (f"/webnn/{file.removesuffix('.js')}.html{variant}", status)
        for file, status in STATUSES.items()
        for variant in (("?cpu", "?gpu") if file == "good.https.any.js" else ("",))
    }
    assert found == wanted
    assert re.search(r"^9 subtests in 8 tests|^\d+ subtests in 8 tests", result.output, re.M), result.output


MESSAGES = {
    "syntax.https.any.js": "SyntaxError",
    "forever.https.any.js": "took longer than 8 s, and its process was killed",
    "waits.https.any.js": "it waits for something that will not happen",
    "missing_script.https.any.js": "there is no file /resources/none.js in the checkout",
}


@pytest.mark.parametrize("file", MESSAGES)
def test_one_clear_line(run: tuple[Result, Path], file: str) -> None:
    lines = run[0].output.splitlines()
    [index] = [index for index, line in enumerate(lines) if line[8:].startswith(f"webnn/{file}")]
    assert lines[index].startswith(STATUSES[file])
    assert MESSAGES[file] in lines[index + 1]


def subtests(checkout: Path, file: str) -> dict[str, tuple[str, str]]:
    report = json.loads((checkout / "r.json").read_text())
    [test] = [each for each in report["results"] if file.removesuffix(".js") in each["test"]]
    return {each["name"]: (each["status"], each["message"] or "") for each in test["subtests"]}


def test_the_subtests_so_far_are_kept(run: tuple[Result, Path]) -> None:
    assert subtests(run[1], "forever.https.any.js")["before"][0] == "PASS"
    waits = subtests(run[1], "waits.https.any.js")
    assert waits["before"][0] == "PASS"
    assert waits["waits"][0] in {"TIMEOUT", "NOTRUN"}


def test_memory_is_limited(run: tuple[Result, Path]) -> None:
    status, message = subtests(run[1], "greedy.https.any.js")["allocates 4 GB"]
    assert status == "FAIL"
    assert "memory" in message or "length" in message


def test_the_other_reports(run: tuple[Result, Path]) -> None:
    suites = ET.parse(run[1] / "r.xml").getroot()
    assert len(list(suites.iter("testsuite"))) == 8
    assert "failing.https.any" in (run[1] / "r.html").read_text()


# Expectations


def expectations(path: Path, text: str) -> Path:
    file = path / "expected.toml"
    file.write_text(text, encoding="utf-8")
    return file


ENTRY = '[[expected]]\nfile = "webnn/failing.https.any.js"\nreason = "one is not two"\nsubtests = ["fails"]\n'


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("text", "code", "fragment"),
    [
        (ENTRY, 0, "2 subtests in 1 tests: 1 passed, 1 failed as expected, 0 unexpected"),
        ("", 1, "FAIL fails"),
        (ENTRY.replace("one is not two", ""), 1, "must have a reason"),
        (ENTRY.replace('["fails"]', '["fails", "passes"]'), 1, "FAIL"),
        (ENTRY.replace('["fails"]', '["fails", "no such subtest"]'), 1, "no such subtest"),
    ],
    ids=["expected", "unexpected", "no reason", "unexpected pass", "stale"],
)
def test_expectations(checkout: Path, tmp_path: Path, text: str, code: int, fragment: str) -> None:
    result = invoke("--wpt", checkout, "--expectations", expectations(tmp_path, text), "failing")
    assert (result.exit_code, fragment in result.output) == (code, True), result.output


@pytest.mark.usefixtures("in_this_process")
def test_update_expectations(checkout: Path, tmp_path: Path) -> None:
    file = tmp_path / "new.toml"
    first = invoke("--wpt", checkout, "--expectations", file, "--update-expectations", "failing")
    assert first.exit_code == 1
    assert "must have a reason" in first.output
    file.write_text(file.read_text().replace('reason = ""', 'reason = "one is not two"'))
    texts = []
    for _ in range(2):
        result = invoke("--wpt", checkout, "--expectations", file, "--update-expectations", "failing")
        assert result.exit_code == 0, result.output
        assert f"wrote {file}\n" in result.stdout
        texts.append(file.read_text())
    assert 'reason = "one is not two"' in texts[0]
    assert texts[0] == texts[1]


@pytest.mark.usefixtures("in_this_process")
def test_update_expectations_without_tomlkit(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tomlkit", None)
    monkeypatch.delitem(sys.modules, "webnn.wpt_runner.expectations.updating", raising=False)
    result = invoke("--wpt", checkout, "--expectations", tmp_path / "new.toml", "--update-expectations", "failing")
    assert (result.exit_code, type(result.exception)) == (2, SystemExit)
    assert result.stderr.splitlines()[-1].startswith("webnn: --update-expectations needs the package tomlkit")
    assert not (tmp_path / "new.toml").exists()


BAD = [
    (["--wpt", "nowhere"], "there is no folder nowhere"),
    (["--wpt", "{root}/webnn"], "is not a checkout of web-platform-tests: it has no webnn and no resources/testharness.js"),
    (["--wpt", "{root}", "nothing-like-it"], "no test file of"),
    (["--wpt", "{root}", "--variant", "tpu"], "has the variant ?tpu"),
    (["--wpt", "{root}", "--expectations", "1999-01"], "1999-01"),
    (["--wpt", "{root}", "--revision", "1999"], "the revision must be one of 2024-06, 2026-06, got '1999'"),
    (["--wpt", "{root}", "--html", "{root}/none/r.html"], "there is no folder"),
    (["--wpt", "{root}", "--expectations", "none", "--update-expectations"], "--update-expectations needs an expectations file"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[message[:30] for _, message in BAD])
def test_bad_input_is_one_line(checkout: Path, arguments: list[str], message: str) -> None:
    result = invoke(*(argument.format(root=checkout) for argument in arguments))
    assert result.exit_code == 2
    [line] = result.output.splitlines()
    assert message in line


# The draft

CURRENT = """// META: global=window
// META: timeout=long
// META: variant=?op=add&device=cpu
// META: variant=?op=add&device=gpu
promise_test(async () => {
  const context = await navigator.ml.createContext({deviceType: new URLSearchParams(location.search).get('device')});
  const builder = new MLGraphBuilder(context), pair = {dataType: 'float32', shape: [2]}, x = builder.input('x', pair);
  const graph = await builder.build({y: builder[new URLSearchParams(location.search).get('op')](x, x)});
  const [input, output] = await Promise.all([{writable: true}, {readable: true}].map(each => context.createTensor({...pair, ...each})));
  context.writeTensor(input, new Float32Array([1, 2]));
  context.dispatch(graph, {x: input}, {y: output});
  assert_array_equals(new Float32Array(await context.readTensor(output)), [2, 4]);
}, 'add');
"""
OLD = "// META: global=window\ntest(() => assert_true('compute' in MLContext.prototype), 'compute');"


@pytest.fixture(scope="module")
def current(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_checkout(tmp_path_factory.mktemp("draft"), {"current.https.any.js": CURRENT, "old.https.any.js": OLD})
    (root / "interfaces").mkdir()
    (root / "interfaces" / "webnn.idl").write_text("interface MLTensor {};", encoding="utf-8")
    return root


#: Arguments, the exit code, and what the first line says.
DRAFTS = [
    (["current"], 0, "the draft 2026-06, dialect wpt-2025-03, expectations none"),
    (["current", "--variant", "cpu"], 0, "the draft 2026-06, dialect wpt-2025-03, expectations none"),
    (["old"], 1, "the draft 2026-06, dialect wpt-2025-03, expectations none"),
    (["old", "--revision", "2024-06"], 0, "the draft 2024-06, dialect wpt-2024-06, expectations none"),
    (["current", "--revision", "2024-06"], 1, "the draft 2024-06, dialect wpt-2024-06, expectations none"),
    (["current", "--dialect", "browsers-2026"], 0, "the draft 2026-06, dialect browsers-2026, expectations none"),
    (["old", "--revision", "2024-06", "--dialect", "none"], 0, "the draft 2024-06, dialect none, expectations none"),
]


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(("arguments", "code", "line"), DRAFTS, ids=[" ".join(arguments) for arguments, _, _ in DRAFTS])
def test_the_draft_is_that_of_the_checkout(current: Path, arguments: list[str], code: int, line: str) -> None:
    result = invoke("--wpt", current, "--expectations", "none", *arguments)
    first, _, found = result.output.splitlines()[0].partition("; ")
    assert (first, result.exit_code) == (line, code), result.output
    # An option needs no reason.
    assert found.startswith("the checkout's IDL lacks ML, MLArgMinMaxOptions and") is ("--revision" not in arguments), found


@pytest.mark.usefixtures("in_this_process")
def test_a_checkout_that_is_newer_is_told(tmp_path: Path) -> None:
    root = make_checkout(tmp_path, {"old.https.any.js": "test(() => assert_true('rename' in MLTensor.prototype), 'rename');"})
    (root / "interfaces").mkdir()
    (root / "interfaces" / "webnn.idl").write_text("interface MLTensor { undefined rename(USVString name); };", encoding="utf-8")
    result = invoke("--wpt", root, "--expectations", "none")
    warning = "the checkout is newer than the drafts here: its IDL has MLTensor.rename, unknown to the draft 2026-06, dialect wpt-2025-03"
    assert result.output.splitlines()[1] == f"warning: {warning}"
    assert result.exit_code == 1


@pytest.mark.usefixtures("in_this_process")
def test_the_variants_of_a_device(current: Path) -> None:
    result = invoke("--wpt", current, "--expectations", "none", "--variant", "cpu", "current")
    assert "current.https.any.js?op=add&device=cpu  1 pass" in result.output
    assert "1 subtests in 1 tests" in result.output


FLAVOURS = """// META: global=window,worker
promise_test(async () => {
  const context = await navigator.ml.createContext();
  assert_equals(context instanceof MLContext, true);
}, 'context');
test(() => assert_equals(typeof window, 'object'), 'window');
"""
EXPECTED = """
[[expected]]
file = "webnn/flavours.https.any.js"
reason = "a worker has no window"
flavours = ["worker", "sharedworker", "serviceworker"]
subtests = ["window"]
"""
NAMES = [f"webnn/flavours.https.any{suffix}.js" for suffix in ("", ".worker", ".sharedworker", ".serviceworker")]


@pytest.mark.usefixtures("in_this_process")
def test_flavours(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "wpt", {"flavours.https.any.js": FLAVOURS})
    expected, report = tmp_path / "flavours.toml", tmp_path / "r.json"
    expected.write_text(EXPECTED)
    result = invoke("--wpt", checkout, "--expectations", expected, "--wptreport", report)
    assert result.exit_code == 0, result.output
    assert [name for name in NAMES if name in result.output] == NAMES
    tests = {each["test"]: [subtest["status"] for subtest in each["subtests"]] for each in json.loads(report.read_text())["results"]}
    assert tests == {f"/{name.removesuffix('.js')}.html": ["FAIL" if "worker" in name else "PASS", "PASS"] for name in NAMES}
    chosen = invoke("--wpt", checkout, "--expectations", expected, "--flavour", "window", "--flavour", "worker")
    assert (chosen.exit_code, [name for name in NAMES if name in chosen.output]) == (0, NAMES[:2]), chosen.output


@pytest.mark.usefixtures("in_this_process")
def test_expectations_of_flavours_are_written(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "wpt", {"flavours.https.any.js": FLAVOURS})
    written = tmp_path / "new.toml"
    invoke("--wpt", checkout, "--expectations", written, "--update-expectations")
    (entry,) = load_expectations(str(written)).entries
    assert (entry.flavours, entry.subtests) == (("worker", "sharedworker", "serviceworker"), ("window",))


def test_the_plugin_finds_the_draft(pytester: pytest.Pytester, current: Path) -> None:
    arguments = ["--wpt", str(current), "--wpt-expectations", "none"]
    outcome = pytester.runpytest(*arguments, "-k", "current")
    outcome.assert_outcomes(passed=2)
    outcome.stdout.fnmatch_lines(["wpt: the draft 2026-06, dialect wpt-2025-03, expectations none; the checkout's IDL lacks *"])
    outcome = pytester.runpytest(*arguments, "-k", "old", "--wpt-revision", "2024-06")
    outcome.assert_outcomes(passed=1)
    outcome = pytester.runpytest(*arguments, "--wpt-revision", "1999")
    assert "the revision must be one of 2024-06, 2026-06, got '1999'" in outcome.stderr.str()


# The plugin of pytest


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider -o asyncio_default_fixture_loop_scope=function")
    return pytester


def test_the_plugin(pytester: pytest.Pytester, checkout: Path) -> None:
    file = expectations(pytester.path, ENTRY.replace("one is not two", "known"))
    outcome = pytester.runpytest("--wpt", str(checkout), "--wpt-expectations", str(file), "-k", "good or failing or missing", "-rA")
    outcome.assert_outcomes(passed=3, failed=1)
    outcome.stdout.fnmatch_lines(["*PASSED*good.https.any.js::[?]cpu*", "*FAILED*missing_script.https.any.js::window*"])
    outcome.stdout.fnmatch_lines(["ERROR (expected OK): there is no file /resources/none.js in the checkout*"])


def test_the_plugin_chooses_variants(pytester: pytest.Pytester, checkout: Path) -> None:
    outcome = pytester.runpytest("--wpt", str(checkout), "--wpt-variant", "gpu", "-k", "good", "-v")
    outcome.assert_outcomes(passed=1)


def test_the_plugin_chooses_flavours(pytester: pytest.Pytester, tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "wpt", {"context.https.any.js": "test(() => {}, 'a');"})
    outcome = pytester.runpytest("--wpt", str(checkout), "--wpt-flavour", "worker", "-rA")
    outcome.assert_outcomes(passed=1)
    outcome.stdout.fnmatch_lines(["*PASSED*context.https.any.js::worker*"])


def test_the_plugin_multiplies_the_time_outs(pytester: pytest.Pytester, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expire(monkeypatch, loops)
    outcome = pytester.runpytest("--wpt", str(checkout), "--wpt-timeout-multiplier", "2", "-k", "forever")
    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines(["TIMEOUT (expected OK): took longer than 23 s*"])


def test_the_plugin_in_this_repository(checkout: Path) -> None:
    """As a person has it: the program `pytest`, which does not put its folder on the path, with a checkout elsewhere."""
    command = [sys.executable, "-P", "-m", "pytest", "--wpt", str(checkout), "--wpt-variant", "gpu", "-k", "good", "-p", "no:cacheprovider"]
    # This run has no tests on shared data: continuous integration wants some of the one that it is part of.
    environment = {name: value for name, value in os.environ.items() if name != "WEBNN_REQUIRE_SHARED"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.parametrize(("arguments", "message"), [(["--wpt", "nowhere"], "there is no folder nowhere")])
def test_the_plugin_tells_what_is_wrong(pytester: pytest.Pytester, arguments: list[str], message: str) -> None:
    outcome = pytester.runpytest(*arguments)
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    assert message in outcome.stderr.str() + outcome.stdout.str()


def test_without_its_option_the_plugin_collects_nothing(pytester: pytest.Pytester) -> None:
    pytester.path.joinpath("a.any.js").write_text("test(() => {}, 'x');")
    outcome = pytester.runpytest()
    assert outcome.ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.usefixtures("in_this_process")
def test_the_environment_names_the_checkout(checkout: Path) -> None:
    result = CliRunner().invoke(app, ["wpt", "run", "--expectations", "none", "good"], env={"WEBNN_WPT": str(checkout), "COLUMNS": "300"})
    assert result.exit_code == 0, result.output
    assert os.environ.get("WEBNN_WPT") is None


#: The kernels of ONNX Runtime subtract 1 from the exponential, and are wrong by a fifth.
ELU = """// META: global=window
// META: timeout=long
promise_test(async () => {
  const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);
  const graph = await builder.build({y: builder.elu(builder.input('x', {dataType: 'float32', dimensions: [1]}))});
  const {outputs} = await context.compute(graph, {x: new Float32Array([-1e-7])}, {y: new Float32Array(1)});
  assert_equals(Math.abs(outputs.y[0] + 1e-7) < 1e-9, true);
}, 'elu');
"""


def test_the_reference_computes(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path, {"elu.https.any.js": ELU})
    options = ("--wpt", checkout, "--expectations", "none", "--jobs", "1")
    assert invoke(*options).exit_code == 1
    result = invoke(*options, "--reference", "--wptreport", tmp_path / "r.json")
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "r.json").read_text())["run_info"]["engine"].endswith(", reference")


def test_an_unknown_engine(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBNN_ENGINE", "onnxruntime")  # the option sets it
    result = invoke("--wpt", checkout, "--engine", "none")
    assert result.exit_code == 2
    assert "'none'" in result.output
