"""The processes and the command line of the suite, with page programs and packages that are made up."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support import PATIENCE
from tests.tools.evidence.ort_web_support import F32, make_package, make_test, output
from tests.webnn.javascript.node_support import require_node
from tools.evidence.ort_web import __main__ as program
from tools.evidence.ort_web import processes
from tools.evidence.ort_web.cases import Case, write
from tools.evidence.ort_web.verdicts import Known, Verdict, judge

pytestmark = pytest.mark.processes

# ---- Processes

#: A page program in Python: it does what the names of the tests say.
PROGRAM = """
import json, sys, time
cases = json.load(open(sys.argv[1] + sys.argv[2]))
def say(name, status, **rest): print(json.dumps({"name": name, "status": status, **rest}), flush=True)
for case in cases:
    name = case["name"]
    say(name, "begun")
    if "sleep" in name: time.sleep(3600)
    if "crash" in name: sys.exit("broken")
    say(name, "hang" if "hang" in name else "ran", outputs=[])
    if "hang" in name: sys.exit(0)
print(json.dumps({"status": "done"}))
"""


def run(folder: Path, names: Sequence[str], source: str = PROGRAM, **options: Any) -> list[tuple[str, str]]:
    path = folder / "program.py"
    path.write_text(source, encoding="utf-8")
    cases = write([make_test(name) for name in names], folder)
    reports: list[processes.Report] = []
    command = [sys.executable, str(path), str(folder), processes.LIST]
    processes.run(cases, folder, command, report=reports.append, **options)
    return sorted((report["name"], report["status"]) for report in reports)


@pytest.mark.parametrize("jobs", [1, 2])
def test_one_test_does_not_end_the_others(tmp_path: Path, jobs: int) -> None:
    names = ["a", "b-crash", "c", "d-hang", "e", "f-crash"]
    wanted = [("a", "ran"), ("b-crash", "crash"), ("c", "ran"), ("d-hang", "hang"), ("e", "ran"), ("f-crash", "crash")]
    assert run(tmp_path, names, jobs=jobs) == wanted


def hear_nothing_of(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Have the silence that is allowed be over soon after a test has begun; at any other time there is no hurry."""
    begun = False

    async def wait_for(awaited: Coroutine[Any, Any, Any], silence: float) -> Any:
        nonlocal begun
        heard = await asyncio.wait_for(awaited, silence if begun else PATIENCE)
        begun = isinstance(heard, bytes) and bool(heard) and json.loads(heard) == {"name": name, "status": "begun"}
        return heard

    monkeypatch.setattr(processes, "asyncio", SimpleNamespace(**{**vars(asyncio), "wait_for": wait_for}))


def test_what_says_nothing_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hear_nothing_of(monkeypatch, "b-sleep")
    assert run(tmp_path, ["a", "b-sleep", "c"], silence=0.1) == [("a", "ran"), ("b-sleep", "hang"), ("c", "ran")]


@pytest.mark.parametrize(
    ("source", "message"), [("import sys; sys.exit('no such package')", "no such package"), ("import sys; sys.exit(3)", "exit code 3")]
)
def test_what_never_begins_is_no_result(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(processes.NothingRanError, match=message):
        run(tmp_path, ["a"], source)


#: A package that does what the text of the model says, in WebNN.
PACKAGE = """
export const env = {wasm: {}};
export class Tensor { constructor(type, data, dims) { Object.assign(this, {type, data, dims}); } }
export class InferenceSession {
  outputNames = ['y'];
  static async create(bytes, {executionProviders: [provider]}) {
    const text = new TextDecoder().decode(bytes);
    if (text === 'fail') throw new Error('cannot be done');
    if (text === 'loop') for (;;);
    if (text === 'hang') {
      Promise.reject(new TypeError('build() was rejected'));
      await new Promise(() => {});
    }
    const summary = 'WebNNExecutionProvider::GetCapability, number of partitions supported by WebNN:';
    console.log(`[V:onnxruntime:, helper.cc:1 GetSupportedNodes] Operator type: [Loop] index: [0] name: [] supported: [0]`);
    console.log(`[V:onnxruntime:, helper.cc:1 GetSupportedNodes] Operator type: [Add] index: [1] name: [] supported: [1]`);
    console.log(`[I:onnxruntime:, p.cc:1 GetCapability] ${summary} 1 number of nodes in the graph: 2`);
    console.log(`[V:onnxruntime:, helper.cc:1 GetSupportedNodes] Operator type: [Loop] index: [0] name: [] supported: [0]`);
    console.log(`[V:onnxruntime:, helper.cc:1 GetSupportedNodes] Operator type: [WEBNN_1_2] index: [1] name: [] supported: [0]`);
    console.log(`[I:onnxruntime:, p.cc:1 GetCapability] ${summary} 0 number of nodes in the graph: 2`);
    console.log(`[V:onnxruntime:, x_op_builder.cc:7 IsOpSupported] Loop is too much`);
    return Object.assign(new InferenceSession(), {provider});
  }
  async run({x}) {
    const context = await navigator.ml.createContext({deviceType: 'cpu'}), descriptor = {dataType: 'float32', shape: x.dims};
    const builder = new MLGraphBuilder(context), input = builder.input('x', descriptor);
    const graph = await builder.build({y: builder.add(input, input)});
    const tensor = await context.createTensor({...descriptor, writable: true});
    const output = await context.createTensor({...descriptor, readable: true});
    context.writeTensor(tensor, x.data);
    context.dispatch(graph, {x: tensor}, {y: output});
    return {y: new Tensor('float32', new Float32Array(await context.readTensor(output)), x.dims)};
  }
  async release() {}
}
"""


def test_the_page_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_node()
    hear_nothing_of(monkeypatch, "loop")
    tests = [make_test(name, outputs=[F32 + F32]) for name in ("add", "fail", "hang", "loop", "again")]
    cases = write([*tests, make_test("measured", outputs=[F32 + F32], runs=2)], tmp_path)
    for case in cases:
        (tmp_path / case.model.lstrip("/")).write_text(case.name, encoding="utf-8")
    (tmp_path / "package.mjs").write_text(PACKAGE, encoding="utf-8")
    command = processes.command(
        tmp_path, provider="webnn", package="https://app.test/package.mjs", revision="2026-06", dialect="browsers-2026"
    )
    verdicts: dict[str, Verdict] = {}

    def note(report: processes.Report) -> None:
        case = next(each for each in cases if each.name == report["name"])
        verdicts[case.name] = judge(case, report, (tmp_path / case.data.lstrip("/")).read_bytes())

    processes.run(cases, tmp_path, command, report=note, silence=0.1)
    wanted = {"add": "ok", "fail": "error", "hang": "hang", "loop": "hang", "again": "ok", "measured": "ok"}
    assert {name: each.status for name, each in verdicts.items()} == wanted
    added = verdicts["add"]
    assert (list(added.claimed), list(added.left), list(added.remarks)) == (["Add"], ["Loop"], ["Loop is too much"])
    assert {name: added.calls[f"MLGraphBuilder.{name}"] for name in ("input", "add", "build")} == {"input": 1, "add": 1, "build": 1}
    assert verdicts["fail"].message == "cannot be done"
    assert verdicts["hang"].message == "create() is never settled after: build() was rejected"
    assert len(verdicts["measured"].runMs) == 2


# ---- The command line


def package_in(folder: Path) -> Path:
    files = {"dist/a.mjs": "import('ort-wasm.x.mjs')", "dist/ort-wasm.x.mjs": "webnn, ort-wasm.x.wasm", "dist/ort-wasm.x.wasm": ""}
    return make_package(folder, files, exports={"./all": "./dist/a.mjs"})


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a site with three tests and a model, which all come out as their names say."""

    def run(cases: Sequence[Case], site: Path, command: Sequence[str], *, jobs: int, report: Any) -> None:
        provider = "webnn" if "webnn" in command[-3] else "wasm"
        for case in cases:
            right = provider == "wasm" or "wrong" not in case.name
            given = output(F32 if right else F32 + 1)
            times = {"createMs": 3, "runMs": [1, 2, 3]} if case.runs > 1 else {}
            report({"name": case.name, "status": "ran", "outputs": [given], "claimed": ["Relu"], **times})

    monkeypatch.setattr(processes, "run", run)
    monkeypatch.setattr(program, "load_known", lambda: {"test_known_wrong": Known("wrong", "why")})
    place = tmp_path / "site"
    place.mkdir()
    write([make_test("test_relu"), make_test("test_known_wrong"), make_test("test_wrong"), make_test("model_cnn", runs=3)], place)
    (place / "skipped.json").write_text('{"a sequence": 25}', encoding="utf-8")
    return place


def test_the_command(site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--package", str(package_in(tmp_path)), "--site", str(site), "--json", str(tmp_path / "out.json")]
    assert program.main([*arguments, "--models", "--operators"]) == 1
    printed = capsys.readouterr().out
    assert "test_wrong: wrong, must be ok: y: 6 of 6 elements differ" in printed
    assert "test_known_wrong" not in printed
    assert "25 a sequence" in printed
    assert "onnxruntime-web 1.2.3: dist/a.mjs, dist/ort-wasm.x.mjs, dist/ort-wasm.x.wasm\n" in printed
    assert (site / "node_modules" / "onnxruntime-web" / "dist" / "ort-wasm.x.wasm").is_file()
    assert "model_cnn" in printed
    results = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert results["versions"]["onnxruntime-web"] == "1.2.3"
    assert [each["name"] for each in results["tests"]] == ["test_relu", "test_known_wrong", "test_wrong", "model_cnn"]


@pytest.mark.parametrize(("patterns", "code"), [(["test_relu"], 0), (["test_r*", "test_known*"], 0), (["test_w*"], 1), (["nothing"], 2)])
def test_patterns(site: Path, tmp_path: Path, patterns: list[str], code: int) -> None:
    assert program.main([*patterns, "--package", str(package_in(tmp_path)), "--site", str(site)]) == code


def test_a_test_that_is_known_and_is_not_there(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "load_known", lambda: {"test_gone": Known("wrong", "why")})
    assert program.main(["--package", str(package_in(tmp_path)), "--site", str(site)]) == 1
    assert "test_gone: is known, but there is no such test" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"), [(["--package", "nowhere"], "has no package.json"), (["--jobs", "0"], "--jobs must be at least 1, got 0")]
)
def test_a_wrong_call(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    package = [] if "--package" in arguments else ["--package", str(package_in(tmp_path))]
    with pytest.raises(SystemExit, match="2"):
        program.main([*arguments, *package])
    assert message in capsys.readouterr().err
