"""Conformance files: graphs become tests that run, whatever their names, numbers and shapes are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import each_row
from tests.webnn.javascript.engines import needs_quickjs
from tests.wpt_runner.written import UTILS_2026, run_file
from webnn.reference.wpt_tolerances import Tolerance
from webnn.wpt_runner.levels import LEVELS
from webnn.wpt_runner.results import SubtestStatus
from webnn.wpt_runner.vectors.cases import Case, load_cases
from webnn.wpt_runner.vectors.files import bundled_archives
from webnn.wpt_runner.vectors.graphs import read_graph
from webnn.wpt_runner.writing.cases import ConformanceCase, WritingError
from webnn.wpt_runner.writing.conformance import Form, find_form, write_conformance_test

DRAFT = LEVELS[-1].make_ml().createContextSync()
VECTORS = [case for case in load_cases(bundled_archives()) if case.level == LEVELS[-1].name]
#: Cases that cannot be written, and why: operands of many millions of elements, and a number that the helpers of the tests cannot make.
UNWRITTEN = {"add float32 large inputs": "must have at most 1,048,576 numbers", "clamp float16 1D tensor": "has a float16 NaN"}
#: Cases that the newest draft refuses, by what it says: the scale had a rank of its own, and padding a third way.
REFUSED = {"scale must have the rank of input": 12, "options.mode must be one of": 1}
#: Cases whose tolerance is derived here, and another one in web-platform-tests: getPrecisionTolerance leaves something out, or the
#: activations are not relu; values that the recorded cases correct by hand count here as utils.js has them.
OTHER_TOLERANCES = {
    "reshape + reshape + reshape + instanceNormalization float32": "3 ULP",
    "lstm float32 tensors steps=2 with bidirections": "0.00195 ATOL",
}


def case_of(case: Case) -> ConformanceCase:
    recorded = read_graph(case)
    return ConformanceCase.of(case.name, replace(recorded.graph, draft=f"{recorded.graph.draft}+browsers"), recorded.inputs)


@pytest.fixture(scope="module")
def pairs() -> list[tuple[Case, ConformanceCase]]:
    found, unwritten, refused = [], dict[str, str](), Counter[str]()
    for case in VECTORS:
        try:
            found.append((case, case_of(case)))
        except WritingError as error:
            unwritten[case.name] = str(error)
        except webnn.WebNNTypeError as error:
            refused.update(reason for reason in REFUSED if reason in str(error))
    assert refused == REFUSED
    assert {name: UNWRITTEN[name] for name, message in unwritten.items() if UNWRITTEN[name] in message} == UNWRITTEN
    assert len(found) == len(VECTORS) - len(UNWRITTEN) - sum(REFUSED.values())
    return found


def failures(root: Path, cases: Sequence[ConformanceCase], **options: Any) -> list[str]:
    subtests = run_file(
        root, "conformance_tests/one.https.any.js", write_conformance_test(cases, title="one", variants=["?cpu"]), **options
    )
    assert [each.name for each in subtests] == [case.name for case in cases]
    return [f"{each.name}: {each.message}" for each in subtests if each.status is not SubtestStatus.PASS]


@needs_quickjs
def test_every_operation_passes_here(pairs: list[tuple[Case, ConformanceCase]], tmp_path: Path) -> None:
    """Web-platform-tests' own graphs and inputs, with our expectations and tolerances: one of each operation, type and number of axes."""
    chosen: dict[tuple[Any, ...], ConformanceCase] = {}
    for _, case in pairs:
        kinds = [case.graph.descriptors()[value] for value in case.graph.outputs.values()]
        key = (*(each.operation for each in case.graph.operators), *((each.dataType, len(each.shape)) for each in kinds))
        chosen.setdefault(key, case)
    assert len({each for key in chosen for each in key if isinstance(each, str)}) >= 92
    assert len(chosen) > 300
    assert failures(tmp_path, list(chosen.values())) == []


@needs_quickjs
@pytest.mark.slow
def test_every_vector_passes_here(pairs: list[tuple[Case, ConformanceCase]], tmp_path: Path) -> None:
    assert failures(tmp_path, [case for _, case in pairs]) == []


def test_tolerances(pairs: list[tuple[Case, ConformanceCase]]) -> None:
    """The values that web-platform-tests compute in JavaScript for their own graphs."""
    differing = {}
    for recorded, case in pairs:
        # The recorded cases have another tolerance where it depends on shapes that their recording did not know.
        fixed = recorded.metric == "ATOL" and case.tolerance.metric == "ULP"
        if (case.tolerance.metric, case.tolerance.value) != (recorded.metric, recorded.tolerance) and not fixed:
            differing[case.name] = case.tolerance
    assert set(differing) == set(OTHER_TOLERANCES)


# Graphs of our own.


def build(outputs: dict[str, Any]) -> webnn.GraphDescription:
    return webnn.describe(outputs)


def builder() -> webnn.MLGraphBuilder:
    return webnn.MLGraphBuilder(DRAFT)


def one(dataType: str, values: list[Any], operation: str = "identity", name: str = "a case", **options: Any) -> ConformanceCase:
    made = builder()
    operand: Any = made.input("x", dataType=dataType, shape=[len(values)])
    graph = build({"y": getattr(made, operation)(operand, **options)})
    return ConformanceCase.of(name, graph, {"x": np.array(values, dataType)})


def text_of(*cases: ConformanceCase, **options: Any) -> str:
    return write_conformance_test(cases, **{"title": "one", **options})


def test_the_whole_text() -> None:
    case = one("float32", [-1.5, 0.1, math.inf, -math.inf, -0.0, 1e-7, 3e38], "relu", "relu of special values")
    assert text_of(case, variants=["?cpu", "?gpu"]) == (
        """\
// META: title=one
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: script=../resources/utils.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-relu-method
// Expected values were computed in float64, and rounded to their types.

const reluTests = [{
  'name': 'relu of special values',
  'graph': {
    'inputs': {
      'x': {
        'data': [
          -1.5, 0.10000000149011612, Infinity, -Infinity, -0,
          1.0000000116860974e-7, 3.0000000054977558e+38
        ],
        'descriptor': {shape: [7], dataType: 'float32'}
      }
    },
    'operators': [{
      'name': 'relu',
      'arguments': [{'input': 'x'}],
      'outputs': 'y'
    }],
    'expectedOutputs': {
      'y': {
        'data': [
          0, 0.10000000149011612, Infinity, 0, -0, 1.0000000116860974e-7,
          3.0000000054977558e+38
        ],
        'descriptor': {shape: [7], dataType: 'float32'}
      }
    }
  }
}];

if (navigator.ml) {
  reluTests.forEach((test) => {
    webnn_conformance_test(
        buildAndExecuteGraph, getPrecisionTolerance, test);
  });
} else {
  test(() => assert_implements(navigator.ml, 'missing navigator.ml'));
}
"""
    )


@each_row(
    ("dataType", "values", "wanted"),
    [
        ("int64", [1, -(2**63)], "[1n, -9223372036854775808n]"),
        ("uint64", [2**64 - 1], "[18446744073709551615n]"),
        ("int32", [-5, 7], "[-5, 7]"),
        ("float16", [0.1, 6e-8, 65504], "[0.0999755859375, 5.960464477539063e-8, 65504]"),
        ("float32", [math.nan], "[NaN]"),
    ],
)
def test_numbers(dataType: str, values: list[Any], wanted: str) -> None:
    assert text_of(one(dataType, values)).count(f"'data': {wanted}") == 2


def test_filled_constants_are_one_number_and_outputs_are_not() -> None:
    made = builder()
    graph = build({"y": made.add(made.input("x", dataType="float32", shape=[32]), made.constant("float32", 1.0))})
    text = text_of(ConformanceCase.of("a", graph, {"x": np.ones(32, np.float32)}))
    assert "'data': 1, 'descriptor'" in text
    assert f"'data': [\n{' ' * 10}2, 2, 2" in text


HOSTILE = [
    *("", "__proto__", "constructor", "hasOwnProperty", "nearest-neighbor", "2,2", "1", "a'\n\\b\u2028", "\U0001f600", "\ud800"),
    "x" * 300,
]


@needs_quickjs
@pytest.mark.parametrize("form", Form)
def test_hostile_names_and_shared_operands(form: Form, tmp_path: Path) -> None:
    """An input that two operators take, a sequence of operands, names that the helpers would take for something else."""
    made = builder()
    inputs = {name: made.input(name, dataType="float32", shape=[1, 1, 2, 2]) for name in HOSTILE if name != ""}
    total = made.concat([*inputs.values(), next(iter(inputs.values()))], 0)
    resampled = made.resample2d(total, mode="nearest-neighbor", sizes=[2, 2], label="1")
    graph = build({name or "empty": made.add(resampled, made.constant("float32", index)) for index, name in enumerate(HOSTILE)})
    given = {name: np.full((1, 1, 2, 2), index, np.float32) for index, name in enumerate(graph.inputs)}
    case = ConformanceCase.of("hostile '\n\\ \u2028 name", graph, given)
    text = text_of(case, variants=["?cpu"], form=form)
    assert text.isprintable() is False  # it has lines
    assert all(line.isprintable() for line in text.split("\n"))
    [subtest] = run_file(tmp_path, "conformance_tests/h.https.any.js", text, *([UTILS_2026] if form is Form.year_2026 else []))
    assert subtest.status is SubtestStatus.PASS, subtest.message


@needs_quickjs
def test_a_wrong_expectation_fails(tmp_path: Path) -> None:
    """Each metric and each kind of number: the comparison is real."""
    cases = [
        one("float32", [1.0], "sin", "a"),
        one("int64", [5], name="b"),
        one("float16", [0.25], "exp", "c"),
        one("uint8", [9], name="d"),
    ]
    wrong = [replace(case, expected={"y": case.expected["y"] + np.array(1, case.expected["y"].dtype)}) for case in cases]
    assert len(failures(tmp_path / "right", cases)) == 0
    assert len(failures(tmp_path / "wrong", wrong)) == len(cases)


# Tolerances of graphs of several operators.


@each_row(("chain", "wanted"), [(["relu", "sigmoid"], Tolerance("ULP", 34)), (["abs", "relu"], Tolerance("ULP", 0))])
def test_tolerances_that_are_added_up(chain: list[str], wanted: Tolerance) -> None:
    made = builder()
    operand: Any = made.input("x", dataType="float32", shape=[2])
    for operation in chain:
        operand = getattr(made, operation)(operand)
    case = ConformanceCase.of("a", build({"y": operand}), {"x": np.ones(2, np.float32)})
    assert case.tolerance == wanted
    assert "getPrecisionTolerance, test" in text_of(case)


def test_a_derived_tolerance_grows_where_numbers_cancel() -> None:
    """exp(x) - exp(x') loses most of its digits: a distance in ULP would mean nothing."""
    made = builder()
    x = made.input("x", dataType="float32", shape=[1])
    close = ConformanceCase.of("a", build({"y": made.add(made.exp(x), made.constant("float32", 5.0))}), {"x": np.zeros(1, np.float32)})
    cancelled = ConformanceCase.of(
        "a", build({"y": made.sub(made.exp(x), made.constant("float32", 1.0))}), {"x": np.full(1, 1e-6, np.float32)}
    )
    assert close.tolerance.metric == "ULP"
    assert 8 <= close.tolerance.value <= 64
    assert cancelled.tolerance.metric == "ATOL"
    assert 32 * 2**-23 <= cancelled.tolerance.value <= 256 * 2**-23
    assert "getToleranceOfTest, test" in text_of(close)


# Refused cases.


def test_refusals() -> None:
    made = builder()
    x = made.input("x", dataType="float32", shape=[1])
    y = made.relu(x)
    given = {"x": np.ones(1, np.float32)}
    with pytest.raises(WritingError, match="the outputs 'y' and 'z' are one operand"):
        ConformanceCase.of("a", build({"y": y, "z": y}), given)
    with pytest.raises(WritingError, match="no operator makes the output 'y'"):
        ConformanceCase.of("a", replace(build({"y": y}), outputs={"y": "x"}), given)
    for wrong, message in (({}, "must have the outputs"), ({"y": np.ones(2, np.float32)}, "float32"), ({"y": np.ones(1)}, "got float64")):
        with pytest.raises(WritingError, match=message):
            ConformanceCase.of("a", build({"y": y}), given, expected=wrong)
    assert ConformanceCase.of("a", build({"y": y}), given, expected={"y": np.full(1, 7, np.float32)}).expected["y"] == [7]
    with pytest.raises(WritingError, match="'y' has an infinity or a NaN, and is compared by absolute distance"):
        one("float32", [-1.0], "log")
    with pytest.raises(WritingError, match="'x' has a float16 NaN"):
        one("float16", [math.nan])
    with pytest.raises(WritingError, match="must have a name of its own, got 'a case' 2 times"):
        text_of(one("float32", [1]), one("float32", [2]))
    with pytest.raises(WritingError, match="must have a case"):
        text_of()
    with pytest.raises(WritingError, match="title must be one line"):
        text_of(one("float32", [1]), title="a\n*/ alert(1) //")
    with pytest.raises(WritingError, match="title must be one line"):
        text_of(one("float32", [1]), title="a\u2028alert(1)")
    with pytest.raises(WritingError, match="variant must be"):
        text_of(one("float32", [1]), variants=["?cpu\nalert(1)"])


@each_row(
    ("utils", "form"),
    [
        ("const webnn_conformance_test =\n    (buildAndExecuteGraphFunc, toleranceFunc, testResources) => {", Form.march_2025),
        ("const webnn_conformance_test = (tests, buildAndExecuteGraphFunc) => {", Form.year_2026),
        ("", Form.march_2025),
    ],
)
def test_forms(utils: str, form: Form) -> None:
    assert find_form(utils) is form
