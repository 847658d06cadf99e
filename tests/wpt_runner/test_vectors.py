"""The conformance cases of web-platform-tests, and what replays them."""

from __future__ import annotations

import functools
import json
import math
import re
import struct
import tracemalloc
import zipfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.shared import ROOT
from tests.support import make_context
from tests.wpt_runner.recorded import EveryAdapter
from webnn.context.devices.selection import CPU, QNN, WEBGPU, Device
from webnn.javascript.idl import load_idl
from webnn.reference.wpt_tolerances import distance
from webnn.wpt_runner.expectations import bundled
from webnn.wpt_runner.expectations.reading import find_provider_file
from webnn.wpt_runner.levels import LEVELS, level_of
from webnn.wpt_runner.vectors.batch import Group, choose, choose_levels, default_jobs, expect, find_stale, group_cases, sample
from webnn.wpt_runner.vectors.cases import Case, Outcome, Status, load_cases
from webnn.wpt_runner.vectors.comparison import Difference
from webnn.wpt_runner.vectors.corrections import (
    Correction,
    Fault,
    check_corrections,
    load_corrections,
    load_faults,
    read_corrections,
)
from webnn.wpt_runner.vectors.files import bundled_archives, find_sources
from webnn.wpt_runner.vectors.graphs import read_graph
from webnn.wpt_runner.vectors.replay import compute, run_case

LEVEL, NEWEST = "2024-06", "2025-03"
HERE = Device(provider=CPU, type="cpu")
COUNTS = {LEVEL: 958, NEWEST: 1728}
#: Cases of many millions of elements, which take as long as a thousand others. They are for the night.
LARGE = {"add float32 large inputs"}


def by_file() -> dict[tuple[str, str], list[Case]]:
    """Return the cases that the package holds, by level and file."""
    cases: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in load_cases(bundled_archives()):
        cases[case.level, case.file].append(case)
    return cases


CASES = by_file()


def context_of(level: str) -> webnn.MLContext:
    found = level_of(level)
    return make_context(load_idl(found.revision, found.dialect).revision)


@functools.cache
def corrections_of(level: str) -> Mapping[str, Correction]:
    return load_corrections(level)


@pytest.mark.parametrize("level", COUNTS)
def test_count(level: str) -> None:
    assert sum(len(cases) for key, cases in CASES.items() if key[0] == level) == COUNTS[level]


def test_the_archives_are_the_levels() -> None:
    assert [path.stem for path in bundled_archives()] == [level.name for level in LEVELS] == list(COUNTS)
    assert {level for level, _ in CASES} == set(COUNTS)


def check_conformance(level: str, cases: list[Case]) -> None:
    context, corrections = context_of(level), corrections_of(level)
    outcomes = [run_case(case, context, corrections.get(case.name)) for case in cases]
    assert [f"{outcome.case.name}: {outcome.failure}" for outcome in outcomes if outcome.failure] == []
    names = {case.name for case in cases}
    assert check_corrections({name: each for name, each in corrections.items() if name in names}, outcomes) == []


@pytest.mark.parametrize(("level", "file"), sorted(CASES), ids=["-".join(key) for key in sorted(CASES)])
def test_conformance(level: str, file: str) -> None:
    check_conformance(level, [case for case in CASES[level, file] if case.name not in LARGE])


@pytest.mark.slow
@pytest.mark.parametrize("level", COUNTS)
def test_conformance_of_large_tensors(level: str) -> None:
    cases = [case for key, cases in CASES.items() for case in cases if key[0] == level and case.name in LARGE]
    assert {case.name for case in cases} == LARGE
    check_conformance(level, cases)


#: By day every fourth case of a file is described, at night all.
STEPS = [pytest.param(4, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("level", "file"), sorted(CASES), ids=["-".join(key) for key in sorted(CASES)])
def test_graphs_are_described_and_built_again(level: str, file: str, step: int) -> None:
    """The description agrees with the file, and makes the same graph, with the same results."""
    context, corrections = context_of(level), corrections_of(level)
    for number, case in enumerate(CASES[level, file][::step]):
        recorded = read_graph(case)
        correction = corrections.get(case.name)
        if correction is not None and correction.error:
            with pytest.raises(webnn.WebNNTypeError, match=re.escape(correction.error)):
                recorded.graph.build(webnn.MLGraphBuilder(context))
            continue
        described = webnn.describe(recorded.graph.build(webnn.MLGraphBuilder(context)), name=case.name)
        needed = recorded.graph.select(recorded.expected)
        assert unnamed(described) == unnamed(needed)
        assert {*described.inputs.items()} == {*needed.inputs.items()}
        assert webnn.describe(described.build(webnn.MLGraphBuilder(context)), name=case.name) == described
        if number == 0:
            # Each computation takes its inputs away.
            once, twice = compute(recorded, context), compute(replace(read_graph(case), graph=described), context)
            assert {name: array.tobytes() for name, array in once.items()} == {name: array.tobytes() for name, array in twice.items()}


def unnamed(graph: webnn.GraphDescription) -> list[object]:
    """Return the operators without the names of values, with constants in their place."""
    operators: list[object] = []
    for operator in graph.operators:
        constants = {argument: graph.constants.get(value) for argument, _, value in operator.named_values()}
        operators.append((replace(operator, inputs={}, operands={}, outputs=()), constants))
    return operators


@pytest.mark.parametrize("level", COUNTS)
def test_corrections_name_cases(level: str) -> None:
    names = {case.name for key, cases in CASES.items() for case in cases if key[0] == level}
    assert set(load_corrections(level)) <= names


# Cases of our own.

FLOATS = {"shape": [2], "dataType": "float32"}


def record(expected: Any, tolerance: float = 0, metric: str = "ULP", name: str = "neg") -> dict[str, Any]:
    """Return a case as a file holds it: the negation of 1 and 2."""
    graph = {
        "inputs": {"x": {"data": [1.0, 2.0], "descriptor": dict(FLOATS)}},
        "operators": [{"name": "neg", "arguments": [{"operand": "x"}], "options": {}, "outputs": ["y"]}],
        "expectedOutputs": {"y": {"data": expected, "descriptor": dict(FLOATS)}},
    }
    return {"name": name, "tolerance": {"metricType": metric, "value": tolerance}, "graph": graph}


def case(expected: Any, tolerance: float = 0, metric: str = "ULP", name: str = "neg") -> Case:
    graph = record(expected)["graph"]
    return Case(name=name, file="unary", level=LEVEL, metric=metric, tolerance=tolerance, graph=graph)


def tensor(data: Any, dataType: str = "float32", shape: list[int] | None = None) -> dict[str, Any]:
    return {"data": data, "descriptor": {"shape": [len(data)] if shape is None else shape, "dataType": dataType}}


def test_a_case_passes() -> None:
    assert run_case(case([-1, -2]), make_context()) == Outcome(case=case([-1, -2]))


def test_a_case_fails() -> None:
    outcome = run_case(case([-1, -2.0000002], tolerance=0), make_context())
    assert (outcome.status, outcome.passed, outcome.worst) == (Status.FAILED, False, 1)
    assert outcome.failure == "y[1] is -2.0, expected -2.0000002: 1 ULP, allowed 0 (1 of 2 elements differ)"
    expected = float(np.float32(-2.0000002))
    assert outcome.difference == Difference(output="y", index=1, actual=-2.0, expected=expected, distance=1, wrong=1, compared=2)


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ([-1, "NaN"], "y[1] is -2.0, expected nan: inf ULP"),
        ([2, 2], "y[0] is -1.0, expected 2.0: 2139095040 ULP, allowed 0 (2 of 2 elements differ)"),
        (-2, "y[0] is -1.0, expected -2.0: 8388608 ULP, allowed 0 (1 of 2 elements differ)"),
        ([-1, {"$bigint": "-3"}], "y[1] is -2.0, expected -3.0"),
    ],
)
def test_what_differs(expected: Any, message: str) -> None:
    assert message in run_case(case(expected), make_context()).failure


def test_the_expectation_is_not_rounded_for_an_absolute_tolerance() -> None:
    """Half a unit in the last place counts, as in the original."""
    near = -1 - 2**-25
    assert run_case(case([near, -2], tolerance=2**-26, metric="ATOL"), make_context()).worst == 2**-25
    assert run_case(case([near, -2], tolerance=0), make_context()).passed


def test_the_type_and_shape_must_match() -> None:
    wrong = case([-1, -2])
    wrong.graph["expectedOutputs"]["y"]["descriptor"]["shape"] = [2, 1]
    outcome = run_case(wrong, make_context())
    assert (outcome.status, outcome.worst) == (Status.FAILED, None)
    assert outcome.failure == "y is float32 [2], expected float32 [2, 1]"


def test_a_fill_compares_a_thousand_elements() -> None:
    filled = case(-1)
    filled.graph["inputs"]["x"] = tensor([1.0] * 1000 + [5.0])
    filled.graph["expectedOutputs"]["y"]["descriptor"]["shape"] = [1001]
    assert run_case(filled, make_context()).passed
    filled.graph["inputs"]["x"]["data"][999] = 5.0
    assert "y[999] is -5.0, expected -1.0" in run_case(filled, make_context()).failure


@pytest.mark.parametrize(
    ("dataType", "data"),
    [
        ("int64", [{"$bigint": str(2**63 - 1)}, {"$bigint": str(-(2**63))}, 5]),
        ("uint64", [{"$bigint": str(2**64 - 1)}, 0, 1.0]),
        ("float16", ["NaN", "-Infinity", "-0", 65504, 1e9]),
        ("float32", ["Infinity", 1e300, 0.1]),
        ("uint8", [0, 255]),
    ],
)
@pytest.mark.parametrize("constant", [False, True])
def test_numbers_arrive(dataType: str, data: list[Any], constant: bool) -> None:
    same = case(0)
    operators = [{"name": "reshape", "arguments": [{"operand": "x"}, [len(data), 1]], "outputs": ["y"]}]
    inputs = {"x": {**tensor(data, dataType), "constant": constant}, "unused": tensor([1, 2])}
    same = replace(same, graph={"inputs": inputs, "operators": operators, "expectedOutputs": {"y": tensor(data, dataType, [len(data), 1])}})
    assert run_case(same, make_context()).failure == ""
    same.graph["expectedOutputs"]["y"]["data"] = [*data[:-1], 7]
    assert f"y[{len(data) - 1}] is " in run_case(same, make_context()).failure


def test_options_and_several_outputs() -> None:
    operators = [
        {"name": "split", "arguments": [{"operand": "x"}, 2], "options": {"axis": 0}, "outputs": ["a", "b"]},
        {"name": "clamp", "arguments": [{"operand": "a"}], "options": {"minValue": "-0", "maxValue": 1}, "outputs": ["c"]},
        {"name": "concat", "arguments": [[{"operand": "c"}, {"operand": "b"}], 0], "options": None, "outputs": ["d"]},
    ]
    outputs = {"b": tensor([3, 4]), "d": tensor([1, 1, 3, 4])}
    several = replace(case(0), graph={"inputs": {"x": tensor([1, 2, 3, 4])}, "operators": operators, "expectedOutputs": outputs})
    assert several.operations == ["split", "clamp", "concat"]
    assert run_case(several, make_context()).failure == ""


# Faults in a file, and their messages.

OPERATOR = ("graph", "operators", 0)
INPUT = ("graph", "inputs", "x")
DELETED = object()
NUMBER = "must be a number, 'NaN', 'Infinity', '-Infinity', '-0' or {'$bigint': DIGITS}, got "

FAULTS: list[tuple[tuple[str | int, ...], Any, str]] = [
    (("name",), DELETED, "name: field required"),
    (("name",), 5, "name: input should be a valid string, got 5"),
    (("tolerance",), DELETED, "tolerance: field required"),
    (("tolerance", "value"), "1", "tolerance.value: input should be a valid number, got '1'"),
    (("tolerance", "value"), math.nan, "tolerance.value: input should be a finite number, got nan"),
    (("tolerance", "value"), -1, "tolerance.value: input should be greater than or equal to 0, got -1"),
    (("tolerance", "metricType"), "MSE", "tolerance.metricType: input should be 'ULP' or 'ATOL', got 'MSE'"),
    (("graph",), 3, "graph: input should be a valid dictionary, got 3"),
    (("graph", "operators"), DELETED, "graph.operators: field required"),
    (("graph", "operators"), {"a": 1}, "graph.operators: input should be a valid list, got {'a': 1}"),
    (("graph", "operators"), [], "graph.expectedOutputs.y: no operator returns it"),
    (("graph", "expectedOutputs"), {}, "graph.expectedOutputs: dictionary should have at least 1 item"),
    ((*OPERATOR,), 7, "graph.operators[0]: must be an object, got 7"),
    ((*OPERATOR, "name"), "frobnicate", "graph.operators[0].name: the draft has no operation 'frobnicate'"),
    ((*OPERATOR, "name"), "__init__", "the draft has no operation '__init__'"),
    ((*OPERATOR, "name"), "buildSync", "the draft has no operation 'buildSync'"),
    ((*OPERATOR, "option"), {"axis": 1}, "graph.operators[0].option: extra inputs are not permitted"),
    ((*OPERATOR, "arguments"), [[{"operand": "z"}]], "graph.operators[0].arguments[0][0]: there is no operand 'z' yet"),
    ((*OPERATOR, "arguments"), [{"operand": 1}], "arguments[0]: must be {'operand': NAME} or {'$bigint': DIGITS}, got {'operand': 1}"),
    ((*OPERATOR, "options"), {"label": [{"a": 1}]}, "graph.operators[0].options.label[0]: must be {'operand': NAME}"),
    ((*OPERATOR, "outputs"), ["y", "z"], "graph.operators[0].outputs: must name 1 results of neg, got ['y', 'z']"),
    ((*OPERATOR, "outputs"), ["x"], "graph.operators[0].outputs: there is an operand 'x' already"),
    ((*OPERATOR, "outputs"), [], "graph.operators[0].outputs: list should have at least 1 item"),
    ((*INPUT, "data"), [1], "graph.inputs.x.data: must be 2 numbers for the shape [2], got 1"),
    ((*INPUT, "data"), [1, "one"], f"graph.inputs.x.data[1]: {NUMBER}'one'"),
    ((*INPUT, "data"), [True, 1], f"graph.inputs.x.data[0]: {NUMBER}True"),
    ((*INPUT, "data"), None, f"graph.inputs.x.data[0]: {NUMBER}None"),
    ((*INPUT, "data"), [1, {"$bigint": "0x10"}], f"graph.inputs.x.data[1]: {NUMBER}{{'$bigint': '0x10'}}"),
    ((*INPUT, "data"), [1, 10**400], "graph.inputs.x.data: a number is too large for a double"),
    ((*INPUT,), tensor([1, 300], "uint8"), "graph.inputs.x.data[1]: must be an integer from 0 to 255, got 300"),
    ((*INPUT,), tensor([0.5, 1], "int32"), "graph.inputs.x.data[0]: must be an integer from -2147483648 to 2147483647, got 0.5"),
    ((*INPUT,), tensor(["NaN"], "int8"), "graph.inputs.x.data[0]: must be an integer from -128 to 127, got nan"),
    ((*INPUT,), tensor([1], "int2"), "graph.inputs.x.descriptor.dataType: input should be 'float32', 'float16', "),
    ((*INPUT,), tensor(1, shape=[10**6, 10**6]), "descriptor: float32 [1000000, 1000000] is too large, a tensor may take 1024 MiB"),
    ((*INPUT,), tensor(1, shape=[-1]), "graph.inputs.x.descriptor.shape[0]: input should be greater than or equal to 0, got -1"),
    ((*INPUT,), tensor(1, shape=[1] * 99), "graph.inputs.x.descriptor.shape: list should have at most 32 items"),
    (("graph", "expectedOutputs", "y", "data"), [1], "graph.expectedOutputs.y.data: must be 2 numbers for the shape [2], got 1"),
    (("graph", "expectedOutputs", "y", "data"), ["?", 1], f"data[0]: {NUMBER}'?'"),
    ((*OPERATOR, "arguments"), json.loads("[" * 60 + "]" * 60), "must not be nested deeper than 50 levels"),
    (("graph",), {1: 2}, "graph.inputs: field required (and 3 more)"),
]
#: Cases that the API itself refuses.
REFUSED: list[tuple[tuple[str | int, ...], Any, str]] = [
    ((*OPERATOR, "name"), "logicalNot", "logicalNot: a must have a data type of ['uint8']"),
    ((*OPERATOR, "arguments"), [{"operand": "x"}] * 7, "TypeError: "),
    ((*INPUT,), tensor([], shape=[0]), "WebNNTypeError: input: descriptor must have dimensions from 1"),
]


def change(value: Any, path: tuple[str | int, ...], new: Any) -> None:
    for key in path[:-1]:
        value = value[key]
    if new is DELETED:
        del value[path[-1]]
    else:
        value[path[-1]] = new


def write(path: Path, *tests: Any, level: str = LEVEL) -> Path:
    path.write_text(json.dumps({"source": "here", "level": level, "tests": tests}), encoding="utf-8")
    return path


@pytest.mark.parametrize(("path", "new", "message"), [*FAULTS, *REFUSED])
def test_a_fault_is_the_failure_of_its_case(path: tuple[str | int, ...], new: Any, message: str, tmp_path: Path) -> None:
    broken = record([-1, -2])
    change(broken, path, new)
    first, second = load_cases([write(tmp_path / "some.json", broken, record([-1, -2]))])
    outcome = run_case(first, make_context())
    assert (outcome.status, outcome.worst) == (Status.ERROR, None)
    assert message in outcome.failure
    assert outcome.failure.startswith("the case cannot run: ") == ((path, new, message) in FAULTS)
    assert run_case(second, make_context()).passed


@pytest.mark.parametrize("value", [3, None, "text", []])
def test_no_case_at_all(value: Any, tmp_path: Path) -> None:
    (broken,) = load_cases([write(tmp_path / "some.json", value)])
    assert (broken.name, broken.operations) == ("tests[0]", [])
    assert f"must be an object, got {value!r}" in broken.fault


@pytest.mark.parametrize("operators", [None, 3, [3, {}, {"name": 5}]])
def test_operations_of_a_broken_graph(operators: Any) -> None:
    assert replace(case(0), graph={"operators": operators}).operations == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not JSON: Expecting value"),
        (b"\xff\xfe", "is not JSON: 'utf-8' codec can't decode"),
        (b"[" * 100_000, "is not JSON: "),
        (b"[]", "does not hold conformance cases: it has no member 'tests'"),
        (b"{}", "does not hold conformance cases: it has no member 'tests'"),
        (b'{"tests": 5}', "does not hold conformance cases: tests: input should be a valid list, got 5"),
        (b'{"level": 5, "tests": []}', "does not hold conformance cases: level: input should be a valid string, got 5"),
    ],
)
def test_not_a_file_of_cases(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"other\.json ") as caught:
        list(load_cases([path]))
    assert message in str(caught.value)


def test_files_and_folders(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    with pytest.raises(FileNotFoundError, match="nowhere does not exist"):
        list(load_cases([tmp_path / "nowhere"]))
    with pytest.raises(ValueError, match=r"holds no JSON files$"):
        list(load_cases([tmp_path]))
    two = write(inner / "two.json", record([-1, -2]))
    two.write_bytes(b"\xef\xbb\xbf" + two.read_bytes())
    write(inner / "one.json", record([-1, -2]), record([-1, -2]))
    (inner / "folder.json").mkdir()
    with pytest.raises(ValueError, match=r"holds no JSON files; its folders with some are inner$"):
        list(load_cases([tmp_path]))
    # Each file counts once.
    cases = list(load_cases([two, inner, inner / ".." / "inner"]))
    assert [(each.file, each.level) for each in cases] == [("two", LEVEL), ("one", LEVEL), ("one", LEVEL)]


# Archives.


def archive(path: Path, members: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def declare(path: Path, size: int) -> Path:
    """Have the directory of an archive say another size of its first file."""
    content = bytearray(path.read_bytes())
    struct.pack_into("<I", content, content.index(b"PK\x01\x02") + 24, size)
    path.write_bytes(content)
    return path


def test_an_archive_is_a_folder(tmp_path: Path) -> None:
    one, two = (write(tmp_path / f"{name}.json", record([-1, -2])) for name in ("one", "two"))
    packed = archive(
        tmp_path / "all.ZIP", {"two.json": two.read_bytes(), "one.json": one.read_bytes(), "note.md": b"?", "inner/no.json": b"?"}
    )
    assert [each.file for each in load_cases([packed, packed, tmp_path / "." / "all.ZIP", two])] == ["one", "two", "two"]
    empty = archive(tmp_path / "inner.zip", {"b/x.json": b"", "a/b/x.json": b"", "a/": b"", "y.txt": b""})
    with pytest.raises(ValueError, match=r"inner\.zip holds no JSON files; its folders with some are a/b, b$"):
        list(load_cases([empty]))


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_an_archive_takes_no_more_memory_than_it_says(method: int, tmp_path: Path) -> None:
    """Its directory names the sizes: too much is refused before anything is unpacked, and a file never gives more than that."""
    filled = archive(tmp_path / "filled.zip", {"x.json": b" " * (16 << 20)}, method)
    with pytest.raises(ValueError, match=r"filled\.zip must hold at most 256 MiB of JSON, got 268,435,457 bytes$"):
        list(load_cases([declare(filled, (1 << 28) + 1)]))
    ((_, read),) = find_sources([declare(filled, 10)])
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"x\.json cannot be unpacked: Bad CRC-32"):
            read()
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_an_archive_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "large.zip"
    with path.open("wb") as file:
        file.truncate((1 << 28) + 1)
    with pytest.raises(ValueError, match=r"large\.zip must be at most 256 MiB, got 268,435,457 bytes$"):
        list(load_cases([path]))


def spoil(path: Path, what: str) -> Path:
    """Damage an archive of one file."""
    content = bytearray(path.read_bytes())
    local, central = content.index(b"PK\x03\x04"), content.index(b"PK\x01\x02")
    match what:
        case "encrypted":
            content[local + 6] |= 1
            content[central + 8] |= 1
        case "method":
            struct.pack_into("<H", content, local + 8, 99)
            struct.pack_into("<H", content, central + 10, 99)
        case "data":
            content[local + 36 : local + 46] = b"\xff" * 10
        case "cut":
            del content[central:]
        case "header":
            content[local] = 0
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("encrypted", "x.json cannot be unpacked: File"),
        ("method", "x.json must be stored or deflated, got the compression method 99"),
        ("data", "x.json cannot be unpacked: "),
        ("cut", "some.zip is not a ZIP archive: File is not a zip file"),
        ("header", "x.json cannot be unpacked: Bad magic number"),
        ("nothing", "x.json is not JSON: "),
    ],
)
def test_a_damaged_archive(what: str, message: str, tmp_path: Path) -> None:
    path = spoil(archive(tmp_path / "some.zip", {"x.json": b"no JSON " * 20}), what)
    with pytest.raises(ValueError, match="some") as caught:
        list(load_cases([path]))
    assert message in str(caught.value)


# The comparison.

DISTANCES: list[tuple[str, list[float], list[float], str, list[float]]] = [
    ("float32", [1.0], [1.0 + 2**-23], "ULP", [1]),
    ("float32", [0.0, -0.0], [-0.0, 0.0], "ULP", [0, 0]),
    ("float32", [2**-149, -(2**-149)], [0.0, 2**-149], "ULP", [1, 2]),
    ("float32", [3.4028234663852886e38, -math.inf], [math.inf, math.inf], "ULP", [1, 2 * 0x7F800000]),
    ("float16", [1.0], [1.0 + 2**-10], "ULP", [1]),
    ("float16", [-0.0, 6e-8], [0.0, 1.0], "ULP", [0, 0x3C00 - 1]),
    ("float32", [math.nan, math.nan, 1.0], [math.nan, 1.0, math.nan], "ULP", [0, math.inf, math.inf]),
    ("float32", [math.nan, math.nan, 1.0], [math.nan, 1.0, math.nan], "ATOL", [0, math.inf, math.inf]),
    ("float32", [math.inf, math.inf], [math.inf, -math.inf], "ATOL", [0, math.inf]),
    ("float32", [0.5], [0.25], "ATOL", [0.25]),
    ("uint64", [2**64 - 1], [0], "ULP", [float(2**64 - 1)]),
    ("int64", [2**63 - 1], [-(2**63)], "ULP", [float(2**64 - 1)]),
    ("int32", [2**31 - 1], [-(2**31)], "ULP", [float(2**32 - 1)]),
    ("uint8", [0], [255], "ULP", [255]),
    ("int8", [-128], [127], "ATOL", [255]),
    ("float32", [], [], "ULP", []),
    ("int64", [], [], "ATOL", []),
]


@pytest.mark.parametrize(("dtype", "actual", "expected", "metric", "result"), DISTANCES)
def test_distance(dtype: str, actual: list[float], expected: list[float], metric: str, result: list[float]) -> None:
    assert distance(np.array(actual, dtype), np.array(expected, dtype), metric).tolist() == result


def test_negative_nan() -> None:
    """The sign and the payload of a NaN do not count: engines write different ones."""
    bits = np.array([0xFFC00000, 0x7FC00001], np.uint32).view(np.float32)
    assert distance(bits, np.array([math.nan] * 2, np.float32), "ULP").tolist() == [0, 0]


# Corrections.


def correction(name: str = "neg", output: str = "y", index: int = 1, file: str = "unary") -> Correction:
    return Correction(case=name, file=file, output=output, reason="because", elements={str(index): -2.0})


@pytest.mark.parametrize(
    ("expected", "given", "status", "stale"),
    [
        ([-1, 7], correction(), Status.CORRECTED, []),
        ([-1, -2], correction(), Status.PASSED, ["the case 'neg' passes without its correction"]),
        ([7, 7], correction(), Status.FAILED, []),
        ([-1, 7], correction(output="z"), Status.FAILED, ["the case 'neg' has no output 'z'"]),
        ([-1, 7], correction(index=2), Status.FAILED, ["the output 'y' of the case 'neg' has no elements [2]"]),
        ([-1], correction(), Status.ERROR, []),
    ],
)
def test_corrections(expected: list[float], given: Correction, status: Status, stale: list[str]) -> None:
    outcome = run_case(case(expected), make_context(), given)
    assert outcome.status is status
    assert outcome.passed == (status in (Status.PASSED, Status.CORRECTED))
    assert check_corrections({"neg": given}, [outcome]) == stale


#: The expectation of a case that the draft refuses, a correction, and the result.
REFUSAL = Correction(case="neg", file="unary", reason="because", error="neg: input")


@pytest.mark.parametrize(
    ("operation", "given", "status", "stale"),
    [
        ("neg", REFUSAL, Status.CORRECTED, []),
        ("neg", REFUSAL.model_copy(update={"error": "another"}), Status.ERROR, []),
        ("neg", None, Status.ERROR, []),
        ("abs", REFUSAL, Status.FAILED, []),
        ("identity", REFUSAL, Status.PASSED, ["the case 'neg' passes without its correction"]),
    ],
)
def test_refused_cases(operation: str, given: Correction | None, status: Status, stale: list[str]) -> None:
    refused = case([1, 2])
    # The draft has no negation of unsigned integers.
    refused.graph["inputs"]["x"] = tensor([1, 2], "float32" if operation == "abs" else "uint32")
    refused.graph["operators"][0]["name"] = operation
    refused.graph["expectedOutputs"]["y"] = tensor([1, 3] if operation == "abs" else [1, 2], "float32" if operation == "abs" else "uint32")
    outcome = run_case(refused, make_context(), given)
    assert outcome.status is status, outcome.failure
    assert check_corrections({"neg": REFUSAL}, [outcome]) == stale


def test_a_correction_of_no_case() -> None:
    assert check_corrections({"neg": correction()}, []) == ["there is no case 'neg'"]


def test_bundled_corrections() -> None:
    assert LEVEL in bundled()
    assert {each.file for each in load_corrections(LEVEL).values()} == {"pooling"}
    assert load_corrections("1999-12") == load_corrections("../expectations/2024-06") == {}


ENTRY = """[[correction]]
case = "neg"
file = "unary"
output = "y"
reason = "because"
elements = { 1 = -2, 4 = nan }
"""


def test_corrections_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(ENTRY, encoding="utf-8")
    (read,) = read_corrections(path).values()
    assert (read.case, read.file, read.values[1], math.isnan(read.values[4])) == ("neg", "unary", -2.0, True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"has no table \[\[correction\]\]"),
        ("[[expected]]\n", r"has no table \[\[correction\]\]"),
        ("=", "is not TOML"),
        ("a = " + "[" * 100_000, "its values must not be nested deeper than 50 levels"),
        ("[correction]\n", "correction must be an array of tables"),
        ("correction = [3]", r"correction\[0\]: must be an object, got 3"),
        (ENTRY + ENTRY, r"correction\[1\]: there is one for the case 'neg' already"),
        (ENTRY.replace("because", " "), r"correction\[0\].reason: string should match pattern"),
        (ENTRY.replace("1 =", "-1 ="), r"correction\[0\].elements.-1: string should match pattern"),
        (ENTRY.replace("-2", "'x'"), r"correction\[0\].elements.1: input should be a valid number, got 'x'"),
        (ENTRY.replace("output", "outputs"), r"correction\[0\].outputs: extra inputs are not permitted"),
        (
            ENTRY + "error = 'refused'",
            r"correction\[0\]: value error, must have either 'elements' or 'error', and 'output' with the former",
        ),
        (ENTRY.replace('output = "y"', ""), r"correction\[0\]: value error, must have either 'elements' or 'error', and 'output' with"),
    ],
)
def test_wrong_corrections(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_corrections(path)


# The choice of cases and of their corrections.


def test_choosing_cases() -> None:
    first, second = case(0, name="A [small] case"), replace(case(0, name="Übergrößen"), file="other")
    group = Group(cases=[first, second], corrections={first.name: correction()})
    assert choose([group], []) == [(first, correction(), None), (second, None, None)]
    assert choose([group], ["NEG"]) == choose([group], [])
    assert [each.name for each, *_ in choose([group], ["[SMALL]"])] == [first.name]
    assert [each.name for each, *_ in choose([group], ["ÜBERGRÖSSEN", "unary: a"])] == [first.name, second.name]
    with pytest.raises(ValueError, match=r"no case fits the filter 'ne'$"):
        choose([group], ["other", "ne"])


def test_choosing_levels() -> None:
    cases = [case(0), replace(case(0), level=""), replace(case(0), level=NEWEST)]
    assert choose_levels(cases, []) == cases
    assert choose_levels(cases, [NEWEST, LEVEL]) == [cases[0], cases[2]]
    with pytest.raises(ValueError, match=r"no case is of the level '1999': there are '', '2024-06', '2025-03'$"):
        choose_levels(cases, [LEVEL, "1999"])


def test_corrections_follow_the_level(tmp_path: Path) -> None:
    cases = [case(0), replace(case(0), level="mine")]
    by_level = [(len(group.cases), group.corrections == load_corrections(LEVEL)) for group in group_cases(cases, None, HERE)]
    assert by_level == [(1, True), (1, False)]
    (group,) = group_cases(cases, LEVEL, HERE)
    assert (len(group.cases), group.corrections) == (2, load_corrections(LEVEL))
    (group,) = group_cases(cases, "none", HERE)
    assert (len(group.cases), group.corrections) == (2, {})
    path = tmp_path / "mine.toml"
    path.write_text(ENTRY, encoding="utf-8")
    (group,) = group_cases(cases, str(path), HERE)
    assert (len(group.cases), list(group.corrections)) == (2, ["neg"])
    with pytest.raises(ValueError, match=r"expectations must be a file, none, or one of .*2024-06.*, got '1999'"):
        group_cases(cases, "1999", HERE)


def test_what_can_be_stale() -> None:
    """Only what ran, and files that were read, can tell."""
    passing = Outcome(case=case(0))
    here, hidden = correction(), correction("hidden")
    gone, elsewhere = correction("gone", file="unary"), correction("elsewhere", file="pooling")
    corrections = {each.case: each for each in (here, hidden, gone, elsewhere)}
    group = Group(cases=[case(0), case(0, name="hidden")], corrections=corrections)
    stale = ["there is no case 'gone'"]
    assert find_stale([group], []) == stale
    assert find_stale([group], [passing]) == ["the case 'neg' passes without its correction", *stale]
    assert find_stale([group], [replace(passing, status=Status.CORRECTED)]) == stale
    # On another provider than the CPU's, values that are a little wrong may be within the tolerance.
    assert find_stale([group], [passing], numbers=False) == []
    refusal = replace(group, corrections={"neg": REFUSAL})
    assert find_stale([refusal], [passing], numbers=False) == ["the case 'neg' passes without its correction"]


# Faults of providers.


def test_a_fault_is_strict() -> None:
    """A case must fail as its fault says; if it passes, or fails in another way, the run fails."""
    fault = Fault(file="unary", cases=["neg", "gone"], reason="because", program="tools/evidence/provider_faults/x.py")
    group = Group(cases=[case(0)], corrections={}, faults=dict.fromkeys(fault.cases, fault))
    statuses = [Status.FAILED, Status.CRASHED, Status.REFUSED, Status.PASSED]
    outcomes = [expect(Outcome(case=case(0), status=each), fault) for each in statuses]
    assert [each.status for each in outcomes] == [Status.EXPECTED, *statuses[1:]]
    assert [each.as_expected for each in outcomes] == [True, False, True, True]
    gone = "there is no case 'gone', of which a fault is expected"
    assert find_stale([group], outcomes[:1]) == [gone]
    assert find_stale([group], outcomes[3:]) == [gone, "the case 'neg' passes, although a fault is expected"]


@pytest.mark.parametrize("provider", [WEBGPU, QNN])
@pytest.mark.parametrize("level", COUNTS)
def test_bundled_faults(level: str, provider: str) -> None:
    """They are of cases of their level, and their programs exist."""
    names = {(file, each.name) for (own, file), cases in CASES.items() if own == level for each in cases}
    device = Device(provider=provider, type="gpu", name=EveryAdapter())
    for name, fault in load_faults(level, device).items():
        assert (fault.file, name) in names
        assert (ROOT / fault.program).is_file(), fault.program


def test_faults_of_another_device() -> None:
    assert load_faults(NEWEST, HERE) == load_faults("1999-12", replace(HERE, provider=WEBGPU)) == {}
    assert find_provider_file(NEWEST, CPU) is None


def test_samples() -> None:
    tasks = choose([Group(cases=[case(0, name=str(number)) for number in range(50)], corrections={})], [])
    first, again, other = sample(tasks, 9, 1), sample(tasks, 9, 1), sample(tasks, 9, 2)
    assert first == again != other
    assert len(first) == len(other) == 9
    assert first == [task for task in tasks if task in first]
    assert sample(tasks, 50, 1) == sample(tasks, 99, 1) == tasks


def test_a_device_that_lacks_a_type_refuses() -> None:
    """The profile has no uint32, so the case says nothing of its operations; where the draft refuses, that is an error."""
    refused = case([1, 2])
    refused.graph["inputs"]["x"] = refused.graph["expectedOutputs"]["y"] = tensor([1, 2], "uint32")
    refused.graph["operators"][0]["name"] = "identity"
    context = webnn.ML(revision="2024-06", profile="coreml").createContextSync()
    assert run_case(refused, context).status is Status.REFUSED
    assert run_case(refused, make_context()).status is Status.PASSED


@pytest.mark.parametrize(("count", "jobs"), [(0, 1), (1, 1), (32, 1), (33, 2), (100, 4), (10_000, 4)])
def test_default_jobs(count: int, jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webnn.wpt_runner.vectors.batch.cores", lambda: 4)
    assert default_jobs(count) == jobs
