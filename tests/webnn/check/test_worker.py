"""The process of `webnn check`, here without a process: what it notes of programs, on every profile."""

from __future__ import annotations

import json
import sys
import textwrap
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.shared import ROOT, SHARED
from webnn.check import worker
from webnn.check.conclude import conclude
from webnn.check.events import Job, Kind, read_notes
from webnn.check.report import Graph, Refusal, Run, Verdict
from webnn.check.show import describe_refusal
from webnn.context.emulation import ambient
from webnn.context.profiles import PROFILES
from webnn.javascript.node import NodeMissingError, find_node
from webnn.processes.child import Exit
from webnn.wpt_runner.vectors.files import bundled_archives

COREML = ["coreml", "coreml-macos14"]
TFLITE = ["tflite-chromium147", "tflite-chromium153"]
SMALL_NPU = str(ROOT / "examples" / "profiles" / "small-npu.json")
Check = Callable[..., Run]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Return a function that runs a program, given as text or as a file, on a profile."""
    runs = 0

    def run(program: str | Path, profile: str | None = None, *arguments: str, kind: Kind = "python", **more: Any) -> Run:
        nonlocal runs
        runs += 1
        if isinstance(program, str):
            file = tmp_path / "program.py"
            file.write_text(PREAMBLE + textwrap.dedent(program), encoding="utf-8")
            program = file
        notes = tmp_path / f"notes-{runs}"
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", [])
            patch.setattr(sys, "path", [*sys.path])
            job = Job(program=str(program), kind=kind, arguments=arguments, profile=profile, notes=str(notes), **more)
            code = worker.run(job)
        return conclude(profile, read_notes(notes), Exit(code=code, output="", seconds=0), 1)

    return run


PREAMBLE = """\
import sys
import numpy as np
import webnn

def new_builder(**options):
    return webnn.MLGraphBuilder(webnn.ML(revision="2026-06", **options).createContextSync())

def new_input(builder, dataType, *shape, name="x"):
    return builder.input(name, dataType=dataType, shape=shape)

"""


def told(refusal: Refusal) -> tuple[str, str, str, str]:
    return refusal.operation, refusal.label, refusal.argument, refusal.given


# The examples, on every profile

EXAMPLES: dict[str, dict[str, tuple[str, str, str, str]]] = {
    "transformer_block": dict.fromkeys(COREML, ("input", "tokens", "descriptor", "int64")),
    "int8_graph": {
        **dict.fromkeys(COREML, ("input", "pixels", "descriptor", "uint8")),
        **dict.fromkeys(TFLITE, ("maxPool2d", "pool", "input", "int8")),
    },
    "add_and_multiply": {},
    "activations_and_gru": {},
}


#: For what takes long: one profile of each browser's backend by day, the others at night.
BY_DAY = {"coreml", "dml", "ort", "tflite-chromium153"}
SOME_PROFILES = [profile if profile in BY_DAY else pytest.param(profile, marks=pytest.mark.slow) for profile in PROFILES]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("example", EXAMPLES)
def test_examples(check: Check, example: str, profile: str) -> None:
    run = check(ROOT / "examples" / f"{example}.py", profile)
    expected = EXAMPLES[example].get(profile)
    if expected is None:
        assert (run.verdict, run.refusals, run.error) == (Verdict.BUILDS, (), "")
        assert {graph.profile for graph in run.graphs} == {profile}
    else:
        assert run.verdict is Verdict.REFUSED
        assert run.fatal is not None
        assert told(run.refusals[run.fatal]) == expected
        assert run.error.startswith("WebNNTypeError: ")


@pytest.mark.shared
@pytest.mark.parametrize("profile", SOME_PROFILES)
def test_squeezenet(check: Check, profile: str) -> None:
    run = check(ROOT / "examples" / "squeezenet.py", profile, "--models", str(SHARED / "models"))
    assert (run.verdict, run.refusals, run.error) == (Verdict.BUILDS, (), "")
    assert [(graph.name, graph.operators) for graph in run.graphs] == [("output", 66)]


# Small programs, each on every profile: those that refuse it, and what; and what the advice makes of it.

PROGRAMS: dict[str, tuple[str, str, dict[str, tuple[str, str, str, str]]]] = {
    "a rank": (
        "b.softmax(new_input(b, 'float32', 1, 2, 2, 2, 2, 2, 1), 1, label='last')",
        "b.softmax(b.reshape(new_input(b, 'float32', 2, 4, 2), [2, 4, 1, 2]), 1, label='last')",
        {
            **dict.fromkeys(COREML, ("input", "x", "descriptor", "7-D [1, 2, 2, 2, 2, 2, 1]")),
            **dict.fromkeys(TFLITE, ("softmax", "last", "input", "7-D [1, 2, 2, 2, 2, 2, 1]")),
        },
    ),
    "the type of an output": (
        "b.cast(b.argMax(new_input(b, 'float32', 2, 2), 1, outputDataType='int64'), 'int32')",
        "b.argMax(new_input(b, 'float32', 2, 2), 1, outputDataType='int32')",
        dict.fromkeys(COREML, ("argMax", "", "options.outputDataType", "int64")),
    ),
    "the type of a constant": (
        "b.gather(new_input(b, 'float32', 3), b.constant('int64', 1))",
        "b.gather(new_input(b, 'float32', 3), b.constant('int32', 1))",
        dict.fromkeys(COREML, ("constant", "", "dataType", "int64")),
    ),
    "an output of the graph": (
        "b.isNaN(new_input(b, 'float32', 2))",
        "b.cast(b.isNaN(new_input(b, 'float32', 2)), 'int32')",
        dict.fromkeys(COREML, ("build", "", "outputs['y']", "uint8")),
    ),
    "a pool of small integers": (
        "b.cast(b.maxPool2d(b.cast(new_input(b, 'float32', 1, 1, 4, 4), 'int8'), windowDimensions=[2, 2]), 'float32')",
        "b.cast(b.maxPool2d(b.cast(b.cast(new_input(b, 'float32', 1, 1, 4, 4), 'int8'), 'float16'), windowDimensions=[2, 2]), 'float32')",
        dict.fromkeys((*COREML, *TFLITE), ("maxPool2d", "", "input", "int8")),
    ),
    "a type that old DirectML does not multiply": (
        "b.mul(*[new_input(b, 'int64', 2)] * 2)",
        "b.mul(*[new_input(b, 'int32', 2)] * 2)",
        {
            **dict.fromkeys(COREML, ("input", "x", "descriptor", "int64")),
            "dml-fl4_0": ("mul", "", "a", "int64"),
        },
    ),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(check: Check, program: str) -> None:
    asked, advised, expected = PROGRAMS[program]
    found = {}
    for profile in PROFILES:
        run = check(f"b = new_builder()\nb.buildSync({{'y': {asked}}})", profile)
        if run.fatal is None:
            assert run.verdict is Verdict.BUILDS
        else:
            assert run.verdict is Verdict.REFUSED
            found[profile] = told(run.refusals[run.fatal])
            assert run.refusals[run.fatal].change is not None
        assert check(f"b = new_builder()\nb.buildSync({{'y': {advised}}})", profile).verdict is Verdict.BUILDS
    assert found == expected


# Programs

#: Builds on "coreml" only if it finds another way.
TRY = """
    def build(dataType):
        b = new_builder()
        x = new_input(b, dataType, 2)
        return b.buildSync({"y": b.mul(x, x)})
"""
BEHAVIOURS: list[tuple[str, Verdict, int, str]] = [
    # the program, its verdict on "coreml", how many graphs it builds, the error that it ends with
    ("build('int32')", Verdict.BUILDS, 1, ""),
    ("build('int64')", Verdict.REFUSED, 0, "WebNNTypeError: [x] input: descriptor must have a data type"),
    ("build('int32')\nbuild('int64')", Verdict.REFUSED, 1, "WebNNTypeError: [x] input: descriptor must"),
    (
        """
        for dataType in ("int64", "uint8", "int32"):
            try:
                build(dataType)
                break
            except TypeError:
                pass
        """,
        Verdict.BUILDS_DIFFERENTLY,
        1,
        "",
    ),
    (
        """
        limits = webnn.ML(revision="2026-06").createContextSync().opSupportLimits()
        build("int64" if "int64" in limits["input"]["dataTypes"] else "int32")
        """,
        Verdict.BUILDS,
        1,
        "",
    ),
    ("try:\n    build('int64')\nexcept TypeError:\n    print('no')", Verdict.REFUSED, 0, ""),
    ("try:\n    build('int64')\nexcept TypeError:\n    sys.exit('no')", Verdict.REFUSED, 0, "the program ended with exit code 1"),
    ("try:\n    build('int64')\nexcept TypeError as e:\n    raise ValueError('own') from e", Verdict.REFUSED, 0, "ValueError: own"),
    ("try:\n    build('int64')\nexcept TypeError:\n    raise ValueError('own')", Verdict.REFUSED, 0, "ValueError: own"),
    ("try:\n    build('int64')\nexcept TypeError:\n    pass\nraise ValueError('own')", Verdict.ERROR, 0, "ValueError: own"),
    ("build('int32')\nraise ValueError", Verdict.ERROR, 1, "ValueError"),
    ("build('int32')\nraise KeyboardInterrupt", Verdict.ERROR, 1, "KeyboardInterrupt"),
    ("build('int32')\nraise ValueError('\\n\\nfirst\\nsecond \\x1b')", Verdict.ERROR, 1, "ValueError: first"),
    ("build('int32')\nsys.exit()", Verdict.BUILDS, 1, ""),
    ("build('int32')\nsys.exit(0)", Verdict.BUILDS, 1, ""),
    ("build('int32')\nsys.exit(3)", Verdict.ERROR, 1, "the program ended with exit code 3"),
    ("pass", Verdict.NO_GRAPH, 0, ""),
    ("new_builder()", Verdict.NO_GRAPH, 0, ""),
    # Beside the profile's types and ranks: its size, and a fault of the program.
    (
        "b = new_builder()\nnew_input(b, 'float32', 2**30)",
        Verdict.ERROR,
        0,
        "WebNNTypeError: input: descriptor must have at most 2147483647 bytes on the device profile",
    ),
    ("b = new_builder()\nb.relu(1)", Verdict.ERROR, 0, "WebNNTypeError: relu: input must be an MLOperand, got 1"),
    # `navigator.ml`, promises, and threads.
    ("context = webnn.navigator.ml.createContextSync()\nwebnn.MLGraphBuilder(context).constant('int64', 1)", Verdict.REFUSED, 0, "WebNN"),
    (
        """
        import asyncio

        async def main():
            ml = webnn.ML(revision="2026-06")
            b = webnn.MLGraphBuilder(await ml.createContext())
            await b.build({"y": b.relu(new_input(b, "float32", 2))})

        asyncio.run(main())
        """,
        Verdict.BUILDS,
        1,
        "",
    ),
    ("import threading\nthreading.Timer(0.05, build, ['int32']).start()", Verdict.BUILDS, 1, ""),
]


@pytest.mark.parametrize(("program", "verdict", "graphs", "error"), BEHAVIOURS)
def test_behaviours(check: Check, program: str, verdict: Verdict, graphs: int, error: str) -> None:
    text = textwrap.dedent(TRY) + textwrap.dedent(program)
    run = check(text, "coreml")
    assert (run.verdict, len(run.graphs)) == (verdict, graphs)
    assert run.error.startswith(error)
    assert bool(run.error) is bool(error)


def test_no_profile(check: Check) -> None:
    run = check(textwrap.dedent(TRY) + "build('int64')")
    assert (run.verdict, run.profile) == (Verdict.BUILDS, None)
    assert [(graph.name, graph.profile, graph.operators, graph.fallbacks) for graph in run.graphs] == [("y", None, 1, ())]


def test_nothing_is_left_behind(check: Check) -> None:
    assert check("raise ValueError", "coreml").verdict is Verdict.ERROR
    assert ambient().profile is None


def test_what_a_program_finds(check: Check, tmp_path: Path) -> None:
    (tmp_path / "check_beside.py").write_text("NAME = 'beside'", encoding="utf-8")
    program = """
        import check_beside

        assert sys.argv[1:] == ["a", "--b"]
        assert sys.argv[0] == __file__
        assert __name__ == "__main__"
        b = new_builder()
        b.buildSync({check_beside.NAME: b.relu(new_input(b, "float32", 2))})
        """
    run = check(program, None, "a", "--b")
    assert (run.error, [graph.name for graph in run.graphs]) == ("", ["beside"])


def test_names_of_graphs(check: Check) -> None:
    program = """
        def build(*names):
            b = new_builder()
            x = new_input(b, "float32", 2)
            b.buildSync({name: b.relu(x) for name in names})

        build("a", "b")
        build("a", "b")
        build("c" * 100)
        build("\\ud800\\x1b")
        """
    run = check(program, "coreml")
    assert [graph.name for graph in run.graphs] == ["a, b", "a, b #2", "c" * 60 + "...", "\ufffd\x1b"]
    assert [graph.semantics for graph in run.graphs] == [()] * 4


def test_semantics_of_graphs(check: Check) -> None:
    program = """
        b = new_builder()
        x = new_input(b, "float32", 2)
        b.buildSync({"y": b.cast(b.clamp(x, minValue=0), "int32")})
        """
    found = {profile: [graph.semantics for graph in check(program, profile).graphs] for profile in ("tflite", "coreml", "ort")}
    assert found == {"tflite": [("castNaN=largest", "clampNaN=ignore")], "coreml": [("clampNaN=maxValue",)], "ort": [()]}


def test_a_name_with_a_surrogate(check: Check) -> None:
    [refusal] = check("b = new_builder()\nb.input('\\ud800', dataType='int64', shape=[])", "coreml").refusals
    assert refusal.label == "\ufffd"


def test_a_program_with_its_own_profile(check: Check) -> None:
    run = check("b = new_builder(profile='ort')\nb.buildSync({'y': b.relu(new_input(b, 'int64', 2))})", "coreml")
    assert (run.verdict, run.graphs[0].profile) == (Verdict.BUILDS, "ort")
    assert run.notes == ('the program chooses the profile "ort" itself, and that one applies',)


# Everything that is refused


def test_everything(check: Check) -> None:
    program = """
        b = new_builder()
        x = new_input(b, "int64", 2, name="ids")
        for _ in range(3):
            x = b.max(x, x)
        y = b.mul(x, x, label="square")
        b.buildSync({"y": y})
        """
    run = check(program, "coreml", go_on=True)
    assert (run.verdict, len(run.graphs), run.error) == (Verdict.BUILDS_DIFFERENTLY, 1, "")
    # The output of an operation has the fault of its operands: that is told once. Both operands are told.
    assert [(*told(each), each.count) for each in run.refusals] == [
        ("input", "ids", "descriptor", "int64", 1),
        ("max", "", "a", "int64", 3),
        ("max", "", "b", "int64", 3),
        ("mul", "square", "a", "int64", 1),
        ("mul", "square", "b", "int64", 1),
        ("build", "", "outputs['y']", "int64", 1),
    ]


# Placement

WIDE = """
    b = new_builder()
    x = new_input(b, "float32", 2, 3)
    b.buildSync({"y": b.relu(b.gelu(b.matmul(x, b.reshape(x, [3, 2])), label="in the middle"))})
"""


@pytest.mark.parametrize(
    ("device", "requested", "devices", "partitions", "transferred", "fallbacks"),
    [
        ("npu", "npu", ("npu", "cpu"), 3, 24 + 16 + 16 + 16, [("gelu", "in the middle", "cpu")]),
        (
            "gpu",
            "gpu",
            ("cpu",),
            1,
            0,
            [(name, "in the middle" * (name == "gelu"), "cpu") for name in ("reshape", "matmul", "gelu", "relu")],
        ),
        ("cpu", "cpu", ("cpu",), 1, 0, []),
    ],
)
def test_placement(
    check: Check, device: str, requested: str, devices: tuple[str, ...], partitions: int, transferred: int, fallbacks: list[tuple[str, ...]]
) -> None:
    [graph] = check(WIDE, SMALL_NPU, device=device).graphs
    assert (graph.requested, set(graph.devices), graph.operators) == (requested, set(devices), 4)
    assert (graph.partitions, graph.transferred_bytes) == (partitions, transferred)
    assert [(each.operation, each.label, each.device) for each in graph.fallbacks] == fallbacks
    assert all(each.reason for each in graph.fallbacks)


# A file of cases


def recorded(tmp_path: Path, *dataTypes: str, operation: str = "neg") -> Path:
    """Write a file of cases: each computes with one data type."""
    tests = []
    for number, dataType in enumerate(dataTypes):
        tensor = {"data": [1, 2], "descriptor": {"shape": [2], "dataType": dataType}}
        operator = {"name": operation, "arguments": [{"operand": "x"}], "outputs": ["y"]}
        graph = {"inputs": {"x": tensor}, "operators": [operator], "expectedOutputs": {"y": tensor}}
        tests.append({"name": f"{dataType} {number}", "tolerance": {"metricType": "ULP", "value": 0}, "graph": graph})
    file = tmp_path / "cases.json"
    file.write_text(json.dumps({"level": "2025-03", "tests": tests}), encoding="utf-8")
    return file


def test_cases(check: Check, tmp_path: Path) -> None:
    file = recorded(tmp_path, "float32", "int64", "int8", "float16")
    without = check(file, kind="cases")
    assert (without.verdict, [graph.name for graph in without.graphs]) == (Verdict.BUILDS, ["float32 0", "int64 1", "int8 2", "float16 3"])
    run = check(file, "coreml", kind="cases")
    # One that is refused does not keep the others from being built.
    assert (run.verdict, [graph.name for graph in run.graphs]) == (Verdict.REFUSED, ["float32 0", "float16 3"])
    assert [(*told(each), each.graph) for each in run.refusals] == [
        ("input", "x", "descriptor", "int64", "int64 1"),
        ("input", "x", "descriptor", "int8", "int8 2"),
    ]
    assert (run.fatal, run.error.partition(": ")[0]) == (0, "int64 1")


def test_a_case_that_is_wrong(check: Check, tmp_path: Path) -> None:
    run = check(recorded(tmp_path, "float32", operation="nag"), kind="cases")
    assert (run.verdict, run.error) == (
        Verdict.ERROR,
        "float32 0: CaseError: graph.operators[0].name: the draft has no operation 'nag'; did you mean neg?",
    )


def test_recorded_cases(check: Check, tmp_path: Path) -> None:
    counts = {}
    for name in ("softmax", "gather", "cast"):
        with zipfile.ZipFile(bundled_archives()[-1]) as archive:
            file = Path(archive.extract(f"{name}.json", tmp_path))
        every = check(file, kind="cases")
        assert every.verdict is Verdict.BUILDS, every.error
        counts[name] = (len(every.graphs), len(check(file, "coreml", kind="cases").graphs))
    assert all(0 < on_coreml <= every for every, on_coreml in counts.values())
    assert any(on_coreml < every for every, on_coreml in counts.values()), counts


# A program in JavaScript


@pytest.fixture
def page(tmp_path: Path) -> Path:
    try:
        find_node()
    except NodeMissingError as missing:
        pytest.skip(str(missing))
    file = tmp_path / "program.mjs"
    file.write_text(
        """
        const builder = new MLGraphBuilder(await navigator.ml.createContext());
        const x = builder.input("x", {dataType: process.argv[2], shape: [2]});
        await builder.build({y: builder.identity(x)});
        """,
        encoding="utf-8",
    )
    return file


@pytest.mark.processes
def test_javascript(check: Check, page: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    kind: Kind = "javascript"
    assert check(page, "coreml", "float32", kind=kind).verdict is Verdict.BUILDS
    run = check(page, "coreml", "int64", kind=kind)
    assert (run.verdict, run.fatal, run.error) == (Verdict.REFUSED, 0, "the program ended with exit code 1")
    assert told(run.refusals[0]) == ("input", "x", "descriptor", "int64")
    assert check(page, None, "int64", kind=kind).graphs[0] == Graph(
        name="y", profile=None, requested="cpu", operators=1, devices=("cpu",), partitions=1
    )


BUILDING = """
builder = new_builder()
rows, columns = new_input(builder, "float32", 4, 4), new_input(builder, "int32", 4, 4, name="columns")
picked = builder.gatherElements(rows, columns, label="pick")
builder.buildSync({"y": builder.pad(picked, [1, 1], [1, 1], mode="edge", label="grow")})
"""


def test_what_only_a_build_refuses(check: Check, tmp_path: Path) -> None:
    rules = {
        "gatherElements": [{"must": {"indices": {"constant": True}}}],
        "pad": [{"must": {"mode": {"equals": "constant"}}, "error": "UnknownError", "change": "pad with zeros"}],
    }
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"_extends": "ort", "_build": rules}), encoding="utf-8")
    run = check(BUILDING, str(file))
    assert (run.verdict, run.fatal, [told(each) for each in run.refusals]) == (
        Verdict.REFUSED,
        0,
        [("gatherElements", "pick", "indices", "an input")],
    )
    everything = check(BUILDING, str(file), go_on=True)
    assert everything.verdict is Verdict.BUILDS_DIFFERENTLY
    assert [(describe_refusal(each), each.change and each.change.text) for each in everything.refusals] == [
        (
            "gatherElements [pick]: indices must be a constant, got an input",
            "make indices a constant: compute its values before the graph is built",
        ),
        ("pad [grow]: options.mode must be 'constant', got 'edge'", "pad with zeros"),
    ]
