"""``webnn wpt record``, as a person uses it: on a small checkout, with what can go wrong."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import webnn
from tests.webnn.javascript.engines import needs_quickjs
from tests.webnn.processes.pools import expire
from tests.wpt_runner.recorded import META, conformance_checkout
from tests.wpt_runner.written import UTILS, written_checkout
from webnn.commands.main import app
from webnn.javascript.realm import EngineMissingError
from webnn.wpt_runner.recording.files import write_file
from webnn.wpt_runner.writing.cases import ConformanceCase
from webnn.wpt_runner.writing.conformance import write_conformance_test

pytestmark = [needs_quickjs, pytest.mark.processes]

LONG = f"// META: timeout=long\n{META}"
BUILD = "b => ({y: b.relu(b.input('x', float32([2])))}), {x: new Float32Array([-1, 2])}, {y: new Float32Array(2)}"
RELU = f"""// META: variant=?cpu
// META: variant=?gpu
{LONG}conform(`relu ${{location.search}}`, {BUILD}, ({{y}}) => doAssert('relu', y, [0, 2], 0, 'float32', 'ULP'));
conform('relu wrong', {BUILD}, ({{y}}) => doAssert('relu', y, [1, 2], 0, 'float32', 'ULP'));
conform('relu constant', b => ({{y: b.relu(b.constant(float32([2]), new Float32Array([3, 3])))}}), {{}}, {{y: new Float32Array(2)}},
  ({{y}}) => doAssert('relu', y, [3, 3], 0, 'float32', 'ULP'));
"""
SPLIT = """conform('split', b => { const [p, q] = b.split(b.input('x', float32([2])), 2); return {p, q}; }, {x: new Float32Array([1, 2])},
  {p: new Float32Array(1), q: new Float32Array(1)},
  ({p, q}) => { doAssert('split', p, [1], 0, 'float32', 'ULP'); doAssert('split', q, [2], 0, 'float32', 'ULP'); });
for (const number of [1, 2, 3, 4, 5, 6]) promise_test(async () => {}, `nothing ${number}`);
"""
GOOD = {"relu": RELU, "split": LONG + SPLIT}
#: All may take long, but the one whose time is to run out.
BAD = {
    "forever": "for (;;);",
    "syntax": f"{LONG}test(() => {{}}, 'never'); )",
    "waits": f"{LONG}conform('relu', {BUILD}, ({{y}}) => assert_array_equals(y, [0, 2]));\n"
    "promise_test(() => new Promise(() => {}), 'waits');",
}
UNSUPPORTED = "test(() => { null.x; }, 'fails');\nthrow new Error('unsupported');"


WRITE_FILE = "webnn.wpt_runner.commands.record.write_file"


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["wpt", "record", *map(str, arguments)], env={"WEBNN_WPT": None})


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return conformance_checkout(tmp_path_factory.mktemp("wpt"), GOOD)


@pytest.fixture(scope="module")
def run(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """Everything, once, into a folder that is not there yet."""
    out = tmp_path_factory.mktemp("recorded") / "new" / "out"
    return invoke("--wpt", checkout, out), out


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_files(run: tuple[Result, Path]) -> None:
    result, out = run
    assert result.exit_code == 0, result.output
    assert sorted(contents(out)) == ["relu.json", "split.json"]
    relu = json.loads((out / "relu.json").read_text())
    assert relu["source"] == "web-platform-tests webnn/conformance_tests/relu.https.any.js?cpu"
    assert relu["level"] == "2024-06"
    assert [case["name"] for case in relu["tests"]] == ["relu ?cpu", "relu wrong", "relu constant"]


def test_what_it_prints(run: tuple[Result, Path]) -> None:
    output = run[0].output
    lines = [line.split() for line in output.splitlines()]
    assert lines[0] == ["file", "recorded", "skipped", "seconds"]
    assert lines[1][:2] == ["relu", "3"]
    assert lines[2][:3] == ["split", "1", "6"]
    assert "  1 recorded that the emulator computes otherwise:\n    relu wrong\n" in output
    assert "  6 skipped: it computes nothing\n    nothing 1\n" in output
    assert "and 3 more (--verbose names them)" in output
    assert lines[-1][:5] == ["4", "cases", "in", "2", "files"]
    assert output.endswith(", 6 subtests skipped\n")


def test_files_are_not_overwritten(checkout: Path, run: tuple[Result, Path]) -> None:
    _, out = run
    before = contents(out)
    result = invoke("--wpt", checkout, out)
    assert result.exit_code == 2
    assert result.output == f"webnn: {out / 'relu.json'} exists already, and 1 more of the files to write: --force overwrites\n"
    assert contents(out) == before


def test_one_file_is_not_overwritten(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "relu.json").write_text("mine", encoding="utf-8")
    result = invoke("--wpt", checkout, tmp_path)
    assert (result.exit_code, result.output) == (2, f"webnn: {tmp_path / 'relu.json'} exists already: --force overwrites\n")
    assert (tmp_path / "relu.json").read_text(encoding="utf-8") == "mine"


@pytest.mark.usefixtures("in_this_process")
def test_the_same_again(checkout: Path, run: tuple[Result, Path], tmp_path: Path) -> None:
    (tmp_path / "relu.json").write_text("other")
    assert invoke("--wpt", checkout, tmp_path, "--force", "--jobs", "1").exit_code == 0
    assert contents(tmp_path) == contents(run[1])


def test_the_files_can_be_replayed(run: tuple[Result, Path]) -> None:
    result = CliRunner().invoke(app, ["wpt", "vectors", str(run[1]), "--jobs", "1"])
    assert "3 passed, 1 failed" in result.output
    assert "relu wrong" in result.output


@pytest.mark.usefixtures("in_this_process")
def test_options(checkout: Path, tmp_path: Path) -> None:
    result = invoke("--wpt", checkout, tmp_path, "relu", "--variant", "gpu", "--level", "mine", "--verbose")
    assert result.exit_code == 0, result.output
    relu = json.loads((tmp_path / "relu.json").read_text())
    assert (relu["level"], relu["tests"][0]["name"], len(contents(tmp_path))) == ("mine", "relu ?gpu", 1)


def test_what_does_not_run_to_its_end_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expire(monkeypatch, lambda test, _: "forever" in test.file.path)
    checkout = conformance_checkout(tmp_path / "wpt", {**BAD, "split": LONG + SPLIT})
    result = invoke("--wpt", checkout, tmp_path / "out", "--timeout-multiplier", "0.5", "--verbose")
    assert result.exit_code == 1
    assert list(contents(tmp_path / "out")) == ["split.json"]
    assert "TIMEOUT: took longer than 8 s, and its process was killed" in result.output
    assert "TIMEOUT: it waits for something that will not happen" in result.output
    assert "ERROR: /webnn/conformance_tests/syntax.https.any.js: SyntaxError" in result.output.replace("Uncaught ", "")
    assert "nothing 6" in result.output
    assert "3 tests did not run to the end, and are not written" in result.output


@pytest.mark.usefixtures("in_this_process")
def test_an_error_that_loses_nothing(tmp_path: Path) -> None:
    """A test of what the draft does not have: its subtests fail, and so does the test as a whole."""
    checkout = conformance_checkout(tmp_path / "wpt", {"unsupported": UNSUPPORTED, "split": LONG + SPLIT})
    result = invoke("--wpt", checkout, tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "  ERROR: " in result.output
    assert list(contents(tmp_path / "out")) == ["split.json"]


@pytest.mark.usefixtures("in_this_process")
def test_nothing_recorded(tmp_path: Path) -> None:
    checkout = conformance_checkout(tmp_path / "wpt", {"none": "test(() => {}, 'nothing');"})
    result = invoke("--wpt", checkout, tmp_path / "out")
    assert result.exit_code == 1
    assert "nothing recorded, 1 subtest skipped" in result.output
    assert contents(tmp_path / "out") == {}


def test_bad_input(checkout: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    other = tmp_path / "other"
    (other / "resources").mkdir(parents=True)
    (other / "resources" / "testharness.js").write_text("")
    (other / "webnn").mkdir()
    for arguments, message in [
        (["--wpt", tmp_path / "none", tmp_path / "out"], f"there is no folder {tmp_path / 'none'}"),
        (["--wpt", tmp_path, tmp_path / "out"], "is not a checkout of web-platform-tests"),
        (["--wpt", other, tmp_path / "out"], "has no test files of WebNN"),
        (["--wpt", checkout, tmp_path / "out", "none"], "no test file of"),
        (["--wpt", checkout, tmp_path / "out", "--variant", "tpu"], "has the variant ?tpu"),
        (["--wpt", checkout, file], f"OUT_DIR must be a folder, got the file {file}"),
        (["--wpt", checkout, file / "inner"], str(file)),
    ]:
        result = invoke(*arguments)
        assert (result.exit_code, result.output.startswith("webnn: "), result.output.count("\n")) == (2, True, 1), result.output
        assert message in result.output
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("in_this_process")
def test_the_level_is_that_of_the_checkout(tmp_path: Path) -> None:
    """A file of `webnn wpt new` is recorded over tensors, as it was."""
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    graph = webnn.describe({"y": builder.relu(builder.input("x", dataType="float32", shape=[2]))})
    case = ConformanceCase.of("relu", graph, {"x": np.array([-1, 2], np.float32)})
    text = write_conformance_test([case], title="relu", variants=["?cpu"])
    utils = UTILS.replace("far(actual[index], expected, tolerance, descriptor.dataType)", "false").replace(
        "    assert_equals(actual.length, data.length, output);", "    assert_array_equals(result[output], data);"
    )
    current = written_checkout(tmp_path / "current", {"conformance_tests/relu.https.any.js": text}, utils)
    for out, more, level in (("detected", [], "2025-03"), ("given", ["--level", "2026-01"], "2026-01")):
        result = invoke("--wpt", current, tmp_path / out, *more)
        assert result.exit_code == 0, result.output
        recorded = json.loads((tmp_path / out / "relu.json").read_text())
        assert recorded["level"] == level
        assert recorded["tests"][0]["graph"]["expectedOutputs"]["y"]["data"] == [0, 2]


@pytest.mark.usefixtures("in_this_process")
def test_an_interrupt_leaves_whole_files(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(path: Path, text: str) -> None:
        if path.name == "split.json":
            raise KeyboardInterrupt
        write_file(path, text)

    monkeypatch.setattr(WRITE_FILE, interrupt)
    result = invoke("--wpt", checkout, tmp_path, "--jobs", "1")
    assert result.exit_code == 130
    assert result.output == "webnn: interrupted, 1 file of 2 written\n"
    assert list(contents(tmp_path)) == ["relu.json"]


@pytest.mark.usefixtures("in_this_process")
def test_a_file_that_cannot_be_written(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WRITE_FILE, Mock(side_effect=OSError(28, "No space left on device")))
    result = invoke("--wpt", checkout, tmp_path, "split")
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert "No space left on device" in result.output


def test_without_the_engine(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Mock(side_effect=EngineMissingError("the engine is not installed"))
    monkeypatch.setattr("webnn.wpt_runner.commands.record.require_engine", missing)
    result = invoke("--wpt", checkout, tmp_path)
    assert (result.exit_code, result.output) == (2, "webnn: the engine is not installed\n")
